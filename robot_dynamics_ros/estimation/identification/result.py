# SPDX-License-Identifier: Apache-2.0
"""What an identification gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
from robot_dynamics_ros.estimation.regression.time_blocks import Blocks
from robot_dynamics_ros.estimation.settings import IdentificationSettings

#: excited: from the data; prior: the URDF's value; zero: held there, it cannot be negative.
ParameterState = Literal['excited', 'prior', 'zero']


@dataclass(frozen=True)
class IdentifiedParameter:
    """
    One unknown.

    :param name: e.g. ``U2_33``, ``Fc1``.
    :param formula: in terms of link parameters and rotor inertias; '' for joint terms.
    :param unit: SI.
    :param value: the estimate.
    :param standard_deviation: of the estimate.
    :param urdf: the value of the URDF and joints file.
    :param state: whether the data determine it.
    :param essential: the torque cannot do without it.
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
    def relative_deviation(self) -> float:
        """Standard deviation over value; infinite for a value of zero."""
        return (self.standard_deviation / abs(self.value) if self.value != 0.0 else float('inf'))


@dataclass(frozen=True, eq=False)
class TorqueComparison:
    """
    Measured and predicted torques on the samples of the regression, equally filtered.

    :param t: (N,) time [s].
    :param measured: (N, n) [N m, N].
    :param predicted: (N, n) by the identified parameters.
    :param held_out: (N, n) by parameters that have not seen the sample; NaN where not tested.
    :param urdf: (N, n) by the URDF's parameters.
    :param usable: (N, n) where the measured torque counts.
    :param stretch: (N,) number of the stretch of time.
    """

    t: Array
    measured: Array
    predicted: Array
    held_out: Array
    urdf: Array
    usable: Mask
    stretch: Blocks


@dataclass(frozen=True, eq=False)
class Identification:
    """
    The result of `identify`.

    :param chain: the robot, with the inertias of the URDF.
    :param estimate: parameters with their accuracy; parameters.yaml holds this.
    :param verdict: whether to trust it.
    :param parameters: all unknowns, one by one.
    :param findings: what was noticed.
    :param cut_out: what was not used.
    :param comparison: measured and predicted torques.
    :param diagnosis: Lin's procedure joint by joint.
    :param periods: after which time the motion repeats [s], one per stretch that does.
    :param cutoff: of the filter in use [Hz]; None = none.
    :param parallel_cutoff: of the filter on regressor and torque [Hz]; None = none.
    :param settings: as asked for.
    :param effort: what the recorded efforts mean.
    :param model: with the identified parameters.
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

    @property
    def mlc(self) -> MlcSet:
        """The minimal parameters; formulas name the rotor inertias inside of them."""
        return self.estimate.mlc

    @property
    def joint_physics(self) -> JointPhysics:
        """Rotor inertia (NaN = inside a minimal parameter), friction and offset."""
        return self.estimate.joint_physics

    @property
    def standard_deviations(self) -> Array:
        """Of the minimal parameters (p,); NaN where the data do not determine the value."""
        return self.estimate.standard_deviations

    @property
    def residual_rms(self) -> Array:
        """Root mean square of what is left of the torque (n,) [N m, N]."""
        return self.estimate.residual_rms

    def predict(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """
        Return the joint torque of the whole identified model [N m, N].

        :param q: (n,) or (N, n) positions [rad, m].
        :param qd: speeds [rad/s, m/s].
        :param qdd: accelerations [rad/s^2, m/s^2].
        """
        return self.model.torque(q, qd, qdd)

    def predict_effort(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Return the effort that the robot would report, in its own unit; see `predict`."""
        torque = self.predict(q, qd, qdd) - removed_weight(self.model.gravity_torque, q,
                                                               self.effort)
        return effort_from_torque(torque, self.effort)
