# SPDX-License-Identifier: Apache-2.0
"""The laws: what they say with and without error, and the identities of their proofs."""

import numpy as np
import pytest
from studies.lyapunov import coriolis_matrix
from support.adaptive import arm, random_sample
from support.chains import random_chain
from support.tolerances import OTHER_FORMULATION, SAME_ALGEBRA, assert_close

from robot_dynamics_ros import chain_from_dh, compile_model
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.control.adaptive.adaptation import Adaptation
from robot_dynamics_ros.control.adaptive.laws import Craig, SlotineLi
from robot_dynamics_ros.control.adaptive.learned_model import LearnedModel
from robot_dynamics_ros.control.adaptive.unknown_parameters import joint_unknowns, minimal_unknowns
from robot_dynamics_ros.control.computed_torque import ComputedTorqueGains, computed_torque
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.motion.trajectory import TrajectorySample

LAMBDA = 5.0


def laws(n):
    K = np.linspace(1.0, 2.0, n)
    bandwidth = np.full(n, LAMBDA)
    return {'original': SlotineLi(bandwidth, K), 'original_inertia': SlotineLi(bandwidth),
            'modified': SlotineLi(bandwidth, K, modified=True),
            'modified_inertia': SlotineLi(bandwidth, modified=True),
            'craig': Craig.critically_damped(LAMBDA, n)}


def evaluate(law, model, unknowns, theta, desired, q, qd, qdd=None):
    adaptation = Adaptation(unknowns, np.ones(len(unknowns)), np.zeros(q.size))
    return law.evaluate(LearnedModel(model, unknowns), adaptation, theta, desired, q, qd,
                        np.zeros_like(q) if qdd is None else qdd)


@pytest.mark.parametrize('name', laws(1))
def test_without_error_every_law_is_the_torque_of_the_motion(rng, name):
    model = compile_model(arm(rng), backend='python')
    unknowns = minimal_unknowns(model)
    desired = random_sample(rng, 3)
    output = evaluate(laws(3)[name], model, unknowns, unknowns.start, desired, desired.q,
                      desired.qd)
    assert_close(output.torque, model.torque(*desired[:3]), SAME_ALGEBRA)
    assert_close(output.gradient, np.zeros(len(unknowns)), SAME_ALGEBRA)
    assert_close(output.s, np.zeros(3), SAME_ALGEBRA)


def test_one_pendulum_on_paper():
    """2 kg at 0.5 m: H = 0.5, weight 9.81 cos q; no Coriolis term, so all Slotine-Li agree."""
    bob = Inertia.from_centre_of_mass(2.0, [0.5, 0.0, 0.0], np.zeros((3, 3)))
    chain = chain_from_dh('R', beta=[0], b=[0], d=[0], theta=[0], links=[bob],
                          gravity=[0, -9.81, 0])
    model = compile_model(chain, backend='python')
    desired = TrajectorySample(np.array([0.3]), np.array([0.2]), np.array([0.1]), np.zeros(1))
    q, qd = np.array([0.4]), np.array([0.7])
    unknowns = minimal_unknowns(model)
    s = 0.5 + LAMBDA * 0.1
    weight, reference = 9.81 * np.cos(0.4), 0.1 - LAMBDA * 0.5
    for name, acceleration, damping in (('original', reference, 1.0),
                                        ('modified', reference, 1.0),
                                        ('original_inertia', reference - LAMBDA * s, 0.0),
                                        ('modified_inertia', reference - LAMBDA * s, 0.0)):
        output = evaluate(laws(1)[name], model, unknowns, unknowns.start, desired, q, qd)
        assert_close(output.s, [s], SAME_ALGEBRA)
        assert_close(output.torque, [0.5 * acceleration + weight - damping * s], SAME_ALGEBRA)
        place = unknowns.names.index('U1_33')
        assert output.gradient[place] == pytest.approx(acceleration * s)


def test_the_modified_law_with_inertia_is_computed_torque_where_all_is_known(rng):
    """Equation (96): a double pole at lambda."""
    model = compile_model(random_chain(rng, 4), backend='python')
    unknowns = minimal_unknowns(model)
    desired, (q, qd) = random_sample(rng, 4), rng.normal(size=(2, 4))
    expected = computed_torque(model, ComputedTorqueGains.critically_damped(LAMBDA, 4), desired,
                               q, qd)
    for name in ('modified_inertia', 'craig'):
        output = evaluate(laws(4)[name], model, unknowns, unknowns.start, desired, q, qd)
        assert_close(output.torque, expected, OTHER_FORMULATION)


