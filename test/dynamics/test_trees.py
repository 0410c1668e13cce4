# SPDX-License-Identifier: Apache-2.0
"""Trees of joints, with and without joints that follow others, against Pinocchio."""

import math
from dataclasses import replace

import numpy as np
import pytest
from support.chains import (
    random_chain,
    random_inertia,
    random_states,
    random_tree,
    renumbered,
)
from support.oracle import Oracle
from support.tolerances import OTHER_FORMULATION, OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros import (
    ParameterError,
    compile_model,
    forward_dynamics,
    gravity_torque,
    inverse_dynamics,
    lu_meng_regressor,
    mass_matrix,
    minimal_parameters,
    standard_regressor,
)
from robot_dynamics_ros.codegen.grouping import grouping_of
from robot_dynamics_ros.codegen.loop_form import loop_form
from robot_dynamics_ros.dynamics.formulations.comparison import AGREEMENT, compare_formulations
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import FOR_TREES, FORMULATIONS
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm
from robot_dynamics_ros.dynamics.minimal.khalil_set import khalil_forms
from robot_dynamics_ros.dynamics.minimal.lin_set import lin_forms
from robot_dynamics_ros.dynamics.minimal.numeric_set import judge, stacked_regressor
from robot_dynamics_ros.dynamics.minimal.rotor_grouping import rotor_grouping
from robot_dynamics_ros.dynamics.minimal.structure import structure
from robot_dynamics_ros.dynamics.recursions.customized import (
    ELIMINATIONS,
    customized_newton_euler,
    regrouped,
)
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector, joint_frames


def trees(count, *, followers=0, sizes=(2, 9)):
    rng = np.random.default_rng(16)
    for _ in range(count):
        yield rng, random_tree(rng, int(rng.integers(*sizes)), followers=followers)


def forked(rng):
    """Return an arm whose third link, which turns about two axes, carries two further ones."""
    chain = random_chain(rng, 5, types='RRRRR')
    joints = [replace(joint, beta=1.1) for joint in chain.joints]
    joints[4] = replace(joints[4], parent=3, gamma=0.7)
    return rng, replace(chain, joints=tuple(joints))


@pytest.mark.parametrize('followers', [0, 2])
def test_generated_code_of_trees_agrees_with_pinocchio(followers):
    for rng, chain in trees(12, followers=followers):
        oracle, model, n = Oracle(chain), compile_model(chain, 'numpy'), len(chain)
        q, qd, qdd = random_states(rng, n)
        wrench = rng.normal(size=6 * len(chain.tips))
        tau = oracle.inverse_dynamics(q, qd, qdd)
        close = OTHER_IMPLEMENTATION
        assert_close(model.inverse_dynamics(q, qd, qdd), tau, close)
        assert_close(model.inverse_dynamics(q, qd, qdd, wrench=wrench),
                     oracle.inverse_dynamics(q, qd, qdd, wrench), close)
        assert_close(model.mass_matrix(q), oracle.mass_matrix(q), close)
        assert_close(model.gravity_torque(q), oracle.gravity_torque(q), close)
        assert_close(standard_regressor(chain, q, qd, qdd), oracle.regressor(q, qd, qdd), close)
        assert_close(model.regressor(q, qd, qdd) @ model.parameters, tau, close)
        assert_close(model.inverse_dynamics_derivatives(q, qd, qdd, wrench=wrench),
                     oracle.inverse_dynamics_derivatives(q, qd, qdd, wrench), close)
        found = model.forward_dynamics(q, qd, tau, wrench=wrench)
        assert_close(oracle.mass_matrix(q) @ found, oracle.mass_matrix(q)
                     @ oracle.forward_dynamics(q, qd, tau, wrench), close)


