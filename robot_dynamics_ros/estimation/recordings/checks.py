# SPDX-License-Identifier: Apache-2.0
"""Checks of recordings for the usual mistakes: wrong units, joints without efforts."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.errors import RecordingError
from robot_dynamics_ros.estimation.recordings.recording import Degrees, Recording

#: Differentiated positions and recorded velocities may differ by this factor.
_RATE_FACTOR = 3.0

#: Positions beyond this many times their limits are in another unit; limits where the URDF has
#: none; joints nearer to zero than this are at rest [rad].
_FAR, _TURNS, _RESTING = 1.5, 4.0 * np.pi, 0.1

#: Slope of positions over velocities where one of them is in degrees; it may be off by this part.
_IN_DEGREES: dict[Degrees, float] = {'positions': 180.0 / np.pi, 'velocities': np.pi / 180.0}
_SAME = 0.15

#: Velocities beyond this many times the limit of the joint are in another unit.
_VELOCITY_FACTOR = 10.0


def check_recording(recording: Recording, chain: Chain) -> list[Finding]:
    """
    Return findings about a recording whose joints are in the order of the chain.

    :raises RecordingError: no efforts at all; times or positions in another unit.
    """
    if len(recording) < 3:
        raise RecordingError(f'{recording.source}: {len(recording)} samples are too few')
    dead = ~np.any(np.isfinite(recording.tau) & (recording.tau != 0.0), axis=0)
    if np.all(dead):
        raise RecordingError(f'{recording.source}: no efforts were recorded (all zero or '
                             'missing); nothing can be identified from motion alone')
    unknown = ~np.any(np.isfinite(recording.q), axis=0)
    if np.any(unknown):
        names = ', '.join(np.array(recording.joint_names)[unknown])
        raise RecordingError(f'{recording.source}: joint {names} has no finite position')
    _check_units(recording, chain)
    return [Finding('no_effort', name, 'no effort was recorded (all zero or missing): its torque '
                    'is not used') for name, none in zip(recording.joint_names, dead) if none]


def _check_degrees(recording: Recording, chain: Chain, q: Array) -> None:
    """
    Refuse positions that are degrees: outside the limits, or many turns, while radians fit.

    :param q: (N, n) finite positions.
    """
    lower, upper = chain.position_limits
    limited = np.isfinite(upper - lower)
    room = np.where(limited, np.maximum(np.abs(lower), np.abs(upper)), _TURNS)
    turning = np.array([joint.revolute for joint in chain.joints])
    far = np.max(np.abs(q), axis=0)
    moving = turning & (far > _RESTING)
    if np.any(moving & limited):  # the others may turn for ever
        moving &= limited
    shown = moving.sum() > 1 or np.any(moving & limited)
    outside = 2 * np.sum(far[moving] > _FAR * room[moving]) > moving.sum()
    if shown and outside and np.all(np.radians(far[moving]) <= _FAR * room[moving]):
        raise RecordingError(
            f'{recording.source}: positions up to {np.max(far[moving]):.3g}: they look like '
            'degrees, expected are radians; try --degrees (Recording.in_radians)')


def _check_units(recording: Recording, chain: Chain) -> None:
    order = np.isfinite(recording.t) & np.all(np.isfinite(recording.q), axis=1)
    t, q = recording.t[order], recording.q[order]
    forward = np.diff(t) > 0.0
    if not np.any(forward):
        raise RecordingError(f'{recording.source}: time does not advance')
    _check_degrees(recording, chain, q)
    rate = np.diff(q, axis=0)[forward] / np.diff(t)[forward][:, None]
    velocity = np.sqrt(np.median(rate ** 2, axis=0))
    for name, value, limit in zip(chain.joint_names, velocity, chain.velocity_limits):
        if value > _VELOCITY_FACTOR * limit > 0.0:
            raise RecordingError(
                f'{recording.source}: by its positions, joint {name} moves at {value:.3g} on '
                f'average, but its limit is {limit:.3g}: time or position is in another unit '
                '(expected s and rad or m)')
    if recording.qd is None:
        return
    middle = 0.5 * (recording.qd[order][1:] + recording.qd[order][:-1])[forward]
    finite = np.all(np.isfinite(middle), axis=1)
    if not np.any(finite):
        raise RecordingError(f'{recording.source}: the velocities are not finite; leave them out: '
                             'they follow from the positions')
    squares = np.sum(middle[finite] ** 2)
    # slope of the differentiated positions over the recorded velocities; 1 where units agree
    slope = np.sum(middle[finite] * rate[finite]) / squares if squares > 0.0 else 0.0
    moves = np.sum(rate[finite] ** 2) > 0.0
    if moves and not 1.0 / _RATE_FACTOR < slope < _RATE_FACTOR:
        unit = next((f'; the {each} look like degrees: try --degrees {each} '
                     '(Recording.in_radians)' for each, factor in _IN_DEGREES.items()
                     if abs(slope / factor - 1.0) < _SAME), '')
        raise RecordingError(f'{recording.source}: the positions change {slope:.3g} times as fast '
                             'as the recorded velocities say: time, position or velocity is in '
                             f'another unit{unit}')