@pytest.mark.parametrize('name', ['original', 'original_inertia', 'modified', 'modified_inertia'])
def test_the_lyapunov_function_changes_as_the_proof_says(rng, name):
    """Equations (91), (93): V' = -s^T (K - C_bar) s; without C_bar for the original law."""
    for n in range(1, 6):
        model = compile_model(random_chain(rng, n), backend='python')
        unknowns = minimal_unknowns(model)
        law = laws(n)[name]
        desired, (q, qd) = random_sample(rng, n), rng.normal(size=(2, n))
        theta = unknowns.start + rng.normal(size=len(unknowns))
        output = evaluate(law, model, unknowns, theta, desired, q, qd)
        H = model.mass_matrix(q)
        C = coriolis_matrix(model, q[None], qd[None])[0]
        qdd = model.forward_dynamics(q, qd, output.torque)
        s_dot = qdd - (desired.qdd - LAMBDA * (qd - desired.qd))
        wrong = theta - unknowns.start
        # theta' = -gradient with Gamma = 1; H'/2 is the symmetric part of C
        V_dot = output.s @ (H @ s_dot) + output.s @ C @ output.s - wrong @ output.gradient
        K = LAMBDA * H if law.damping is None else np.diag(law.damping)
        expected = -output.s @ (K - (C if law.modified else 0.0)) @ output.s
        size = np.abs(output.s @ (H @ s_dot)) + np.abs(wrong @ output.gradient)
        np.testing.assert_allclose(V_dot, expected, rtol=0.0, atol=OTHER_FORMULATION * size)


def test_friction_at_the_reference_speed_only_adds_damping(rng):
    model = compile_model(arm(rng), backend='python')
    unknowns = joint_unknowns(model)
    frictionless = compile_model(random_chain(rng, 3), backend='python')
    assert not np.any(frictionless.joint_physics.viscous)
    for _ in range(20):
        desired, (q, qd) = random_sample(rng, 3), rng.normal(size=(2, 3))
        output = evaluate(laws(3)['original'], model, unknowns, unknowns.start, desired, q, qd)
        qd_r = qd - output.s
        extra = model.friction_torque(qd_r) - model.friction_torque(qd)
        assert np.all(output.s * extra <= 1e-12)


def test_craig_follows_the_error_equation(rng):
    """The error obeys e'' + Kv e' + Kp e = -H_hat^-1 Y_u theta~; the gradient needs qdd."""
    model = compile_model(random_chain(rng, 3), backend='python')
    unknowns = minimal_unknowns(model)
    law = laws(3)['craig']
    desired, (q, qd) = random_sample(rng, 3), rng.normal(size=(2, 3))
    theta = unknowns.start * 1.1
    torque = evaluate(law, model, unknowns, theta, desired, q, qd).torque
    qdd = model.forward_dynamics(q, qd, torque)
    output = evaluate(law, model, unknowns, theta, desired, q, qd, qdd)
    e, e_dot, e_ddot = desired.q - q, desired.qd - qd, desired.qdd - qdd
    H_hat = LearnedModel(model, unknowns).mass_matrix(theta, q)
    Y = model.regressor(q, qd, qdd)
    left = e_ddot + law.derivative * e_dot + law.proportional * e
    assert_close(left, -np.linalg.solve(H_hat, Y @ (theta - unknowns.start)), OTHER_FORMULATION)
    assert_close(output.gradient,
                 -Y.T @ np.linalg.solve(H_hat, e_dot + law.filter * e), OTHER_FORMULATION)


def test_craig_learns_nothing_from_an_impossible_mass_matrix(rng):
    model = compile_model(random_chain(rng, 3), backend='python')
    unknowns = minimal_unknowns(model)
    desired, (q, qd, qdd) = random_sample(rng, 3), rng.normal(size=(3, 3))
    law = laws(3)['craig']
    assert np.any(evaluate(law, model, unknowns, unknowns.start, desired, q, qd, qdd).gradient)
    for theta in (-unknowns.start, np.full(len(unknowns), np.nan)):
        assert not np.any(evaluate(law, model, unknowns, theta, desired, q, qd, qdd).gradient)
    lost = np.full(3, np.nan)
    assert not np.any(evaluate(law, model, unknowns, unknowns.start, desired, q, qd,
                               lost).gradient)


@pytest.mark.parametrize(('make', 'message'), [
    (lambda: SlotineLi([1.0, -1.0]), 'bandwidth must be finite and positive'),
    (lambda: SlotineLi([1.0, np.nan], [1.0, 1.0]), 'bandwidth must be finite'),
    (lambda: SlotineLi([1.0, 2.0]), 'without damping the bandwidth must be the same'),
    (lambda: SlotineLi([1.0, 2.0], [1.0]), '1 values of damping and 2 of bandwidth'),
    (lambda: SlotineLi([1.0], [0.0]), 'damping must be finite and positive'),
    (lambda: Craig([1.0], [2.0], [3.0]), 'filter must be below the derivative'),
    (lambda: Craig([1.0], [np.inf], [3.0]), 'derivative must be finite'),
])
def test_impossible_gains_are_refused(make, message):
    with pytest.raises(ParameterError, match=message):
        make()
