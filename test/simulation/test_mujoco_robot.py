# SPDX-License-Identifier: Apache-2.0
"""The arm in MuJoCo against our forward dynamics, and against MuJoCo's own URDF reader."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from support.chains import random_chain, random_tree, renumbered
from support.robots import URDF_FOLDER
from support.tolerances import FINITE_DIFFERENCE, assert_close

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.simulation.mujoco_robot import MujocoRobot

mujoco = pytest.importorskip('mujoco', reason='needs the extra `simulation`')

#: Accelerations of two programs, relative to the largest.
SAME_ACCELERATION = 1e-6
LOAD = payload_inertia(2.5, [0.05, -0.02, 0.1], np.diag([0.02, 0.03, 0.04]))


@pytest.fixture
def demo_arm():
    chain = chain_from_urdf(URDF_FOLDER / 'demo_arm.urdf')
    file = read_joints_file(URDF_FOLDER.parent / 'config' / 'demo_arm_joints.yaml')
    return file.applied_to(chain)


def with_sharp_friction(chain):
    """Return the chain with the exact sign in its friction, as MuJoCo has it."""
    return chain.with_joint_physics(replace(chain.joint_physics, coulomb_velocity=0.0))


def random_physics(rng, n):
    return JointPhysics(rng.uniform(0.1, 0.5, n), rng.uniform(0.1, 2.0, n),
                        rng.uniform(0.1, 2.0, n), rng.normal(size=n), coulomb_velocity=0.0)


def assert_same_accelerations(rng, arm, chain):
    """Compare at random states; fast enough that MuJoCo's friction slides."""
    model, n = compile_model(chain), len(chain)
    for _ in range(10):
        q, tau = rng.uniform(-1.0, 1.0, n), rng.normal(scale=20.0, size=n)
        qd = rng.choice([-1.0, 1.0], n) * rng.uniform(1.0, 2.0, n)
        arm.q, arm.qd = q, qd
        assert_close(arm.acceleration(tau), model.forward_dynamics(q, qd, tau), SAME_ACCELERATION)


def test_the_demo_arm_accelerates_as_our_model_says(rng, demo_arm):
    chain = with_sharp_friction(demo_arm)
    assert_same_accelerations(rng, MujocoRobot(chain), chain)


@pytest.mark.parametrize('types', ['R', 'RP', 'PRR', 'RRPR', 'RRRRRR'])
def test_random_chains_accelerate_as_our_model_says(rng, types):
    chain = random_chain(rng, len(types), types=types)
    chain = chain.with_joint_physics(random_physics(rng, len(types)))
    assert_same_accelerations(rng, MujocoRobot(chain), chain)


@pytest.mark.parametrize('followers', [0, 1, 3])
@pytest.mark.parametrize('seed', range(4))
def test_random_trees_accelerate_as_our_model_says(seed, followers):
    rng = np.random.default_rng(seed)
    chain = random_tree(rng, 6, followers=followers)
    chain = chain.with_joint_physics(random_physics(rng, 6))
    assert_same_accelerations(rng, MujocoRobot(chain), chain)


def test_joints_of_a_tree_may_be_numbered_in_another_order_than_mujocos(rng):
    chain, order = renumbered(rng, random_tree(rng, 8))
    assert order != sorted(order)
    chain = chain.with_joint_physics(random_physics(rng, 8))
    assert_same_accelerations(rng, MujocoRobot(chain), chain)


@pytest.fixture
def two_arms():
    chain = chain_from_urdf(URDF_FOLDER / 'demo_two_arms.urdf')
    file = read_joints_file(URDF_FOLDER.parent / 'config' / 'demo_two_arms_joints.yaml')
    return file.applied_to(chain)


def test_two_arms_with_fingers_that_follow_and_payloads(rng, two_arms):
    chain = with_sharp_friction(two_arms)
    arm = MujocoRobot(chain)
    assert_same_accelerations(rng, arm, chain)
    for tip in ('left_hand', 'right_hand'):
        arm.carry(LOAD, tip)
        chain = chain.with_payload(LOAD, tip=tip)
    assert_same_accelerations(rng, arm, chain)


