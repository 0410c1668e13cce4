# SPDX-License-Identifier: Apache-2.0
"""The result of an identification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.estimation.identification.verdict import Verdict
from robot_dynamics_ros.estimation.recordings.cleaning import CutOut
from robot_dynamics_ros.estimation.recordings.effort_torque import (
    effort_from_torque,
    removed_weight,
)
from robot_dynamics_ros.estimation.regression.lin_recursion import JointDiagnosis
from robot_dynamics_ros.estimation.regression.recorded_torque import RecordedTorque
from robot_dynamics_ros.estimation.regression.time_blocks import Blocks
from robot_dynamics_ros.estimation.settings import IdentificationSettings

#: excited: found from the data; prior: held near the URDF value; zero: would be negative.
ParameterState = Literal['excited', 'prior', 'zero']


@dataclass(frozen=True)
class IdentifiedParameter:
    """
    One unknown.

    :param name: name such as ``U2_33`` or ``Fc1``.
    :param formula: formula in link parameters and rotor inertias; '' for joint terms.
    :param unit: SI unit.
    :param value: estimated value.
    :param standard_deviation: standard deviation of the estimate.
    :param urdf: value of the URDF and joints file.
    :param state: whether the data determine it.
    :param essential: whether the data need it.
    """

    name: str
    formula: str
    unit: str
    value: float
    standard_deviation: float
    urdf: float
    state: ParameterState
    essential: bool

    @property
    def relative_standard_deviation(self) -> float:
        """Standard deviation over value; infinite for a value of zero."""
        return (self.standard_deviation / abs(self.value) if self.value != 0.0 else float('inf'))


@dataclass(frozen=True, eq=False)
class TorqueComparison:
    """
    Measured and predicted torques on the samples of the regression, equally filtered.

    :param t: (N,) time [s].
    :param measured: (N, n) measured torques [N m, N].
    :param predicted: (N, n) torques of the identified parameters.
    :param held_out: (N, n) torques of parameters fitted without the sample; NaN where not tested.
    :param urdf: (N, n) torques of the URDF parameters.
    :param usable: (N, n) mask of the measured torques that count.
    :param stretch: (N,) number of the stretch that a sample belongs to.
    :param states: (N, 2 n) positions [rad, m] and velocities [rad/s, m/s].
    """

    t: Array
    measured: Array
    predicted: Array
    held_out: Array
    urdf: Array
    usable: Mask
    stretch: Blocks
    states: Array

    def farthest_posture(self) -> Array:
        """Return the recorded posture (n,) that is farthest from zero [rad, m]."""
        q = self.states[:, :self.measured.shape[1]]
        return np.asarray(q[int(np.argmax(np.sum(q**2, axis=1)))])


@dataclass(frozen=True, eq=False)
class FrictionComparison:
    """
    What links and rotors leave of the measured torques, motor by motor, equally filtered.

    :param velocity: (N, n) motor velocities [rad/s, m/s].
    :param torque: (N, n) friction and offset that were measured [N m, N]; NaN = not usable.
    :param load: (N, n) size of the torque of links and rotors [N m, N].
    """

    velocity: Array
    torque: Array
    load: Array


@dataclass(frozen=True, eq=False)
class Identification:
    """
    The result of `identify`.

    :param chain: the robot, with the inertias of the URDF.
    :param estimate: parameters with their accuracy, the content of parameters.yaml.
    :param verdict: verdict of the held-out test.
    :param parameters: all unknowns, one by one.
    :param findings: findings about recordings, efforts and parameters.
    :param cut_out: counts of what was not used.
    :param comparison: measured and predicted torques.
    :param diagnosis: Lin's procedure joint by joint.
    :param periods: period of the motion [s] of every stretch that repeats.
    :param cutoff: cut-off frequency of the filter in use [Hz]; None = no filter.
    :param parallel_cutoff: cut-off frequency of the filter on regressor and torque [Hz];
        None = no filter.
    :param settings: settings of the identification.
    :param effort: meaning of the recorded efforts.
    :param model: model with the identified parameters.
    :param recorded: rows of the minimal parameters, condensed.
    :param friction: measured friction of the motors; None = friction was not identified.
    """

    chain: Chain
    estimate: MlcEstimate
    verdict: Verdict
    parameters: tuple[IdentifiedParameter, ...]
    findings: tuple[Finding, ...]
    cut_out: CutOut
    comparison: TorqueComparison
    diagnosis: tuple[JointDiagnosis, ...]
    periods: tuple[float, ...]
    cutoff: float | None
    parallel_cutoff: float | None
    settings: IdentificationSettings
    effort: EffortSemantics
    model: Model
    recorded: RecordedTorque
    friction: FrictionComparison | None = None

    @property
    def mlc(self) -> MlcSet:
        """The minimal parameters; formulas name the rotor inertias grouped into them."""
        return self.estimate.mlc

    @property
    def joint_physics(self) -> JointPhysics:
        """Rotor inertia (NaN = grouped into a minimal parameter), friction and offset."""
        return self.estimate.joint_physics

    @property
    def standard_deviations(self) -> Array:
        """Standard deviations of the minimal parameters (p,); NaN = not determined by the data."""
        return self.estimate.standard_deviations

    @property
    def residual_rms(self) -> Array:
        """Root mean square of the unexplained torque (n,) [N m, N]."""
        return self.estimate.residual_rms

    def predict(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """
        Return the joint torque of the whole identified model [N m, N].

        :param q: (n,) or (N, n) positions [rad, m].
        :param qd: (n,) or (N, n) velocities [rad/s, m/s].
        :param qdd: (n,) or (N, n) accelerations [rad/s^2, m/s^2].
        """
        return self.model.torque(q, qd, qdd)

    def predict_effort(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Return the effort that the robot would report, in its own unit; see `predict`."""
        torque = self.predict(q, qd, qdd) - removed_weight(self.model.gravity_torque, q,
                                                               self.effort)
        return effort_from_torque(torque, self.effort)
