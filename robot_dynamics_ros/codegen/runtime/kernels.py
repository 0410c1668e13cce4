# SPDX-License-Identifier: Apache-2.0
"""
Ways to calculate the functions of one chain: generated Python, machine code, or the loop form.

`Kernels` makes a kernel when a function is first used; a `Snapshot` holds the parameters that
kernels calculate with.
"""

from __future__ import annotations

import math
import threading
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.codegen.equations import loop_form, program_of, result_shape
from robot_dynamics_ros.codegen.folding import Folding
from robot_dynamics_ros.codegen.graph import GraphTooLarge
from robot_dynamics_ros.codegen.grouping import Grouping
from robot_dynamics_ros.codegen.llvm.machine import LoadedFunction, loaded_function, this_machine
from robot_dynamics_ros.codegen.llvm.source import llvm_source
from robot_dynamics_ros.codegen.printers.python import body_source, compiled, prologue_source
from robot_dynamics_ros.codegen.program import Program
from robot_dynamics_ros.codegen.runtime.entry import Call, new_call
from robot_dynamics_ros.codegen.runtime.threads import attempt_in_parts
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm, joint_parameters
from robot_dynamics_ros.dynamics.scalars.samples import Samples
from robot_dynamics_ros.errors import ParameterError


class Snapshot:
    """
    Parameter values of a model, never changed but replaced.

    :param minimal: (p,) minimal parameters.
    :param physics: joint physics.
    """

    def __init__(self, minimal: ArrayLike, physics: JointPhysics) -> None:
        """Copy the values."""
        self.minimal = read_only(minimal)
        self.physics = physics
        self.form = JointForm.of(physics)
        #: Constants of every program that has been used, by its name.
        self.constants: dict[str, Array] = {}
        #: What the grouping makes of the minimal parameters, once the loop form has asked for it.
        self.grouped: list[list[float]] | None = None
        #: Calls of machine code with these constants, by the name of the function.
        self.calls: dict[str, Call] = {}

    @cached_property
    def values(self) -> dict[str, list[float]]:
        """Values of the parameters by the names that programs use."""
        return {'mlc': self.minimal.tolist(), **joint_parameters(self.physics)}


class Prologue:
    """Gives the constants of one program from parameter values."""

    def __init__(self, program: Program) -> None:
        """Compile the prologue as Python."""
        self._name = program.name
        self._count = len(program.constants)
        self._names = [vector.name for vector in program.parameters if vector.width]
        self._function = compiled(prologue_source(program), f'{program.name}_constants', math)

    def constants(self, snapshot: Snapshot) -> Array:
        """
        Return k0, k1, ... and a last entry: zero, or NaN if a parameter is not finite.

        They are calculated once per snapshot.
        """
        constants = snapshot.constants.get(self._name)
        if constants is None:
            vectors = [snapshot.values[name] for name in self._names]
            finite = all(math.isfinite(value) for vector in vectors for value in vector)
            try:
                values = self._function(*vectors)
            except ZeroDivisionError:  # a joint without any inertia: no acceleration
                finite, values = False, [math.nan] * self._count
            constants = read_only([*values, 0.0 if finite else math.nan])
            snapshot.constants[self._name] = constants
        return constants


class Kernel(Protocol):
    """
    One function of a model.

    :param shape: shape of the result of one state.
    """

    shape: tuple[int, ...]

    def prepare(self, snapshot: Snapshot) -> None:
        """Calculate the constants of new parameters."""

    def evaluate(self, snapshot: Snapshot, arrays: dict[str, Array],
                 out: Array | None, threads: int = 1) -> Array:
        """
        Return the result for arrays (n,) or (N, n) that fit together.

        :param out: C-contiguous array of the right shape for the result; None = a new one.
        :param threads: threads for a batch; generated Python and the loop form use one.
        """


#: Largest number of entries of a result that the loop form makes at once, in a batch.
_AT_ONCE = 1 << 22


