# SPDX-License-Identifier: Apache-2.0
"""Joint states of a robot that moves as it should, without simulating it."""

import numpy as np

from robot_dynamics_ros.motion.joint_state import JointSample


def swinging_samples(model, duration, *, start=1.0, rate=200.0, amplitude=0.8, noise=0.0, seed=0):
    """
    Return samples of sines of different frequencies, with the torque of a model.

    :param model: the true robot.
    :param duration: [s].
    :param start: first stamp [s].
    :param rate: samples per second.
    :param amplitude: amplitude of the positions [rad, m].
    :param noise: standard deviation of the torque [N m, N].
    """
    n = len(model.chain)
    t = np.arange(start, start + duration, 1.0 / rate)
    w = 1.5 + 0.7 * np.arange(n)
    phase = t[:, None] * w
    q, qd, qdd = (amplitude * np.sin(phase), amplitude * w * np.cos(phase),
                  -amplitude * w**2 * np.sin(phase))
    tau = model.torque(q, qd, qdd)
    tau = tau + np.random.default_rng(seed).normal(scale=noise, size=tau.shape)
    return [JointSample(*row) for row in zip(t.tolist(), t.tolist(), q, qd, tau)]
