# SPDX-License-Identifier: Apache-2.0
"""Motion of the links."""

import numpy as np
import pytest
from support.chains import random_chain
from support.tolerances import FINITE_DIFFERENCE, SAME_ALGEBRA, assert_close

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.dynamics.recursions.motion import (
    acceleration_matrix,
    link_motion,
    motion_of_fixed_frame,
    tensor_moment,
)
from robot_dynamics_ros.dynamics.scalars.frames import FixedFrame, gravity_vector
from robot_dynamics_ros.dynamics.scalars.samples import Samples


def motion(chain, q, qd, qdd):
    state = Samples.of(chain, q=q, qd=qd, qdd=qdd)
    return link_motion(state.frames, state['qd'], state['qdd'], gravity_vector(chain))


def test_a_point_on_a_turning_arm_is_pulled_inward():
    """Joint 2 at 0.5 m: centripetal 0.5 w^2, tangential 0.5 w_dot; gravity pushes up."""
    chain = chain_from_dh('RR', beta=[0, 0], b=[0, 0.5], d=[0, 0], theta=[0, 0])
    second = motion(chain, [0.3, 0.0], [2.0, 1.0], [3.0, 0.0])[2]
    assert second.omega == (0.0, 0.0, 3.0)
    assert second.omega_dot == (0.0, 0.0, 3.0)
    assert_close(second.acceleration, [-2.0, 1.5, 9.81], SAME_ALGEBRA)


def test_a_slide_on_a_turntable_feels_coriolis():
    """Slide along y of the table at speed 2, table turning at 1.5: -2 w v along x."""
    chain = chain_from_dh('RP', beta=[0, -np.pi / 2], b=[0, 0], d=[0, 0], theta=[0, 0],
                          gravity=[0, 0, 0])
    slide = motion(chain, [0.0, 0.0], [1.5, 2.0], [0.0, 0.7])[2]
    assert_close(slide.acceleration, [-6.0, 0.0, 0.7], SAME_ALGEBRA)


@pytest.mark.parametrize('types', ['RRR', 'RPR', 'PRP', 'PPR'])
def test_accelerations_are_second_derivatives_of_positions(rng, types):
    chain = random_chain(rng, 3, types=types)
    q, qd, qdd = rng.normal(size=(3, 3))
    h = 1e-4
    before, here, after = (chain.joint_poses(q + t * qd + 0.5 * t * t * qdd)[-1]
                           for t in (-h, 0.0, h))
    second = (after.translation - 2.0 * here.translation + before.translation) / h**2
    last = motion(chain, q, qd, qdd)[3]
    assert_close(last.acceleration, here.rotation.T @ (second - chain.gravity),
                 FINITE_DIFFERENCE)
    turned = here.rotation.T @ (after.rotation - 2.0 * here.rotation + before.rotation) / h**2
    assert_close(last.U, turned, FINITE_DIFFERENCE)


def test_the_matrix_holds_both_accelerations_of_a_turn(rng):
    w, w_dot, r = rng.normal(size=(3, 3))
    U, products = acceleration_matrix(tuple(w), tuple(w_dot))
    assert_close(np.array(U) @ r, np.cross(w_dot, r) + np.cross(w, np.cross(w, r)), SAME_ALGEBRA)
    assert_close(products, [w[1] * w[2], w[2] * w[0], w[0] * w[1]], SAME_ALGEBRA)


def test_the_moment_of_a_tensor_is_eulers_equation(rng):
    chain = random_chain(rng, 3, types='RRR')
    link = motion(chain, *rng.normal(size=(3, 3)))[3]
    X = rng.normal(size=(3, 3))
    J = X + X.T
    w, w_dot = np.array(link.omega), np.array(link.omega_dot)
    moment = tensor_moment(link, [J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]])
    assert_close(moment, J @ w_dot + np.cross(w, J @ w), SAME_ALGEBRA)


def test_a_load_moves_like_a_joint_that_stands_still(rng):
    """A pose that modified DH can hold: the frame of a third joint at rest."""
    chain = random_chain(rng, 3, types='RPR')
    q, qd, qdd = rng.normal(size=(3, 3))
    qd[2] = qdd[2] = 0.0
    links = motion(chain, q, qd, qdd)
    pose = chain.joints[2].pose(q[2])
    seen = motion_of_fixed_frame(links[2], FixedFrame.at(pose))
    for name in ('omega', 'omega_dot', 'acceleration', 'U', 'products'):
        assert_close(getattr(seen, name), getattr(links[3], name), SAME_ALGEBRA)
    back = motion_of_fixed_frame(seen, FixedFrame.at(pose.inverse()))
    assert_close(back.acceleration, links[2].acceleration, SAME_ALGEBRA)
