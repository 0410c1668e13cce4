# SPDX-License-Identifier: Apache-2.0
"""When an external torque becomes an event: thresholds of every joint, with hysteresis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.errors import ParameterError

#: A joint is free again below this part of its threshold.
RELEASE = 0.8


class TorqueThreshold:
    """Remembers which joints are above their thresholds."""

    def __init__(self, joint_names: Sequence[str], thresholds: Array) -> None:
        """
        Begin with all joints free.

        :param joint_names: n names.
        :param thresholds: (n,) largest torque that is no event [N m, N]; infinite = never one.
        :raises ParameterError: a threshold that is not positive.
        """
        self.values = read_only(thresholds)
        for name, threshold in zip(joint_names, self.values):
            if not threshold > 0.0:
                raise ParameterError(f'joint {name}: the threshold of the external torque must be '
                                     f'positive, got {threshold}')
        self.joint_names = tuple(joint_names)
        self._above = np.zeros(len(self.joint_names), dtype=bool)

    @property
    def above(self) -> tuple[str, ...]:
        """Names of the joints above their thresholds."""
        return tuple(name for name, above in zip(self.joint_names, self._above) if above)

    def update(self, torque: Array) -> tuple[str, ...]:
        """
        Return the names of the joints that have passed their thresholds with this torque.

        :param torque: (n,) [N m, N]; NaN leaves a joint as it was.
        """
        size, before = np.abs(torque), self._above
        self._above = np.where(before, ~(size < RELEASE * self.values),
                               size > self.values)
        return tuple(name for name, new in zip(self.joint_names, self._above & ~before) if new)
