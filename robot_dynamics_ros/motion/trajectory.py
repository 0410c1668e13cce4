# SPDX-License-Identifier: Apache-2.0
"""
A joint trajectory and the curve that ros2_control's joint_trajectory_controller makes of it.

The controller joins two points by a polynomial whose degree depends on what BOTH points fill:
positions only: linear; and velocities: cubic; and accelerations: quintic. Efforts are always
interpolated linearly. A point that is sampled exactly belongs to the segment that begins there.
After the last point the controller holds that point, with zero for what it does not fill.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.arrays import Array, freeze, read_only
from robot_dynamics_ros.errors import TrajectoryError

#: Number of segments whose polynomials are made together where one time is sampled.
_PART = 256

_OPTIONAL = ('velocities', 'accelerations', 'efforts')


class TrajectorySample(NamedTuple):
    """
    The curve at one time (n,) or at N times (N, n).

    :param q: positions [rad, m].
    :param qd: velocities [rad/s, m/s].
    :param qdd: accelerations [rad/s^2, m/s^2].
    :param effort: feedforward efforts [N m, N]; zero where the trajectory has none.
    """

    q: Array
    qd: Array
    qdd: Array
    effort: Array


@dataclass(frozen=True, eq=False)
class Trajectory:
    """
    Waypoints of n joints. A row of NaN means that the point does not fill that field.

    :param joint_names: n different names; the order of all columns.
    :param times: (N,) time from start [s], not negative, strictly increasing, N >= 1.
    :param positions: (N, n) [rad, m].
    :param velocities: (N, n) [rad/s, m/s], or None.
    :param accelerations: (N, n) [rad/s^2, m/s^2], or None.
    :param efforts: (N, n) [N m, N], or None.
    :raises TrajectoryError: wrong sizes, times that do not increase, a number that is not
        finite, accelerations without velocities.
    """

    joint_names: tuple[str, ...]
    times: Array
    positions: Array
    # None is replaced by rows of NaN, so that everybody after the constructor sees arrays
    velocities: Array = None  # type: ignore[assignment]
    accelerations: Array = None  # type: ignore[assignment]
    efforts: Array = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Copy the arrays, make them read-only and check them."""
        names = tuple(self.joint_names)
        object.__setattr__(self, 'joint_names', names)
        if not names or len(set(names)) != len(names):
            raise TrajectoryError(f'joint_names must be different names, got {list(names)}')
        freeze(self, 'times')
        if self.times.ndim != 1 or not self.times.size:
            raise TrajectoryError('a trajectory needs at least one point')
        shape = (self.times.size, len(names))
        for field in ('positions', *_OPTIONAL):
            given = getattr(self, field)
            values = read_only(np.full(shape, np.nan) if given is None else given)
            if values.shape != shape:
                raise TrajectoryError(f'{field} has shape {values.shape}, expected {shape}: '
                                      f'{shape[0]} points of {shape[1]} joints')
            object.__setattr__(self, field, values)
        self._check_times()
        self._check_fields()

    def _check_times(self) -> None:
        if not np.all(np.isfinite(self.times)) or self.times[0] < 0.0:
            raise TrajectoryError('time_from_start must be finite and not negative; the first '
                                  f'point has {self.times[0]} s')
        late = np.flatnonzero(np.diff(self.times) <= 0.0)
        if late.size:
            i = int(late[0])
            raise TrajectoryError(f'time_from_start must increase strictly: point {i} is at '
                                  f'{self.times[i]} s, point {i + 1} at {self.times[i + 1]} s')

    def _check_fields(self) -> None:
        for field in ('positions', *_OPTIONAL):
            bad = ~np.isfinite(getattr(self, field))
            if field in _OPTIONAL:
                bad &= ~np.all(np.isnan(getattr(self, field)), axis=1, keepdims=True)
            if np.any(bad):
                point, joint = (int(index) for index in np.argwhere(bad)[0])
                value = getattr(self, field)[point, joint]
                raise TrajectoryError(f'joint {self.joint_names[joint]}: {field} of point {point} '
                                      f'is not finite ({value})')
        lonely = np.flatnonzero(~np.isnan(self.accelerations[:, 0])
                                & np.isnan(self.velocities[:, 0]))
        if lonely.size:
            raise TrajectoryError(f'point {int(lonely[0])} has accelerations but no velocities: '
                                  'joint_trajectory_controller has no curve for that; fill the '
                                  'velocities or leave the accelerations empty')

    def __len__(self) -> int:
        """Return the number of points N."""
        return self.times.size

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    @cached_property
    def degrees(self) -> NDArray[np.int64]:
        """Degree (N - 1,) of the curve between point i and point i + 1: 1, 3 or 5."""
        velocities = ~np.isnan(self.velocities[:, 0])
        accelerations = ~np.isnan(self.accelerations[:, 0])
        cubic = velocities[:-1] & velocities[1:]
        quintic = cubic & accelerations[:-1] & accelerations[1:]
        return 1 + 2 * cubic.astype(np.int64) + 2 * quintic.astype(np.int64)

    @cached_property
    def _coefficients(self) -> Array:
        """
        Polynomial coefficients (6, N + 1, n) of each piece in the time since its start.

        Piece 0 is the rest before the first point, piece i the segment that begins at point i - 1,
        piece N the last point that is held.
        """
        T = np.diff(self.times)[:, None]
        start, end = self.positions[:-1], self.positions[1:]
        c = np.zeros((6, len(self) - 1, len(self.joint_names)))
        c[0] = start
        c[1] = (end - start) / T
        for degree in (3, 5):
            rows = self.degrees == degree
            t, step = T[rows], end[rows] - start[rows]
            v0, v1 = self.velocities[:-1][rows], self.velocities[1:][rows]
            if degree == 3:
                c[1, rows] = v0
                c[2, rows] = (3.0 * step - (2.0 * v0 + v1) * t) / t**2
                c[3, rows] = (-2.0 * step + (v0 + v1) * t) / t**3
            else:
                a0, a1 = self.accelerations[:-1][rows], self.accelerations[1:][rows]
                c[1, rows] = v0
                c[2, rows] = 0.5 * a0
                c[3, rows] = (20.0 * step - (12.0 * v0 + 8.0 * v1) * t
                              - (3.0 * a0 - a1) * t**2) / (2.0 * t**3)
                c[4, rows] = (-30.0 * step + (16.0 * v0 + 14.0 * v1) * t
                              + (3.0 * a0 - 2.0 * a1) * t**2) / (2.0 * t**4)
                c[5, rows] = (12.0 * step - 6.0 * (v0 + v1) * t
                              - (a0 - a1) * t**2) / (2.0 * t**5)
        ends = np.zeros((2, 6, 1, len(self.joint_names)))
        ends[0, 0], ends[1, 0] = self.positions[0], self.positions[-1]
        ends[1, 1] = np.nan_to_num(self.velocities[-1])
        ends[1, 2] = 0.5 * np.nan_to_num(self.accelerations[-1])
        return np.concatenate([ends[0], c, ends[1]], axis=1)

    @cached_property
    def _efforts(self) -> tuple[Array, Array]:
        """Effort at the start of each piece, and its slope, (N + 1, n) both."""
        e = np.nan_to_num(self.efforts)
        rest = np.zeros((1, len(self.joint_names)))
        slopes = np.diff(e, axis=0) / np.diff(self.times)[:, None]
        return np.concatenate([e[:1], e]), np.concatenate([rest, slopes, rest])

    def sample(self, times: ArrayLike) -> TrajectorySample:
        """
        Return the curve of joint_trajectory_controller.

        :param times: time from start [s], a number or (N,). Before the first point: that point
            at rest; from the last point on: that point, zero for what it does not fill.
        """
        t = np.asarray(times, dtype=np.float64)
        if t.ndim == 0 and len(self) > 2 * _PART:
            return self._part_at(float(t)).sample(t)
        piece = np.searchsorted(self.times, t, side='right')
        moving = (piece > 0) & (piece < len(self))
        # at rest nothing depends on the time, however far away it is
        s = np.where(moving, t - self.times[piece - 1], 0.0)[..., None]
        c = self._coefficients[:, piece]
        effort, slope = self._efforts
        return TrajectorySample(
            c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5])))),
            c[1] + s * (2.0 * c[2] + s * (3.0 * c[3] + s * (4.0 * c[4] + s * 5.0 * c[5]))),
            2.0 * c[2] + s * (6.0 * c[3] + s * (12.0 * c[4] + s * 20.0 * c[5])),
            effort[piece] + s * slope[piece])

    def knots(self) -> Array:
        """Return the times (N + 1,) or (N,) where its curve changes, with 0 and its end [s]."""
        return np.unique(np.concatenate([[0.0], self.times]))

    def largest_velocities(self, begin: Array, end: Array) -> Array:
        """
        Return upper bounds (M, n) of the velocities in M intervals [rad/s, m/s].

        :param begin: (M,) begin of each interval [s].
        :param end: (M,) its end [s]; no knot is in between.
        """
        middle = 0.5 * (begin + end)
        piece = np.searchsorted(self.times, middle, side='right')
        moving = (piece > 0) & (piece < len(self))
        T = np.where(moving, np.diff(self.times, append=self.times[-1])[piece - 1], 0.0)[:, None]
        c = self._coefficients[:, piece]
        # the acceleration of a piece lies inside the hull of its Bernstein coefficients
        a0, a1, a2, a3 = 2.0 * c[2], 6.0 * c[3] * T, 12.0 * c[4] * T**2, 20.0 * c[5] * T**3
        largest = np.max(np.abs([a0, a0 + a1 / 3.0, a0 + (2.0 * a1 + a2) / 3.0,
                                 a0 + a1 + a2 + a3]), axis=0)
        return np.asarray(np.where(moving[:, None], np.abs(self.sample(middle).qd)
                                   + 0.5 * (end - begin)[:, None] * largest, 0.0))

    def _part_at(self, time: float) -> Trajectory:
        """
        Return the points around a time, as a trajectory of its own.

        A control loop asks for one time after the other: it shall not wait for the polynomials of
        a hundred thousand points.
        """
        segment = int(np.searchsorted(self.times[1:-1], time, side='right'))
        first = segment - segment % _PART
        if first not in self._latest_part:
            self._latest_part.clear()
            self._latest_part[first] = self._points(slice(first, first + _PART + 1))
        return self._latest_part[first]

    @cached_property
    def _latest_part(self) -> dict[int, Trajectory]:
        """The part that was sampled last, by its first point."""
        return {}

    def _points(self, points: slice) -> Trajectory:
        fields: dict[str, Any] = {field: getattr(self, field)[points]
                                  for field in ('times', 'positions', *_OPTIONAL)}
        return replace(self, **fields)

    def first_point(self) -> Trajectory:
        """Return the first point alone."""
        return self._points(slice(0, 1))

    def joined_with(self, other: Trajectory) -> Trajectory:
        """Return this trajectory followed by the points of another one of the same joints."""
        fields: dict[str, Any] = {
            field: np.concatenate([getattr(self, field), getattr(other, field)])
            for field in ('times', 'positions', *_OPTIONAL)}
        return replace(self, **fields)

    def with_start(self, time: float, q: ArrayLike, qd: ArrayLike,
                   effort: ArrayLike | None = None) -> Trajectory:
        """
        Return the trajectory with the present state as a new first point.

        The new point fills what the old first point fills, with zero acceleration, as
        joint_trajectory_controller does.

        :param time: time of the new point [s], before the first point.
        :param q: (n,) positions [rad, m].
        :param qd: (n,) velocities [rad/s, m/s].
        :param effort: (n,) effort [N m, N]; None = none.
        """
        start = Trajectory(self.joint_names, np.array([time]), np.atleast_2d(q),
                           np.where(np.isnan(self.velocities[:1]), np.nan, qd),
                           np.where(np.isnan(self.accelerations[:1]), np.nan, 0.0),
                           np.atleast_2d(np.full(len(self.joint_names), np.nan)
                                         if effort is None else effort))
        return start.joined_with(self)

    def begun(self, now: float, q: ArrayLike, qd: ArrayLike,
              effort: ArrayLike | None = None) -> tuple[Trajectory, float]:
        """
        Return the trajectory as a controller runs it that is in a state now.

        Where the first point is still to come, the present state is blended into it.

        :param now: present time [s] from the start of the trajectory; negative before it.
        :param q: (n,) present positions [rad, m].
        :param qd: (n,) present velocities [rad/s, m/s].
        :param effort: (n,) effort that is commanded now [N m, N]; None = none.
        :returns: the trajectory, and how much later its points are than before [s].
        """
        if now >= self.times[0]:
            return self, 0.0
        delay = max(-now, 0.0)
        later = replace(self, times=self.times + delay) if delay else self
        return later.with_start(now + delay, q, qd, effort), delay

    def with_efforts(self, efforts: Array | None) -> Trajectory:
        """Return the trajectory with other (N, n) efforts [N m, N], or without any."""
        changed: dict[str, Any] = {'efforts': efforts}
        return replace(self, **changed)

    def only(self, joint_names: Sequence[str]) -> Trajectory:
        """Return the trajectory of some of its joints, in this order."""
        columns = [self.joint_names.index(name) for name in joint_names]
        fields: dict[str, Any] = {field: getattr(self, field)[:, columns]
                                  for field in ('positions', *_OPTIONAL)}
        return replace(self, joint_names=tuple(joint_names), **fields)

    def completed(self, joint_names: Sequence[str], posture: ArrayLike | None) -> Trajectory:
        """
        Return the trajectory of all joints of a robot: those it does not name stand still.

        :param joint_names: n names; the order of the result.
        :param posture: (n,) positions [rad, m] of the joints that are not named; None = unknown.
        :raises TrajectoryError: an unknown joint, or one that is missing while its position is not
            known.
        """
        if posture is None or not set(self.joint_names) < set(joint_names):
            return self.in_order(joint_names)
        still = [name for name in joint_names if name not in self.joint_names]
        places = [list(joint_names).index(each) for each in still]
        q = np.asarray(posture, dtype=np.float64)[places]
        fields: dict[str, Any] = {'positions': np.hstack(
            [self.positions, np.broadcast_to(q, (len(self), len(still)))])}
        for field in _OPTIONAL:  # zero where the others have a value
            given = getattr(self, field)
            rest = np.where(np.isnan(given[:, :1]), np.nan, 0.0)
            fields[field] = np.hstack([given, np.repeat(rest, len(still), axis=1)])
        whole = replace(self, joint_names=(*self.joint_names, *still), **fields)
        return whole.in_order(joint_names)

    def in_order(self, joint_names: Sequence[str]) -> Trajectory:
        """
        Return the trajectory with its joints in another order.

        :raises TrajectoryError: a joint is missing or unknown.
        """
        if tuple(joint_names) == self.joint_names:
            return self
        missing = [name for name in joint_names if name not in self.joint_names]
        unknown = [name for name in self.joint_names if name not in joint_names]
        if missing or unknown:
            parts = [f'{word} {", ".join(names)}'
                     for word, names in (('missing:', missing), ('unknown:', unknown)) if names]
            raise TrajectoryError(f'the trajectory must name exactly the joints '
                                  f'{", ".join(joint_names)}; {"; ".join(parts)}')
        return self.only(joint_names)
