# SPDX-License-Identifier: Apache-2.0
"""An estimate: minimal parameters and joint physics with what is known about their accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from robot_dynamics_ros.arrays import Array, freeze, immutable
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet, minimal_parameters

#: Name in the MlcSet message and in parameters.yaml, and in `JointPhysics`: terms of every joint,
#: and those of some friction laws.
JOINT_FIELDS = {'rotor_inertia': 'rotor_inertia', 'viscous_friction': 'viscous',
                'coulomb_friction': 'coulomb', 'torque_offset': 'offset'}
OPTIONAL_JOINT_FIELDS = {
    'static_friction': 'static', 'stribeck_velocity': 'stribeck_velocity',
    'load_friction': 'load_friction', 'viscous_asymmetry': 'viscous_asymmetry',
    'presliding_distance': 'presliding'}


class EstimateState(IntEnum):
    """Where the values come from; the numbers are those of the MlcSet message."""

    FROM_URDF = 0
    FROM_FILE = 1
    LEARNING = 2
    FROZEN = 3
    CONVERGED = 4


def covariance_of(names: Sequence[str], known: Sequence[str], covariance: Array) -> Array:
    """
    Return the covariance of some values out of that of others; NaN where there is none.

    :param names: p names of the values asked for.
    :param known: u names of the values whose covariance is known.
    :param covariance: (u, u) covariance of these.
    :returns: (p, p) covariance in the order of `names`.
    """
    places = {name: place for place, name in enumerate(known)}
    have = [k for k, name in enumerate(names) if name in places]
    columns = [places[names[k]] for k in have]
    C = np.full((len(names), len(names)), np.nan)
    C[np.ix_(have, have)] = covariance[np.ix_(columns, columns)]
    return C


@immutable
@dataclass(frozen=True, eq=False)
class MlcEstimate:
    """
    Identified parameters of a robot: the content of parameters.yaml and of the MlcSet message.

    :param robot: name of the robot.
    :param base_link: name of the base link.
    :param tip_link: name of the tip link.
    :param mlc: the minimal set with the values; its formulas name grouped rotor inertias.
    :param joint_physics: rotor inertia (NaN = inside the minimal parameters), friction, offset.
    :param identified: p flags: the data determine the value; otherwise it is that of the URDF.
    :param unknowns: u names of all that was estimated, e.g. ``U2_33``, ``Fc1``.
    :param covariance: (u, u) covariance of these.
    :param samples: number of samples used.
    :param condition_number: condition number of the regressor of these samples, columns of equal
        length. After `identify`, rows are divided by the effort limits, as for a planned motion;
        in a stream, by what is left of the torque.
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
        freeze(self, 'covariance', 'residual_rms')

    def __repr__(self) -> str:
        """Return the robot, how much of it is identified and from how many samples."""
        return (f'<MlcEstimate of {self.robot}: {sum(self.identified)} of {len(self.mlc)} '
                f'elements of set {self.mlc.set} identified from {self.samples} samples, '
                f'state {self.state.name}>')

    @classmethod
    def not_estimated(cls, chain: Chain, mlc: MlcSet) -> MlcEstimate:
        """
        Return the parameters of a robot description, before any data.

        :param chain: the robot; its joint physics is taken.
        :param mlc: one of its minimal sets, with values.
        """
        return cls(chain.robot, chain.base, chain.tip, mlc, chain.joint_physics,
                   (False,) * len(mlc), (), np.zeros((0, 0)), 0, np.nan,
                   np.full(len(chain), np.nan), EstimateState.FROM_URDF)

    @property
    def model_hash(self) -> str:
        """Identity of geometry, gravity, set and names."""
        return self.mlc.model_hash

    @property
    def standard_deviations(self) -> Array:
        """
        Standard deviations of the minimal parameters (p,).

        NaN where the data do not determine the value.
        """
        known = dict(zip(self.unknowns, np.sqrt(np.diag(self.covariance)).tolist()))
        return np.array([known.get(name, np.nan) if sure else np.nan
                         for name, sure in zip(self.mlc.names, self.identified)])

    def converted_to(self, chain: Chain, set: str) -> MlcEstimate:
        """
        Return the estimate in another minimal set of the same robot.

        Standard deviations are carried over as far as they are those of a combination of what was
        estimated; where they are not, they are unknown.

        :param chain: the robot.
        :param set: 'lin', 'khalil' or 'numeric'.
        :raises ParameterError: unknown set.
        """
        if set == self.mlc.set:
            return self
        other = minimal_parameters(chain, set)
        M = self.mlc.conversion_to(other)
        sure = np.array(self.identified, dtype=bool)
        known = tuple(not np.any(row[~sure]) for row in M)
        kept = [i for i, name in enumerate(self.unknowns) if name in self.mlc.names]
        places = [self.mlc.names.index(self.unknowns[i]) for i in kept]
        rows = M[np.array(known)][:, places]
        covariance = rows @ self.covariance[kept][:, kept] @ rows.T
        return replace(self, mlc=self.mlc.converted_to(other), identified=known,
                       unknowns=tuple(name for name, each in zip(other.names, known) if each),
                       covariance=covariance)
