# SPDX-License-Identifier: Apache-2.0
"""Checks of recordings for the usual mistakes: wrong units, joints without efforts."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.errors import RecordingError
from robot_dynamics_ros.estimation.recordings.recording import Recording

#: Differentiated positions and recorded velocities may differ by this factor.
_RATE_FACTOR = 3.0

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


def _check_units(recording: Recording, chain: Chain) -> None:
    order = np.isfinite(recording.t) & np.all(np.isfinite(recording.q), axis=1)
    t, q = recording.t[order], recording.q[order]
    forward = np.diff(t) > 0.0
    if not np.any(forward):
        raise RecordingError(f'{recording.source}: time does not advance')
    rate = np.diff(q, axis=0)[forward] / np.diff(t)[forward][:, None]
    velocity = np.sqrt(np.median(rate ** 2, axis=0))
    for name, value, limit in zip(chain.joint_names, velocity, chain.velocity_limits):
        if value > _VELOCITY_FACTOR * limit > 0.0:
            raise RecordingError(
                f'{recording.source}: by its positions, joint {name} moves at {value:.3g} on '
                f'average, its limit is {limit:.3g}: time or position is in another unit '
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
        raise RecordingError(f'{recording.source}: the positions change {slope:.3g} times as fast '
                             'as the recorded velocities say: time, position or velocity is in '
                             'another unit')
