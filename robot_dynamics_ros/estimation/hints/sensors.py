# SPDX-License-Identifier: Apache-2.0
"""
Torque sensors on the link side of the gear, behind the rotor.

What of a link lies before its own sensor, the other joints feel and the sensor does not: the fit
asks for a negative rotor inertia, which is impossible for a drive.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.estimation.hints.trial import Cause, Trial

#: Freeing the rotor must lower the error of its joint to this part.
_BETTER = 0.85
#: Where friction is a larger part of the torque than this, the torque is that of a drive.
_FRICTION = 0.6


def sensor_cause(trial: Trial) -> Cause | None:
    """Return the joints whose torques look like those of sensors on the link side."""
    names = trial.columns.names
    friction = _friction_part(trial)
    joints = [j for j, side in enumerate(trial.effort.side)
              if side == 'joint' and f'Ia{j + 1}' in names and friction[j] < _FRICTION
              and trial.fit.fixed[names.index(f'Ia{j + 1}')] and trial.doubtful[j]
              and _errors(trial, [j])[j] < _BETTER * trial.base[j]]
    score = trial.score(_errors(trial, joints)) if joints else 0.0
    if score == 0.0:
        return None
    where = [trial.chain.joint_names[j] for j in joints]
    entries = ', '.join(f'{name}: {{effort: {{side: link}}}}' for name in where)
    return Cause(Finding('link_side_sensor', where[0] if len(where) == 1 else '',
                         f'the torque of {", ".join(where)} lacks inertia that the other joints '
                         'feel, as that of a sensor behind the gear does; say so for every joint '
                         'that has one', float(len(joints)), f'joints: {{{entries}}}'), score)


def _errors(trial: Trial, joints: list[int]) -> Array:
    """Return the errors (n,) with rotor inertias of any sign in some joints."""
    free = {f'Ia{j + 1}' for j in joints}
    mask = [kept and name not in free
            for name, kept in zip(trial.columns.names, trial.columns.not_negative)]
    return trial.errors(replace(trial.columns, not_negative=np.array(mask)))


def _friction_part(trial: Trial) -> Array:
    """Return the part of the torque of each joint (n,) that is friction."""
    of_friction = [name.startswith(('Fv', 'Fc', 'Fs', 'Fl', 'Fa'))
                   for name in trial.columns.names]
    friction = trial.columns.Y[:, :, of_friction] @ trial.fit.x[of_friction]
    squares = np.sum(np.where(trial.rows.usable, friction, 0.0) ** 2, axis=0)
    return np.asarray(np.sqrt(squares / trial.rows.counts())
                      / np.maximum(trial.rows.rms_torque(), 1e-300))
