# SPDX-License-Identifier: Apache-2.0
"""What the scales of all efforts of a robot have in common: torque, parts of a limit, nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.calibration.efforts.joint_meaning import Certainty, JointMeaning

#: Scales within this factor of 1 are torques: masses of a URDF are no better.
TORQUE = 1.6
#: One explanation of all scales is better than another if it leaves this part of the spread.
_BETTER, _SPREAD = 0.5, 0.2
#: Efforts in parts of the limits: units that drivers use.
UNITS_OF_LIMIT = {1.0: 'share of the effort limit', 100.0: 'percent of the effort limit',
                  1000.0: 'per mille of the effort limit'}
#: Words for efforts without the weight of the arm, and what a person should do.
REMOVED = 'torque without gravity'
REMOVED_CHECK = ('gravity is already removed from the effort, so that its scale cannot be seen: '
                 'if the driver documents torques without gravity, state effort: '
                 '{gravity_removed: true, gain: 1}')


def scale_factor(gain: float) -> float:
    """Return how far a gain is from 1, as a factor of at least 1."""
    return max(gain, 1.0 / gain)


def common_scale(shown: Sequence[JointMeaning],
                 limits: dict[str, float]) -> tuple[float | None, bool]:
    """
    Return what explains the scales of all joints together.

    :param shown: joints in whose efforts the weight is seen.
    :param limits: effort limits by name [N m, N]; NaN = none.
    :returns: number that stands for the effort limit, or None; and whether torques explain them.
        Both only where nobody can tell.
    """
    scales = np.array([1.0 / each.gain for each in shown])
    parts = scales * np.array([limits[each.joint] for each in shown])
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


def removed_everywhere(joints: Sequence[JointMeaning]) -> list[JointMeaning]:
    """Return the verdicts with one word on gravity: a robot removes it everywhere or nowhere."""
    removed = any(each.kind == REMOVED and each.certainty is Certainty.AMBIGUOUS
                  for each in joints)
    if not removed:
        return list(joints)
    if any(each.kind == 'with weight' for each in joints):
        return [replace(each, kind='weak weight', gravity_removed=False, friction=np.nan,
                        check='the weight of the URDF is not seen in this effort, although it is '
                        'in others: check the masses of the URDF, or state what the effort is')
                if each.kind == REMOVED and each.certainty is Certainty.AMBIGUOUS else each
                for each in joints]
    return [replace(each, kind=REMOVED, certainty=Certainty.AMBIGUOUS, gravity_removed=True,
                    check=REMOVED_CHECK)
            if each.kind in ('weak weight', 'not shown') else each for each in joints]