class LoopKernel:
    """The loop form."""

    def __init__(self, chain: Chain, grouping: Grouping, name: str) -> None:
        """Generate nothing."""
        self._name = name
        self._chain = chain
        self._grouping = grouping
        self.shape = result_shape(name, chain, grouping.matrix.shape[1])
        self._states_at_once = max(1, _AT_ONCE // math.prod(self.shape))

    def prepare(self, snapshot: Snapshot) -> None:
        """Do nothing: a loop has no constants."""

    def evaluate(self, snapshot: Snapshot, arrays: dict[str, Array],
                 out: Array | None, threads: int = 1) -> Array:
        """Return the result."""
        if snapshot.grouped is None:
            snapshot.grouped = self._grouping.links(snapshot.values['mlc'])
        first = next(iter(arrays.values()))
        if first.ndim == 1 or len(first) <= self._states_at_once:
            return _delivered(self._result(snapshot, arrays), out)
        result = np.empty((len(first), *self.shape))
        for start in range(0, len(first), self._states_at_once):
            part = slice(start, start + self._states_at_once)
            result[part] = self._result(snapshot, {name: array[part]
                                                   for name, array in arrays.items()})
        return _delivered(result, out)

    def _result(self, snapshot: Snapshot, arrays: dict[str, Array]) -> Array:
        return loop_form(self._chain, self._grouping, self._name, snapshot.form, snapshot.values,
                         arrays, snapshot.grouped)


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
        self._prologue.constants(snapshot)

    def evaluate(self, snapshot: Snapshot, arrays: dict[str, Array],
                 out: Array | None, threads: int = 1) -> Array:
        """Return the result."""
        *constants, zero = self._prologue.constants(snapshot).tolist()
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

    def __init__(self, program: Program, chain: Chain) -> None:
        """Compile nothing yet."""
        self._program = program
        self.shape = program.shape
        self._chain = chain
        self._width = this_machine().width
        self._prologue = Prologue(program)
        self._code: dict[bool, LoadedFunction] = {}  # for one state, and for a batch
        self._python: PythonKernel | None = None

    def prepare(self, snapshot: Snapshot) -> None:
        """Leave a call with the constants of new parameters."""
        code = dict(self._code)
        single, batch = (code[key].address if key in code else 0 for key in (False, True))
        snapshot.calls[self._program.name] = new_call(
            single, batch, code, self._prologue.constants(snapshot),
            tuple(vector.width for vector in self._program.inputs), self.shape,
            self._width)

    def evaluate(self, snapshot: Snapshot, arrays: dict[str, Array],
                 out: Array | None, threads: int = 1) -> Array:
        """Return the result."""
        first = next(iter(arrays.values()))
        self._compile(first.ndim == 2 and len(first) >= self._width)
        contiguous = [_contiguous(array) for array in arrays.values()]
        # a kernel does not write a batch over its inputs: every second attempt has its own array;
        # a call that is older than the code for a batch lacks it: then there is a fresh one
        for fresh, place in ((False, out), (False, None), (True, out), (True, None)):
            if fresh or self._program.name not in snapshot.calls:
                self.prepare(snapshot)
            result = attempt_in_parts(snapshot.calls[self._program.name], contiguous, place,
                                      self.shape, threads)
            if result is not None:
                return result
        if self._python is None:
            self._python = PythonKernel(self._program, self._chain)
        return self._python.evaluate(snapshot, arrays, out)

    def _compile(self, batch: bool) -> None:
        """Compile the code for one state or for a batch, if it is not there yet."""
        if batch not in self._code:
            source = llvm_source(self._program, self._width, batch=batch)
            self._code[batch] = loaded_function(source, self._program.name)


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


class Kernels:
    """
    The kernels of a chain, each made when it is first used.

    :param chain: the robot.
    :param grouping: grouping of the minimal parameters.
    :param backend: 'python', 'numpy' or 'llvm'.
    :param folding: parameters to take as numbers; None = none.
    """

    def __init__(self, chain: Chain, grouping: Grouping, backend: str,
                 folding: Folding | None = None) -> None:
        """Generate nothing yet."""
        self._chain = chain
        self._folding = folding or Folding()
        self._grouping = self._folding.grouping(grouping)
        self._backend = backend
        self._kernels: dict[tuple[JointForm, str], Kernel] = {}
        self._lock = threading.Lock()

    def prepare(self, snapshot: Snapshot) -> None:
        """Let the functions used so far be as quick with new parameters."""
        with self._lock:
            for (form, _), kernel in self._kernels.items():
                if form == snapshot.form:
                    kernel.prepare(snapshot)

    def program(self, form: JointForm, name: str, largest: int | None = None) -> Program:
        """
        Return the program of a function.

        :raises GraphTooLarge: it has more than `largest` operations.
        """
        return program_of(self._chain, self._grouping, name, form, largest=largest,
                          known=self._folding)

    def kernel(self, form: JointForm, name: str) -> Kernel:
        """
        Return a function, generated now if it has not been used before.

        :param form: what the joints are modelled with.
        :param name: one of INPUTS, or with WITH_WRENCH appended.
        """
        kernel = self._kernels.get((form, name))
        if kernel is None:
            with self._lock:
                kernel = self._kernels.get((form, name)) or self._new_kernel(form, name)
                self._kernels[form, name] = kernel
        return kernel

    def used(self, form: JointForm) -> dict[str, str]:
        """Return how each function used so far is calculated: STRAIGHT_LINE or LOOP."""
        return {name: LOOP if isinstance(kernel, LoopKernel) else STRAIGHT_LINE
                for (kernel_form, name), kernel in list(self._kernels.items())
                if kernel_form == form}

    def _new_kernel(self, form: JointForm, name: str) -> Kernel:
        try:
            program = self.program(form, name, LONGEST_PROGRAM)
        except (GraphTooLarge, ParameterError):  # too long, or nothing but NaN
            return LoopKernel(self._chain, self._grouping, name)
        if self._backend == 'llvm':
            return MachineKernel(program, self._chain)
        return PythonKernel(program, self._chain, rows=self._backend == 'numpy')
