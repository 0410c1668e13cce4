# SPDX-License-Identifier: Apache-2.0
"""What the effort of one joint means, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np


class Certainty(Enum):
    """How sure a verdict is."""

    SURE = 'sure'  # the data show it
    ASSUMED = 'assumed'  # the other joints show it, nothing speaks against it
    STATED = 'stated'  # joints.yaml says so, nothing speaks against it
    PROPOSED = 'proposed'  # as good as the masses of the URDF: a person must confirm it
    AMBIGUOUS = 'ambiguous'  # a person must find out


@dataclass(frozen=True)
class JointMeaning:
    """
    What the effort of one joint means.

    :param joint: name of the joint.
    :param kind: what it is, in words.
    :param certainty: word for how sure that is.
    :param sign: +1 or -1.
    :param gain: torque per unit [N m, N per unit].
    :param gain_deviation: relative standard deviation of the gain; NaN = not known.
    :param offset: reading at zero torque, in the unit of the effort.
    :param gravity_removed: the weight of the arm is not in the effort.
    :param friction: half the friction band [N m, N]; NaN = not seen.
    :param friction_deviation: its standard deviation.
    :param explained: part of the effort's variance that weight, friction and offset explain.
    :param check: what a person should check; empty = nothing.
    """

    joint: str
    kind: str
    certainty: Certainty
    sign: float = 1.0
    gain: float = 1.0
    gain_deviation: float = np.nan
    offset: float = 0.0
    gravity_removed: bool = False
    friction: float = np.nan
    friction_deviation: float = np.nan
    explained: float = np.nan
    check: str = ''
