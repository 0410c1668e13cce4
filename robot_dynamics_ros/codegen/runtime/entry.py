# SPDX-License-Identifier: Apache-2.0
"""
Calls of compiled kernels from Python.

The C extension `_entry` checks arrays and calls a kernel in about a hundred nanoseconds. Where
it has not been built, a built-in function made at run time does so for one state in two or three
hundred (see `builtin_of`), and ctypes calls everything else.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.codegen.functions import WITH_WRENCH
from robot_dynamics_ros.codegen.llvm.source import INPUT_POINTERS
from robot_dynamics_ros.codegen.runtime.builtin import Builtin, builtin_of
from robot_dynamics_ros.errors import StateError


def _built_extension() -> Any:
    try:
        module = import_module('robot_dynamics_ros.codegen.runtime._entry')
    except ImportError:
        return None
    return module if hasattr(module, 'Call') else None  # None: built from another version


#: The C extension; None where it has not been built.
C_ENTRY = _built_extension()


class Call(Protocol):
    """The kernels of one function with the constants of one set of parameters."""

    def attempt(self, *inputs: Array, out: Array | None = None) -> Array | None:
        """Run a kernel; None if there is none for these arguments."""


#: A list of one dict: the calls in use by name of the function.
Calls = list[dict[str, Call]]


def new_call(single: int, batch: int, owner: object, constants: Array, widths: tuple[int, ...],
             shape: tuple[int, ...], lanes: int) -> Call:
    """
    Return a call of kernels.

    :param single: address of the kernel for one state; 0 = none.
    :param batch: address of the kernel for a batch; 0 = none.
    :param owner: what keeps the code in memory.
    :param constants: k0, k1, ... of the kernels.
    :param widths: entries of each input per state.
    :param shape: shape of the result of one state.
    :param lanes: smallest number of states of a batch kernel.
    """
    make = CtypesCall if C_ENTRY is None else C_ENTRY.Call
    call: Call = make(single, batch, owner, constants, widths, shape, lanes)
    return call


def new_function(fallback: Callable[..., Array], calls: Calls, name: str) -> Callable[..., Array]:
    """
    Return a function that runs the call in use, or `fallback` where that is not possible.

    :param fallback: a method of a model.
    :param calls: where the call is, under the name, with WITH_WRENCH appended if there is one.
    :param name: name of the function.
    """
    make = ctypes_function if C_ENTRY is None else C_ENTRY.Function
    function: Callable[..., Array] = make(fallback, calls, name, name + WITH_WRENCH)
    return function


_ARRAY, _FLOAT = np.ndarray, np.dtype(np.float64)

#: One state takes less time than giving up the interpreter's lock and taking it back. Arguments
#: are not declared: all are pointers already, and declared ones take longer.
_Single = ctypes.PYFUNCTYPE(ctypes.c_int)
#: During a batch the lock is free for other threads.
_Batch = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_longlong,
                          *[ctypes.c_void_p] * (INPUT_POINTERS + 2))


class CtypesCall:
    """A call without the C extension; parameters as for `new_call`."""

    def __init__(self, single: int, batch: int, owner: object, constants: Array,
                 widths: tuple[int, ...], shape: tuple[int, ...], lanes: int) -> None:
        self._single = _Single(single) if single else None
        quick = builtin_of(single, constants, widths, shape) if single else None
        #: `attempt` for one state with an array for the result; it may always decline.
        self.quick: Builtin = _declines if quick is None else quick[0]
        self._batch = _Batch(batch) if batch else None
        self._kept = owner, constants, quick
        self._constants = ctypes.c_void_p(constants.ctypes.data)
        self._inputs = [(width,) for width in widths]
        self._unused = (None,) * (INPUT_POINTERS - len(widths))
        self.shape = shape
        self._lanes = lanes

    def attempt(self, *inputs: Array, out: Array | None = None) -> Array | None:
        """Run a kernel; None if there is none for these arguments."""
        if len(inputs) != len(self._inputs):
            return None
        copies = []  # bytes are the quickest way to a pointer
        for array, shape in zip(inputs, self._inputs):
            if type(array) is not _ARRAY or array.dtype is not _FLOAT:
                return None
            if array.shape != shape:
                return self._attempt_batch(inputs, out)
            copies.append(array.tobytes())
        result = np.empty(self.shape) if out is None else out
        if self._single is None or not _fits(result, self.shape):
            return None
        writable: Any = result  # for the type checker, which knows no buffers in Python 3.11
        pointer = ctypes.byref(ctypes.c_double.from_buffer(writable)) if result.size else None
        status = self._single(*copies, *self._unused, self._constants, pointer)
        return result if status == 0 else None

    def _attempt_batch(self, inputs: tuple[Array, ...], out: Array | None) -> Array | None:
        count = len(inputs[0]) if inputs[0].ndim == 2 else 0
        if any(type(array) is not _ARRAY or array.dtype is not _FLOAT
               or array.shape != (count, *shape)
               or not array.flags.c_contiguous or not array.flags.aligned
               or (out is not None and np.may_share_memory(array, out))
               for array, shape in zip(inputs, self._inputs)):
            return None
        result = np.empty((count, *self.shape)) if out is None else out
        if not _fits(result, (count, *self.shape)):
            return None
        if count < self._lanes:
            rows = (self.attempt(*(array[i] for array in inputs), out=result[i])
                    for i in range(count))
            return None if any(row is None for row in rows) else result
        if self._batch is None:
            return None
        pointers = (array.ctypes.data for array in inputs)
        status = self._batch(count, *pointers, *self._unused, self._constants,
                             result.ctypes.data)
        return result if status == 0 else None


def _fits(out: Array, shape: tuple[int, ...]) -> bool:
    """Return whether a kernel can write a result there."""
    return (type(out) is _ARRAY and out.dtype is _FLOAT and out.shape == shape
            and out.flags.carray)


def _declines(*_: Any) -> None:
    """Return None: there is no kernel for these arguments."""


def ctypes_function(fallback: Callable[..., Array], calls: Calls, key: str,
                    key_with_wrench: str) -> Callable[..., Array]:
    """Return a function without the C extension; see `new_function`."""
    empty = np.empty

    @wraps(fallback)
    def function(*inputs: Any, wrench: ArrayLike | None = None, out: Array | None = None,
                 **others: Any) -> Array:
        arrays = inputs if wrench is None else (*inputs, wrench)
        call: Any = calls[0].get(key if wrench is None else key_with_wrench)
        if call is not None and not others:
            result: Array | None = call.quick(*arrays, empty(call.shape) if out is None else out)
            if result is not None:
                return result
            result = call.attempt(*arrays, out=out)
            if result is not None:
                return result
        if wrench is not None:
            others['wrench'] = wrench
        return fallback(*inputs, out=out, **others)

    return function


def checked_out(out: Array | None, shape: tuple[int, ...]) -> Array | None:
    """Return `out` if a kernel can write there; None if it cannot."""
    if out is None:
        return None
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != shape:
        raise StateError(f'out must be a float64 array of shape {shape}')
    if not out.flags.writeable:
        raise StateError('out is read-only')
    return out if out.flags.c_contiguous and out.flags.aligned else None
