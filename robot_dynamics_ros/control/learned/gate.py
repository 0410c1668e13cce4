# SPDX-License-Identifier: Apache-2.0
"""
The gate between learned parameters and the torque that moves a robot.

Nothing passes that is not finished learning, that makes a mass matrix which no robot has, that
explains the latest motion worse than the parameters in use, or that comes from efforts which are
late. Efforts in another unit pass all of these: so a weight far from the one that a person has
trusted needs the word of a person. What passes takes over gradually, and gives way again if the
motion that follows speaks against it.

`DynamicParameters` are all numbers that make the torque of a robot, as one thing that can be
swapped and blended.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array, freeze
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.codegen.runtime.model import Model, compile_model
from robot_dynamics_ros.control.learned.recent_motion import RecentMotion, Residual
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.consistency.mass_matrix import (
    mass_matrix_objection,
    possible_postures,
)
from robot_dynamics_ros.estimation.recordings.plausibility import PlausibleRange


@dataclass(frozen=True, eq=False)
class DynamicParameters:
    """
    Minimal parameters of the links and the physics of the joints.

    :param minimal: (p,) minimal parameters in the order of their set, without payload.
    :param joint_physics: rotor inertia (NaN = inside a minimal parameter), friction, offset.
    :param estimate: estimate that they come from; None = several.
    """

    minimal: Array
    joint_physics: JointPhysics
    estimate: MlcEstimate | None = None

    def __post_init__(self) -> None:
        """Copy the parameters and make them read-only."""
        freeze(self, 'minimal')

    @classmethod
    def of(cls, estimate: MlcEstimate) -> DynamicParameters:
        """Return the parameters of an estimate."""
        return cls(estimate.mlc.values, estimate.joint_physics, estimate)

    def blended(self, other: DynamicParameters, share: float) -> DynamicParameters:
        """
        Return parameters between these and others.

        The torque is linear in them, so it moves evenly from the one to the other, and a mass
        matrix between two positive definite ones is positive definite.

        :param other: parameters of the same robot; their `coulomb_velocity` holds in between, too.
        :param share: part of the others: 0 = these, 1 = exactly the others.
        """
        if share >= 1.0:
            return other
        here, there = self.joint_physics, other.joint_physics

        def between(a: Array, b: Array) -> Array:
            # a rotor inside a minimal parameter (NaN) adds nothing of its own
            return (1.0 - share) * np.nan_to_num(a) + share * np.nan_to_num(b)

        changes: dict[str, Any] = {
            name: between(getattr(here, name), getattr(there, name))
            for name in ('rotor_inertia', 'viscous', 'coulomb', 'offset')}
        if here.static is not None or there.static is not None:
            # without Stribeck the static friction is the Coulomb friction
            changes['static'] = between(*(physics.coulomb if physics.static is None
                                          else physics.static for physics in (here, there)))
            speeds = there.stribeck_velocity
            changes['stribeck_velocity'] = here.stribeck_velocity if speeds is None else speeds
        return DynamicParameters(between(self.minimal, other.minimal), replace(there, **changes))


#: A joint bears weight where its gravity torque is at least this part of the largest one.
_BEARING = 0.2
#: A lag counts where it explains more than this part of what is unexplained.
_LATE = 0.1
#: Smaller parts of the largest gravity torque are rounding.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class GateSettings:
    """
    Demands on learned parameters.

    :param improvement: the residual must fall below this part of the present one, over all
        joints.
    :param worst: no joint may get worse by more than this factor.
    :param fewest: averages of recent motion that at least one joint must have.
    :param setback: parameters go back when they leave this factor of the old residual.
    :param largest_change: factor, up or down, by which the gravity torque may differ from the
        trusted one.
    :param largest_lag: time by which the efforts may seem late or early [s]; inf = any.
    """

    improvement: float = 0.98
    worst: float = 1.3
    fewest: int = 20
    setback: float = 1.05
    largest_change: float = 3.0
    largest_lag: float = 0.006

    def __post_init__(self) -> None:
        """Refuse a gate that lets everything in or throws everything out."""
        if not (0.0 < self.improvement <= 1.0 <= self.worst and self.fewest >= 1
                and self.setback >= 1.0 and self.largest_change >= 1.0
                and self.largest_lag >= 0.0):
            raise ParameterError('parameter gate: needs 0 < improvement <= 1 <= worst, fewest >= '
                                 '1, setback >= 1, largest_change >= 1 and largest_lag >= 0')


@dataclass(frozen=True)
class Judgement:
    """
    What the gate says.

    :param accepted: True = the parameters may be used.
    :param reason: reason for people.
    :param ratio: residual over the present one, over all joints; NaN = not measured.
    :param asks: True = nothing but the weight speaks against them, and a person may accept it.
    """

    accepted: bool
    reason: str
    ratio: float = np.nan
    asks: bool = False


class ParameterGate:
    """Judges parameters of one robot; never touches the model in use."""

    def __init__(self, chain: Chain, settings: GateSettings | None = None) -> None:
        """
        Prepare two models of the robot to try parameters with.

        :param chain: the robot.
        :param settings: demands on parameters.
        """
        self.settings = settings or GateSettings()
        #: Range of the joint states that parameters are judged by.
        self.plausible = PlausibleRange.of_chain(chain)
        self._names = chain.joint_names
        self._revolute = np.array([joint.revolute for joint in chain.joints])
        self._models: tuple[Model, Model] = (compile_model(chain), compile_model(chain))
        self._postures = possible_postures(chain)

    def judge(self, candidate: DynamicParameters, present: DynamicParameters,
              motion: RecentMotion, load: Array, *, trusted: DynamicParameters,
              converged: bool) -> Judgement:
        """
        Say whether learned parameters may be used instead of the present ones.

        :param candidate: learned parameters, without payload.
        :param present: parameters in use, without payload.
        :param trusted: parameters whose weight a person has trusted: of the URDF or a file.
        :param motion: the latest motion, with payload.
        :param load: (p,) minimal parameters of the payload.
        :param converged: the estimator says that it has finished.
        """
        if not converged:
            return Judgement(False, 'still learning')
        reason = self.objection(candidate)
        if reason:
            return Judgement(False, reason)
        new, old = self._residuals((candidate, present), motion, load, -np.inf)
        if np.max(new.samples, initial=0) < self.settings.fewest:
            return Judgement(False, 'no recent motion with measured efforts to judge it by')
        ratio, ratios = self._compare(new, old)
        worst = int(np.argmax(ratios))
        if not ratios[worst] <= self.settings.worst:
            return Judgement(False, f'joint {self._names[worst]}: the residual of recent motion '
                                    f'would be {ratios[worst]:.2f} times the present one', ratio)
        if not ratio <= self.settings.improvement:
            return Judgement(False, f'no better on recent motion (residual {ratio:.2f} times the '
                                    'present one)', ratio)
        lag = motion.lag(self._models[0])
        if abs(lag.time) > self.settings.largest_lag and lag.part > _LATE:
            word = 'late' if lag.time > 0.0 else 'early'
            return Judgement(False, f'the efforts come at least {1e3 * abs(lag.time):.0f} ms '
                                    f'{word}, compared with the motion', ratio)
        reason = self.weight_objection(candidate, trusted)
        if reason:
            return Judgement(False, reason, ratio, asks=True)
        return Judgement(True, f'the residual of recent motion falls to {100.0 * ratio:.0f} %',
                         ratio)

    def objection(self, candidate: DynamicParameters) -> str:
        """
        Return why no robot can have these parameters, or ''.

        :param candidate: learned parameters, without payload.
        """
        if not np.all(np.isfinite(candidate.minimal)):
            return 'a minimal parameter is not finite'
        try:
            self._models[0].swap(candidate.minimal, candidate.joint_physics)
        except ParameterError as error:
            return str(error)
        return mass_matrix_objection(self._models[0], self._postures)

    def weight_objection(self, candidate: DynamicParameters, trusted: DynamicParameters) -> str:
        """Return why a person should look at the weight that these parameters give, or ''."""
        for model, each in zip(self._models, (candidate, trusted)):
            model.swap(each.minimal, each.joint_physics)
        new, old = (model.gravity_torque(self._postures) for model in self._models)
        new_size, old_size = (np.sqrt(np.mean(torque**2, axis=0)) for torque in (new, old))
        if not np.max(old_size) > 0.0:
            return 'there is no weight to compare with: the URDF has no inertias, or no gravity'
        factor = self.settings.largest_change
        # torques and forces do not compare
        largest = np.where(self._revolute, np.max(old_size[self._revolute], initial=0.0),
                           np.max(old_size[~self._revolute], initial=0.0))
        bearing = (old_size >= _BEARING * largest) & (old_size > 0.0)
        old_squares = np.where(bearing, np.mean(old**2, axis=0), 1.0)
        # of a weight that points elsewhere only the part along the trusted one counts
        along = np.where(bearing, np.mean(new * old, axis=0) / old_squares, 1.0)
        usual = np.maximum(old_size, _BEARING * largest) + _ROUNDING * np.max(old_size)
        over = new_size / usual
        light, heavy = int(np.argmin(along)), int(np.argmax(over))
        if not along[light] >= 1.0 / factor:
            joint, ratio = light, along[light]
        elif not over[heavy] <= factor:
            joint, ratio = heavy, over[heavy]
        else:
            return ''
        return (f'joint {self._names[joint]}: its gravity torque would be {ratio:.2g} times the '
                f'trusted one (allowed: {1.0 / factor:.2g} to {factor:.2g}), as if the efforts '
                'were in another unit')

    def set_back(self, present: DynamicParameters, before: DynamicParameters,
                 motion: RecentMotion, load: Array, since: float) -> Judgement:
        """
        Say whether parameters that were taken over should give way to those before.

        :param present: parameters in use, without payload.
        :param before: parameters in use before.
        :param motion: the latest motion, with payload.
        :param load: (p,) minimal parameters of the payload.
        :param since: only motion after this time counts: what came before they had to pass [s].
        """
        new, old = self._residuals((present, before), motion, load, since)
        if np.max(new.samples, initial=0) < self.settings.fewest:
            return Judgement(False, 'not enough motion since')
        ratio, _ = self._compare(new, old)
        return Judgement(ratio > self.settings.setback,
                         f'on the motion since then they leave {ratio:.2f} times the residual of '
                         'those before', ratio)

    def _residuals(self, pair: tuple[DynamicParameters, DynamicParameters], motion: RecentMotion,
                   load: Array, since: float) -> tuple[Residual, Residual]:
        for model, each in zip(self._models, pair):
            model.swap(each.minimal + load, each.joint_physics)
        first, second = self._models
        return motion.residual(first, since), motion.residual(second, since)

    def _compare(self, new: Residual, old: Residual) -> tuple[float, Array]:
        """Return the ratio over all joints that moved, and that of every joint; 0 = no motion."""
        enough = new.samples >= max(1, self.settings.fewest // 2)
        # every joint counts by the part of its own residual; one that is exact stays so
        floor = 1e-9 * np.max(np.nan_to_num(old.rms), initial=1e-300)
        ratios = np.where(enough, new.rms / np.maximum(old.rms, floor), 0.0)
        return float(np.sqrt(np.mean(ratios[enough]**2))), ratios
