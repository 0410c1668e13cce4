# SPDX-License-Identifier: Apache-2.0
"""A robot that differs from its URDF but could exist."""

import numpy as np
import pytest
from support.chains import random_chain

from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error


@pytest.fixture
def chain(rng):
    return random_chain(rng, 4).with_joint_physics(
        JointPhysics(np.ones(4), np.ones(4), np.ones(4), np.ones(4)))


def test_the_same_seed_gives_the_same_robot(chain):
    one, two, other = (with_parameter_error(chain, 0.1, seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(one.standard_parameters, two.standard_parameters)
    assert not np.allclose(one.standard_parameters, other.standard_parameters)


def test_the_error_has_the_size_that_was_asked_for(chain):
    ratios = [link.mass / nominal.mass for seed in range(200)
              for link, nominal in zip(with_parameter_error(chain, 0.1, seed).links, chain.links)]
    assert np.std(np.log(ratios)) == pytest.approx(0.1, rel=0.15)
    changed = with_parameter_error(chain, 0.1, 1).joint_physics
    for name in ('rotor_inertia', 'viscous', 'coulomb'):
        assert 0.0 < np.abs(getattr(changed, name) - 1.0).max() < 0.5
    assert changed.offset.tolist() == [1.0] * 4


def test_every_link_is_still_a_body_that_can_exist(chain):
    for seed in range(50):
        for link in with_parameter_error(chain, 0.4, seed).links:
            c = link.centre_of_mass
            at_centre = link.tensor - link.mass * (c @ c * np.eye(3) - np.outer(c, c))
            a, b, largest = np.linalg.eigvalsh(at_centre)
            assert a > 0.0 and largest < a + b


def test_no_error_is_the_chain_itself(chain):
    assert with_parameter_error(chain, 0.0, 3) is chain


@pytest.mark.parametrize('relative', [-0.1, 0.6, np.nan])
def test_an_absurd_error_is_refused(chain, relative):
    with pytest.raises(ParameterError, match=r'between 0 and 0\.5'):
        with_parameter_error(chain, relative, 1)
