# SPDX-License-Identifier: Apache-2.0
"""Adaptive controllers to test with."""

import numpy as np

from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.motion.trajectory import TrajectorySample
from support.chains import random_chain


def joint_physics(rng, n, *, coupled=False, stribeck=False):
    """Return random rotors, friction and offsets."""
    coupling = np.eye(n) + np.diag(np.full(n - 1, 0.5), 1) if coupled else None
    coulomb = rng.uniform(0.1, 1.0, n)
    return JointPhysics(rng.uniform(0.1, 1.0, n), rng.uniform(0.1, 1.0, n), coulomb,
                        rng.normal(size=n), coulomb_velocity=0.1, coupling=coupling,
                        static=1.5 * coulomb if stribeck else None,
                        stribeck_velocity=np.full(n, 0.1) if stribeck else None)


def arm(rng, n=3, **physics):
    """Return a random chain with random joint physics."""
    return random_chain(rng, n).with_joint_physics(joint_physics(rng, n, **physics))


def random_sample(rng, n):
    """Return a desired motion at one time."""
    return TrajectorySample(*rng.normal(size=(3, n)), np.zeros(n))


def sines(rng, n, speed=1.0):
    """Return a smooth desired motion of n joints as a function of time."""
    amplitude, frequency = rng.uniform(0.3, 0.8, n), speed * rng.uniform(1.0, 3.0, n)
    phase, middle = rng.uniform(0.0, 2.0 * np.pi, n), rng.normal(size=n)

    def motion(t):
        angle = frequency * t + phase
        return TrajectorySample(middle + amplitude * np.sin(angle),
                                amplitude * frequency * np.cos(angle),
                                -amplitude * frequency**2 * np.sin(angle), np.zeros(n))

    return motion
