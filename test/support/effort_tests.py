# SPDX-License-Identifier: Apache-2.0
"""Simulated static tests: slow motion of a robot that differs from its URDF."""

from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros import JointPhysics, chain_from_urdf, compile_model
from robot_dynamics_ros.calibration.static_motion import static_motion
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.dynamics.formulations.equations_of_motion import gravity_torque
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error


@dataclass
class StaticTest:
    """Slow motion with the torques of the true robot."""

    chain: object
    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    torque: np.ndarray
    weight: np.ndarray

    def recording(self, effort, q=None, qd=None):
        return Recording(self.t, self.q if q is None else q, self.qd if qd is None else qd,
                         effort, self.chain.joint_names)


def static_test(path, seed, *, error=0.1, friction=0.2, noise=0.01, tool=0.0, gravity=1.0):
    """Return a static test; friction and noise as parts of the changing weight."""
    chain = chain_from_urdf(path)
    lower, upper = chain.position_limits
    middle = np.where(np.isfinite(lower + upper),
                      0.5 * (np.nan_to_num(lower) + np.nan_to_num(upper)), 0.0)
    motion = static_motion(chain, np.clip(middle + 0.2, lower, upper), seed=seed)
    t = np.arange(0.0, motion.duration, 0.02)
    q, qd, qdd, _ = motion.sample(t)
    size = np.std(gravity_torque(chain, q), axis=0)
    size = np.maximum(size, 0.05 * size.max() + 1e-3)
    true = replace(chain, gravity=gravity * np.asarray(chain.gravity)).with_joint_physics(replace(
        JointPhysics.zero(len(chain)), coulomb=friction * size, viscous=0.2 * friction * size,
        coulomb_velocity=0.005))
    true = with_parameter_error(true, error, seed)
    if tool:
        true = true.with_payload(payload_inertia(tool, [0.0, 0.02, 0.08], np.zeros((3, 3))))
    torque = compile_model(true).torque(q, qd, qdd)
    rng = np.random.default_rng(seed)
    torque = torque + noise * size * rng.normal(size=torque.shape)
    return StaticTest(chain, t, q, qd, torque, gravity_torque(true, q))
