# SPDX-License-Identifier: Apache-2.0
"""Calls of compiled kernels without the C extension: numba unpacks the arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.codegen.llvm.source import INPUT_POINTERS


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
        call = _call(len(arrays), batch)
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


@lru_cache(maxsize=2 * INPUT_POINTERS)
def _call(inputs: int, batch: bool = False) -> Callable[..., int]:
    """Return a function, compiled by numba, that checks sizes and calls an address."""
    import numba
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    vector, integer = types.float64[::1], types.int64
    arrays = (vector,) * (inputs + 1)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Write the call: arguments are address, constants, count, result and inputs."""
        address, constants, count, *values = arguments
        out, *pointers = (context.make_array(vector)(context, builder, value).data
                          for value in values)
        pointers += pointers[:1] * (INPUT_POINTERS - inputs)  # not looked at
        pointers = [*pointers, builder.inttoptr(constants, out.type), out]
        passed = [count, *pointers] if batch else pointers
        function = ir.FunctionType(ir.IntType(32), [value.type for value in passed])
        return builder.call(builder.inttoptr(address, function.as_pointer()), passed)

    names = ', '.join('abcd'[:inputs])
    namespace: dict[str, Any] = {'kernel': intrinsic(_with_arguments(
        inputs, lambda: (types.int32(integer, integer, integer, *arrays), generate)))}
    # numba has no variable number of arrays
    exec('def entry(header, out, ' + names + '):\n'
         '    joints, count = header[4], a.size // header[4]\n'
         '    if count * joints != a.size or count * header[5] != out.size or (\n'
         '            header[2] == 0 and count != 1):\n'
         '        return 1\n'
         '    if header[3] == 0 and not (' + ' == '.join(f'{n}.size' for n in 'aabcd'[:inputs + 1])
         + '):\n        return 1\n'
         '    return kernel(header[0], header[1], count, out, ' + names + ')\n', namespace)
    # without numba's reference counts arrays are unpacked in half the time
    options: dict[str, Any] = {'_nrt': False, 'nogil': batch}
    signature = types.int32(types.int64[::1], *arrays)
    entry: Callable[..., int] = numba.njit(signature, **options)(namespace['entry'])
    return entry


def _with_arguments(inputs: int, result: Callable[[], Any]) -> Callable[..., Any]:
    """Return a function of a context, three numbers, the result and the inputs."""
    namespace: dict[str, Any] = {'result': result}
    exec('def typed(context, address, constants, count, out, ' + ', '.join('abcd'[:inputs])
         + '):\n    return result()\n', namespace)
    typed: Callable[..., Any] = namespace['typed']
    return typed
