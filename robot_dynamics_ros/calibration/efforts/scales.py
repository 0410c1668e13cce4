# SPDX-License-Identifier: Apache-2.0
"""What the scales of all efforts of a robot have in common: torque, parts of a limit, nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.calibration.efforts.joint_meaning import Certainty, JointMeaning
from robot_dynamics_ros.estimation.hints.effort_units import common_unit

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
    Return what explains the scales of all joints together, as `common_unit`.

    :param shown: joints in whose efforts the weight is seen.
    :param limits: effort limits by name [N m, N]; NaN = none.
    """
    return common_unit(np.array([1.0 / each.gain for each in shown]),
                       np.array([limits[each.joint] for each in shown]))


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
