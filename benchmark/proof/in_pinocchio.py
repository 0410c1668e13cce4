# SPDX-License-Identifier: Apache-2.0
"""The torques of Pinocchio."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pinocchio

from proof.engine import GRAVITY
from robot_dynamics_ros.arrays import Array


class Pinocchio:
    """A robot in Pinocchio."""

    def __init__(self, urdf: str, joint_names: Sequence[str]) -> None:
        """Read the URDF."""
        self._model = pinocchio.buildModelFromXML(urdf)
        self._model.gravity.linear = np.array(GRAVITY)
        self._data = self._model.createData()
        ids = [self._model.getJointId(name) for name in joint_names]
        self._order = [self._model.joints[i].idx_v for i in ids]

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the torque (n,) of the rigid links [N m, N]."""
        given = np.zeros((3, len(self._order)))
        given[:, self._order] = q, qd, qdd
        return np.array(pinocchio.rnea(self._model, self._data, *given)[self._order])


def load(urdf: str, joint_names: Sequence[str], *_: Any) -> Pinocchio:
    """Return a robot."""
    return Pinocchio(urdf, joint_names)
