# SPDX-License-Identifier: Apache-2.0
"""Where in its workspace does the arm need the most torque to hold itself?"""

import numpy as np

from robot_dynamics_ros import chain_from_urdf, compile_model

chain = chain_from_urdf('urdf/demo_arm.urdf')
model = compile_model(chain)
lower, upper = chain.position_limits
q = np.random.default_rng(0).uniform(lower, upper, (20_000, len(chain)))
use = np.abs(model.gravity_torque(q)) / chain.effort_limits
print('joint     largest use of the effort limit by weight alone')
for name, part in zip(chain.joint_names, use.max(axis=0)):
    print(f'{name:8}  {100 * part:5.1f} %')
worst = q[np.argmax(use.max(axis=1))]
print('worst posture', worst.round(2), 'tip at', chain.tip_pose_at(worst).translation.round(2))