@pytest.mark.parametrize('followers', [0, 2])
def test_formulations_that_take_trees_agree_on_them(followers):
    for rng, chain in trees(4, followers=followers, sizes=(3, 7)):
        found = compare_formulations(chain)
        assert max(found.values()) < AGREEMENT and not {*found} & {'lagrange', 'kane'}
        q, qd, qdd = random_states(rng, len(chain))
        oracle, tau = Oracle(chain), inverse_dynamics(chain, q, qd, qdd)
        assert_close(tau, oracle.inverse_dynamics(q, qd, qdd), OTHER_IMPLEMENTATION)
        assert_close(mass_matrix(chain, q), oracle.mass_matrix(q), OTHER_IMPLEMENTATION)
        assert_close(gravity_torque(chain, q), oracle.gravity_torque(q), OTHER_IMPLEMENTATION)
        moved = forward_dynamics(chain, q, qd, tau)
        assert_close(inverse_dynamics(chain, q, qd, moved), tau, OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('formulation', sorted({*FORMULATIONS} - {*FOR_TREES}))
def test_what_the_papers_say_of_serial_chains_is_refused_for_trees(formulation):
    rng, tree = forked(np.random.default_rng(3))
    q, qd, qdd = random_states(rng, len(tree))
    message = rf"'{formulation}' of the inverse dynamics is for serial chains, and .* is a tree"
    with pytest.raises(ParameterError, match=message):
        inverse_dynamics(tree, q, qd, qdd, formulation=formulation)


def test_the_regressor_of_lu_and_meng_is_refused_for_trees():
    rng, tree = forked(np.random.default_rng(3))
    with pytest.raises(ParameterError, match=r'for serial chains, and .* is a tree'):
        lu_meng_regressor(tree, *random_states(rng, len(tree)))


def test_the_loop_form_and_generated_code_of_a_tree_are_the_same():
    for rng, chain in trees(4, followers=1, sizes=(4, 7)):
        model, n = compile_model(chain, 'numpy'), len(chain)
        q, qd, qdd = random_states(rng, n)
        values = {'mlc': model.parameters.tolist(), 'sharpness': [1e3],
                  **{name: [0.0] * n for name in ('rotor', 'viscous', 'coulomb', 'offset')}}
        for name, arrays in (('inverse_dynamics', {'q': q, 'qd': qd, 'qdd': qdd}),
                             ('regressor', {'q': q, 'qd': qd, 'qdd': qdd}),
                             ('mass_matrix', {'q': q}),
                             ('forward_dynamics', {'q': q, 'qd': qd, 'tau': qdd})):
            generated = getattr(model, name)(*arrays.values())
            loop = loop_form(chain, grouping_of(chain, model.mlc), name, JointForm(), values,
                             arrays)
            assert_close(loop, generated, OTHER_FORMULATION, name)


def test_a_long_tree_uses_the_linear_recursion_and_agrees():
    rng = np.random.default_rng(5)
    chain = random_tree(rng, 26)
    q, qd, qdd = random_states(rng, 26)
    oracle, model = Oracle(chain), compile_model(chain, 'numpy')
    tau = oracle.inverse_dynamics(q, qd, qdd)
    A = oracle.mass_matrix(q)
    assert_close(A @ model.forward_dynamics(q, qd, tau), A @ qdd, OTHER_IMPLEMENTATION)


def test_joints_on_different_branches_have_exact_zeros_and_cost_nothing():
    rng = np.random.default_rng(2)
    arm = random_chain(rng, 8, types='RRRRRRRR')
    parents = [0, 1, 2, 3, 0, 5, 6, 7]
    joints = tuple(replace(joint, parent=parent) for joint, parent in zip(arm.joints, parents))
    two = replace(arm, joints=joints)
    A = compile_model(two, 'numpy').mass_matrix(rng.uniform(-1.0, 1.0, 8))
    assert np.all(A[:4, 4:] == 0.0) and np.all(A[:4, :4] != 0.0)
    serial, tree = (compile_model(chain, 'python').operations for chain in (arm, two))
    for name in ('mass_matrix', 'forward_dynamics', 'regressor', 'inverse_dynamics'):
        assert sum(tree[name]) < sum(serial[name]), name


def test_closed_forms_of_trees_have_the_numeric_rank():
    counts = []
    for _, chain in trees(150, sizes=(2, 8)):
        W, groups = stacked_regressor(chain), structure(chain)
        for forms in (lin_forms(chain, groups), khalil_forms(chain, groups)):
            check = judge(W, forms.matrix)
            assert check.complete and check.minimal, chain.parents
        counts.append(len(forms.names))
    assert len(set(counts)) > 20


@pytest.mark.parametrize('set_name', ['gravity', 'inertia_matrix'])
def test_closed_forms_of_parts_of_the_torque_hold_for_trees(set_name):
    for _, chain in trees(60, sizes=(2, 7)):
        assert not minimal_parameters(chain, set_name).findings, chain.parents


def test_a_payload_on_any_tip_is_part_of_the_model():
    for rng, chain in trees(8, sizes=(4, 8)):
        tip = chain.tips[int(rng.integers(len(chain.tips)))]
        payload = random_inertia(rng)
        loaded = chain.with_payload(payload, tip=tip.link)
        q, qd, qdd = random_states(rng, len(chain))
        pose = type(tip.pose).identity()
        Y = standard_regressor(chain, q, qd, qdd, pose, tip.link)
        x = np.concatenate([chain.standard_parameters, payload.standard_parameters])
        assert_close(Y @ x, Oracle(loaded).inverse_dynamics(q, qd, qdd), OTHER_IMPLEMENTATION)


def test_rotors_of_a_tree_are_grouped_where_no_torque_tells_them_from_links():
    for rng, chain in trees(40, sizes=(2, 7)):
        _check_rotors(rng, chain)


def test_rotors_of_joints_that_others_follow_are_grouped_by_numbers():
    for rng, chain in trees(10, followers=1, sizes=(2, 5)):
        _check_rotors(rng, chain)


def _check_rotors(rng, chain):
    mlc = minimal_parameters(chain)
    grouping = rotor_grouping(chain, mlc)
    n = len(chain)
    q, qd, qdd = random_states(rng, n, 60)
    Y = standard_regressor(chain, q, qd, qdd).reshape(60 * n, -1) @ mlc.right_inverse
    rotors = (qdd[:, :, None] * np.eye(n)).reshape(60 * n, n)
    for j, inside in enumerate(grouping.grouped):
        column = rotors[:, j]
        if inside:
            assert_close(Y @ grouping.matrix[:, j], column, 1e-6)
        else:
            rest = column - Y @ np.linalg.lstsq(Y, column, rcond=1e-10)[0]
            assert np.linalg.norm(rest) > 1e-4 * np.linalg.norm(column)


def test_regrouped_parameters_of_a_tree_have_the_same_torque():
    for rng, chain in (*trees(5, sizes=(5, 8)), forked(np.random.default_rng(3))):
        mlc = minimal_parameters(chain)
        links = grouping_of(chain, mlc).links(mlc.values.tolist())
        q, qd, qdd = (values.tolist() for values in random_states(rng, len(chain)))
        frames = joint_frames(chain, q, math.cos, math.sin)
        torque = [customized_newton_euler(frames, regrouped(frames, links, [choice] * len(chain)),
                                          qd, qdd, gravity_vector(chain))
                  for choice in ELIMINATIONS]
        assert_close(torque, [torque[0]] * len(torque), OTHER_FORMULATION)


@pytest.mark.parametrize('followers', [0, 2])
@pytest.mark.parametrize('seed', range(1, 9))
def test_joints_may_be_numbered_in_any_order_that_has_parents_first(seed, followers):
    rng = np.random.default_rng(seed)
    n, order = int(rng.integers(7, 12)), []
    while order == sorted(order):  # few trees have but one order
        chain = random_tree(rng, n, followers=followers)
        other, order = renumbered(rng, chain)
    model, oracle = compile_model(other, 'numpy'), Oracle(chain)
    q, qd, qdd = random_states(rng, n)
    q1, qd1, qdd1 = state = q[order], qd[order], qdd[order]
    # Pinocchio's crba and derivatives want joints depth first: it judges in that order
    A = oracle.mass_matrix(q)[np.ix_(order, order)]
    tau = oracle.inverse_dynamics(q, qd, qdd)[order]
    tips = [tip.link for tip in chain.tips]
    W = rng.normal(size=(len(tips), 6))
    pushed = oracle.inverse_dynamics(q, qd, qdd, W)[order]
    wrench = W[[tips.index(tip.link) for tip in other.tips]].ravel()
    assert_close(model.mass_matrix(q1), A, OTHER_IMPLEMENTATION)
    for name in ('composite_bodies', 'inverse_dynamics', 'regressor'):
        assert_close(mass_matrix(other, q1, formulation=name), A, OTHER_IMPLEMENTATION)
    assert_close(model.inverse_dynamics(*state), tau, OTHER_IMPLEMENTATION)
    assert_close(model.regressor(*state) @ model.parameters, tau, OTHER_IMPLEMENTATION)
    for name in ('newton_euler', 'khalil', 'regressor'):
        assert_close(inverse_dynamics(other, *state, formulation=name), tau, OTHER_IMPLEMENTATION)
    assert_close(model.inverse_dynamics(*state, wrench=wrench), pushed, OTHER_IMPLEMENTATION)
    assert_close(model.gravity_torque(q1), oracle.gravity_torque(q)[order], OTHER_IMPLEMENTATION)
    links = [list(chain.link_names).index(name) for name in other.link_names]
    columns = np.concatenate([10 * link + np.arange(10) for link in links])
    assert_close(standard_regressor(other, *state),
                 oracle.regressor(q, qd, qdd)[np.ix_(order, columns)], OTHER_IMPLEMENTATION)
    assert_close(model.inverse_dynamics_derivatives(*state),
                 np.array(oracle.inverse_dynamics_derivatives(q, qd, qdd))[
                     np.ix_(range(2), order, order)], OTHER_IMPLEMENTATION)
    for moved in (model.forward_dynamics(q1, qd1, tau),
                  model.forward_dynamics(q1, qd1, pushed, wrench=wrench),
                  *(forward_dynamics(other, q1, qd1, tau, formulation=name)
                    for name in ('mass_matrix', 'linear_recursion'))):
        assert_close(A @ moved, A @ qdd1, OTHER_IMPLEMENTATION)


def test_trees_in_any_order_have_as_many_minimal_parameters_as_the_torque_shows():
    rng = np.random.default_rng(23)
    for _ in range(20):
        chain = random_tree(rng, int(rng.integers(4, 8)))
        other, _ = renumbered(rng, chain)
        found = minimal_parameters(other)
        assert found.set == 'lin' and not found.findings, other.parents
        assert len(found) == len(minimal_parameters(chain))
