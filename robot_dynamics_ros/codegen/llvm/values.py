# SPDX-License-Identifier: Apache-2.0
"""
Writing LLVM instructions on doubles, or on vectors of doubles: one value per lane.

Results are names such as ``%v12``. Products and sums may be fused (``contract``); nothing else
is relaxed, so NaN and infinity behave as IEEE 754 says.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence


def literal(number: float) -> str:
    """Return a double as LLVM writes it without loss."""
    return f'0x{struct.unpack("<Q", struct.pack("<d", number))[0]:016X}'


class Lines:
    """Instructions of one function, in order."""

    def __init__(self) -> None:
        """Start with none."""
        self.text: list[str] = []
        self._count = 0

    def new(self, instruction: str) -> str:
        """Append an instruction and return the name of its result."""
        self._count += 1
        name = f'%v{self._count}'
        self.text.append(f'  {name} = {instruction}')
        return name

    def add(self, instruction: str) -> None:
        """Append an instruction without result."""
        self.text.append(f'  {instruction}')

    def load(self, pointer: str, place: int | str, type: str = 'double') -> str:
        """Return ``pointer[place]``; places count doubles."""
        address = self.new(f'getelementptr double, ptr {pointer}, i64 {place}')
        return self.new(f'load {type}, ptr {address}, align 8')

    def store(self, value: str, pointer: str, place: int | str, type: str = 'double') -> None:
        """Write ``pointer[place]``."""
        address = self.new(f'getelementptr double, ptr {pointer}, i64 {place}')
        self.add(f'store {type} {value}, ptr {address}, align 8')


class Lanes:
    """
    Arithmetic on values of `width` lanes; width 1 is a plain double.

    :param lines: where the instructions go.
    :param width: number of lanes.
    """

    def __init__(self, lines: Lines, width: int) -> None:
        """Write to `lines`."""
        self.lines = lines
        self.width = width
        self.type = 'double' if width == 1 else f'<{width} x double>'
        self.integer = 'i64' if width == 1 else f'<{width} x i64>'
        self.truth = 'i1' if width == 1 else f'<{width} x i1>'

    def number(self, value: float) -> str:
        """Return a constant, the same in all lanes."""
        return self._same('double', literal(value))

    def _same(self, type: str, text: str) -> str:
        if self.width == 1:
            return text
        return '<' + ', '.join([f'{type} {text}'] * self.width) + '>'

    def operation(self, name: str, a: str, b: str) -> str:
        """Return ``a name b`` with name fadd, fsub, fmul or fdiv."""
        return self.lines.new(f'{name} contract {self.type} {a}, {b}')

    def negative(self, a: str) -> str:
        """Return -a."""
        return self.lines.new(f'fneg {self.type} {a}')

    def absolute(self, a: str) -> str:
        """Return |a|; NaN stays NaN."""
        return self.from_bits(self.on_bits('and', self.bits(a), 2 ** 63 - 1))

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        """Return c0 + c1 x + c2 x^2 + ... by Horner's rule."""
        result = self.number(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            result = self.operation('fadd', self.operation('fmul', result, x),
                                    self.number(coefficient))
        return result

    def bits(self, a: str) -> str:
        """Return the bits of a as integers."""
        return self.lines.new(f'bitcast {self.type} {a} to {self.integer}')

    def from_bits(self, a: str) -> str:
        """Return the doubles that have these bits."""
        return self.lines.new(f'bitcast {self.integer} {a} to {self.type}')

    def on_bits(self, name: str, a: str, b: str | int) -> str:
        """Return an operation on integers: and, xor, shl, add, ..."""
        other = self._same('i64', str(b)) if isinstance(b, int) else b
        return self.lines.new(f'{name} {self.integer} {a}, {other}')

    def is_odd(self, a: str) -> str:
        """Return for every lane whether the last bit is set."""
        return self.lines.new(f'trunc {self.integer} {a} to {self.truth}')

    def choose(self, condition: str, a: str, b: str) -> str:
        """Return a where the condition holds, else b."""
        return self.lines.new(f'select {self.truth} {condition}, {self.type} {a}, {self.type} {b}')

    def greater(self, a: str, b: str) -> str:
        """Return for every lane whether a > b; not so for NaN."""
        return self.lines.new(f'fcmp ogt {self.type} {a}, {b}')

    def any_lane(self, condition: str | None) -> str:
        """Return whether a condition holds in any lane; None = it never does."""
        if condition is None or self.width == 1:
            return condition or 'false'
        bits = self.lines.new(f'bitcast {self.truth} {condition} to i{self.width}')
        return self.lines.new(f'icmp ne i{self.width} {bits}, 0')

    def limited(self, a: str, limit: float) -> str:
        """Return a, but not below -limit or above limit; NaN stays NaN."""
        upper, lower = self.number(limit), self.number(-limit)
        a = self.choose(self.greater(a, upper), upper, a)
        return self.choose(self.greater(lower, a), lower, a)

    def spread(self, scalar: str) -> str:
        """Return a double in all lanes."""
        if self.width == 1:
            return scalar
        first = self.lines.new(f'insertelement {self.type} poison, double {scalar}, i64 0')
        return self.lines.new(f'shufflevector {self.type} {first}, {self.type} poison, '
                              f'<{self.width} x i32> zeroinitializer')

    def packed(self, scalars: Sequence[str]) -> str:
        """Return doubles as lanes; lanes that are left over hold the first one."""
        if self.width == 1:
            return scalars[0]
        result = self.spread(scalars[0])
        for lane, scalar in enumerate(scalars[1:], start=1):
            result = self.lines.new(f'insertelement {self.type} {result}, double {scalar}, '
                                    f'i64 {lane}')
        return result

    def lane(self, a: str, lane: int) -> str:
        """Return one lane as a double."""
        if self.width == 1:
            return a
        return self.lines.new(f'extractelement {self.type} {a}, i64 {lane}')
