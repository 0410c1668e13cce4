# SPDX-License-Identifier: Apache-2.0
"""
A reference without jumps: the motion that a controller follows when its orders change.

A new trajectory, a stop or a start out of any state begins exactly at the present reference (or
the measured state) in position, velocity and acceleration; the difference to the new curve fades
out as a polynomial of fifth degree, slowly enough for the velocity limits of the joints.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.motion.trajectory import Trajectory, TrajectorySample
from robot_dynamics_ros.motion.waypoints import REST_TO_REST_PEAK


class Reference:
    """Stands at a position until a trajectory is to be followed."""

    def __init__(self, joint_names: tuple[str, ...], q: Array, qd: Array, now: float, *,
                 fade: float, speeds: Array) -> None:
        """
        Come to rest from a measured state.

        :param joint_names: n names.
        :param q: (n,) measured positions [rad, m].
        :param qd: (n,) measured velocities [rad/s, m/s].
        :param now: clock time [s].
        :param fade: shortest time in which a difference fades out [s], positive.
        :param speeds: (n,) largest velocity of fading [rad/s, m/s], positive.
        :raises ParameterError: a fade or a velocity that is not positive.
        """
        if not (fade > 0.0 and np.all(speeds > 0.0)):
            raise ParameterError('reference: fade and velocities must be positive, got '
                                 f'{fade} and {speeds}')
        self._names, self._fade, self._speeds = joint_names, fade, speeds
        rest = np.zeros(len(joint_names))
        self._trajectory, self._start = self._standing_at(q), now
        self._offset, self._switched = self._fading(rest, qd, rest), now
        self._offset_after_end: Trajectory | None = None

    def follow(self, trajectory: Trajectory, start: float, now: float) -> None:
        """
        Follow a trajectory from now on.

        :param trajectory: joints in the order of the names; before its first point, the way there
            is part of it.
        :param start: clock time of its time zero [s].
        :param now: clock time [s].
        """
        present = self.sample(now)
        trajectory, delay = trajectory.begun(now - start, present.q, present.qd)
        self._switch(trajectory, start - delay, now)

    def stop(self, now: float) -> None:
        """Come to rest where the reference is now."""
        self._switch(self._standing_at(self.sample(now).q), now, now)

    def ended(self, now: float) -> bool:
        """Return whether the last point of the trajectory has passed."""
        return now - self._start >= self._trajectory.duration

    def sample(self, now: float) -> TrajectorySample:
        """
        Return what to follow at a clock time [s], (n,) each.

        After its last point a trajectory is held at rest, whatever velocity that point has.
        """
        elapsed = now - self._start
        curve = _held_at_end(self._trajectory, elapsed)
        if self._offset_after_end is not None and elapsed >= self._trajectory.duration:
            offset = self._offset_after_end.sample(elapsed - self._trajectory.duration)
        else:
            offset = self._offset.sample(now - self._switched)
        return TrajectorySample(curve.q + offset.q, curve.qd + offset.qd, curve.qdd + offset.qdd,
                                curve.effort)

    def _switch(self, trajectory: Trajectory, start: float, now: float) -> None:
        before, after = self.sample(now), _held_at_end(trajectory, now - start)
        self._offset = self._fading(before.q - after.q, before.qd - after.qd,
                                    before.qdd - after.qdd)
        self._trajectory, self._start, self._switched = trajectory, start, now
        self._offset_after_end = None
        end = start + trajectory.duration
        if end > now:  # the rest of the offset and of the velocity at the end fades out after it
            left, last = self._offset.sample(end - now), trajectory.sample(trajectory.duration)
            self._offset_after_end = self._fading(left.q, left.qd + last.qd, left.qdd + last.qdd)

    def _fading(self, q: Array, qd: Array, qdd: Array) -> Trajectory:
        """Return a motion from a state to zero."""
        far = float(np.max(REST_TO_REST_PEAK * np.abs(q) / self._speeds, initial=0.0))
        zero = np.zeros_like(q)
        return Trajectory(self._names, np.array([0.0, max(self._fade, far)]), np.array([q, zero]),
                          np.array([qd, zero]), np.array([qdd, zero]))

    def _standing_at(self, q: Array) -> Trajectory:
        return Trajectory(self._names, np.zeros(1), np.asarray(q)[None])


def _held_at_end(trajectory: Trajectory, elapsed: float) -> TrajectorySample:
    """Return the curve; at rest from its last point on."""
    curve = trajectory.sample(elapsed)
    if elapsed < trajectory.duration:
        return curve
    rest = np.zeros_like(curve.q)
    return TrajectorySample(curve.q, rest, rest, curve.effort)
