# SPDX-License-Identifier: Apache-2.0
"""Motions of a calibration: designed, slowed down, checked against everything around."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.calibration.static_motion import static_motion
from robot_dynamics_ros.calibration.surroundings import Surroundings
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.errors import ExcitationError
from robot_dynamics_ros.estimation.excitation.design import design_excitation
from robot_dynamics_ros.motion.trajectory import Trajectory

#: Points per second of a designed motion [1/s]; the controller's quintics join them.
RATE = 20.0
#: A payload is swung by the last joints, so many at most.
_LAST = 4


@dataclass(frozen=True)
class MotionSettings:
    """
    Settings of the motions.

    :param start: (n,) posture at both ends of all motions [rad, m]; None = found by the design.
    :param duration: duration of the exciting motion [s].
    :param harmonics: its number of harmonics.
    :param share: part of the velocity and effort limits that it uses.
    :param repetitions: number of times that it is played.
    :param rehearsal: velocity of the rehearsal, as a part of that of the motion.
    :param postures: postures of the static test.
    :param reach: largest distance of a joint from the start in the static test [rad, m].
    :param seed: seed of all designs.
    """

    start: tuple[float, ...] | None = None
    duration: float = 10.0
    harmonics: int = 5
    share: float = 0.5
    repetitions: int = 2
    rehearsal: float = 0.1
    postures: int = 5
    reach: float = 0.8
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Motions:
    """
    All motions of a calibration, which begin and end in one posture.

    :param static: motion of the static test.
    :param exciting: exciting motion, once.
    :param lines: what was found out while they were designed.
    """

    static: Trajectory
    exciting: Trajectory
    lines: tuple[str, ...]


def design_motions(chain: Chain, settings: MotionSettings, around: Surroundings) -> Motions:
    """
    Return the motions of a calibration.

    :raises ExcitationError: none is possible.
    """
    found = design_excitation(chain, scene=around.scene, unchecked=around.scene is None,
                              start=settings.start, duration=settings.duration,
                              harmonics=settings.harmonics, share=settings.share,
                              seed=settings.seed)
    times = found.trajectory.times(RATE)
    exciting = Trajectory(chain.joint_names, times, *found.trajectory.sample(times))
    if not around.nearly_free(exciting):
        raise ExcitationError('the exciting motion touches something; choose another start: '
                              f'{around.described(exciting)}')
    static = static_motion(chain, exciting.positions[0], postures=settings.postures,
                           reach=settings.reach, seed=settings.seed, free=around.free)
    note = (found.start_note,) if found.start_note else ()
    lines = (*note,
             f'exciting motion of {exciting.duration:g} s shows {len(found.columns)} parameters, '
             f'condition number {found.condition_number:.1f}; {around.described(exciting)}',
             f'static test of {static.duration:.0f} s; {around.described(static)}')
    return Motions(static, exciting, lines)


def slowed(motion: Trajectory, velocity: float) -> Trajectory:
    """
    Return a motion along the same path with a part of its velocity.

    :param motion: motion with velocities and accelerations.
    :param velocity: part of the velocity, above 0.
    """
    return Trajectory(motion.joint_names, motion.times / velocity, motion.positions,
                      velocity * motion.velocities, velocity**2 * motion.accelerations)


def payload_motion(chain: Chain, start: Array, around: Surroundings, *, duration: float = 12.0,
                   share: float = 0.4) -> Trajectory:
    """
    Return a motion of the last joints before the tip about a posture, at rest at both ends.

    :param chain: the robot.
    :param start: (n,) posture at both ends [rad, m].
    :param around: what is around.
    :param duration: duration of the motion [s].
    :param share: part of the velocity limits, and of the room to the position limits, to use.
    :raises ExcitationError: even a small one touches something.
    """
    n, lower, upper = len(chain), *chain.position_limits
    room = np.minimum(share * np.minimum(upper - start, start - lower), 0.8)
    swings = 2.0 + np.arange(n) % 3
    base = 2.0 * np.pi / duration
    fastest = share * np.nan_to_num(chain.velocity_limits, nan=1.0)
    amplitude: Array = np.minimum(np.maximum(room, 0.0), fastest / (swings * base))
    amplitude[[j for j in range(n) if j not in _joints_before_the_tip(chain)[-_LAST:]]] = 0.0
    t = np.linspace(0.0, duration, round(duration * RATE) + 1)
    for _ in range(4):
        motion = _swinging(chain, start, amplitude, np.asarray(swings * base), t)
        if around.free(motion):
            return motion
        amplitude = 0.5 * amplitude
    raise ExcitationError('no motion of the last joints is free from here: jog the robot to '
                          'another posture')


def _joints_before_the_tip(chain: Chain) -> list[int]:
    """Return the places of the joints on the way to the (first) tip, base first."""
    leaders = {each.number: chain.numbers[each.leader - 1] for each in chain.followers}
    way = [leaders.get(number, number) for number in chain.path(chain.tips[0].joint)]
    return [chain.numbers.index(number) for number in dict.fromkeys(way)]


def _swinging(chain: Chain, start: Array, amplitude: Array, frequency: Array,
              t: Array) -> Trajectory:
    """Return ``start + A sin^2(pi t / T) sin(w t)``, at rest at both ends."""
    half = np.pi / t[-1]
    window, rate, change = (np.sin(half * t)**2, half * np.sin(2.0 * half * t),
                            2.0 * half**2 * np.cos(2.0 * half * t))
    phase = frequency * t[:, None]
    s, c, w = np.sin(phase), np.cos(phase), window[:, None]
    qd = rate[:, None] * s + w * frequency * c
    qdd = change[:, None] * s + 2.0 * rate[:, None] * frequency * c - w * frequency**2 * s
    qd[[0, -1]] = 0.0
    return Trajectory(chain.joint_names, t, start + amplitude * w * s, amplitude * qd,
                      amplitude * qdd)
