# SPDX-License-Identifier: Apache-2.0
"""
Ways to calculate the functions of one chain: generated Python, machine code, or the loop form.

A `FunctionSet` makes a kernel when a function is first used.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Protocol

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.equations import (
    INPUTS,
    WITH_WRENCH,
    Grouping,
    loop_form,
    program_of,
    result_shape,
)
from robot_dynamics_ros.codegen.graph import GraphTooLarge
from robot_dynamics_ros.codegen.llvm.machine import Machine, this_machine
from robot_dynamics_ros.codegen.llvm.source import llvm_source
from robot_dynamics_ros.codegen.printers.python import body_source, compiled
from robot_dynamics_ros.codegen.program import Program
from robot_dynamics_ros.codegen.runtime.entry import Entry, new_entry
from robot_dynamics_ros.codegen.runtime.snapshot import Prologue, Snapshot
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm
from robot_dynamics_ros.dynamics.scalars.samples import Samples


class Kernel(Protocol):
    """
    One function of a model.

    :param shape: shape of the result of one state.
    """

    shape: tuple[int, ...]

    def prepare(self, snapshot: Snapshot) -> None:
        """Calculate the constants of new parameters."""

    def evaluate(self, snapshot: Snapshot, arrays: dict[str, Array],
                 out: Array | None) -> Array:
        """
        Return the result for arrays (n,) or (N, n) that fit together.

        :param out: C-contiguous array of the right shape for the result; None = a new one.
        """


class LoopKernel:
    """The loop form."""

    def __init__(self, chain: Chain, grouping: Grouping, name: str) -> None:
        """Generate nothing."""
        self._name = name
        self._chain = chain
        self._grouping = grouping
        self.shape = result_shape(name, len(chain), grouping.matrix.shape[1])

    def prepare(self, snapshot: Snapshot) -> None:
        """Do nothing: a loop has no constants."""

    def evaluate(self, snapshot: Snapshot, arrays: dict[str, Array],
                 out: Array | None) -> Array:
        """Return the result."""
        return _delivered(loop_form(self._chain, self._grouping, self._name, snapshot.form,
                                    snapshot.values, arrays), out)


class PythonKernel:
    """Generated Python source."""

    def __init__(self, program: Program, chain: Chain, rows: bool = True) -> None:
        """
        Compile the source.

        :param rows: calculate a batch on numpy rows; otherwise one state after the other.
        """
        self._chain = chain
        self.shape = program.shape
        self._rows = rows
        self._prologue = Prologue(program)
        source = body_source(program)
        self._float = compiled(source, program.name, math)
        self._row = compiled(source, program.name, np)

    def prepare(self, snapshot: Snapshot) -> None:
        """Calculate the constants of new parameters."""
        snapshot.constants_of(self._prologue)

    def evaluate(self, snapshot: Snapshot, arrays: dict[str, Array],
                 out: Array | None) -> Array:
        """Return the result."""
        *constants, zero = snapshot.constants_of(self._prologue).tolist()
        first = next(iter(arrays.values()))
        shape = first.shape[:-1] + self.shape
        if math.isnan(zero):
            result = np.full(shape, math.nan)
        elif first.ndim == 2 and not self._rows:
            states = ({name: array[i] for name, array in arrays.items()}
                      for i in range(len(first)))
            result = np.array([self._flat(constants, state) for state in states])
        else:
            result = self._flat(constants, arrays)
        return _delivered(result.reshape(shape), out)

    def _flat(self, constants: list[float], arrays: dict[str, Array]) -> Array:
        state = Samples.of(self._chain, **arrays)
        function = self._float if state.count is None else self._row
        vectors = [*state.scalars.values(), *([constants] if constants else [])]
        try:
            with np.errstate(all='ignore'):
                return state.vector(function(*vectors))
        except ZeroDivisionError:  # a joint that moves no mass at all
            return np.full(math.prod(self.shape), math.nan)


class MachineKernel:
    """Machine code; generated Python where an angle is too large for it."""

    def __init__(self, program: Program, chain: Chain, machine: Machine, entry: Entry) -> None:
        """Compile nothing yet."""
        self._program = program
        self.shape = program.shape
        self._chain = chain
        self._machine = machine
        self._entry = entry
        self._prologue = Prologue(program)
        self._bound: set[bool] = set()
        self._python: PythonKernel | None = None

    def prepare(self, snapshot: Snapshot) -> None:
        """Calculate the constants of new parameters."""
        snapshot.constants_of(self._prologue)

    def evaluate(self, snapshot: Snapshot, arrays: dict[str, Array],
                 out: Array | None) -> Array:
        """Return the result."""
        self.prepare(snapshot)
        first = next(iter(arrays.values()))
        self._bind(first.ndim == 2 and len(first) >= self._machine.width)
        contiguous = {name: _contiguous(array) for name, array in arrays.items()}
        wrench = contiguous.pop('wrench', None)
        # a kernel does not write a batch over its inputs: the second attempt has its own array
        for place in (out, None):
            result = self._entry.attempt(*contiguous.values(), wrench=wrench, out=place)
            if result is not None:
                return result
        if self._python is None:
            self._python = PythonKernel(self._program, self._chain)
        return self._python.evaluate(snapshot, arrays, out)

    def _bind(self, batch: bool) -> None:
        """Compile the kernel for one state or for a batch, if it is not there yet."""
        if batch not in self._bound:
            name = self._program.name
            source = llvm_source(self._program, self._machine.width, batch=batch)
            function = self._machine.load(self._machine.compile(source), name)
            with_wrench = any(vector.name == 'wrench' for vector in self._program.inputs)
            self._entry.bind(with_wrench, batch, name, function.address, function)
            self._bound.add(batch)


def _contiguous(array: Array) -> Array:
    """Return an array that a kernel can read."""
    readable = array.flags.c_contiguous and array.flags.aligned
    return array if readable else np.array(array, order='C')


def _delivered(result: Array, out: Array | None) -> Array:
    if out is None:
        return result
    out[...] = result
    return out


#: Functions whose graph would have more entries than this run the loop form: compiling them would
#: take longer than some twenty seconds. Inverse dynamics reaches it beyond 100 joints, forward
#: dynamics at about 65, the mass matrix at 50 and the regressor at 28.
LONGEST_PROGRAM = 30_000

STRAIGHT_LINE, LOOP = 'straight line', 'loop'


class FunctionSet:
    """
    All functions of a chain for one form of joint physics and one backend.

    :param chain: the robot.
    :param grouping: of the minimal parameters.
    :param form: what the joints are modelled with.
    :param backend: 'python', 'numpy' or 'numba'.
    """

    def __init__(self, chain: Chain, grouping: Grouping, form: JointForm, backend: str) -> None:
        """Generate nothing yet."""
        self._chain = chain
        self._grouping = grouping
        self._backend = backend
        self._kernels: dict[str, Kernel] = {}
        self._entries: dict[str, Entry] = {}
        self._lock = threading.RLock()
        self.form = form
        #: One dict: constants of the programs in use; replaced as a whole.
        self.constants: list[dict[str, Array]] = [{}]
        #: How each function that has been used is calculated: STRAIGHT_LINE or LOOP.
        self.forms: dict[str, str] = {}

    def use(self, snapshot: Snapshot) -> None:
        """Let compiled functions take their constants from another snapshot from now on."""
        with self._lock:
            for kernel in self._kernels.values():
                kernel.prepare(snapshot)
            self.constants[0] = snapshot.constants

    def program(self, name: str, largest: int | None = None) -> Program:
        """
        Return the program of a function.

        :raises GraphTooLarge: it has more than `largest` operations.
        """
        return program_of(self._chain, self._grouping, name, self.form, largest=largest)

    def kernel(self, name: str, fallback: Callable[..., Array]) -> Kernel:
        """
        Return a function, generated now if it has not been used before.

        :param name: one of INPUTS, or with WITH_WRENCH appended.
        :param fallback: what the entry calls where no kernel fits: the method of the model.
        """
        kernel = self._kernels.get(name)
        if kernel is None:
            with self._lock:
                kernel = self._kernels.get(name) or self._new_kernel(name, fallback)
                self._kernels[name] = kernel
        return kernel

    def entry(self, plain: str) -> Entry | None:
        """Return the entry to the kernels of a function, if it has machine code."""
        return self._entries.get(plain)

    def _new_kernel(self, name: str, fallback: Callable[..., Array]) -> Kernel:
        plain = name.removesuffix(WITH_WRENCH)
        try:
            program = self.program(name, LONGEST_PROGRAM)
        except GraphTooLarge:
            self.forms[name] = LOOP
            return LoopKernel(self._chain, self._grouping, name)
        self.forms[name] = STRAIGHT_LINE
        if self._backend != 'numba':
            return PythonKernel(program, self._chain, rows=self._backend == 'numpy')
        machine = this_machine()
        if plain not in self._entries:
            self._entries[plain] = new_entry(fallback, self.constants, len(INPUTS[plain]),
                                             len(self._chain), program.shape, machine.width)
        return MachineKernel(program, self._chain, machine, self._entries[plain])
