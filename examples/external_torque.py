# SPDX-License-Identifier: Apache-2.0
"""Is somebody pushing? A residual of the model tells."""

import numpy as np

from robot_dynamics_ros import chain_from_urdf, compile_model

chain = chain_from_urdf('urdf/demo_arm.urdf')
model = compile_model(chain)
t = np.arange(0.0, 4.0, 0.01)
q = 0.3 * (1 - np.cos(t))[:, None] * np.ones(7)
qd, qdd = 0.3 * np.sin(t)[:, None] * np.ones(7), 0.3 * np.cos(t)[:, None] * np.ones(7)
push = np.zeros((len(t), 6))
push[(t > 2.0) & (t < 2.5), 0] = 15.0  # 15 N at the tip, along its x axis, for half a second
measured = model.torque(q, qd, qdd, wrench=push)  # what the motors need
residual = measured - model.torque(q, qd, qdd)
touched = np.max(np.abs(residual), axis=1) > 0.5
print(f'contact from {t[touched][0]:.2f} to {t[touched][-1]:.2f} s')
print('largest residual', np.max(np.abs(residual), axis=0).round(2), 'N m')