def test_followers_stay_where_their_leaders_put_them(rng, two_arms):
    arm = MujocoRobot(two_arms)
    for _ in range(200):
        arm.advance(rng.normal(scale=5.0, size=17))
    numbers = [follower.number - 1 for follower in two_arms.followers]
    leaders = [two_arms.numbers[follower.leader - 1] - 1 for follower in two_arms.followers]
    assert np.abs(arm.q[8]) > 1e-4
    np.testing.assert_array_equal(arm._data.qpos[numbers], arm._data.qpos[leaders])
    assert arm.time == pytest.approx(0.2)


def test_energy_of_a_robot_with_followers_stays_without_friction(rng):
    check_energy(random_tree(rng, 5, followers=2))


def test_a_step_of_mujoco_is_that_of_reduced_coordinates(rng, demo_arm):
    """The integrator for followers does to a robot without any what MuJoCo does."""
    theirs, ours = (MujocoRobot(demo_arm, q=[0.2] * 7) for _ in range(2))
    for _ in range(20):
        tau = rng.normal(scale=20.0, size=7)
        theirs.advance(tau)
        ours.acceleration(tau)
        ours._integrate()
        assert_close(ours.q, theirs.q, 1e-9)
        assert_close(ours.qd, theirs.qd, 1e-9)
    assert ours.time == pytest.approx(theirs.time)


def test_dry_friction_of_a_leader_holds_its_follower(rng, two_arms):
    strong = replace(two_arms.joint_physics, coulomb=np.full(17, 300.0))
    arm = MujocoRobot(two_arms.with_joint_physics(strong), q=[0.02] * 17)
    for _ in range(500):
        arm.advance(np.zeros(17))
    assert np.abs(arm.q - 0.02).max() < 1e-5


def test_a_load_is_carried_and_laid_down_again(rng, demo_arm):
    chain = with_sharp_friction(demo_arm)
    arm = MujocoRobot(chain, q=[0.1] * 7)
    arm.carry(LOAD)
    np.testing.assert_array_equal(arm.q, [0.1] * 7)
    assert_same_accelerations(rng, arm, chain.with_payload(LOAD))
    arm.carry(payload_inertia(0.0, np.zeros(3), np.zeros((3, 3))))
    assert_same_accelerations(rng, arm, chain)


def test_mujoco_reads_the_same_robot_from_the_urdf(rng):
    """Nothing of this package between the URDF and the second set of accelerations."""
    path = URDF_FOLDER / 'demo_arm.urdf'
    theirs = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(theirs)
    theirs.dof_damping[:], theirs.dof_frictionloss[:] = 0.0, 0.0
    theirs.jnt_limited[:] = 0
    theirs.opt.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    chain = chain_from_urdf(path).with_joint_physics(JointPhysics.zero(7))
    arm = MujocoRobot(chain)
    for _ in range(10):
        q, qd, tau = rng.uniform(-1, 1, 7), rng.normal(size=7), rng.normal(scale=20.0, size=7)
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
        mujoco.mj_forward(theirs, data)
        arm.q, arm.qd = q, qd
        assert_close(arm.acceleration(tau), data.qacc, SAME_ACCELERATION)


def test_energy_stays_without_friction_and_motors(demo_arm):
    check_energy(demo_arm.with_joint_physics(JointPhysics.zero(7)))


def check_energy(chain):
    n = len(chain)
    arm = MujocoRobot(chain, q=[0.5] * n, step=1e-4)
    before, model = arm.energy, compile_model(chain)
    for _ in range(2000):
        arm.advance(np.zeros(n))
    kinetic = 0.5 * arm.qd @ model.mass_matrix(arm.q) @ arm.qd
    assert kinetic > 1.0
    assert abs(arm.energy - before) < 2e-3 * kinetic


