# SPDX-License-Identifier: Apache-2.0
"""How well are the parameters of an arm found from noisy data?"""

import numpy as np

from robot_dynamics_ros import chain_from_urdf, compile_model, design_excitation, identify

rng = np.random.default_rng(1)
urdf = chain_from_urdf('urdf/puma_4dof.urdf')
true = urdf.with_standard_parameters(urdf.standard_parameters * 1.2)  # 20 % heavier
design = design_excitation(urdf, unchecked=True, candidates=20, iterations=10)
t = design.trajectory.times(250.0)
q, qd, qdd = design.trajectory.sample(t)
tau = compile_model(true).torque(q, qd, qdd)
for noise in (0.01, 0.05):
    noisy = tau + noise * np.std(tau, axis=0) * rng.normal(size=tau.shape)
    result = identify(urdf, t, q, qd, noisy)
    wrong = compile_model(true).mlc.values - result.mlc.values
    size = np.linalg.norm(wrong) / np.linalg.norm(result.mlc.values)
    print(f'noise {100 * noise:3.0f} %: parameters {100 * size:5.2f} % off, '
          f'held-out error {100 * result.verdict.held_out_error:.2f} %')
