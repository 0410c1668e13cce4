# SPDX-License-Identifier: Apache-2.0
"""Joint states between arrays and the scalars of the recursions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame, joint_frames
from robot_dynamics_ros.dynamics.scalars.vector import Functions, Scalar
from robot_dynamics_ros.errors import StateError


def state_arrays(chain: Chain, **arrays: ArrayLike | None) -> dict[str, Array]:
    """
    Return arrays of shape (n,) or, all of them, (N, n) as float64, in the given order.

    :param arrays: q, qd, qdd, tau: n entries; wrench: six entries for each tip; None = left out.
    :raises StateError: a wrong size or type, or single and batch mixed.
    """
    given = {name: real_array(name, values)
             for name, values in arrays.items() if values is not None}
    first_name, first = next(iter(given.items()))
    for name, values in given.items():
        width = 6 * len(chain.tips) if name == 'wrench' else len(chain)
        if values.ndim not in (1, 2) or values.shape[-1] != width:
            each = '' if len(chain.tips) == 1 else f' on each of {chain.tip_names}'
            meaning = (f'fx, fy, fz, tx, ty, tz{each}' if name == 'wrench'
                       else ', '.join(chain.joint_names))
            raise StateError(f'{name} has shape {values.shape}, expected ({width},) or '
                             f'(N, {width}): {meaning}')
        if values.shape[:-1] != first.shape[:-1]:
            raise StateError(f'{name} has shape {values.shape} but {first_name} '
                             f'{first.shape}: give one state or N states in all of them')
    return given


def real_array(name: str, values: ArrayLike) -> Array:
    """
    Return values as float64.

    :param name: what they are, for the message.
    :raises StateError: not an array of real numbers.
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind not in 'biuf':
            raise TypeError(f'type {array.dtype}')
    except (TypeError, ValueError) as error:
        raise StateError(f'{name} must be an array of real numbers: {error}') from None
    return array.astype(np.float64, copy=False)


@dataclass(frozen=True)
class Samples:
    """
    One joint state as floats, or N of them as numpy rows (N,).

    :param chain: the robot.
    :param count: N, or None for one state.
    :param valid: which of the states have finite entries only.
    :param scalars: the scalars of each array by its name; 'wrench' has six, the others n.
    """

    chain: Chain
    count: int | None
    valid: Scalar
    scalars: dict[str, list[Scalar]]

    @classmethod
    def of(cls, chain: Chain, **arrays: ArrayLike | None) -> Samples:
        """
        Check and take apart arrays of shape (n,) or, all of them, (N, n).

        :param arrays: q, qd, qdd, tau: n entries; wrench: six for each tip; None = left out.
        :raises StateError: a wrong size, or single and batch mixed.
        """
        given = state_arrays(chain, **arrays)
        first = next(iter(given.values()))
        valid = np.logical_and.reduce([np.isfinite(v).all(axis=-1) for v in given.values()])
        if first.ndim == 1:
            scalars = {name: values.tolist() if valid else [math.nan] * values.size
                       for name, values in given.items()}
            return cls(chain, None, bool(valid), scalars)
        rows = {name: list(np.ascontiguousarray(np.where(valid, values.T, np.nan)))
                for name, values in given.items()}
        return cls(chain, len(first), valid, rows)

    def __getitem__(self, name: str) -> list[Scalar]:
        """Return the scalars of one array."""
        return self.scalars[name]

    @property
    def functions(self) -> Functions:
        """Functions of such scalars."""
        return math if self.count is None else np

    @property
    def frames(self) -> list[JointFrame]:
        """E_0..E_n at `q`."""
        return joint_frames(self.chain, self['q'], self.functions.cos,
                            self.functions.sin)

    def vector(self, values: Sequence[Scalar] | Array) -> Array:
        """Return scalars as an array (n,) or (N, n); NaN for states with non-finite entries."""
        if self.count is None:
            return np.array(values if self.valid else [math.nan] * len(values), dtype=np.float64)
        result = np.empty((self.count, len(values)))
        if isinstance(values, np.ndarray):
            result[...] = values.T
        else:
            for j, value in enumerate(values):
                result[:, j] = value
        result[~self.valid] = np.nan
        return result

    def matrix(self, rows: Sequence[Sequence[Scalar]]) -> Array:
        """Return rows of scalars as an array (n, p) or (N, n, p); NaN as in `vector`."""
        flat = self.vector([value for row in rows for value in row])
        return flat.reshape((*flat.shape[:-1], len(rows), len(rows[0])))
