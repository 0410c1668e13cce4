# SPDX-License-Identifier: Apache-2.0
"""
Float: an arm that carries its own weight and is led by hand.

    tau = gravity + offset + part of friction - damping - hold + soft stop

Damping, braking and soft stop are measured in times and frequencies, times the inertia that each
joint feels: the same settings fit every robot, and none is quicker than sampled control bears.

- Damping: what is let go comes to rest; beyond the largest velocity it is braked on top.
- Hold: a small virtual dry friction, a spring that slips. It carries what the model of the weight
  is wrong by, so that the arm does not creep. It stores and takes energy, but gives none.
- Part of friction: friction is compensated in part, the less the slower the joint, so that the
  real friction is always the larger one: nothing is pushed.
- Soft stop: spring and damper from a margin before the position limits on.

When no usable joint state comes, damping and stops cannot be computed, and nobody knows where the
arm is. Zero torque would drop it on the hand that leads it; the last torque kept for ever would
be that of a pose which it may have left. So the weight of the pose seen last is held for a short
time and then taken away slowly: the arm sinks, and there is time to step back or to brake.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.arrays import Array, freeze
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.control.safe_stream import SafeEnd, check_safe_end
from robot_dynamics_ros.control.torque_model import TorqueModel
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError, StateError
from robot_dynamics_ros.motion.effort_limits import EffortLimits

#: Largest part of the friction that is compensated: friction that is really a third smaller
#: than in the model is still not pushed.
LARGEST_FRICTION_SHARE = 0.7
#: Velocity above which friction is compensated in earnest [rad/s, m/s].
_FRICTION_VELOCITY = 0.05
#: Deflection at which the hold slips where the period allows it [rad, m].
_SLIP = 0.05
#: Largest frequency of the holding springs, as part of the quickest damping.
_HOLD_FREQUENCY = 0.75
#: Frequency of the soft stop where the period allows it [rad/s].
_STOP_FREQUENCY = 10.0
#: Longest period: between two commands that are further apart the weight changes too much [s].
LONGEST_PERIOD = 0.02
#: Largest part of the range of a joint that a margin takes.
_LARGEST_MARGIN = 0.1
#: Number of intervals between joint states that tell how often they come.
_INTERVALS = 15
#: Times its velocity limit that no joint moves: a wrong bit, which would be braked in earnest.
_IMPOSSIBLE = 3.0


class FloatModel(TorqueModel, Protocol):
    """What a float needs of a compiled model."""

    def mass_matrix(self, q: Array) -> Array:
        """Return the mass matrix (n, n) [kg m^2, kg m, kg]."""


@dataclass(frozen=True, eq=False)
class FloatSettings:
    """
    How an arm floats.

    :param limits: effort limits.
    :param positions: (2, n) lower and upper position limits [rad, m]; infinite = none.
    :param velocities: (n,) velocity limits [rad/s, m/s]; NaN = none.
    :param friction_share: part of the model's friction that is compensated, 0 to 0.7.
    :param damping_time: time in which the velocity of what is let go falls to 37 % [s].
    :param largest_velocity: velocity beyond which a joint is braked on top [rad/s, m/s]; a lower
        velocity limit of a joint goes before.
    :param braking_time: time in which a velocity beyond that falls to 37 % [s].
    :param margin: distance from a position limit at which the soft stop begins [rad, m].
    :param holding: effort up to which a joint stays where it is, as part of its effort limit.
    :param gravity: False where the robot carries its own weight already.
    :param period: time between two commands [s], at most 0.02; nothing is quicker or stiffer than
        it allows, or than joint states do that come less often.
    :param joint_state_timeout: age beyond which a joint state is not used [s].
    :param safe_end: what follows without usable joint states: 'gravity' = the weight, held and
        then taken away slowly; 'zero' = no torque, for a robot with brakes.
    :param hold_time: time for which the weight is held [s].
    :param release_time: time in which it is then taken away [s].
    :raises ParameterError: a setting outside its range.
    """

    limits: EffortLimits
    positions: Array
    velocities: Array
    friction_share: float = 0.0
    damping_time: float = 0.5
    largest_velocity: float = 1.0
    braking_time: float = 0.1
    margin: float = 0.1
    holding: float = 0.03
    gravity: bool = True
    period: float = 0.005
    joint_state_timeout: float = 0.1
    safe_end: SafeEnd = 'gravity'
    hold_time: float = 1.0
    release_time: float = 5.0

    def __post_init__(self) -> None:
        """Make the arrays read-only and refuse what cannot be."""
        freeze(self, 'positions', 'velocities')
        check_safe_end(self.safe_end)
        for name, largest in (('friction_share', LARGEST_FRICTION_SHARE), ('holding', 0.5)):
            if not 0.0 <= getattr(self, name) <= largest:
                raise ParameterError(f'{name} must be between 0 and {largest}, '
                                     f'got {getattr(self, name)}')
        for name in ('damping_time', 'largest_velocity', 'braking_time', 'period',
                     'joint_state_timeout', 'release_time'):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise ParameterError(f'{name} must be positive, got {getattr(self, name)}')
        if self.period > LONGEST_PERIOD:
            raise ParameterError(f'period must be at most {LONGEST_PERIOD} s, got {self.period}: '
                                 'an arm floats with 50 commands per second or more')
        for name in ('margin', 'hold_time'):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise ParameterError(f'{name} must not be negative, got {getattr(self, name)}')

    @classmethod
    def of_chain(cls, chain: Chain, limits: EffortLimits | None = None,
                 **choices: Any) -> FloatSettings:
        """
        Return the settings of a robot.

        :param chain: robot with its limits.
        :param limits: effort limits; None = those of the chain.
        :param choices: any of the other settings.
        :raises ParameterError: a joint without effort limit, or a setting outside its range.
        """
        return cls(limits or EffortLimits.of_chain(chain), chain.position_limits,
                   chain.velocity_limits, **choices)

    def quickest(self, interval: float = 0.0) -> float:
        """
        Return the largest rate of damping [1/s].

        Damping with the inertia that one joint feels is at most n times damping with the mass
        matrix; half of what an integrator with this period bears remains.

        :param interval: time between two joint states [s]; where it is longer than the period, a
            joint state is answered several times, and that counts.
        """
        return 1.0 / (2.0 * len(self.limits.joint_names) * max(self.period, interval))


class FloatCommand(NamedTuple):
    """
    What to command now.

    :param effort: (n,) finite and inside the limits [N m, N].
    :param clamped: (n,) 1 for each joint that was clipped at its limit.
    :param objection: why the arm does not float but is let down; '' = it floats.
    """

    effort: Array
    clamped: NDArray[np.int64]
    objection: str


class FloatController:
    """
    Lets an arm float: one command per joint state, and a safe one when these stay away.

    Silent until the first joint state that it can use; it floats again by itself when usable
    joint states come back, unless it was stopped.
    """

    def __init__(self, settings: FloatSettings) -> None:
        """
        Wait for a joint state.

        :param settings: settings; may be replaced while it runs.
        """
        self.settings = settings
        self._stopped = ''
        self._anchor: Array | None = None
        self._stiffness = np.full(len(settings.limits.joint_names), np.inf)
        self._weight: Array | None = None  # where the arm was seen last
        self._last_time = np.inf
        self._blind = 0.0  # time without usable joint state
        self._received = -np.inf  # when the last joint state came
        self._intervals: deque[float] = deque(maxlen=_INTERVALS)

    def held(self) -> Array | None:
        """Return the efforts (n,) [N m, N] that may be kept while no commands come, or None."""
        return None if self._weight is None else self._left() * self._weight

    def stop(self, reason: str) -> None:
        """
        Let the arm down, whatever joint states come.

        :param reason: reason for people.
        """
        self._stopped = reason

    def command(self, model: FloatModel, now: float, received: float, q: ArrayLike,
                qd: ArrayLike) -> FloatCommand | None:
        """
        Return what to command now, or None as long as no usable joint state has come.

        :param model: the robot.
        :param now: clock time [s].
        :param received: time at which the joint state was received, on the same clock [s].
        :param q: (n,) positions [rad, m].
        :param qd: (n,) velocities [rad/s, m/s].
        """
        objection = self._stopped or self._objection(now, received, q, qd)
        # a call that comes late does not count as more: the weight goes in small steps
        step = min(max(now - self._last_time, 0.0), self.settings.joint_state_timeout)
        self._last_time = now
        if 0.0 < received - self._received <= self.settings.joint_state_timeout:
            self._intervals.append(received - self._received)
        self._received = received
        if not objection:
            try:
                return self._floating(model, np.asarray(q, np.float64),
                                      np.asarray(qd, np.float64))
            except (RobotDynamicsError, np.linalg.LinAlgError) as error:
                objection = str(error)
        self._anchor = None
        self._stiffness = np.full_like(self._stiffness, np.inf)
        self._blind += step
        return self._let_down(objection)

    def _objection(self, now: float, received: float, q: ArrayLike, qd: ArrayLike) -> str:
        """Return why a joint state cannot be used, or ''."""
        if not abs(now - received) <= self.settings.joint_state_timeout:
            return 'joint states are stale'
        n = len(self.settings.limits.joint_names)
        for values, what in ((q, 'position'), (qd, 'velocity')):
            if np.shape(values) != (n,) or not np.all(np.isfinite(values)):
                return f'the {what} of a joint is not measured'
        if np.any(np.abs(qd) > _IMPOSSIBLE * self.settings.velocities):
            return 'the velocity of a joint is impossible'
        return ''

    def _quickest(self) -> float:
        """Return the largest rate of damping [1/s] with joint states as they come."""
        intervals = sorted(self._intervals)
        if not intervals:
            return self.settings.quickest(LONGEST_PERIOD)  # nobody knows yet
        # a few may be late
        return self.settings.quickest(intervals[(len(intervals) - 1) * 3 // 4])

    def _floating(self, model: FloatModel, q: Array, qd: Array) -> FloatCommand:
        s = self.settings
        offset = model.friction_torque(np.zeros_like(qd))
        weight = model.gravity_torque(q) + offset if s.gravity else np.zeros_like(q)
        inertia = _felt_inertia(model.mass_matrix(q))
        into_stop = _depth(q, s)
        quickest = self._quickest()
        frequency = min(_STOP_FREQUENCY, 0.5 * quickest)
        speed = np.abs(qd)
        excess = np.maximum(speed - np.fmin(s.largest_velocity, s.velocities), 0.0)
        stretch = self._stretch(q, inertia, quickest)
        rate = (1.0 / s.damping_time + excess / np.maximum(speed, 1e-9) / s.braking_time
                + 2.0 * frequency * (into_stop != 0.0)
                + 0.5 * quickest * (s.holding > 0.0) * (1.0 - np.abs(stretch)))  # no ringing
        torque = (weight + friction_help(model.friction_torque(qd) - offset, qd, s.friction_share)
                  - inertia * np.minimum(rate, quickest) * qd
                  - s.holding * s.limits.values * stretch - inertia * frequency**2 * into_stop)
        effort, clamped = s.limits.limit(torque)
        self._weight = s.limits.limit(weight).effort
        self._blind = 0.0
        return FloatCommand(effort, clamped, '')

    def _stretch(self, q: Array, inertia: Array, quickest: float) -> Array:
        """
        Return how far (n,) the holding springs are stretched; at 1 and -1 they slip.

        They are no stiffer than sampled control bears, and become softer only: a spring that
        becomes stiffer while it is stretched would give energy.
        """
        s = self.settings
        effort = s.holding * s.limits.values
        if not s.holding or not self._intervals:
            return np.zeros_like(q)
        bearable = np.minimum(effort / _SLIP, inertia * (_HOLD_FREQUENCY * quickest)**2)
        self._stiffness = np.minimum(self._stiffness, bearable)
        slip = effort / self._stiffness
        stretch = np.zeros_like(q) if self._anchor is None else q - self._anchor
        stretch = np.clip(stretch, -slip, slip)
        self._anchor = q - stretch
        return np.asarray(stretch / slip)

    def _let_down(self, objection: str) -> FloatCommand | None:
        if self._weight is None:
            return None
        share = 0.0 if self.settings.safe_end == 'zero' else self._left()
        effort = share * self._weight
        return FloatCommand(effort, np.zeros(len(effort), dtype=np.int64), objection)

    def _left(self) -> float:
        """Return the part of the weight that is not taken away yet."""
        s = self.settings
        return min(max(1.0 - (self._blind - s.hold_time) / s.release_time, 0.0), 1.0)


def friction_help(friction: Array, qd: Array, share: float) -> Array:
    """
    Return the torque (n,) [N m, N] that makes friction lighter, with at most `share` of its power.

    It is smooth and zero at standstill, even if the friction of the model jumps there.

    :param friction: (n,) torque of the friction [N m, N], zero at standstill.
    :param qd: (n,) velocities [rad/s, m/s].
    :param share: part that is compensated, below 1.
    """
    torque = share * np.tanh(np.abs(qd) / _FRICTION_VELOCITY) * friction
    power, allowed = float(torque @ qd), share * float(friction @ qd)
    if power > allowed:  # motors that are coupled: a joint may be driven by another's friction
        torque = torque * max(allowed, 0.0) / power
    return torque


def _felt_inertia(mass_matrix: Array) -> Array:
    """
    Return the inertia (n,) of each joint while the others are free [kg m^2, kg].

    :raises StateError: a mass matrix that no robot has.
    """
    inertia = 1.0 / np.diag(np.linalg.inv(mass_matrix))
    if not np.all(inertia > 0.0) or not np.all(np.isfinite(inertia)):
        raise StateError('the mass matrix of the model is not positive definite')
    return np.asarray(inertia, np.float64)


def _depth(q: Array, settings: FloatSettings) -> Array:
    """Return how far (n,) joints are inside a soft stop [rad, m], at most by the margin."""
    lower, upper = settings.positions
    margin = np.minimum(settings.margin, _LARGEST_MARGIN * (upper - lower))
    above, below = q - (upper - margin), (lower + margin) - q
    return np.asarray(np.clip(above, 0.0, margin) - np.clip(below, 0.0, margin))
