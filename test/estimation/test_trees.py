# SPDX-License-Identifier: Apache-2.0
"""A small robot with two branches and a gripper: identified, excited, made consistent, moved."""

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import (
    OnlineEstimator,
    Recording,
    chain_from_urdf,
    collision_scene,
    compile_model,
    design_excitation,
    identify,
)
from robot_dynamics_ros.simulation.mujoco_robot import mjcf

TWO_ARMS = URDF_FOLDER / 'demo_two_arms.urdf'
LOCKED = ['*_joint_[3-7]', 'left_joint_2', 'right_joint_1', 'right_finger_joint']


@pytest.fixture(scope='module')
def chain():
    """Return the torso, one joint of each arm and a gripper: four joints, five move."""
    return chain_from_urdf(TWO_ARMS, locked=LOCKED)


@pytest.fixture(scope='module')
def recorded(chain):
    model, n = compile_model(chain), len(chain)
    rng = np.random.default_rng(3)
    t = np.linspace(0.0, 20.0, 2000)
    phase, rate = rng.uniform(0.0, 6.0, (n, 4, 1)), rng.uniform(0.3, 4.0, (n, 4, 1))
    wave = rate * t + phase
    size = np.array([0.1 if joint.revolute else 0.01 for joint in chain.joints])
    q, qd = size * np.sin(wave).sum(1).T, size * (rate * np.cos(wave)).sum(1).T
    qdd = -size * (rate**2 * np.sin(wave)).sum(1).T
    tau = model.torque(q, qd, qdd)
    tau = tau + 1e-3 * np.max(np.abs(tau), axis=0) * rng.normal(size=tau.shape)
    return Recording(t, q, qd, tau, chain.joint_names)


def test_the_chain_is_a_tree_with_a_follower(chain):
    assert len(chain) == 4 and len(chain.moving) == 5 and not chain.serial


def test_a_tree_is_identified_from_a_recording(chain, recorded):
    doubled = chain.with_standard_parameters(1.5 * chain.standard_parameters)
    result = identify(doubled, recorded)
    model, expected = compile_model(chain), recorded.tau
    assert result.estimate.mlc.joint_names == chain.joint_names
    found = compile_model(doubled)
    found.swap(result.estimate.mlc.converted_to(found.mlc).values,
               result.estimate.joint_physics)
    q, qd = recorded.q, recorded.qd
    qdd = np.gradient(qd, recorded.t, axis=0)
    error = found.torque(q, qd, qdd) - model.torque(q, qd, qdd)
    assert np.max(np.sqrt(np.mean(error[5:-5]**2, axis=0))
                  / np.sqrt(np.mean(expected**2, axis=0))) < 0.02


def test_a_tree_is_excited_inside_its_limits_without_collisions(chain):
    scene = collision_scene(TWO_ARMS, chain, locked=LOCKED)
    excitation = design_excitation(chain, duration=6.0, harmonics=2, candidates=4, iterations=2,
                                   scene=scene)
    lower, upper = chain.position_limits
    q = excitation.trajectory.sample(np.linspace(0.0, 6.0, 200)).q
    assert np.all(q >= lower - 1e-9) and np.all(q <= upper + 1e-9)


def test_an_online_estimator_learns_a_tree(chain, recorded):
    wrong = chain.with_standard_parameters(1.5 * chain.standard_parameters)
    estimator = OnlineEstimator(wrong)
    estimator.feed_many(recorded.t, recorded.q, recorded.qd, recorded.tau)
    q, qd, qdd = recorded.q[700], recorded.qd[700], np.full(len(chain), 0.5)
    truth, before = (compile_model(each).torque(q, qd, qdd) for each in (chain, wrong))
    learned, _ = estimator.expected(q, qd, qdd)
    assert np.linalg.norm(learned - truth) < 0.3 * np.linalg.norm(before - truth)


def test_mujoco_has_the_branches_of_a_tree():
    both = chain_from_urdf(TWO_ARMS, locked=['*finger*'])
    assert mjcf(both, 0.001).count('<joint ') == 15
    assert mjcf(chain_from_urdf(TWO_ARMS), 0.001).count('<joint name=') == 19
