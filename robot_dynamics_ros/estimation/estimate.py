# SPDX-License-Identifier: Apache-2.0
"""An estimate: minimal parameters and joint physics with what is known about their accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.chain.pose import Array, read_only
from robot_dynamics_ros.dynamics.mlc import MlcSet


class EstimateState(IntEnum):
    """Where the values come from; the numbers are those of the MlcSet message."""

    FROM_URDF = 0
    FROM_FILE = 1
    LEARNING = 2
    FROZEN = 3
    CONVERGED = 4


@dataclass(frozen=True, eq=False)
class MlcEstimate:
    """
    Identified parameters of a robot: the content of parameters.yaml and of the MlcSet message.

    :param robot: name of the robot.
    :param base_link: name of the base link.
    :param tip_link: name of the tip link.
    :param mlc: the minimal set with the values; its formulas name grouped rotor inertias.
    :param joint_physics: rotor inertia (NaN = inside the minimal parameters), friction, offset.
    :param identified: p flags: the data determine the value; otherwise it is the URDF's.
    :param unknowns: u names of all that was estimated, e.g. ``U2_33``, ``Fc1``.
    :param covariance: (u, u) of these.
    :param samples: number of samples used.
    :param condition_number: of the weighted regressor with columns of equal length.
    :param residual_rms: (n,) root mean square of what is left of the torque [N m, N].
    :param state: where the values come from.
    """

    robot: str
    base_link: str
    tip_link: str
    mlc: MlcSet
    joint_physics: JointPhysics
    identified: tuple[bool, ...]
    unknowns: tuple[str, ...]
    covariance: Array
    samples: int
    condition_number: float
    residual_rms: Array
    state: EstimateState = EstimateState.CONVERGED

    def __post_init__(self) -> None:
        """Copy the arrays and make them read-only."""
        object.__setattr__(self, 'covariance', read_only(self.covariance))
        object.__setattr__(self, 'residual_rms', read_only(self.residual_rms))

    @property
    def model_hash(self) -> str:
        """Identity of geometry, gravity, set and names."""
        return self.mlc.model_hash

    @property
    def deviations(self) -> dict[str, float]:
        """Standard deviation of every unknown by name."""
        return dict(zip(self.unknowns, np.sqrt(np.diag(self.covariance)).tolist()))

    @property
    def standard_deviations(self) -> Array:
        """Of the minimal parameters (p,); NaN where the data do not determine the value."""
        known = self.deviations
        return np.array([known.get(name, np.nan) if sure else np.nan
                         for name, sure in zip(self.mlc.names, self.identified)])
