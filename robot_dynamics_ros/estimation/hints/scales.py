# SPDX-License-Identifier: Apache-2.0
"""The scale of one effort against all others: joints share links, so one that is off shows."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.estimation.hints.efforts import effort_remedy
from robot_dynamics_ros.estimation.hints.trial import Cause, Trial

#: Factors of the torque of one joint that are tried first.
_FACTORS = (-2.0, -1.0, -0.5, 0.25, 0.4, 0.6, 0.8, 1.25, 1.6, 2.5, 4.0)
#: A factor nearer to 1 than this is none.
_LEAST = 1.12


def scale_cause(trial: Trial) -> Cause | None:
    """Return the effort whose sign or scale does not fit the others, if there is one."""
    from scipy.optimize import minimize_scalar

    n = len(trial.chain)

    def score(joint: int, factor: float) -> float:
        factors = np.ones(n)
        factors[joint] = factor
        return trial.score(trial.scaled_errors(factors))

    tried = [(score(joint, factor), joint, factor)
             for joint in range(n) for factor in _FACTORS]
    best, joint, factor = min(tried)
    if best == 0.0:
        return None
    step = np.log(1.6)
    found = minimize_scalar(
        lambda log: score(joint, float(np.sign(factor) * np.exp(log))), method='bounded',
        bounds=(np.log(abs(factor)) - step, np.log(abs(factor)) + step),
        options={'xatol': 0.01, 'maxiter': 12})
    size = float(np.exp(found.x)) if found.fun < best else abs(factor)
    effort, name = trial.effort, trial.chain.joint_names[joint]
    gain = float(f'{effort.gain[joint] * size:.4g}')
    if factor < 0.0:
        remedy: dict[str, float] = {'sign': int(-effort.sign[joint])}
        if max(size, 1.0 / size) > _LEAST:
            remedy['gain'] = gain
        return Cause(Finding('effort_sign', name, 'the effort has the wrong sign: with the other '
                             'one the links that this joint shares with others fit',
                             -1.0 / size, effort_remedy(trial.chain, joint, **remedy)),
                     min(found.fun, best))
    if max(size, 1.0 / size) < _LEAST:
        return None
    return Cause(Finding('effort_scale', name, f'the effort is {1.0 / size:.3g} times what the '
                         'links that this joint shares with others ask for: its gain is wrong, or '
                         'it is another unit', 1.0 / size,
                         effort_remedy(trial.chain, joint, gain=gain)), min(found.fun, best))
