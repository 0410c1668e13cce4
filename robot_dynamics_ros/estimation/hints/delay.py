# SPDX-License-Identifier: Apache-2.0
"""Efforts that are reported later or earlier than the positions they belong to."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.chain.effort import LONGEST_DELAY
from robot_dynamics_ros.estimation.hints.trial import Cause, Trial, TrialColumns

#: Delays that are tried first [s].
_DELAYS = tuple(side * size for side in (-1.0, 1.0)
                for size in (0.003, 0.005, 0.007, 0.01, 0.014, 0.02, 0.028, 0.04, 0.056, 0.08))


def delay_cause(trial: Trial) -> Cause | None:
    """
    Return the delay between positions and efforts, if there is one.

    Friction that turns slowly after a reversal looks like a delay, and the other way round: so a
    delay with plain friction has to do better than the friction law that was chosen without.
    """
    from scipy.optimize import minimize_scalar

    def score(columns: TrialColumns, delay: float) -> float:
        tau = _shifted(trial, delay)
        return trial.score(trial.errors(columns, np.nan_to_num(tau),
                                        trial.rows.usable & np.isfinite(tau)))

    tried = [(score(columns, delay), k, delay)
             for k, columns in enumerate((trial.plain, trial.columns)) for delay in _DELAYS]
    best, k, delay = min(tried)
    if best == 0.0:
        return None
    columns = (trial.plain, trial.columns)[k]
    found = minimize_scalar(
        lambda each: score(columns, each), method='bounded',
        bounds=sorted((0.5 * delay, 2.0 * delay)), options={'xatol': 2e-4, 'maxiter': 15})
    if found.fun < best:
        delay = float(found.x)
    whole = trial.effort.delay + delay
    if abs(whole) > LONGEST_DELAY:
        return None
    said = 'later' if delay > 0.0 else 'earlier'
    return Cause(Finding('effort_delay', '', f'the efforts are reported {1e3 * abs(delay):.3g} ms '
                         f'{said} than the positions they belong to', delay,
                         f'effort_delay: {float(f"{whole:.3g}")}'), min(found.fun, best))


def _shifted(trial: Trial, delay: float) -> Array:
    """Return the torques at the rows, each measured later by `delay`; NaN beyond a stretch."""
    parts = []
    for part in trial.way.samples:
        at = part.t + delay
        parts.append(np.column_stack([np.interp(at, part.t, column) for column in part.tau.T]))
    tau = trial.way.at_rows(parts)
    first, last = (np.array([part.t[end] for part in trial.way.samples])[trial.rows.stretch]
                   for end in (0, -1))
    at = trial.rows.t + delay
    return np.where(((at >= first) & (at <= last))[:, None], tau, np.nan)
