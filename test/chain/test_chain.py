# SPDX-License-Identifier: Apache-2.0
"""What a chain says of itself, and that it does not change."""

import pytest
from support.chains import random_chain
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf


def test_it_tells_its_joints_base_and_tip(rng):
    assert repr(chain_from_urdf(URDF_FOLDER / 'demo_arm.urdf')) == (
        '<Chain of demo_arm: 7 joints (joint_1 ... joint_7) from base_link to link_7>')
    assert '1 joint (joint1) from' in repr(random_chain(rng, 1))


@pytest.mark.parametrize('name', ['gravity', 'gravty', 'joints'])
def test_nothing_can_be_assigned(rng, name):
    chain = random_chain(rng, 2)
    with pytest.raises(AttributeError, match=f"cannot assign to field '{name}'"):
        setattr(chain, name, None)
