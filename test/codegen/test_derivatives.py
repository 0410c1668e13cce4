# SPDX-License-Identifier: Apache-2.0
"""Derivatives of torques and accelerations, judged by Pinocchio and by complex steps."""

import cmath
from types import SimpleNamespace

import numpy as np
import pytest
from support.chains import random_chain, random_states, random_tree
from support.oracle import Oracle
from support.robots import URDF_FOLDER
from support.tolerances import OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros import JointPhysics, chain_from_urdf, compile_model, minimal_parameters
from robot_dynamics_ros.codegen.equations import Equations
from robot_dynamics_ros.codegen.grouping import grouping_of
from robot_dynamics_ros.codegen.loop_form import loop_form
from robot_dynamics_ros.codegen.runtime import kernels
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm, joint_parameters

#: Functions of complex numbers that are differentiable; the absolute value keeps its sign.
COMPLEX = SimpleNamespace(sin=cmath.sin, cos=cmath.cos, tanh=cmath.tanh, exp=cmath.exp,
                          fabs=lambda x: x if x.real >= 0.0 else -x)

#: Step of a complex difference; its error is of the order of the step squared.
STEP = 1e-30


def calculated(chain, name, **arrays):
    """Return a function of a chain, without compiling it."""
    mlc = minimal_parameters(chain)
    values = {'mlc': mlc.values.tolist(), **joint_parameters(chain.joint_physics)}
    return loop_form(chain, grouping_of(chain, mlc), name, JointForm.of(chain.joint_physics),
                     values, arrays)


def by_complex_steps(chain, q, qd, qdd):
    """Return the derivatives (2, n, n) of the whole torque by q and qd."""
    mlc, physics = minimal_parameters(chain), chain.joint_physics
    grouping, values = grouping_of(chain, mlc), {'mlc': mlc.values, **joint_parameters(physics)}

    def torque(state):
        inputs = {'q': state[0].tolist(), 'qd': state[1].tolist(), 'qdd': qdd.tolist()}
        return np.array(Equations(chain, grouping, JointForm.of(physics), inputs,
                                  lambda name, _: values[name], COMPLEX).torque())

    result = np.empty((2, len(q), len(q)))
    for kind, k in np.ndindex(2, len(q)):
        state = np.array([q, qd], dtype=complex)
        state[kind, k] += 1j * STEP
        result[kind, :, k] = torque(state).imag / STEP
    return result


@pytest.mark.parametrize('seed', range(300))
def test_derivatives_are_those_of_pinocchio_on_random_chains(seed):
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, 1 + seed % 8)
    q, qd, qdd = random_states(rng, len(chain))
    wrench = rng.normal(size=6) if seed % 2 else None
    given = {} if wrench is None else {'wrench': wrench}
    suffix = '' if wrench is None else '_with_wrench'
    oracle = Oracle(chain)
    assert_close(calculated(chain, 'inverse_dynamics_derivatives' + suffix, q=q, qd=qd, qdd=qdd,
                            **given),
                 oracle.inverse_dynamics_derivatives(q, qd, qdd, wrench), OTHER_IMPLEMENTATION)
    tau = oracle.inverse_dynamics(q, qd, qdd, wrench)
    found = calculated(chain, 'forward_dynamics_derivatives' + suffix, q=q, qd=qd, tau=tau,
                       **given)
    expected = oracle.forward_dynamics_derivatives(q, qd, tau, wrench)
    # as much as the accelerations themselves are worth: the mass matrix has to be solved
    tolerance = OTHER_IMPLEMENTATION * max(1.0, 1e-6 * np.linalg.cond(oracle.mass_matrix(q)))
    for each, other in zip(found, expected):
        assert_close(each, other, tolerance)


@pytest.mark.parametrize('seed', range(100))
def test_derivatives_are_those_of_pinocchio_on_random_trees(seed):
    rng = np.random.default_rng(1000 + seed)
    chain = random_tree(rng, 2 + seed % 8)
    q, qd, qdd = random_states(rng, len(chain))
    oracle = Oracle(chain)
    assert_close(calculated(chain, 'inverse_dynamics_derivatives', q=q, qd=qd, qdd=qdd),
                 oracle.inverse_dynamics_derivatives(q, qd, qdd), OTHER_IMPLEMENTATION)
    tau = oracle.inverse_dynamics(q, qd, qdd)
    tolerance = OTHER_IMPLEMENTATION * max(1.0, 1e-6 * np.linalg.cond(oracle.mass_matrix(q)))
    for each, other in zip(calculated(chain, 'forward_dynamics_derivatives', q=q, qd=qd, tau=tau),
                           oracle.forward_dynamics_derivatives(q, qd, tau)):
        assert_close(each, other, tolerance)


