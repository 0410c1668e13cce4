# SPDX-License-Identifier: Apache-2.0
"""What the scales of all efforts of a robot have in common: torques, or parts of a limit."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array

#: Scales within this factor of 1 are torques: masses of a URDF are no better.
TORQUE = 1.6

#: Efforts in parts of the limits: units that drivers use.
UNITS_OF_LIMIT = {1.0: 'share of the effort limit', 100.0: 'percent of the effort limit',
                  1000.0: 'per mille of the effort limit'}

#: One explanation of all scales is better than another if it leaves this part of the spread.
_BETTER, _SPREAD = 0.5, 0.2


def common_unit(scales: Array, limits: Array) -> tuple[float | None, bool]:
    """
    Return what explains the scales of all joints together.

    :param scales: (k,) efforts over torques, positive.
    :param limits: (k,) effort limits of the same joints [N m, N]; NaN = none.
    :returns: number that stands for the effort limit, or None; and whether torques explain them.
        Both only where nobody can tell.
    """
    parts = scales * limits
    torques = bool(len(scales)) and bool(np.all(np.abs(np.log(scales)) <= np.log(TORQUE)))
    if len(parts) < 2 or not np.all(np.isfinite(parts)):
        return None, torques
    spread = float(np.sqrt(np.mean(np.log(scales) ** 2)))
    for unit in UNITS_OF_LIMIT:
        away = np.abs(np.log(parts / unit))
        if np.any(away > np.log(TORQUE)):
            continue
        if not torques:
            return unit, False
        if spread > _SPREAD and np.sqrt(np.mean(away ** 2)) < _BETTER * spread:
            return unit, True
    return None, torques