def test_one_step_moves_by_the_acceleration(rng, demo_arm):
    chain = demo_arm.with_joint_physics(replace(demo_arm.joint_physics, coulomb=np.zeros(7),
                                                viscous=np.zeros(7)))
    arm = MujocoRobot(chain, q=[0.3] * 7, step=1e-6)
    tau = rng.normal(scale=10.0, size=7)
    expected = compile_model(chain).forward_dynamics([0.3] * 7, np.zeros(7), tau)
    arm.advance(tau)
    assert_close(arm.qd / 1e-6, expected, FINITE_DIFFERENCE)
    assert arm.time == pytest.approx(1e-6)
    np.testing.assert_array_equal(arm.effort, tau)
    np.testing.assert_array_equal(arm.q_motor, arm.q)
    np.testing.assert_array_equal(arm.qd_motor, arm.qd)


def test_dry_friction_holds_a_joint_that_it_can_hold(demo_arm):
    strong = replace(demo_arm.joint_physics, coulomb=np.full(7, 200.0))
    arm = MujocoRobot(demo_arm.with_joint_physics(strong), q=[0.5] * 7)
    for _ in range(500):
        arm.advance(np.zeros(7))
    assert np.abs(arm.q - 0.5).max() < 1e-5


@pytest.mark.parametrize('effort', [[np.nan] * 7, [np.inf] + [0.0] * 6, [0.0] * 6])
def test_a_wrong_effort_is_refused_and_the_state_stays(demo_arm, effort):
    arm = MujocoRobot(demo_arm)
    with pytest.raises(StateError, match='effort must be 7 finite'):
        arm.advance(effort)
    assert arm.time == 0.0


def test_the_step_is_that_of_mujoco(rng, demo_arm):
    arm = MujocoRobot(demo_arm, q=[0.2] * 7)
    arm.qd = rng.normal(size=7)
    theirs = mujoco.MjData(arm.model)
    theirs.qpos[:], theirs.qvel[:] = arm.q, arm.qd
    for _ in range(10):
        theirs.qfrc_applied[:] = tau = rng.normal(scale=20.0, size=7)
        mujoco.mj_step(arm.model, theirs)
        arm.advance(tau)
    assert arm.time == theirs.time
    np.testing.assert_array_equal(arm.q, theirs.qpos)
    np.testing.assert_array_equal(arm.qd, theirs.qvel)


def test_a_state_that_leaves_the_numbers_is_refused_and_stays(demo_arm, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arm = MujocoRobot(demo_arm, q=[0.2] * 7)
    with pytest.raises(StateError, match='diverged'):
        for _ in range(20):
            before = arm.time, arm.q
            arm.advance([1e30] * 7)
    assert arm.time == before[0]
    np.testing.assert_array_equal(arm.q, before[1])
    arm.qd = np.zeros(7)
    arm.advance(np.zeros(7))
    assert list(tmp_path.iterdir()) == [], 'no log of MuJoCo'


@pytest.mark.parametrize(('changes', 'message'), [
    ({'coupling': np.eye(7)}, "no coupled transmissions.*engine 'own'"),
    ({'static': np.ones(7), 'stribeck_velocity': np.ones(7)}, 'Stribeck'),
    ({'rotor_inertia': np.full(7, np.nan)}, 'rotor inertia must be known'),
])
def test_joint_physics_that_mujoco_has_not_is_refused(demo_arm, changes, message):
    chain = demo_arm.with_joint_physics(replace(demo_arm.joint_physics, **changes))
    with pytest.raises(ParameterError, match=message):
        MujocoRobot(chain)


def test_bodies_that_cannot_exist_are_refused_by_name_of_the_robot(demo_arm):
    x = demo_arm.standard_parameters
    x[3] = -1.0
    with pytest.raises(ParameterError, match='robot demo_arm: MuJoCo refuses it'):
        MujocoRobot(demo_arm.with_standard_parameters(x))


def test_a_missing_mujoco_is_named(demo_arm, monkeypatch):
    monkeypatch.setitem(sys.modules, 'mujoco', None)
    with pytest.raises(ParameterError, match='pip install mujoco'):
        MujocoRobot(demo_arm)
