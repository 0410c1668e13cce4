# SPDX-License-Identifier: Apache-2.0
"""What does feedforward bring, with the URDF's and with the right parameters?"""

import numpy as np

from robot_dynamics_ros import EffortLimits, SimulatedRobot, chain_from_urdf, compile_model

STEP, GAINS = 0.002, (400.0, 30.0)
urdf = chain_from_urdf('urdf/planar_2r.urdf')
true = urdf.with_standard_parameters(urdf.standard_parameters * 1.15)  # 15 % heavier
limits = EffortLimits.of_chain(urdf, {'joint_1': 150.0, 'joint_2': 80.0})
for word, model in (('PD alone', None), ('with the URDF', compile_model(urdf)),
                    ('with the right parameters', compile_model(true))):
    robot = SimulatedRobot(true, compile_model(true), q=np.zeros(2), step=STEP)
    errors = []
    for t in np.arange(0.0, 4.0, STEP):
        q, qd, qdd = 1 - np.cos(2 * t), 2 * np.sin(2 * t), 4 * np.cos(2 * t)
        q, qd, qdd = (0.4 * np.full(2, each) for each in (q, qd, qdd))
        tau = GAINS[0] * (q - robot.q) + GAINS[1] * (qd - robot.qd)
        if model is not None:
            tau = tau + model.torque(q, qd, qdd)
        robot.advance(limits.limit(tau).effort)
        errors.append(q - robot.q)
    print(f'{word:26} {1e3 * np.sqrt(np.mean(np.square(errors))):6.2f} mrad rms')
