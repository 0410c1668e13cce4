# SPDX-License-Identifier: Apache-2.0
"""Calls of compiled kernels without the C extension: numba unpacks the arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.chain.pose import Array
from robot_dynamics_ros.codegen.llvm_source import INPUT_POINTERS


class _Header(NamedTuple):
    """
    What a call needs besides arrays.

    :param key: of the constants.
    :param constants: those in use when the header was made.
    :param numbers: address of the kernel, address of the constants, 1 for a batch, 1 if the
        sizes of the inputs have been checked, number of joints, size of one result.
    """

    key: str
    constants: Array
    numbers: NDArray[np.int64]


class NumbaEntry:
    """The same as the C extension, several times slower; parameters as for `new_entry`."""

    def __init__(self, fallback: Callable[..., Array], constants: list[dict[str, Array]],
                 joints: int, shape: tuple[int, ...], lanes: int) -> None:
        """Know no kernel yet."""
        self._fallback = fallback
        self._constants = constants
        self._joints = joints
        self._shape = shape
        self._lanes = lanes
        self._kernels: dict[tuple[bool, bool], tuple[str, int]] = {}
        self._owners: list[object] = []

    def bind(self, with_wrench: bool, batch: bool, key: str, address: int,
             owner: object) -> None:
        """Use the kernel at an address."""
        self._owners.append(owner)
        self._kernels[with_wrench, batch] = key, address

    def _header(self, with_wrench: bool, batch: bool, checked: bool) -> _Header | None:
        """Return a header for the constants in use; None if there is no kernel."""
        key, address = self._kernels.get((with_wrench, batch), ('', 0))
        constants = self._constants[0].get(key)
        if constants is None:
            return None
        return _Header(key, constants, np.array(
            [address, constants.ctypes.data, batch, checked, self._joints,
             math.prod(self._shape)], dtype=np.int64))

    @cached_property
    def direct(self) -> Callable[..., Array]:
        """A function that takes the quickest way for one state, and the fallback for the rest."""
        constants, fallback = self._constants, self._fallback
        header: _Header | None = None

        def direct(*inputs: ArrayLike, out: Array | None = None, **others: Any) -> Array:
            nonlocal header
            if out is not None and not others:
                known = header
                if known is None or constants[0].get(known[0]) is not known[1]:
                    known = header = self._header(with_wrench=False, batch=False, checked=False)
                try:
                    if known is not None and _call(len(inputs))(known[2], out, *inputs) == 0:
                        return out
                except TypeError:  # other arrays than numba expects
                    pass
            return fallback(*inputs, out=out, **others)

        return direct

    def attempt(self, *inputs: Array, wrench: Array | None = None,
                out: Array | None = None) -> Array | None:
        """Run a kernel on arrays whose sizes fit together."""
        arrays = inputs if wrench is None else (*inputs, wrench)
        states = inputs[0].shape[:-1]
        batch = bool(states) and states[0] >= self._lanes
        header = self._header(wrench is not None, batch, checked=True)
        if header is None or (out is not None
                              and any(np.may_share_memory(out, array) for array in arrays)):
            return None
        call = _call(len(arrays))
        result = np.empty(states + self._shape) if out is None else out
        if batch or not states:
            flat = (_writable(array).reshape(-1) for array in (result, *arrays))
            return result if call(header.numbers, *flat) == 0 else None
        for i in range(states[0]):
            flat = (_writable(array[i]).reshape(-1) for array in (result, *arrays))
            if call(header.numbers, *flat) != 0:
                return None
        return result


def _writable(array: Array) -> Array:
    """Return an array of the one type that the compiled calls take."""
    return array if array.flags.writeable else array.copy()


@lru_cache(maxsize=INPUT_POINTERS)
def _call(inputs: int) -> Callable[..., int]:
    """Return a function, compiled by numba, that checks sizes and calls an address."""
    import numba
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    def calling(*kinds: Any) -> Any:
        """Return numba's description of a call: the address first, then these types."""
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            native = [context.get_value_type(kind) for kind in kinds]
            function = ir.FunctionType(ir.IntType(32), native)
            return builder.call(builder.inttoptr(arguments[0], function.as_pointer()),
                                arguments[1:])

        return types.int32(types.int64, *kinds), generate

    pointers = (types.uintp,) * (INPUT_POINTERS + 2)
    call_single: Any = intrinsic(lambda context, address, a, b, c, d, k, out: calling(*pointers))
    call_batch: Any = intrinsic(lambda context, address, count, a, b, c, d, k, out:
                                calling(types.int64, *pointers))

    @numba.njit
    def call(header, out, a, b, c, d):  # type: ignore[no-untyped-def]
        address, k, batch = header[0], header[1], header[2]
        checked, joints, size = header[3], header[4], header[5]
        count = a.size // joints
        pointers = (a.ctypes.data, b.ctypes.data, c.ctypes.data, d.ctypes.data)
        if (count * joints != a.size or count * size != out.size or (batch == 0 and count != 1)
                or (checked == 0 and not a.size == b.size == c.size == d.size)):
            return types.int32(1)
        if batch:
            return call_batch(address, count, *pointers, k, out.ctypes.data)
        return call_single(address, *pointers, k, out.ctypes.data)

    vector = types.float64[::1]
    arguments = ', '.join('abcd'[:inputs])
    # pointers that a kernel does not look at are those of its first input
    source = (f'def entry(header, out, {arguments}):\n'
              f'    return call(header, out, {arguments}{", a" * (INPUT_POINTERS - inputs)})\n')
    namespace: dict[str, Any] = {'call': call}
    exec(source, namespace)  # numba has no variable number of arrays
    entry: Callable[..., int] = numba.njit(
        types.int32(types.int64[::1], vector, *(vector,) * inputs), nogil=True)(namespace['entry'])
    return entry
