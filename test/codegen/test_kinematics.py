# SPDX-License-Identifier: Apache-2.0
"""Poses, Jacobians, momentum and energies of a model, judged by Pinocchio."""

from dataclasses import replace

import numpy as np
import pinocchio
import pytest
from support.chains import random_chain, random_pose, random_states, random_tree
from support.oracle import Oracle
from support.robots import URDF_FOLDER
from support.tolerances import FINITE_DIFFERENCE, SAME_ALGEBRA, assert_close

from robot_dynamics_ros import (
    ChainError,
    Inertia,
    JointPhysics,
    Pose,
    chain_from_dh,
    chain_from_urdf,
    compile_model,
    kinetic_energy,
    minimal_parameters,
    potential_energy,
)
from robot_dynamics_ros.codegen.functions import KINEMATIC_INPUTS
from robot_dynamics_ros.codegen.grouping import grouping_of
from robot_dynamics_ros.codegen.loop_form import loop_form
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm, joint_parameters

#: How a Jacobian and what belongs to it end, and Pinocchio's name for it.
FRAMES = {'': 'LOCAL_WORLD_ALIGNED', '_local': 'LOCAL', '_world': 'WORLD'}


def placed_chain(rng, n):
    """Return a random chain whose base, links and tip are anywhere."""
    chain = random_chain(rng, n)
    return replace(chain, base_pose=random_pose(rng), gravity=rng.normal(size=3),
                   link_frames=tuple(random_pose(rng) for _ in range(n)))


def homogeneous(pose):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = pose.rotation, pose.translation
    return matrix


def judged(chain, q, qd):
    """Return what Pinocchio says about every function."""
    oracle = Oracle(chain)
    centre, centre_jacobian = oracle.centre_of_mass(q)
    kinetic, potential = oracle.energies(q, qd)
    return {
        'link_poses': oracle.joint_poses(q) @ [homogeneous(pose) for pose in chain.link_frames],
        'tip_pose': oracle.tip_pose(q),
        **{f'jacobian{end}': oracle.jacobian(q, frame) for end, frame in FRAMES.items()},
        **{f'bias_acceleration{end}': oracle.bias_acceleration(q, qd, frame)
           for end, frame in FRAMES.items()},
        'centre_of_mass': centre, 'centre_of_mass_jacobian': centre_jacobian,
        'momentum': oracle.momentum(q, qd), 'kinetic_energy': kinetic,
        'potential_energy': potential, 'coriolis_matrix': oracle.coriolis_matrix(q, qd)}


def terms_of(name, chain, q, qd):
    """Return the size of the terms that may cancel: inertia times velocity in Coriolis' matrix."""
    if name != 'coriolis_matrix':
        return 1e-3
    return max(1e-3, np.max(np.abs(Oracle(chain).mass_matrix(q))) * np.max(np.abs(qd)))


TAKE_VELOCITY = ('bias', 'momentum', 'kinetic', 'coriolis')


def given(name, q, qd):
    return {'q': q, 'qd': qd} if name.startswith(TAKE_VELOCITY) else {'q': q}


@pytest.mark.parametrize('seed', range(100))
def test_every_function_is_that_of_pinocchio_on_random_chains(seed):
    rng = np.random.default_rng(seed)
    check_loop_form(rng, placed_chain(rng, 1 + seed % 8))


@pytest.mark.parametrize('seed', range(12))
def test_every_function_is_that_of_pinocchio_on_random_trees(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, 2 + seed % 8)
    check_loop_form(rng, tree.with_tip(tree.tips[-1].link))


def check_loop_form(rng, chain):
    q, qd, _ = random_states(rng, len(chain))
    mlc = minimal_parameters(chain)
    grouping, form = grouping_of(chain, mlc), JointForm.of(chain.joint_physics)
    values = {'mlc': mlc.values.tolist(), **joint_parameters(chain.joint_physics)}
    for name, expected in judged(chain, q, qd).items():
        assert_close(loop_form(chain, grouping, name, form, values, given(name, q, qd)), expected,
                     SAME_ALGEBRA, name, terms=terms_of(name, chain, q, qd))


@pytest.mark.parametrize('name', ['demo_arm', 'stanford'])
def test_compiled_functions_are_those_of_pinocchio(name, rng):
    chain = chain_from_urdf(URDF_FOLDER / f'{name}.urdf')
    chain = chain.with_joint_physics(JointPhysics.zero(len(chain)))
    model = compile_model(chain)
    q, qd, _ = random_states(rng, len(chain), 20)
    expected = [judged(chain, *state) for state in zip(q, qd)]
    for function in expected[0]:
        batch = getattr(model, function)(*given(function, q, qd).values())
        assert_close(batch, np.array([each[function] for each in expected]), SAME_ALGEBRA,
                     function)
        one = getattr(model, function)(*given(function, q[3], qd[3]).values())
        assert_close(one, expected[3][function], SAME_ALGEBRA, function)


