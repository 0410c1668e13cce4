# SPDX-License-Identifier: Apache-2.0
"""Motions that excite a robot, with exact speeds and accelerations, and the torque they need."""

from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.codegen.runtime.model import compile_model


@dataclass(frozen=True)
class Excitation:
    """Time (N,) and q, qd, qdd, tau (N, n)."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray


def fourier_motion(rng, n, *, duration=10.0, step=0.005, harmonics=5, size=1.0, base=0.1):
    """Return t, q, qd, qdd of a sum of sines per joint with random phases."""
    t = np.arange(0.0, duration, step)
    k = np.arange(1, harmonics + 1)
    omega = 2 * np.pi * base * k
    a = rng.normal(size=(n, harmonics)) * size / k
    phase = rng.uniform(0, 2 * np.pi, (n, harmonics))
    angle = omega * t[:, None, None] + phase
    q = np.sum(a * np.sin(angle), axis=-1) + rng.uniform(-0.5, 0.5, n)
    return (t, q, np.sum(a * omega * np.cos(angle), axis=-1),
            np.sum(-a * omega ** 2 * np.sin(angle), axis=-1))


def random_physics(rng, n, **changes):
    """Return joint terms of a geared robot."""
    physics = JointPhysics(rotor_inertia=rng.uniform(0.1, 0.5, n), viscous=rng.uniform(0.5, 3, n),
                           coulomb=rng.uniform(0.5, 4, n), offset=rng.uniform(-1, 1, n),
                           coulomb_velocity=0.05)
    return replace(physics, **changes)


def excitation(rng, chain, **motion):
    """Return a motion and the torque of the chain with its joint physics."""
    t, q, qd, qdd = fourier_motion(rng, len(chain), **motion)
    return Excitation(t, q, qd, qdd, compile_model(chain).torque(q, qd, qdd))
