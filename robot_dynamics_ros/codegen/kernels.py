# SPDX-License-Identifier: Apache-2.0
"""Ways to calculate one function of a model: generated Python, machine code, or the loop form."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.entry import Entry
from robot_dynamics_ros.codegen.llvm_source import llvm_source
from robot_dynamics_ros.codegen.machine_code import Machine
from robot_dynamics_ros.codegen.object_store import ObjectStore
from robot_dynamics_ros.codegen.program import Program
from robot_dynamics_ros.codegen.python_source import body_source, compiled
from robot_dynamics_ros.codegen.snapshot import Prologue, Snapshot
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

    def __init__(self, function: Callable[..., Array], shape: tuple[int, ...]) -> None:
        """Use a function of `Reference`."""
        self.shape = shape
        self._function = function

    def prepare(self, snapshot: Snapshot) -> None:
        """Do nothing: a loop has no constants."""

    def evaluate(self, snapshot: Snapshot, arrays: dict[str, Array],
                 out: Array | None) -> Array:
        """Return the result."""
        return _delivered(self._function(snapshot, **arrays), out)


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

    def __init__(self, program: Program, chain: Chain, machine: Machine, store: ObjectStore,
                 entry: Entry) -> None:
        """Compile nothing yet."""
        self._program = program
        self.shape = program.shape
        self._chain = chain
        self._machine = machine
        self._store = store
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
            function = self._machine.function(source, name, self._store)
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
