# SPDX-License-Identifier: Apache-2.0
"""How many torques per second, one by one and in a batch?"""

import time

import numpy as np

from robot_dynamics_ros import chain_from_urdf, compile_model

model = compile_model(chain_from_urdf('urdf/demo_arm.urdf'))
q, qd, qdd = np.random.default_rng(0).normal(size=(3, 20_000, 7))
model.torque(q, qd, qdd)  # the first call compiles


def per_second(call, count):
    """Return calls per second, the best of three."""
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return count / min(times)


single = per_second(lambda: [model.torque(*each) for each in zip(q[:2000], qd, qdd)], 2000)
batch = per_second(lambda: model.torque(q, qd, qdd), len(q))
print(f'one by one {single / 1e6:.2f}, in a batch {batch / 1e6:.1f} million torques per second')