@pytest.mark.parametrize('name', ['demo_arm', 'rx90', 'stanford', 'planar_2r'])
def test_compiled_derivatives_are_those_of_pinocchio(name, rng):
    chain = chain_from_urdf(URDF_FOLDER / f'{name}.urdf')
    chain = chain.with_joint_physics(JointPhysics.zero(len(chain)))
    model, oracle = compile_model(chain), Oracle(chain)
    q, qd, qdd = random_states(rng, len(chain), 20)
    assert_close(model.inverse_dynamics_derivatives(q, qd, qdd), np.array(
        [oracle.inverse_dynamics_derivatives(*state) for state in zip(q, qd, qdd)]),
        OTHER_IMPLEMENTATION)
    A, B = model.linearise(q, qd, model.torque(q, qd, qdd))
    n = len(chain)
    for k in range(len(q)):
        by_q, by_qd, by_tau = oracle.forward_dynamics_derivatives(
            q[k], qd[k], oracle.inverse_dynamics(q[k], qd[k], qdd[k]))
        assert_close(A[k], np.block([[np.zeros((n, n)), np.eye(n)], [by_q, by_qd]]), 1e-8)
        assert_close(B[k], np.vstack([np.zeros((n, n)), by_tau]), 1e-8)
    one = model.linearise(q[0], qd[0], model.torque(q[0], qd[0], qdd[0]))
    assert_close(one[0], A[0], OTHER_IMPLEMENTATION)
    assert one[1].shape == (2 * n, n)


LAWS = {
    'coulomb': {},
    'stribeck': {'static': np.array([1.5, 2.0, 1.1, 1.8]), 'stribeck_velocity': np.full(4, 0.2)},
    'under load': {'load_friction': np.array([0.1, 0.05, 0.2, 0.3])},
    'by direction': {'viscous_asymmetry': np.array([0.1, -0.05, 0.1, 0.02])},
}


@pytest.mark.parametrize('coupled', [False, True])
@pytest.mark.parametrize('law', LAWS)
def test_friction_rotors_and_coupling_are_differentiated(rng, coupled, law):
    n = 4
    chain = random_chain(rng, n)
    chain = chain.with_joint_physics(JointPhysics(
        rotor_inertia=rng.uniform(0.1, 1.0, n), viscous=rng.uniform(0.2, 1.0, n),
        coulomb=rng.uniform(0.1, 1.0, n), offset=rng.normal(size=n), coulomb_velocity=0.3,
        coupling=np.eye(n) + np.diag([0.3, -0.2, 0.5], -1) if coupled else None, **LAWS[law]))
    q, qd, qdd = random_states(rng, n)
    qd *= 0.3
    expected = by_complex_steps(chain, q, qd, qdd)
    assert_close(calculated(chain, 'torque_derivatives', q=q, qd=qd, qdd=qdd), expected,
                 OTHER_IMPLEMENTATION)
    model = compile_model(chain)
    tau = model.torque(q, qd, qdd)
    found = model.forward_dynamics_derivatives(q, qd, tau)
    # dtau = dtau/dqdd dqdd along every change of the state
    by_qdd = np.array([model.torque(q, qd, qdd + 1e-6 * unit) - model.torque(q, qd, qdd)
                       for unit in np.eye(n)]).T / 1e-6
    for each, torque in zip(found, (-expected[0], -expected[1], np.eye(n))):
        assert_close(by_qdd @ each, torque, 1e-6)


def test_derivatives_by_position_and_velocity_can_be_unpacked(rng):
    chain = random_chain(rng, 3)
    q, qd, qdd = random_states(rng, 3)
    by_q, by_qd = compile_model(chain).torque_derivatives(q, qd, qdd)
    assert by_q.shape == by_qd.shape == (3, 3)


def test_a_robot_too_long_for_generated_code_has_derivatives_too(rng, monkeypatch):
    monkeypatch.setattr(kernels, 'LONGEST_PROGRAM', 1000)
    chain = random_chain(rng, 9)
    model, oracle = compile_model(chain), Oracle(chain)
    q, qd, qdd = random_states(rng, 9)
    assert_close(model.inverse_dynamics_derivatives(q, qd, qdd),
                 oracle.inverse_dynamics_derivatives(q, qd, qdd), OTHER_IMPLEMENTATION)
    assert model.forms['inverse_dynamics_derivatives'] == 'loop'
