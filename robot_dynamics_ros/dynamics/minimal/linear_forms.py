# SPDX-License-Identifier: Apache-2.0
"""Named linear combinations of the standard parameters of a chain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.errors import ParameterError

#: Entries smaller than this part of the largest entry of their row are rounding dust. What belongs
#: to a tensor is measured by tensors, not by the lengths that a first moment is multiplied with or
#: by their squares: a frame may be kilometres away.
_DUST = 1e-14

#: Where tensor, first moment and mass begin in the ten parameters of a link.
_UNITS = (0, 6, 9)


#: Name, unit and row of coefficients (10 n,) of one combination.
Form = tuple[str, str, Array]


@dataclass(frozen=True, eq=False)
class LinearForms:
    """
    Combinations w = B x of the standard parameters x.

    :param names: p names.
    :param units: p units.
    :param matrix: B (p, 10 n); rounding dust is removed.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    matrix: Array

    def __post_init__(self) -> None:
        """Remove rounding dust and freeze the matrix."""
        B = np.asarray(self.matrix, dtype=np.float64)
        links = np.abs(B).reshape(len(B), B.shape[1] // 10, 10)
        largest = np.maximum.reduceat(np.max(links, axis=1, initial=0.0), _UNITS, axis=1)
        dust = _DUST * np.repeat(np.maximum.accumulate(largest, axis=1), [6, 3, 1], axis=1)
        object.__setattr__(self, 'matrix', read_only(
            np.where((links <= dust[:, None]).reshape(B.shape), 0.0, B)))

    @classmethod
    def of(cls, forms: Sequence[Form], n: int) -> LinearForms:
        """Return the collected combinations of a chain of n joints; there may be none."""
        rows = np.reshape([row for _, _, row in forms], (len(forms), 10 * n))
        return cls(tuple(name for name, _, _ in forms), tuple(unit for _, unit, _ in forms), rows)


def formula(coefficients: ArrayLike, names: Sequence[str]) -> str:
    """
    Return a combination as text, for example ``ZZ1 + YY2 - 0.2025*M3``.

    :param coefficients: one number per name; zeros are left out.
    """
    text = ''
    for coefficient, name in zip(np.asarray(coefficients, dtype=np.float64), names):
        if coefficient == 0.0:
            continue
        size = f'{abs(coefficient):.12g}'
        term = name if size == '1' else f'{size}*{name}'
        sign = '-' if coefficient < 0.0 else '+'
        text += f' {sign} {term}' if text else (f'-{term}' if sign == '-' else term)
    return text or '0'


def coefficients(text: str, names: Sequence[str]) -> Array:
    """
    Return the numbers that `formula` has written, one per name.

    :param text: formula such as ``ZZ1 + YY2 - 0.2025*M3``.
    :param names: all names that may appear.
    :raises ParameterError: text that is not such a formula, or an unknown name.
    """
    row = np.zeros(len(names))
    places = {name: place for place, name in enumerate(names)}
    terms = '' if text == '0' else text.replace(' - ', ' + -')
    for term in filter(None, terms.split(' + ')):
        size, star, name = term.rpartition('*')
        if not star:
            size, name = ('-1', name[1:]) if name.startswith('-') else ('1', name)
        try:
            row[places[name]] += float(size)
        except (KeyError, ValueError):
            raise ParameterError(f"'{term}' in the formula '{text}' is not of the form "
                                 'number*name with a known name') from None
    return row
