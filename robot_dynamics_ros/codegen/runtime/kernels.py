# SPDX-License-Identifier: Apache-2.0
"""
Ways to calculate the functions of one chain: generated Python, machine code, or the loop form.

`Kernels` makes a kernel when a function is first used.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.folding import Folding
from robot_dynamics_ros.codegen.functions import WITH_WRENCH, result_shape
from robot_dynamics_ros.codegen.generation import program_of
from robot_dynamics_ros.codegen.graph import GraphTooLarge
from robot_dynamics_ros.codegen.grouping import Grouping
from robot_dynamics_ros.codegen.llvm.machine import LoadedFunction, loaded_function, this_machine
from robot_dynamics_ros.codegen.llvm.solution import solution_source
from robot_dynamics_ros.codegen.llvm.source import llvm_source
from robot_dynamics_ros.codegen.loop_form import loop_form
from robot_dynamics_ros.codegen.printers.python import body_source, compiled
from robot_dynamics_ros.codegen.program import Program
from robot_dynamics_ros.codegen.runtime.entry import new_call
from robot_dynamics_ros.codegen.runtime.snapshot import Prologue, Snapshot
from robot_dynamics_ros.codegen.runtime.threads import attempt_in_parts
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm
from robot_dynamics_ros.dynamics.scalars.samples import Samples
from robot_dynamics_ros.errors import ParameterError


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


class SolvedKernel:
    """
    Derivatives of forward dynamics from those of the torque, by one linear system per state.

    torque(q, qd, qdd) = tau holds for all states, so ``A dqdd/dx = dtau/dx - dtorque/dx`` with
    the mass matrix A, where friction does not depend on the load.

    :param kernels: where the torque's derivatives and the mass matrix come from.
    :param name: name of the function.
    :param loop: the loop form, where there is no memory.
    """

    def __init__(self, kernels: Kernels, name: str, loop: LoopKernel) -> None:
        self._kernels = kernels
        self._wrench = WITH_WRENCH if name.endswith(WITH_WRENCH) else ''
        self._loop = loop
        self.shape = loop.shape
        n = self.shape[-1]
        code = loaded_function(solution_source(n, this_machine().width), 'solution')
        self._solution = new_call(0, code.address, code, np.zeros(1), (n * n, 2 * n * n),
                                  self.shape, 1)

    def prepare(self, snapshot: Snapshot) -> None:
        """Do nothing: the other kernels prepare themselves."""

    def evaluate(self, snapshot: Snapshot, arrays: dict[str, Array],
                 out: Array | None, threads: int = 1) -> Array:
        """Return the result."""
        def calculated(name: str, inputs: dict[str, Array]) -> Array:
            kernel = self._kernels.kernel(snapshot.form, name)
            return kernel.evaluate(snapshot, inputs, None, threads)

        qdd = calculated('forward_dynamics' + self._wrench, arrays)
        at_qdd = {'qdd' if key == 'tau' else key: array for key, array in arrays.items()}
        torque = calculated('torque_derivatives' + self._wrench, {**at_qdd, 'qdd': qdd})
        A = calculated('mass_matrix', {'q': arrays['q']})
        n, count = self.shape[-1], qdd.size // self.shape[-1]
        flat = [A.reshape(count, n * n), torque.reshape(count, 2 * n * n)]
        result = attempt_in_parts(self._solution, flat, None, self.shape, threads)
        if result is None:  # no memory
            return self._loop.evaluate(snapshot, arrays, out)
        result[~np.isfinite(result).all(axis=(1, 2, 3))] = math.nan  # a joint that moves no mass
        result = result.reshape((*qdd.shape[:-1], *self.shape))
        result[~np.isfinite(qdd).all(axis=-1)] = math.nan
        return _delivered(result, out)


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
    """Machine code, and another kernel where an angle is too large for it."""

    def __init__(self, program: Program, other: Callable[[], Kernel]) -> None:
        """
        Compile nothing yet.

        :param other: function that makes the other kernel.
        """
        self._program = program
        self.shape = program.shape
        self._new_other = other
        self._width = this_machine().width
        self._prologue = Prologue(program)
        self._code: dict[bool, LoadedFunction] = {}  # for one state, and for a batch
        self._other: Kernel | None = None

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
        if self._other is None:
            self._other = self._new_other()
        return self._other.evaluate(snapshot, arrays, out)

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


#: Functions whose graph would have more entries than this run the loop form: compiling them takes
#: about 30 us per entry, once for one state and once for a batch.
LONGEST_PROGRAM = 300_000

#: The same for derivatives of forward dynamics, whose number of operations grows with the cube of
#: that of joints, once the torque's derivatives are machine code: see `SolvedKernel`.
LONGEST_SOLUTION = 100_000

#: The same for generated Python, which takes far longer to compile and gains little.
LONGEST_PYTHON = 30_000

STRAIGHT_LINE, SOLVED, LOOP = 'straight line', 'solved', 'loop'


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
        """Return how each function used so far is calculated: STRAIGHT_LINE, SOLVED or LOOP."""
        forms = {LoopKernel: LOOP, SolvedKernel: SOLVED}
        return {name: forms.get(type(kernel), STRAIGHT_LINE)
                for (kernel_form, name), kernel in list(self._kernels.items())
                if kernel_form == form}

    def _new_kernel(self, form: JointForm, name: str) -> Kernel:
        loop = partial(LoopKernel, self._chain, self._grouping, name)
        machine = self._backend == 'llvm'
        solvable = name.startswith('forward_dynamics_derivatives') and not form.loaded
        longest = LONGEST_SOLUTION if solvable else LONGEST_PROGRAM
        try:
            program = self.program(form, name, longest if machine else LONGEST_PYTHON)
        except GraphTooLarge:
            return SolvedKernel(self, name, loop()) if machine and solvable else loop()
        except ParameterError:  # nothing but NaN
            return loop()
        if machine:
            short = len(program.graph.entries) <= LONGEST_PYTHON
            return MachineKernel(program, partial(PythonKernel, program, self._chain) if short
                                 else loop)
        return PythonKernel(program, self._chain, rows=self._backend == 'numpy')
