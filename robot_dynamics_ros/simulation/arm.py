# SPDX-License-Identifier: Apache-2.0
"""What the controllers of a simulated robot need of its physics, whichever engine has it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.errors import ParameterError, StateError


class Arm(Protocol):
    """An arm that moves in fixed steps; joint vectors are (n,) in the order of the chain."""

    @property
    def chain(self) -> Chain:
        """The robot, without payload."""

    @property
    def step(self) -> float:
        """Step of the integrator [s]."""

    @property
    def time(self) -> float:
        """Simulated so far [s]."""

    @property
    def q(self) -> Array:
        """Positions [rad, m]."""

    @property
    def qd(self) -> Array:
        """Velocities [rad/s, m/s]."""

    @property
    def q_motor(self) -> Array:
        """Positions of the motors on the joint side; they differ where joints are elastic."""

    @property
    def qd_motor(self) -> Array:
        """Velocities of the motors on the joint side."""

    @property
    def effort(self) -> Array:
        """Efforts of the motors in the last step [N m, N]."""

    def advance(self, effort: ArrayLike) -> None:
        """
        Move one step ahead.

        :param effort: (n,) efforts of the motors during the step [N m, N].
        :raises StateError: an effort that is not finite, or the simulation diverged; the state
            then stays what it was.
        """

    def carry(self, payload: Inertia, tip: str | None = None) -> None:
        """
        Carry another payload from now on, instead of the last one on the same tip.

        :param payload: inertia in the frame of the tip link.
        :param tip: name of the tip link; None = the first one.
        """


def checked_step(step: float) -> float:
    """Return the step of an integrator [s]; refuse one that is not positive."""
    if not (np.isfinite(step) and step > 0.0):
        raise ParameterError(f'simulation: the step must be positive and finite, got {step}')
    return float(step)


def first_position(chain: Chain, q: ArrayLike | None) -> Array:
    """
    Return where an arm starts (n,) [rad, m].

    :param chain: the robot.
    :param q: the positions, or None for zero, moved inside the position limits.
    :raises StateError: not n finite numbers.
    """
    n = len(chain)
    start = np.clip(np.zeros(n), *chain.position_limits) if q is None else np.array(q, np.float64)
    if start.shape != (n,) or not np.all(np.isfinite(start)):
        raise StateError(f'simulation: q must be {n} finite numbers, got {start}')
    return start


def checked_effort(effort: ArrayLike, n: int) -> Array:
    """Return efforts (n,) [N m, N]; refuse another number of them or one that is not finite."""
    tau = np.array(effort, dtype=np.float64)
    if tau.shape != (n,) or not np.all(np.isfinite(tau)):
        raise StateError(f'simulation: effort must be {n} finite numbers, got {tau}')
    return tau
