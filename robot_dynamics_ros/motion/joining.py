# SPDX-License-Identifier: Apache-2.0
"""
How a trajectory begins on a controller that is somewhere, and perhaps moving.

Its stamp says when its time zero is. Points that are over by now are skipped, so the present state
belongs where the trajectory is now, not at its time zero. A trajectory of the future begins then,
and what runs goes on until then.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.motion.turns import in_nearest_turn

#: Distance within which two motions meet [rad, m].
MEETING = 1e-3

#: Longest time until a trajectory of the future begins [s]: what runs until then is sent, too.
LONGEST_WAIT = 600.0


@dataclass(frozen=True, eq=False)
class Present:
    """
    What happens while a trajectory arrives.

    :param elapsed: time since the time zero of the new trajectory [s]; negative before it.
    :param measured: fresh joint state, or None.
    :param running: trajectory that is running, joints in the order of the robot, and the time on
        it now [s]; None = none is known.
    """

    elapsed: float = 0.0
    measured: JointSample | None = None
    running: tuple[Trajectory, float] | None = None


@dataclass(frozen=True, eq=False)
class Joined:
    """
    A trajectory that begins where the controller is.

    :param trajectory: trajectory with what goes before its first point.
    :param now: present time on it [s].
    :param delay: time by which its points are later than before [s]; then its time zero is now.
    :param blind: True where nobody knows how the way to the first point begins.
    """

    trajectory: Trajectory
    now: float
    delay: float = 0.0
    blind: bool = False


def joined(trajectory: Trajectory, present: Present, rate: float,
           continuous: NDArray[np.bool_] | None = None) -> Joined:
    """
    Return a trajectory that begins where the controller is.

    :param trajectory: waypoints, joints in the order of the robot.
    :param present: what happens now.
    :param rate: points per second of what goes on until a trajectory of the future begins [1/s].
    :param continuous: (n,) True for joints that turn without end; None = no joint does.
    :raises TrajectoryError: the trajectory has ended already, or begins too late.
    """
    elapsed, first = present.elapsed, float(trajectory.times[0])
    if elapsed > 0.0 and elapsed > trajectory.duration:
        raise TrajectoryError(f'the trajectory ended {elapsed - trajectory.duration:.3f} s ago by '
                              'its stamp; a controller ignores it')
    if elapsed >= first:
        return Joined(trajectory, elapsed)
    now, delay = max(elapsed, 0.0), max(-elapsed, 0.0)
    if not delay <= LONGEST_WAIT:
        raise TrajectoryError(f'the trajectory begins {delay:.3g} s from now by its stamp, more '
                              f'than {LONGEST_WAIT:g} s: send it later')
    later = replace(trajectory, times=trajectory.times + delay) if delay else trajectory
    if delay and present.running is not None:
        before = _until(later, first, delay, present.running, rate, continuous)
        if before is not None:
            return Joined(before.joined_with(later), 0.0, delay)
    measured = present.measured
    if measured is None:
        return Joined(later, now, delay, blind=True)
    q = in_nearest_turn(measured.q, trajectory.positions[0], continuous)
    return Joined(later.with_start(now, q, measured.qd_or_rest), now, delay)


def _until(later: Trajectory, first: float, delay: float, running: tuple[Trajectory, float],
           rate: float, continuous: NDArray[np.bool_] | None) -> Trajectory | None:
    """Return the running motion until another one begins; None where they do not meet."""
    trajectory, elapsed = running
    times = np.arange(0.0, delay - 0.5 / rate, 1.0 / rate)
    if first > 0.0:
        times = np.append(times, delay)  # from there to the first point
    curve = trajectory.sample(elapsed + np.append(times, delay))
    goal: Array = later.positions[0]
    turns = in_nearest_turn(curve.q[-1], goal, continuous) - curve.q[-1]
    if first == 0.0 and np.max(np.abs(curve.q[-1] + turns - goal)) > MEETING:
        return None
    return Trajectory(later.joint_names, times, curve.q[:-1] + turns, curve.qd[:-1],
                      curve.qdd[:-1])
