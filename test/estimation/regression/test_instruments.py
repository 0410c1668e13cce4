# SPDX-License-Identifier: Apache-2.0
"""Instrumental variables take the bias off that noisy positions give least squares."""

import numpy as np
import pytest
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, identify


@pytest.fixture(scope='module')
def errors():
    """Errors of the predicted torque by refinement, with a filter that lets much noise pass."""
    rng = np.random.default_rng(11)
    chain = chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf')
    chain = chain.with_joint_physics(random_physics(rng, 4))
    data = excitation(rng, chain, duration=10.0, step=0.001)
    result = {'none': [], 'instruments': []}
    for _ in range(2):
        q = data.q + 1e-3 * rng.normal(size=data.q.shape)
        tau = data.tau + 0.02 * np.std(data.tau, axis=0) * rng.normal(size=data.tau.shape)
        for refinement, found in result.items():
            model = identify(chain, data.t, q, None, tau, cutoff=30.0, friction='coulomb',
                             refinement=refinement, prior_strength=0.01)
            error = model.predict(data.q, data.qd, data.qdd) - data.tau
            found.append(np.sqrt(np.mean(error ** 2) / np.mean(data.tau ** 2)))
    return {refinement: np.mean(found) for refinement, found in result.items()}


def test_the_bias_of_noisy_positions_is_taken_off(errors):
    assert errors['none'] > 0.004
    assert errors['instruments'] < 0.5 * errors['none']
