# SPDX-License-Identifier: Apache-2.0
"""The prediction error of the filtered regressor: zero where the parameters are right."""

from dataclasses import replace

import numpy as np
import pytest
from support.adaptive import arm

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.control.adaptive.learned_model import LearnedModel
from robot_dynamics_ros.control.adaptive.prediction import PredictionError
from robot_dynamics_ros.control.adaptive.unknown_parameters import unknown_parameters

STEP = 0.0005
WORDS = ('minimal', 'Ia', 'Fv', 'Fc', 'offset')
COUPLING = np.array([[1.0, 0.0, 0.0], [0.3, 1.0, 0.0], [0.0, -0.4, 1.2]])


def physics(chain, rng, **changes):
    return chain.with_joint_physics(replace(
        chain.joint_physics, rotor_inertia=rng.uniform(0.1, 0.3, 3), viscous=rng.uniform(1, 2, 3),
        coulomb=rng.uniform(1, 2, 3), offset=rng.normal(size=3), coulomb_velocity=0.1, **changes))


def sampled(chain, steps=3000):
    """Return states, and the torque that moves the arm between each and the next one."""
    t = STEP * np.arange(2 * steps + 1) / 2.0
    q, qd, qdd = (np.stack([f(t + 2 * j) for j in range(3)], axis=1) for f in (
        lambda x: np.sin(3 * x), lambda x: 3 * np.cos(3 * x), lambda x: -9 * np.sin(3 * x)))
    tau = compile_model(chain, 'numpy').torque(q, qd, qdd)
    return q[::2], qd[::2], tau[1::2]


def gradients(chain, wrong=0.0, cutoff=20.0):
    """Return the gradients along a motion whose torques are those of the chain."""
    model = compile_model(chain, 'llvm')
    unknowns = unknown_parameters(model, WORDS)
    learned = LearnedModel(model, unknowns)
    subject = PredictionError(learned, np.ones(3), np.zeros(len(unknowns)), cutoff)
    theta = (1.0 + wrong) * unknowns.start
    found = []
    for q, qd, tau in zip(*sampled(chain)):
        found.append(subject.gradient(theta, q, qd, STEP))
        subject.applied(tau)
    return np.array(found), theta - unknowns.start


@pytest.mark.parametrize('changes', [
    {}, {'coupling': COUPLING},
    {'static': np.full(3, 3.0), 'stribeck_velocity': np.full(3, 0.3)}])
def test_true_parameters_have_no_error(rng, changes):
    chain = physics(arm(rng), rng, **changes)
    right, _ = gradients(chain)
    wrong, error = gradients(chain, wrong=0.1)
    later = slice(500, None)  # what was before the first sample fades out
    assert np.abs(right[later]).max() < 1e-3 * np.abs(wrong[later]).max()
    # Y^T R Y d: never against the error of the parameters
    assert np.min(wrong[later] @ error) >= -1e-9


def test_the_start_of_the_filter_is_exact(rng):
    """The term of W(0) is part of it: also the first sample has no error."""
    right, _ = gradients(physics(arm(rng), rng))
    wrong, _ = gradients(physics(arm(rng), rng), wrong=0.1)
    assert np.abs(right[:500]).max() < 1e-2 * np.abs(wrong).max()


def test_a_step_never_removes_more_than_the_whole_error(rng):
    chain = physics(arm(rng), rng)
    model = compile_model(chain, 'llvm')
    unknowns = unknown_parameters(model, WORDS)
    learned = LearnedModel(model, unknowns)
    gains = np.full(len(unknowns), 1e6)
    subject = PredictionError(learned, np.ones(3), gains, 20.0)
    theta = 1.1 * unknowns.start
    largest = np.abs(theta).max()
    for q, qd, tau in zip(*sampled(chain)):
        theta = theta - STEP * gains * subject.gradient(theta, q, qd, STEP)
        subject.applied(tau)
        assert np.abs(theta).max() < 100.0 * largest


def test_after_a_restart_the_past_does_not_count(rng):
    chain = physics(arm(rng), rng)
    model = compile_model(chain, 'llvm')
    unknowns = unknown_parameters(model, WORDS)
    subject = PredictionError(LearnedModel(model, unknowns), np.ones(3),
                              np.zeros(len(unknowns)), 20.0)
    q, qd, tau = (values[0] for values in sampled(chain, 2))
    first = subject.gradient(unknowns.start, q, qd, STEP)
    np.testing.assert_array_equal(first, 0.0)
    subject.applied(tau + 100.0)
    assert np.abs(subject.gradient(unknowns.start, q, qd, STEP)).max() > 0.0
    subject.restart()
    np.testing.assert_array_equal(subject.gradient(unknowns.start, q, qd, STEP), 0.0)
