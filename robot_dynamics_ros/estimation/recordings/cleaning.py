# SPDX-License-Identifier: Apache-2.0
"""
Removal of the unusable parts of a recording; every kind is counted.

What remains are stretches without gaps on an even grid of time. Missing and saturated efforts are
interpolated, for the filters, and marked joint by joint.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.errors import RecordingError
from robot_dynamics_ros.estimation.recordings.plausibility import PlausibleRange
from robot_dynamics_ros.estimation.recordings.recording import Recording

#: A pause longer than this many median steps is a gap...
GAP_STEPS = 4.5
#: ...unless it is shorter than this part of the period of the cut-off frequency: to a filter it is
#: no worse than jitter.
BRIDGED = 0.1

#: A stretch with fewer samples than this cannot be filtered.
SHORTEST = 25

#: An effort this many times in a row at its largest value is saturated.
_SATURATED_RUN = 5

#: An effort within this part of the limit is at the limit.
AT_LIMIT = 0.002

#: A single value differs from the median of this many around it...
_AROUND = 7
#: ...by this many standard deviations of the others, and by this part of the largest of them.
_SPIKE, _SPIKE_PART = 20.0, 0.3
#: A spike of the velocity below this does no harm [rad/s, m/s].
_SLOW = 0.1

#: Where a larger part of a recording is implausible, it is not the samples that are wrong, but a
#: limit or a unit.
_FEW = 0.05

#: Parts of a step that are rounding errors.
_ROUNDING = 1e-6

#: A stamp this many median steps from those around it is wrong.
_LATE = 20.0


@dataclass(frozen=True)
class CutOut:
    """
    Number of samples that were not used, by reason; of efforts the number of single values.

    :param duplicate_time: samples with the same time as the one before.
    :param backward_time: samples older than an earlier one.
    :param invalid_state: samples with a position or velocity that is not finite.
    :param implausible_state: samples with a position or velocity far beyond its limit, and
        samples and stamps out of line with their neighbours.
    :param inconsistent_velocity: smoothed samples whose positions change in another way than
        their velocities say.
    :param unexpected_torque: smoothed samples whose torque is far from what was learned, for a
        moment.
    :param gaps: pauses and jumps of a position at which the recording was split.
    :param short_stretch: samples of stretches too short for the filters.
    :param standstill: samples while no joint moved.
    :param missing_effort: efforts that are not finite.
    :param saturated_effort: efforts at the limit of the drive.
    :param implausible_effort: efforts far beyond the limit of the drive, or stuck while the joint
        moves.
    """

    duplicate_time: int = 0
    backward_time: int = 0
    invalid_state: int = 0
    implausible_state: int = 0
    inconsistent_velocity: int = 0
    unexpected_torque: int = 0
    gaps: int = 0
    short_stretch: int = 0
    standstill: int = 0
    missing_effort: int = 0
    saturated_effort: int = 0
    implausible_effort: int = 0

    def __add__(self, other: CutOut) -> CutOut:
        """Return the counts of both."""
        return CutOut(**{field.name: getattr(self, field.name) + getattr(other, field.name)
                         for field in fields(self)})


@dataclass(frozen=True, eq=False)
class Stretch:
    """
    Evenly sampled joint states without a gap.

    :param start: time of the first sample [s].
    :param step: time between samples [s].
    :param q: (N, n) positions [rad, m].
    :param qd: (N, n) velocities [rad/s, m/s], or None.
    :param tau: (N, n) torques [N m, N], interpolated where not usable.
    :param usable: (N, n) mask of measured, unsaturated torques.
    """

    start: float
    step: float
    q: Array
    qd: Array | None
    tau: Array
    usable: Mask

    @property
    def t(self) -> Array:
        """Time (N,) [s]."""
        return np.asarray(self.start + self.step * np.arange(len(self.q)), np.float64)

    def in_step(self, delay: float) -> Stretch:
        """
        Return the same motion with the torques that belong to it.

        :param delay: time by which torques were reported later than positions [s].
        """
        if delay == 0.0:
            return self
        place = np.arange(len(self.q)) + delay / self.step
        left = np.clip(np.floor(place + _ROUNDING).astype(np.int64), 0, len(self.q) - 2)
        part = (place - left)[:, None]
        tau = self.tau[left] + np.clip(part, 0.0, 1.0) * (self.tau[left + 1] - self.tau[left])
        known = (part >= -_ROUNDING) & (part <= 1.0 + _ROUNDING)
        near, far = self.usable[left], self.usable[left + 1]
        return replace(self, tau=tau, usable=known & (near | (part >= 1.0 - _ROUNDING))
                       & (far | (part <= _ROUNDING)))


def in_time(recording: Recording) -> tuple[Recording, CutOut]:
    """
    Return a recording without single stamps that are far from those around them, and their number.

    One stamp of the far future would make all later samples look old.

    :param recording: recording with any stamps.
    """
    from scipy import ndimage

    rows = np.flatnonzero(np.isfinite(recording.t))
    if rows.size < SHORTEST:
        return recording, CutOut()
    t = recording.t[rows]
    steps = np.diff(t)
    step = float(np.median(steps[steps > 0.0])) if np.any(steps > 0.0) else 0.0
    off = np.abs(t - ndimage.median_filter(t, _AROUND, mode='nearest'))
    bad = np.zeros(len(recording), dtype=np.bool_)
    bad[rows] = _few(off > _LATE * step)
    return _without(recording, bad), CutOut(implausible_state=int(bad.sum()))


def _without(recording: Recording, bad: Mask) -> Recording:
    """Return a recording without some samples (N,)."""
    keep = ~bad
    return replace(recording, t=recording.t[keep], q=recording.q[keep],
                   qd=None if recording.qd is None else recording.qd[keep],
                   tau=recording.tau[keep],
                   wrench=None if recording.wrench is None else recording.wrench[keep])


def screened(recording: Recording, plausible: PlausibleRange) -> tuple[Recording, CutOut]:
    """
    Return a recording without single samples that no robot can have measured, and their number.

    :param recording: recording with joints in the order of the chain.
    :param plausible: range of its joint states.
    """
    q, qd = recording.q, recording.qd
    finite = np.all(np.isfinite(q), axis=1)
    if qd is not None:
        finite &= np.all(np.isfinite(qd), axis=1)
    bad = _few(finite & ~plausible.has_state(q, qd))
    rows = np.flatnonzero(finite & ~bad)
    if rows.size >= SHORTEST:
        # a steady motion of any velocity is its own median
        steps = np.diff(recording.t[rows])
        step = float(np.median(steps[steps > 0.0])) if np.any(steps > 0.0) else 0.0
        odd = _spikes(q[rows], plausible.velocity * step)
        if qd is not None:
            odd |= _spikes(qd[rows], np.full(q.shape[1], _SLOW))
        bad[rows] |= _few(np.any(odd, axis=1))
    return _without(recording, bad), CutOut(implausible_state=int(bad.sum()))


def _few(bad: Mask) -> Mask:
    """Return a mask, empty in the columns in which it covers more than a few samples."""
    return np.asarray(bad & (np.mean(bad, axis=0) <= _FEW))


def _spikes(values: Array, smallest: Array) -> Mask:
    """
    Return where single values (N, n) stand out from those around them.

    :param values: measured values, finite.
    :param smallest: (n,) size of a spike below which it is none.
    """
    from scipy import ndimage

    around = ndimage.median_filter(values, (_AROUND, 1), mode='nearest')
    off = np.abs(values - around)
    # the median of absolute differences is 0.67 standard deviations
    sigma = np.median(off, axis=0) / 0.67
    largest = _SPIKE_PART * np.percentile(np.abs(around), 99.0, axis=0)
    return np.asarray(off > np.maximum.reduce([_SPIKE * sigma, largest, smallest]))


def _wrong_efforts(tau: Array, plausible: PlausibleRange) -> Mask:
    """Return where single torques (N, n) stand out, or are far beyond the limit of the drive."""
    missing = ~np.isfinite(tau)
    wrong = _few(np.where(missing, 0.0, np.abs(tau)) > plausible.torque)
    return wrong | (_few(_spikes(np.where(missing | wrong, 0.0, tau), np.zeros(tau.shape[1])))
                    & ~missing)


def clean(recording: Recording, effort_limits: Array,
          plausible: PlausibleRange | None = None,
          bridged: float = 0.0) -> tuple[list[Stretch], CutOut]:
    """
    Return the usable stretches of a recording and the counts of what was left out.

    :param recording: recording with torques [N m, N] in `tau`, joints in the order of the chain.
    :param effort_limits: (n,) effort limits [N m, N]; NaN = unknown.
    :param plausible: range of positions, velocities and torques; None = everything.
    :param bridged: length of a pause that the motion does not notice [s].
    :raises RecordingError: nothing usable is left.
    """
    later = _running_maximum_before(recording.t)
    duplicate, backward = recording.t == later, recording.t < later
    finite = np.all(np.isfinite(recording.q), axis=1) & np.isfinite(recording.t)
    if recording.qd is not None:
        finite &= np.all(np.isfinite(recording.qd), axis=1)
    keep = finite & ~duplicate & ~backward
    if not np.any(keep):
        raise RecordingError(f'{recording.source}: no sample has a time and finite positions'
                             + ('' if recording.qd is None else ' and velocities'))
    t = recording.t[keep]
    step = float(np.median(np.diff(t))) if t.size > 1 else 0.0
    tau = recording.tau[keep]
    missing, wrong = ~np.isfinite(tau), np.zeros(tau.shape, dtype=np.bool_)
    broken = np.diff(t) > max(GAP_STEPS * step, bridged)
    if plausible is not None:
        wrong = _wrong_efforts(tau, plausible)
        jumps = np.abs(np.diff(recording.q[keep], axis=0))
        far = plausible.velocity * (np.diff(t) + 2.0 * step)[:, None]
        broken |= _few(np.any(jumps > far, axis=1))
    saturated = saturation(np.where(wrong, np.nan, tau), effort_limits) & ~missing
    unusable = missing | wrong | saturated
    breaks = np.flatnonzero(broken) + 1
    stretches, short = [], 0
    for part in np.split(np.arange(t.size), breaks):
        if part.size < SHORTEST:
            short += part.size
            continue
        rows = np.flatnonzero(keep)[part]
        stretches.append(_resampled(recording, rows, unusable[part], step))
    cut = CutOut(duplicate_time=int(duplicate.sum()), backward_time=int(backward.sum()),
                 invalid_state=int((~finite).sum()), gaps=breaks.size, short_stretch=short,
                 missing_effort=int(missing.sum()), saturated_effort=int(saturated.sum()),
                 implausible_effort=int(wrong.sum()))
    if not stretches:
        raise RecordingError(f'{recording.source}: {t.size} usable samples, but never '
                             f'{SHORTEST} in a row without a gap')
    return stretches, cut


def _running_maximum_before(t: Array) -> Array:
    """Return the latest time of all samples before each one; -inf for the first."""
    known = np.where(np.isfinite(t), t, -np.inf)
    return np.concatenate([[-np.inf], np.maximum.accumulate(known)[:-1]])


def saturation(tau: Array, effort_limits: Array) -> Mask:
    """
    Return where the drive was saturated: at its known limit, or flat at its largest value.

    :param tau: (N, n) torques [N m, N].
    :param effort_limits: (n,) effort limits [N m, N]; NaN = unknown.
    """
    size = np.abs(tau)
    with np.errstate(invalid='ignore'):  # far beyond the limit is another unit
        result = np.abs(size / effort_limits - 1.0) <= AT_LIMIT
    for j, column in enumerate(size.T):
        largest = np.nanmax(column, initial=0.0)
        at_top = column >= largest * (1.0 - 1e-12) if largest > 0.0 else column > 0.0
        ends = np.flatnonzero(np.diff(np.concatenate([[False], at_top, [False]])))
        for first, last in ends.reshape(-1, 2):
            if last - first >= _SATURATED_RUN:
                result[first:last, j] = True
    return np.asarray(result, dtype=np.bool_)


def _resampled(recording: Recording, rows: NDArray[np.intp], unusable: Mask,
               step: float) -> Stretch:
    """Return one stretch on an even grid; jittered samples are interpolated."""
    t = recording.t[rows]
    count = int(np.floor((t[-1] - t[0]) / step + 1e-6)) + 1
    grid = t[0] + step * np.arange(count)
    even = t.size == count and bool(np.all(np.abs(t - grid) <= 1e-3 * step))
    tau, bad = recording.tau[rows].copy(), unusable
    for j in range(tau.shape[1]):
        good = ~bad[:, j]
        if not np.all(good):
            tau[:, j] = np.interp(t, t[good], tau[good, j]) if np.any(good) else 0.0
    q, qd = recording.q[rows], None if recording.qd is None else recording.qd[rows]
    if not even:
        from scipy.interpolate import make_interp_spline

        def at_grid(values: Array) -> Array:
            return np.asarray(make_interp_spline(t, values, k=3)(grid))

        nearest = np.clip(np.searchsorted(t, grid), 1, t.size - 1)
        q, qd, tau = at_grid(q), None if qd is None else at_grid(qd), at_grid(tau)
        bad = bad[nearest] | bad[nearest - 1]
    return Stretch(float(grid[0]), step, q, qd, tau, ~bad)
