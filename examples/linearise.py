# SPDX-License-Identifier: Apache-2.0
"""What are the poles of the arm under PD control at a posture?"""

import numpy as np

from robot_dynamics_ros import chain_from_urdf, compile_model

model = compile_model(chain_from_urdf('urdf/planar_2r.urdf'))
q, qd = np.array([0.3, -0.5]), np.zeros(2)
tau = model.torque(q, qd, np.zeros(2))  # holds the arm
A, B = model.linearise(q, qd, tau)      # of the state (q, qd) and the torque
K = np.hstack([np.diag([200.0, 80.0]), np.diag([30.0, 10.0])])
print('open loop  ', np.sort_complex(np.linalg.eigvals(A)).round(2))
print('closed loop', np.sort_complex(np.linalg.eigvals(A - B @ K)).round(2))
