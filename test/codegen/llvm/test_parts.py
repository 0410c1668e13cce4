# SPDX-License-Identifier: Apache-2.0
"""Long programs in many functions: the same results, wherever a program is cut."""

import itertools

import numpy as np
import pytest
from support.chains import random_chain, random_tree
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import JointPhysics, compile_model
from robot_dynamics_ros.codegen.functions import INPUTS
from robot_dynamics_ros.codegen.llvm import parts, source
from robot_dynamics_ros.codegen.llvm.parts import Layout
from robot_dynamics_ros.codegen.runtime.kernels import LONGEST_PYTHON


def _robots():
    rng = np.random.default_rng(3)
    tree = random_tree(rng, 6, followers=1)
    n = len(tree)
    rotor, viscous, coulomb = rng.uniform(0.1, 1.0, (3, n))
    physics = JointPhysics(rotor_inertia=rotor, viscous=viscous, coulomb=coulomb,
                           static=np.full(n, 1.5), stribeck_velocity=np.full(n, 0.3),
                           coulomb_velocity=0.05)
    return {'two joints': random_chain(rng, 2, types='RP'),
            'tree with a follower': tree.with_joint_physics(physics)}


ROBOTS = _robots()


def _in_parts(chain, monkeypatch, size):
    """Return a model whose functions are cut into parts."""
    monkeypatch.setattr(source, 'LONGEST_FUNCTION', 0)
    monkeypatch.setattr(source, 'LARGE_RESULT', 0)
    monkeypatch.setattr(parts, 'PART', size)
    return compile_model(chain)


def _call(model, name, states, **options):
    if name == 'regressor_with_joint_terms':
        return model.regressor(*states, joint_terms=True, **options)
    return getattr(model, name)(*states, **options)


@pytest.mark.parametrize('robot, size', [('two joints', 7), ('tree with a follower', 60)])
def test_every_function_is_the_same_in_parts(robot, size, monkeypatch, rng):
    chain = ROBOTS[robot]
    whole, cut = compile_model(chain, 'numpy'), _in_parts(chain, monkeypatch, size)
    for name in INPUTS:
        states = rng.normal(size=(len(INPUTS[name]), 11, len(chain)))
        expected = _call(whole, name, states)
        around = np.full(expected.size + 16, 7.0)
        out = around[8:-8].reshape(expected.shape)
        assert_close(_call(cut, name, states, out=out), expected, SAME_ALGEBRA)
        assert (around[:8] == 7.0).all() and (around[-8:] == 7.0).all(), name
        # the same bits alone as among others
        np.testing.assert_array_equal(_call(cut, name, states[:, 3]), out[3])


def test_results_that_are_streamed_are_the_same(monkeypatch, rng):
    chain = ROBOTS['tree with a follower']
    model = _in_parts(chain, monkeypatch, 100)
    states = rng.normal(size=(3, 700, len(chain)))
    expected = model.inverse_dynamics_derivatives(*states)
    monkeypatch.setattr('robot_dynamics_ros.codegen.llvm.blocks.STREAMED_FROM', 1)
    streamed = _in_parts(chain, monkeypatch, 100)
    place = np.empty(expected.size + 8)
    for start in range(8):
        out = place[start:start + expected.size].reshape(expected.shape)
        np.testing.assert_array_equal(
            streamed.inverse_dynamics_derivatives(*states, out=out, threads=2), expected)


def test_a_bad_state_spoils_itself_alone(monkeypatch, rng):
    chain = ROBOTS['tree with a follower']
    model = _in_parts(chain, monkeypatch, 50)
    states = rng.normal(size=(3, 20, len(chain)))
    expected = model.inverse_dynamics_derivatives(*states)
    states[2, 5, 1] = np.inf  # enters the torque, but not the zeros between branches
    result = model.inverse_dynamics_derivatives(*states)
    assert np.isnan(result[5]).all()
    np.testing.assert_array_equal(np.delete(result, 5, 0), np.delete(expected, 5, 0))
    assert np.isnan(model.inverse_dynamics_derivatives(*states[:, 5])).all()


def test_an_angle_that_is_too_large_is_calculated_by_the_loop_form(monkeypatch, rng):
    chain = ROBOTS['two joints']
    monkeypatch.setattr('robot_dynamics_ros.codegen.runtime.kernels.LONGEST_PYTHON', 10)
    model = _in_parts(chain, monkeypatch, 20)
    q = np.array([2e6, 0.1])
    assert_close(model.mass_matrix(q), compile_model(chain, 'python').mass_matrix(q), SAME_ALGEBRA)
    assert_close(model.mass_matrix(np.tile(q, (20, 1)))[7], model.mass_matrix(q), SAME_ALGEBRA)
    assert model.forms == {'mass_matrix': 'straight line'}


def test_places_are_used_again_and_never_too_early(rng):
    model = compile_model(random_chain(rng, 12))
    program = model._kernels.program(model._snapshot.form, 'inverse_dynamics_derivatives')
    layout = Layout(program)
    part_of = {index: k for k, indices in enumerate(layout.parts) for index in indices}
    last = {}
    for index, k in part_of.items():
        for operand in program.entry(index).operands:
            last[operand] = max(last.get(operand, 0), k)
    kept = [index for index in layout.places if index in part_of]
    lives = {}
    for index in kept:
        lives.setdefault(layout.places[index], []).append((part_of[index], last[index]))
    assert len(lives) < len(kept)
    for spans in lives.values():
        spans.sort()
        assert all(end < start for (_, end), (start, _) in itertools.pairwise(spans))


def test_derivatives_of_many_joints_are_machine_code():
    rng = np.random.default_rng(30)
    chain = random_chain(rng, 26, types='R' * 26)
    model = compile_model(chain)
    states = 0.3 * rng.normal(size=(3, 26))
    by_q, _ = model.inverse_dynamics_derivatives(*states)
    assert model.forms['inverse_dynamics_derivatives'] == 'straight line'
    assert len(model._kernels.program(model._snapshot.form, 'inverse_dynamics_derivatives')
               .graph.entries) > LONGEST_PYTHON
    step = np.zeros(26)
    step[17] = 1e-6
    q, qd, qdd = states
    slope = (model.inverse_dynamics(q + step, qd, qdd)
             - model.inverse_dynamics(q - step, qd, qdd)) / 2e-6
    assert_close(by_q[:, 17], slope, 1e-6)
