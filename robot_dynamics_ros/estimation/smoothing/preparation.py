# SPDX-License-Identifier: Apache-2.0
"""From recordings to smoothed samples: checking, cleaning and filtering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.dynamics.formulations.wrenches import wrench_torque
from robot_dynamics_ros.errors import IdentificationError
from robot_dynamics_ros.estimation.recordings.checks import check_recording
from robot_dynamics_ros.estimation.recordings.cleaning import (
    AT_LIMIT,
    BRIDGED,
    CutOut,
    Stretch,
    clean,
    in_time,
    screened,
)
from robot_dynamics_ros.estimation.recordings.clock import evened
from robot_dynamics_ros.estimation.recordings.effort_torque import torque_from_effort
from robot_dynamics_ros.estimation.recordings.plausibility import PlausibleRange
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.estimation.settings import IdentificationSettings
from robot_dynamics_ros.estimation.smoothing.zero_phase import (
    SmoothedSamples,
    chosen_cutoff,
    smooth,
    standstill,
)

#: Pauses up to this [s] are bridged until the bandwidth of the motion is known.
_SHORT_PAUSE = 0.01

#: A cut-off frequency above this part of the sampling rate is near its limit.
_RARE = 0.35

#: A joint that moves over less than this [rad, m] does not move.
_RANGE = 1e-4


@dataclass(frozen=True, eq=False)
class Prepared:
    """
    Samples ready for regression.

    :param stretches: evenly sampled stretches, before the filter.
    :param samples: smoothed samples of each stretch.
    :param moving: mask of the samples of each stretch during which a joint moves.
    :param cutoff: cut-off frequency of the filter [Hz]; None = no filter.
    :param parallel_cutoff: cut-off frequency of the filter on regressor and torque [Hz];
        None = no filter.
    :param velocity: (n,) root mean square velocity of each joint [rad/s, m/s].
    :param acceleration: (n,) root mean square acceleration of each joint [rad/s^2, m/s^2].
    :param torque: (n,) root mean square torque of each joint before the filter [N m, N].
    :param cut_out: counts of what was not used.
    :param findings: findings about the recordings.
    """

    stretches: tuple[Stretch, ...]
    samples: tuple[SmoothedSamples, ...]
    moving: tuple[Mask, ...]
    cutoff: float | None
    parallel_cutoff: float | None
    velocity: Array
    acceleration: Array
    torque: Array
    cut_out: CutOut
    findings: tuple[Finding, ...]


def prepare(chain: Chain, recordings: Sequence[Recording], effort: EffortSemantics,
            settings: IdentificationSettings) -> Prepared:
    """
    Check, clean and smooth recordings.

    :raises RecordingError: a recording that cannot be used.
    :raises IdentificationError: nothing moves.
    """
    findings: list[Finding] = []
    cut, plausible = CutOut(), PlausibleRange.of_chain(chain)
    measured: list[Recording] = []
    for recording in recordings:
        timed, late = in_time(recording.for_chain(chain))
        even, odd_stamps = evened(timed)
        here, implausible = screened(even, plausible)
        findings += [*odd_stamps, *check_recording(here, chain)]
        dead = ~np.any(np.isfinite(here.tau) & (here.tau != 0.0), axis=0)
        torque = torque_from_effort(np.where(dead, np.nan, here.tau), effort)
        measured.append(replace(here, tau=_without_wrench(chain, here, torque)))
        cut += late + implausible
    stretches, lost = _cleaned(measured, chain, plausible, _SHORT_PAUSE)
    # how long a pause may be depends on the motion, which is only known now
    pause = BRIDGED / _cutoffs(settings, stretches)[0]
    if pause > _SHORT_PAUSE:
        stretches, lost = _cleaned(measured, chain, plausible, pause)
    cut += lost
    stretches = [stretch.in_step(effort.delay) for stretch in stretches]
    findings += _still_joints(chain, stretches)
    cutoff, parallel = (each if np.isfinite(each) else None
                        for each in _cutoffs(settings, stretches))
    findings += _rate_findings(cutoff, stretches)
    samples = [smooth(stretch, cutoff) for stretch in stretches]
    velocity, acceleration = (np.sqrt(np.mean(np.concatenate(parts) ** 2, axis=0)) for parts in (
        [part.qd for part in samples], [part.qdd for part in samples]))
    usable = [stretch.usable for stretch in stretches]
    squares = sum(np.sum(np.where(use, stretch.tau, 0.0) ** 2, axis=0)
                  for use, stretch in zip(usable, stretches))
    torque = np.sqrt(squares / np.maximum(sum(use.sum(axis=0) for use in usable), 1))
    moving = [~standstill(part, velocity) for part in samples]
    standing = sum(int(np.sum(~use)) * round(part.step / stretch.step)
                   for use, part, stretch in zip(moving, samples, stretches))
    if not any(np.any(use) for use in moving):
        raise IdentificationError('not identifiable: the robot never moves')
    return Prepared(tuple(stretches), tuple(samples), tuple(moving), cutoff, parallel,
                    velocity, acceleration, torque, cut + CutOut(standstill=standing),
                    tuple(findings))


def _without_wrench(chain: Chain, recording: Recording, torque: Array) -> Array:
    """
    Return the torque that the arm alone would need: Lin 1995 (113), with the wrench taken off.

    A torque at its limit stays what it is, so that it is seen as such.
    """
    if recording.wrench is None:
        return torque
    limited = np.abs(np.abs(torque) / chain.effort_limits - 1.0) <= AT_LIMIT
    outer = wrench_torque(chain, recording.q, {chain.tip: recording.wrench})
    return np.where(limited, torque, torque + outer)


def _still_joints(chain: Chain, stretches: Sequence[Stretch]) -> list[Finding]:
    """Return a finding for every joint that never moves; raise an error if none moves."""
    q = np.concatenate([stretch.q for stretch in stretches])
    still = np.ptp(q, axis=0) < _RANGE
    if np.all(still):
        raise IdentificationError('not identifiable: no joint moves in the recording')
    return [Finding('joint_never_moves', name, 'the joint never moves: its friction and rotor '
                    'inertia are not identifiable') for name, none in zip(chain.joint_names, still)
            if none]


def _cleaned(recordings: Sequence[Recording], chain: Chain, plausible: PlausibleRange,
             pause: float) -> tuple[list[Stretch], CutOut]:
    """Return the stretches of all recordings, split at longer pauses [s]."""
    stretches, cut = [], CutOut()
    for recording in recordings:
        parts, lost = clean(recording, chain.effort_limits, plausible, pause)
        stretches += parts
        cut += lost
    return stretches, cut


def _cutoffs(settings: IdentificationSettings, stretches: list[Stretch]) -> tuple[float, float]:
    """Return both cut-off frequencies [Hz]; inf = no filter."""
    cutoff = settings.cutoff if settings.cutoff is not None else chosen_cutoff(stretches)
    parallel = settings.parallel_cutoff if settings.parallel_cutoff is not None else cutoff / 2.0
    return cutoff, parallel


def _rate_findings(cutoff: float | None, stretches: Sequence[Stretch]) -> list[Finding]:
    """Return a finding where samples are too rare for the motion."""
    rate = 1.0 / max(stretch.step for stretch in stretches)
    if cutoff is None or cutoff < _RARE * rate:
        return []
    return [Finding('low_rate', '', f'{rate:.3g} samples per second are few for this motion: the '
                    f'cut-off frequency of {cutoff:.3g} Hz is near half of them; record at a '
                    'higher rate, or move more slowly', rate)]
