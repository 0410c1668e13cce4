# SPDX-License-Identifier: Apache-2.0
"""The model of the adaptive laws has the whole friction law of the robot."""

import numpy as np
import pytest
from support.excitation import random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.control.adaptive.learned_model import LearnedModel
from robot_dynamics_ros.control.adaptive.unknown_parameters import minimal_unknowns

COUPLED = np.eye(4)
COUPLED[3, 2] = -1.0


@pytest.mark.parametrize('law', [
    {}, {'load_friction': np.array([0.05, 0.12, 0.08, 0.1])},
    {'load_friction': np.full(4, 0.1), 'coupling': COUPLED},
    {'viscous_asymmetry': np.full(4, 0.3)},
    {'static': np.full(4, 6.0), 'stribeck_velocity': np.full(4, 0.1),
     'load_friction': np.full(4, 0.1), 'viscous_asymmetry': np.full(4, 0.3)}])
def test_its_torque_is_that_of_the_robot(law, rng):
    chain = chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf')
    model = compile_model(chain.with_joint_physics(random_physics(rng, 4, **law)))
    learned = LearnedModel(model, minimal_unknowns(model))
    for _ in range(5):
        q, qd, qdd = rng.normal(size=(3, 4))
        columns = learned.columns(model.regressor(q, qd, qdd), qd, qdd)
        torque = model.torque(q, qd, qdd)
        np.testing.assert_allclose(learned.torque(learned.unknowns.start, columns), torque,
                                   atol=1e-9)
