# SPDX-License-Identifier: Apache-2.0
"""What does the arm carry, from a motion with it?"""

import numpy as np

from robot_dynamics_ros import (
    MlcEstimate,
    Recording,
    chain_from_urdf,
    compile_model,
    design_excitation,
    identify_payload,
    payload_inertia,
)

rng = np.random.default_rng(2)
chain = chain_from_urdf('urdf/demo_arm.urdf')
model = compile_model(chain)
carried = payload_inertia(1.5, [0.02, 0.0, 0.08], np.diag([0.004, 0.004, 0.002]))
design = design_excitation(chain, unchecked=True, candidates=10, iterations=0)
t = design.trajectory.times(200.0)
q, qd, qdd = design.trajectory.sample(t)
tau = compile_model(chain.with_payload(carried)).torque(q, qd, qdd)
tau += 0.02 * np.std(tau, axis=0) * rng.normal(size=tau.shape)
arm = MlcEstimate.not_estimated(chain, model.mlc)
found = identify_payload(chain, arm, [Recording(t, q, qd, tau, chain.joint_names)])
print(f'mass {found.mass:.3f} kg, true {carried.mass:.3f} kg')
print('centre', np.round(found.centre, 3), 'm, true',
      np.round(carried.centre_of_mass, 3), 'm')
