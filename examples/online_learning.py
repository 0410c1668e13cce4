# SPDX-License-Identifier: Apache-2.0
"""How quickly does an estimator learn while the arm works?"""

import numpy as np

from robot_dynamics_ros import OnlineEstimator, chain_from_urdf, compile_model, design_excitation

chain = chain_from_urdf('urdf/planar_2r.urdf')
true = compile_model(chain.with_standard_parameters(chain.standard_parameters * 1.3))
design = design_excitation(chain, unchecked=True, candidates=20, iterations=10)
estimator = OnlineEstimator(chain)
t = design.trajectory.times(200.0)
q, qd, qdd = design.trajectory.sample(t)
tau = true.torque(q, qd, qdd)
for k, now in enumerate(t):
    estimator.feed(now, q[k], qd[k], tau[k])
    if k and k % 500 == 0:
        estimate = estimator.estimate()
        off = np.abs(estimate.mlc.values - true.mlc.values) / np.max(np.abs(true.mlc.values))
        print(f'{now:4.1f} s: {estimate.state.name:9} largest difference {100 * off.max():5.1f} %')
