# SPDX-License-Identifier: Apache-2.0
"""
Kernels for one state as built-in functions of Python, where the C extension has not been built.

ctypes takes two microseconds for a call with six pointers. So the checks of the arrays and the
call of the kernel are printed as LLVM source, too, and Python makes a built-in function of them.
It reads the fields of an array where every compiled extension of numpy does (numpy's binary
interface, PyArrayObject_fields), on interpreters with the usual head of objects.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.codegen.llvm.machine import LoadedFunction, this_machine
from robot_dynamics_ros.codegen.llvm.source import INPUT_POINTERS

#: Places of fields in objects and arrays [bytes].
_TYPE, _DATA, _DIMENSIONS, _SHAPE, _DESCRIPTION, _FLAGS = 8, 16, 24, 32, 56, 64
_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x100, 0x400

#: METH_FASTCALL: a function of an array of arguments and their number.
_FAST_CALL = 0x80

#: Returns its last argument, written to, or None if there is no kernel for the arguments.
Builtin = Callable[..., Array | None]


class _Method(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = (('name', ctypes.c_char_p), ('address', ctypes.c_void_p),
                ('flags', ctypes.c_int), ('doc', ctypes.c_char_p))


def builtin_of(kernel: int, constants: Array, widths: tuple[int, ...],
               shape: tuple[int, ...]) -> tuple[Builtin, object] | None:
    """
    Return a function of input arrays and an array for the result, and what it needs to live.

    :param kernel: address of the kernel for one state.
    :param constants: k0, k1, ... of the kernel.
    :param widths: entries of each input.
    :param shape: shape of the result.
    :returns: None on interpreters whose objects look different.
    """
    if not _usual_objects():
        return None
    code = _entry(widths, shape)
    method = _Method(b'kernel', code.address, _FAST_CALL, None)
    # the function is the only one that sees this array, and keeps it
    addresses = np.array([kernel, constants.ctypes.data], np.int64)
    new = ctypes.pythonapi['PyCFunction_NewEx']
    new.restype = ctypes.py_object
    new.argtypes = ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p
    return new(ctypes.addressof(method), addresses, None), (method, code, constants)


@lru_cache(maxsize=1)
def _usual_objects() -> bool:
    """Return whether objects have a count and a type as head, and arrays the fields above."""
    if sys.implementation.name != 'cpython' or object.__basicsize__ != 16:
        return False
    array = np.zeros((2, 3))

    def field(kind: Any, place: int) -> int:
        return int(kind.from_address(id(array) + place).value)

    pointer, number = ctypes.c_ssize_t, ctypes.c_int
    shape = field(pointer, _SHAPE)
    return ((field(pointer, _TYPE), field(pointer, _DATA), field(number, _DIMENSIONS),
             field(pointer, _DESCRIPTION), field(number, _FLAGS))
            == (id(np.ndarray), array.ctypes.data, 2, id(array.dtype), array.flags.num)
            and list((ctypes.c_ssize_t * 2).from_address(shape)) == [2, 3])


@lru_cache(maxsize=256)
def _entry(widths: tuple[int, ...], shape: tuple[int, ...]) -> LoadedFunction:
    machine = this_machine()
    return machine.load(machine.compile(_source(widths, shape)), 'entry')


def _source(widths: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """Return LLVM source of a function (self, arguments, their number)."""
    readable = _CONTIGUOUS | _ALIGNED
    arrays = [*(((width,), readable) for width in widths), (shape, readable | _WRITEABLE)]
    lines = [f'%enough = icmp eq i64 %count, {len(arrays)}',
             'br i1 %enough, label %array0, label %none']
    for i, (lengths, flags) in enumerate(arrays):
        lines += _array(i, lengths, flags)
    data = ', '.join(f'ptr %data{min(i, len(widths) - 1)}' for i in range(INPUT_POINTERS))
    return '\n'.join([
        'define ptr @entry(ptr %self, ptr %arguments, i64 %count) {', *lines,
        f'array{len(arrays)}:', *_field('%addresses', '%self', _DATA, 'ptr'),
        *_field('%kernel', '%addresses', 0, 'ptr'),
        *_field('%constants', '%addresses', 8, 'ptr'),
        f'%status = call i32 %kernel({data}, ptr %constants, ptr %data{len(widths)})',
        '%done = icmp eq i32 %status, 0', 'br i1 %done, label %end, label %none',
        'none:', 'br label %end', 'end:',
        f'%result = phi ptr [%a{len(widths)}, %array{len(arrays)}], '
        f'[{_pointer(id(None))}, %none]',
        f'call void {_pointer(_address_of("Py_IncRef"))}(ptr %result)',
        'ret ptr %result', '}'])


def _array(i: int, lengths: tuple[int, ...], flags: int) -> list[str]:
    """Return the checks of one argument, which end at the label of the next one."""
    def goes_on(condition: str, label: str) -> list[str]:
        return [f'br i1 {condition}, label %{label}, label %none', f'{label}:']

    lines = [f'array{i}:', *_field(f'%a{i}', '%arguments', 8 * i, 'ptr'),
             *_field(f'%type{i}', f'%a{i}', _TYPE, 'ptr'),
             f'%array{i}_ = icmp eq ptr %type{i}, {_pointer(id(np.ndarray))}',
             *goes_on(f'%array{i}_', f'is_array{i}'),
             *_field(f'%dims{i}', f'%a{i}', _DIMENSIONS, 'i32'),
             f'%dims{i}_ = icmp eq i32 %dims{i}, {len(lengths)}',
             *goes_on(f'%dims{i}_', f'has_dims{i}'),
             *_field(f'%kind{i}', f'%a{i}', _DESCRIPTION, 'ptr'),
             f'%good{i}_0 = icmp eq ptr %kind{i}, {_pointer(id(np.dtype(np.float64)))}',
             *_field(f'%flags{i}', f'%a{i}', _FLAGS, 'i32'),
             f'%needed{i} = and i32 %flags{i}, {flags}',
             f'%flags{i}_ = icmp eq i32 %needed{i}, {flags}',
             f'%good{i}_1 = and i1 %good{i}_0, %flags{i}_',
             *_field(f'%shape{i}', f'%a{i}', _SHAPE, 'ptr')]
    for k, length in enumerate(lengths):
        lines += [*_field(f'%length{i}_{k}', f'%shape{i}', 8 * k, 'i64'),
                  f'%length{i}_{k}_ = icmp eq i64 %length{i}_{k}, {length}',
                  f'%good{i}_{k + 2} = and i1 %good{i}_{k + 1}, %length{i}_{k}_']
    return [*lines, *_field(f'%data{i}', f'%a{i}', _DATA, 'ptr'),
            f'br i1 %good{i}_{len(lengths) + 1}, label %array{i + 1}, label %none']


def _field(value: str, base: str, place: int, kind: str) -> list[str]:
    """Return the instructions that read a field."""
    return [f'{value}_at = getelementptr i8, ptr {base}, i64 {place}',
            f'{value} = load {kind}, ptr {value}_at']


def _pointer(address: int) -> str:
    return f'inttoptr (i64 {address} to ptr)'


def _address_of(name: str) -> int:
    """Return the address of a function of Python."""
    return ctypes.cast(ctypes.pythonapi[name], ctypes.c_void_p).value or 0
