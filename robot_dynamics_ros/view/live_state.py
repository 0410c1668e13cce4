# SPDX-License-Identifier: Apache-2.0
"""What is known about a robot at work, kept for a while: torques, parameters, messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.codegen.runtime.model import Model, compile_model
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.estimation.recordings.effort_torque import removed_weight
from robot_dynamics_ros.estimation.smoothing.stream_sampler import StreamSampler
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.robot import Robot

#: Cut-off frequency of the torques that are compared [Hz].
CUTOFF = 5.0

#: Torques that are kept, and time that they may span [s].
_TORQUES, _SPAN = 400, 20.0

#: A joint moves above this part of its velocity limit; without one, above this velocity.
_SLOW = 0.01

#: Estimates that are kept; of more, every second one is dropped.
_ESTIMATES = 400

#: Sources of messages, messages of each, and characters of a message that are kept.
_SOURCES, _VALUES, _CHARACTERS = 16, 80, 160


class Torques(NamedTuple):
    """
    Measured and predicted torques at N times.

    :param t: (N,) time, the newest at 0 [s].
    :param measured: (N, n) measured torque [N m, N].
    :param urdf: (N, n) that of the URDF's parameters.
    :param learned: (N, n) that of the newest estimate; NaN before there is one.
    :param moving: (N, n) mask of joints that move: what friction holds at rest, no model knows.
    """

    t: Array
    measured: Array
    urdf: Array
    learned: Array
    moving: Mask

    def errors(self, predicted: Array) -> Array:
        """Return RMS error over RMS torque of each joint in motion (n,); NaN = not known."""
        rest, size = self._squares(predicted)
        with np.errstate(invalid='ignore', divide='ignore'):
            return np.asarray(np.sqrt(rest / size))

    def total_error(self, predicted: Array) -> float:
        """Return RMS error over RMS torque of all joints in motion; NaN = not known."""
        rest, size = (float(np.sum(part)) for part in self._squares(predicted))
        return float(np.sqrt(rest / size)) if size > 0.0 else float('nan')

    def _squares(self, predicted: Array) -> tuple[Array, Array]:
        """Return the squares of errors and of torques, summed over time (n,)."""
        known = np.isfinite(self.measured) & np.isfinite(predicted) & self.moving
        rest = np.where(known, self.measured - predicted, 0.0)
        return (np.asarray(np.sum(rest**2, axis=0)),
                np.asarray(np.sum(np.where(known, self.measured, 0.0)**2, axis=0)))


class LiveState:
    """
    Collects what comes from a robot at work; its size is bounded, whatever comes.

    :param robot: the robot with the parameters of its URDF.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        #: Newest estimate; None = nothing learned yet.
        self.estimate: MlcEstimate | None = None
        #: Newest joint positions by name [rad, m].
        self.positions: dict[str, float] = {}
        #: Messages by source: what each node says about itself.
        self.messages: dict[str, dict[str, str]] = {}
        #: Part of a motion that was played; NaN = none.
        self.motion = float('nan')
        self._learned: Model | None = None
        self._sampler = StreamSampler(robot.chain, robot.effort_semantics, CUTOFF)
        limits = robot.chain.velocity_limits
        self._slow = np.where(np.isfinite(limits), _SLOW * limits, _SLOW)
        self._torques: deque[tuple[float, Array, Array, Array, Mask]] = deque(maxlen=_TORQUES)
        self._estimates: list[tuple[float, Array, Array]] = []

    def observe(self, sample: JointSample) -> None:
        """Take a joint state, with efforts in the unit of the robot."""
        self.positions = dict(zip(self.robot.chain.joint_names, sample.q.tolist()))
        if self._torques and sample.time < self._torques[-1][0] - 1.0:
            self.restart()
        qd = None if np.isnan(sample.qd).any() else sample.qd[None]
        for state in self._sampler.feed_many(np.array([sample.time]), sample.q[None], qd,
                                             sample.effort[None]):
            model, q, qd, qdd = self.robot.model, state.q, state.qd, state.qdd
            weight = removed_weight(model.gravity_torque, q, self.robot.effort_semantics)
            learned = (np.full(len(q), np.nan) if self._learned is None
                       else self._learned.torque(q, qd, qdd))
            self._torques.append((state.t, state.tau + weight, model.torque(q, qd, qdd), learned,
                                  np.abs(qd) > self._slow))

    def restart(self) -> None:
        """Forget the torques: the clock was set back."""
        robot = self.robot
        self._sampler = StreamSampler(robot.chain, robot.effort_semantics, CUTOFF)
        self._torques.clear()

    def learn(self, time: float, estimate: MlcEstimate) -> None:
        """
        Take an estimate.

        :param time: time of the estimate [s].
        :param estimate: estimate in the set of the robot's model.
        """
        self.estimate = estimate
        if self._learned is None:
            self._learned = compile_model(self.robot.chain)
        self._learned.swap(np.asarray(estimate.mlc.values), estimate.joint_physics)
        self._estimates.append((time, np.asarray(estimate.mlc.values),
                                estimate.standard_deviations))
        if len(self._estimates) > _ESTIMATES:
            del self._estimates[1::2]

    def hear(self, source: str, values: Mapping[str, str]) -> None:
        """
        Take what a node says about itself.

        :param source: name of the node.
        :param values: its values by name.
        """
        if source in self.messages or len(self.messages) < _SOURCES:
            self.messages[source[:_CHARACTERS]] = {
                key[:_CHARACTERS]: value[:_CHARACTERS]
                for key, value in list(values.items())[:_VALUES]}

    def torques(self) -> Torques:
        """Return the torques of the last seconds."""
        n, rows = len(self.robot.chain), list(self._torques)
        if not rows:
            none = np.zeros((0, n))
            return Torques(np.zeros(0), none, none, none, none.astype(bool))
        t = np.array([row[0] for row in rows]) - rows[-1][0]
        recent = t >= -_SPAN
        measured, urdf, learned, moving = (np.array([row[k] for row in rows])[recent]
                                           for k in (1, 2, 3, 4))
        return Torques(t[recent], measured, urdf, learned, moving.astype(bool))

    def history(self, number: int) -> tuple[Array, Array, Array]:
        """
        Return a minimal parameter over time: times [s], values, standard deviations (N,).

        :param number: place of the parameter in the minimal set.
        """
        first = self._estimates[0][0] if self._estimates else 0.0
        return (np.array([time - first for time, _, _ in self._estimates]),
                np.array([values[number] for _, values, _ in self._estimates]),
                np.array([sigmas[number] for _, _, sigmas in self._estimates]))

    def excitation(self) -> dict[str, str]:
        """Return how well each joint is excited, in the words of the node that learns."""
        word = 'excitation of '
        return {key.removeprefix(word): value for values in self.messages.values()
                for key, value in values.items() if key.startswith(word)}

    def largest_parameters(self, count: int) -> list[int]:
        """Return the numbers of the largest parameters of the URDF, in the order of the set."""
        values = np.abs(self.robot.estimate.mlc.values)
        return sorted(np.argsort(-values, kind='stable')[:count].tolist())
