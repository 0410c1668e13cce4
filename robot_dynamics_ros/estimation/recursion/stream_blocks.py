# SPDX-License-Identifier: Apache-2.0
"""
Blocks of time of a stream, for standard deviations by the jackknife.

The errors of neighbouring samples are alike: a friction law that is wrong is wrong as long as the
motion lasts. A recursion that takes samples for independent is therefore far too sure. So the rows
are also gathered in blocks, each reduced to a triangle. While the stream grows the blocks do, too:
pairs of them are merged, until they are as long as the memory allows; then the oldest goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.regression.jackknife import jackknife_deviations
from robot_dynamics_ros.estimation.regression.least_squares import HUBER, upper_triangle
from robot_dynamics_ros.estimation.regression.prior import Prior

#: Number of samples in the first blocks, and of those reduced at once.
_FIRST, _AT_ONCE = 16, 16

#: Number of blocks that is too many; half of them must be enough for a standard deviation.
_MOST = 24

#: Fewer blocks than this say nothing. Until then neighbours are taken to be alike for so many
#: samples.
_FEWEST, _ALIKE = 4, 16.0


class StreamBlocks:
    """
    Rows of a stream in blocks of time, as triangles [R | z] that fade like the recursion.

    :param unknowns: number of unknowns u.
    :param joints: number of joints n.
    :param horizon: number of samples after which the weight of a sample has fallen to 1/e.
    """

    def __init__(self, unknowns: int, joints: int, horizon: float) -> None:
        self._longest = max(horizon / 4.0, float(_FIRST))
        self._length, self._filled = _FIRST, 0  # samples of a block, and of the last one
        self._blocks: list[Array] = []
        self._rows = np.zeros((_AT_ONCE, joints, unknowns + 1))
        self._waiting, self._fade = 0, 1.0
        self._known: Array | None = None  # standard deviations since the last change

    def add(self, Y: Array, tau: Array, error: Array, sigma: Array, scale: float) -> None:
        """
        Take one sample.

        :param Y: (n, u) regressor.
        :param tau: (n,) torque [N m, N].
        :param error: (n,) error of its prediction [N m, N]; NaN = not measured.
        :param sigma: (n,) standard deviations of these errors [N m, N].
        :param scale: factor of the older rows: what the recursion has multiplied its triangle by.
        """
        size = np.abs(error) / sigma
        weight = np.sqrt(np.minimum(1.0, HUBER / np.maximum(size, 1e-9))) / sigma
        row = self._rows[self._waiting]
        self._rows[:self._waiting] *= scale
        row[:, :-1], row[:, -1] = Y, tau
        row *= weight[:, None]
        row[~np.isfinite(error)] = 0.0
        self._waiting += 1
        self._fade *= scale
        if self._waiting == _AT_ONCE:
            self._reduce()

    def _reduce(self) -> None:
        """Reduce the rows that wait."""
        self._known = None
        for block in self._blocks:
            block *= self._fade
        if not self._blocks or self._filled >= self._length:
            self._make_room()
            self._blocks.append(np.zeros((self._rows.shape[2],) * 2))
            self._filled = 0
        rows = self._rows[:self._waiting].reshape(-1, self._rows.shape[2])
        self._blocks[-1] = _triangle([self._blocks[-1], rows])
        self._filled += self._waiting
        self._waiting, self._fade = 0, 1.0

    def _make_room(self) -> None:
        """Merge blocks, or drop the oldest, where there are too many."""
        if len(self._blocks) < _MOST:
            return
        if 2 * self._length <= self._longest:
            pairs = zip(self._blocks[::2], self._blocks[1::2])
            self._blocks = [_triangle(pair) for pair in pairs]
            self._length *= 2
        else:
            del self._blocks[0]

    def shift(self, by: Array) -> None:
        """Move the origin of the unknowns by (u,): the same rows explain x + by."""
        for rows in (*self._blocks, self._rows[:self._waiting]):
            rows[..., -1] += rows[..., :-1] @ by

    def standard_deviations(self, prior: Prior, recursion: Array) -> Array:
        """
        Return the standard deviations of the unknowns (u,).

        :param prior: belief about the unknowns.
        :param recursion: (u,) standard deviations as if all samples were independent, for the
            beginning of a stream.
        """
        if self._known is not None:
            return self._known
        parts = self._blocks
        if len(parts) > _FEWEST and 2 * self._filled < self._length:  # too short to be left out
            parts = [*parts[:-2], np.vstack(parts[-2:])]
        if len(parts) < _FEWEST:
            by_prior = np.minimum(recursion / prior.standard_deviations, 1.0) ** 2
            return np.asarray(recursion * np.sqrt(_ALIKE * (1.0 - by_prior) + by_prior))
        u, sigma = prior.mean.size, prior.standard_deviations
        start = np.column_stack([np.diag(1.0 / sigma), prior.mean / sigma])
        R = upper_triangle(np.vstack([start, *parts]))
        x = np.linalg.solve(R[:u, :u], R[:u, u])
        self._known = jackknife_deviations(
            [np.column_stack([part[:, :u], part[:, u] - part[:, :u] @ x]) for part in parts],
            sigma)
        return self._known

    def state(self) -> dict[str, Array]:
        """Return what later standard deviations depend on, for `restore`."""
        if self._waiting:
            self._reduce()
        blocks = np.zeros((_MOST, *(self._rows.shape[2],) * 2))
        blocks[:len(self._blocks)] = self._blocks or 0.0
        return {'blocks': blocks,
                'block_counters': np.array([len(self._blocks), self._length, self._filled])}

    def restore(self, state: Mapping[str, Array]) -> None:
        """
        Continue from the blocks of another stream with the same unknowns.

        :param state: arrays returned by `state`.
        :raises ParameterError: blocks of other unknowns, or such as no stream can have.
        """
        if 'blocks' not in state:  # of a version that had none
            return
        for name, values in self.state().items():
            given = state.get(name)
            if given is None or given.shape != values.shape or not np.all(np.isfinite(given)):
                raise ParameterError(f'online estimation: {name} of the state is missing, has '
                                     'another size or is not finite')
        number, length, filled = (int(value) for value in state['block_counters'])
        if not (0 <= number <= _MOST and _FIRST <= length <= 2**40 and filled >= 0):
            raise ParameterError('online estimation: the state holds blocks that no stream has')
        self._blocks = [block.copy() for block in state['blocks'][:number]]
        self._length, self._filled, self._known = length, filled, None
        self._waiting, self._fade = 0, 1.0


def _triangle(parts: Sequence[Array]) -> Array:
    """Return the triangle of stacked rows, in the same layout as one that was stored."""
    return np.ascontiguousarray(upper_triangle(np.vstack(parts)))
