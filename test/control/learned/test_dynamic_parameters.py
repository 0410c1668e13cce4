# SPDX-License-Identifier: Apache-2.0
"""Parameters between two sets: the torque lies between theirs."""

from dataclasses import replace

import numpy as np
import pytest
from support.chains import random_states
from support.robots import URDF_FOLDER
from support.tolerances import OTHER_FORMULATION, assert_close

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.control.learned.gate import DynamicParameters


@pytest.fixture
def chain():
    return chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')


def pair(rng, chain, model):
    """Return two sets; the rotor of joint 1 is inside a minimal parameter in the second."""
    physics = JointPhysics([0.4, 0.3], [1.0, 2.0], [0.5, 0.6], [0.1, -0.1])
    learned = replace(physics, rotor_inertia=[np.nan, 0.35], viscous=[1.5, 1.0])
    values = model.parameters
    return (DynamicParameters(values, physics),
            DynamicParameters(values * rng.uniform(0.7, 1.3, values.size), learned))


@pytest.mark.parametrize('share', [0.0, 0.3, 0.8, 1.0])
def test_the_torque_moves_evenly_from_the_one_to_the_other(rng, chain, share):
    model = compile_model(chain)
    one, other = pair(rng, chain, model)
    state = random_states(rng, 2, 20)

    def torque(parameters):
        model.swap(parameters.minimal, parameters.joint_physics)
        return model.torque(*state)

    assert_close(torque(one.blended(other, share)),
                 (1.0 - share) * torque(one) + share * torque(other), OTHER_FORMULATION)


def test_at_the_end_they_are_exactly_the_others(rng, chain):
    one, other = pair(rng, chain, compile_model(chain))
    assert one.blended(other, 1.0) is other
    assert one.blended(other, 7.0) is other


def test_static_friction_is_blended_with_the_coulomb_friction_of_a_set_without(rng, chain):
    model = compile_model(chain)
    one, other = pair(rng, chain, model)
    sticky = DynamicParameters(one.minimal, replace(
        one.joint_physics, static=[2.0, 3.0], stribeck_velocity=[0.1, 0.2]))
    for start, end in ((sticky, other), (other, sticky)):
        middle = start.blended(end, 0.25)
        speed = np.array([[0.05, -0.15]])
        parts = []
        for each in (start, end, middle):
            model.swap(each.minimal, each.joint_physics)
            parts.append(model.friction_torque(speed))
        assert_close(parts[2], 0.75 * parts[0] + 0.25 * parts[1], OTHER_FORMULATION)