def test_links_are_where_the_description_says(rng):
    """The URDF's own frames, without any of ours between."""
    path = URDF_FOLDER / 'demo_arm.urdf'
    chain, model = chain_from_urdf(path), pinocchio.buildModelFromUrdf(str(path))
    data, (q, _, _) = model.createData(), random_states(rng, len(chain))
    pinocchio.framesForwardKinematics(model, data, q)
    found = compile_model(chain, 'python').link_poses(q)
    for name, pose in zip(chain.link_names, found):
        assert_close(pose, data.oMf[model.getFrameId(name)].homogeneous, 1e-9, name)


def test_jacobian_and_bias_are_the_first_and_second_rate_of_the_pose(rng):
    model = compile_model(placed_chain(rng, 5), 'python')
    q, qd, qdd = random_states(rng, 5)
    h = 1e-4
    before, now, after = (model.tip_pose(q + t * qd + 0.5 * t * t * qdd)[:3, 3]
                          for t in (-h, 0.0, h))
    assert_close((model.jacobian(q) @ qd)[:3], (after - before) / (2 * h), FINITE_DIFFERENCE)
    acceleration = model.jacobian(q) @ qdd + model.bias_acceleration(q, qd)
    assert_close(acceleration[:3], (after - 2 * now + before) / h**2, 1e-5)


def test_energies_follow_minimal_parameters_and_rotors(rng):
    chain = placed_chain(rng, 4)
    rotors = rng.uniform(0.1, 1.0, 4)
    model = compile_model(chain.with_joint_physics(JointPhysics(
        rotors, np.zeros(4), np.zeros(4), np.zeros(4))))
    q, qd, _ = random_states(rng, 4)
    assert_close(model.kinetic_energy(q, qd),
                 kinetic_energy(chain, q, qd) + 0.5 * rotors @ qd**2, SAME_ALGEBRA)
    assert_close(model.potential_energy(q), potential_energy(chain, q), SAME_ALGEBRA)
    model.parameters = 2.0 * model.parameters
    zero = np.zeros(4)
    level = potential_energy(chain, zero)
    assert_close(model.potential_energy(zero), level, SAME_ALGEBRA)
    assert_close(model.potential_energy(q) - level, 2.0 * (potential_energy(chain, q) - level),
                 SAME_ALGEBRA)


def test_an_arm_on_paper():
    """Two links of length 1 and 2 in a plane, point masses at their ends."""
    ends = [Inertia.from_centre_of_mass(m, [length, 0.0, 0.0], np.zeros((3, 3)))
            for m, length in ((3.0, 1.0), (1.0, 2.0))]
    chain = chain_from_dh('RR', beta=[0.0, 0.0], b=[0.0, 1.0], d=[0.0, 0.0], theta=[0.0, 0.0],
                          links=ends, tip_pose=Pose(np.eye(3), np.array([2.0, 0.0, 0.0])),
                          gravity=[0.0, -10.0, 0.0])
    model = compile_model(chain)
    q, qd = np.array([0.0, np.pi / 2]), np.array([1.0, 1.0])
    assert_close(model.tip_pose(q)[:3, 3], [1.0, 2.0, 0.0], SAME_ALGEBRA)
    assert_close(model.jacobian(q)[:2], [[-2.0, -2.0], [1.0, 0.0]], SAME_ALGEBRA)
    assert_close(model.jacobian(q)[5], [1.0, 1.0], SAME_ALGEBRA)
    # towards the first axis with 1, towards the second with 4 * 2
    assert_close(model.bias_acceleration(q, qd)[:3], [-1.0, -8.0, 0.0], SAME_ALGEBRA)
    assert_close(model.centre_of_mass(q), [1.0, 0.5, 0.0], SAME_ALGEBRA)
    assert_close(model.potential_energy(q), 20.0, SAME_ALGEBRA)
    assert_close(model.kinetic_energy(q, qd), 1.5 + 0.5 * 17.0, SAME_ALGEBRA)
    assert_close(model.momentum(q, qd)[:3], [-4.0, 4.0, 0.0], SAME_ALGEBRA)


def test_link_frames_have_to_be_as_many_as_joints(rng):
    with pytest.raises(ChainError, match='3 joints and 1 link frames'):
        replace(random_chain(rng, 3), link_frames=(random_pose(rng),))


def test_kinematic_functions_have_no_parameters():
    chain = chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')
    model = compile_model(chain)
    before = {name: getattr(model, name)(*[np.ones(len(chain))] * len(inputs)).copy()
              for name, inputs in KINEMATIC_INPUTS.items()}
    model.parameters = 2.0 * model.parameters
    for name, inputs in KINEMATIC_INPUTS.items():
        np.testing.assert_array_equal(
            getattr(model, name)(*[np.ones(len(chain))] * len(inputs)), before[name])
