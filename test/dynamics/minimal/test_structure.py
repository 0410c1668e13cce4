# SPDX-License-Identifier: Apache-2.0
"""Joint groups decided by geometry."""

import numpy as np
import pytest
from support.chains import random_chain, reference_chains

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.minimal.structure import (
    parallel,
    parameter_bound,
    perpendicular,
    structure,
)

UP = (0.0, 0.0, -9.81)
SIDEWAYS = (9.81, 0.0, 0.0)


def planar(b, types='RRR', gravity=UP):
    """Joints with parallel axes at the given distances."""
    n = len(types)
    return chain_from_dh(types, beta=np.zeros(n), b=b, d=np.zeros(n), theta=np.zeros(n),
                         gravity=gravity)


@pytest.mark.parametrize('reference', reference_chains(), ids=lambda reference: reference.name)
def test_joints_r_and_s_are_those_of_the_reference_chains(reference):
    groups = structure(reference.chain)
    assert (groups.r, groups.s) == (reference.data['r'], reference.data['s'])


def test_first_joint_along_gravity_shows_no_first_moment():
    assert structure(planar([0.0, 0.5, 0.4])).delta[1:] == (False, True, True)
    assert structure(planar([0.0, 0.5, 0.4], gravity=SIDEWAYS)).delta[1:] == (True, True, True)


def test_axes_that_meet_at_one_position_only_are_different_axes():
    assert structure(planar([0.0, 0.5, -0.5])).delta[1:] == (False, True, True)


def test_offsets_that_cancel_across_a_rail_leave_the_axes_coincident():
    assert structure(planar([0.0, 0.3, -0.3], types='RPR')).delta[1:] == (False, False, False)
    assert structure(planar([0.0, 0.3, -0.2], types='RPR')).delta[1:] == (False, False, True)


def test_a_rail_across_gravity_before_the_first_revolute_joint_shows_first_moments():
    chain = chain_from_dh('PR', beta=[np.pi / 2, -np.pi / 2], b=[0, 0], d=[0, 0], theta=[0, 0],
                          gravity=UP)
    assert structure(chain).delta[2]
    assert not structure(planar([0.0, 0.3], types='PR')).delta[2]


def test_an_oblique_rail_is_marked_and_a_parallel_one_is_not():
    chain = chain_from_dh('RPPR', beta=[0, 0.7, -0.7, 0], b=[0, 0.1, 0.1, 0.2], d=[0] * 4,
                          theta=[0] * 4, gravity=UP)
    groups = structure(chain)
    assert groups.sigma[1:] == (False, True, False, False)
    assert groups.u_r[3] == (0.0, 0.0, 1.0)
    np.testing.assert_allclose(groups.u_r[2], (0.0, np.sin(0.7), np.cos(0.7)))


def test_rails_alone_have_neither_r_nor_s():
    groups = structure(planar([0.0, 0.0], types='PP'))
    assert (groups.r, groups.s) == (3, 3)
    assert not any(groups.delta) and not any(groups.sigma) and not groups.u_r


def test_axis_of_joint_r_keeps_its_coordinates_at_any_position(rng):
    for _ in range(60):
        chain = random_chain(rng, int(rng.integers(1, 8)))
        groups = structure(chain)
        poses = chain.joint_poses(rng.uniform(-3.0, 3.0, len(chain)))
        for i, axis in groups.u_r.items():
            turned = poses[i - 1].rotation.T @ poses[groups.r - 1].rotation[:, 2]
            np.testing.assert_allclose(axis, turned, rtol=0.0, atol=1e-9)


def test_zero_vectors_are_parallel_and_perpendicular_to_everything():
    zero, x = np.zeros(3), np.array([1.0, 0.0, 0.0])
    assert parallel(zero, x) and perpendicular(zero, x)
    assert parallel(x, -2.0 * x) and not perpendicular(x, -2.0 * x)


@pytest.mark.parametrize('lean', [0.7, np.pi / 2])
def test_a_rail_that_is_not_parallel_moves_the_axes_behind_it_also_without_offsets(lean):
    """R P R, axis 3 through the axis of joint 1 at q = 0 only: the rail carries it away."""
    chain = chain_from_dh('RPR', beta=[0, lean, -lean], b=[0, 0, 0], d=[0, 0, 0],
                          theta=[0, 0, 0], gravity=[0, 0, -9.81])
    groups = structure(chain)
    assert groups.sigma == (False, False, True, False)
    assert groups.delta == (False, False, False, True)
    mlc = minimal_parameters(chain)
    assert mlc.findings == () and {'k3_x', 'k3_y'} <= set(mlc.names)
    assert len(mlc) == len(minimal_parameters(chain, 'numeric')) == 7


@pytest.mark.parametrize('seed', range(40))
def test_the_bound_is_never_too_small_and_exact_where_it_should_be(seed):
    """(9.61); exact for one joint, and where joints 1 and 2 are revolute and not parallel."""
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, int(rng.integers(1, 7)))
    groups, count = structure(chain), len(minimal_parameters(chain))
    assert count <= parameter_bound(chain)
    if len(chain) == 1 or (groups.r, groups.s) == (1, 2):
        assert count == parameter_bound(chain)


@pytest.mark.parametrize('reference', reference_chains(), ids=lambda reference: reference.name)
def test_the_bound_is_that_of_the_reference_chains(reference):
    assert parameter_bound(reference.chain) == reference.data['bound_9_61']
