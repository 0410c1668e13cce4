# SPDX-License-Identifier: Apache-2.0
"""The sampled controller: limits, when it learns and when not, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.adaptive import arm, random_sample

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.control.adaptive.adaptation import LowPass
from robot_dynamics_ros.control.adaptive.choice import (
    LAW_NAMES,
    AdaptiveSettings,
    make_adaptive_controller,
)
from robot_dynamics_ros.control.adaptive.controller import LONGEST_LEARNING_STEP
from robot_dynamics_ros.control.adaptive.laws import Craig, SlotineLi
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.trajectory import TrajectorySample

STEP = 0.002
CHAIN = arm(np.random.default_rng(3))
MODEL = compile_model(CHAIN, backend='python')


def controller(law='slotine_li', limit=1e6, **choice):
    return make_adaptive_controller(MODEL, EffortLimits(CHAIN.joint_names, np.full(3, limit)),
                                    AdaptiveSettings(law=law, **choice))


@pytest.fixture
def state(rng):
    desired = random_sample(rng, 3)
    return desired, desired.q + 0.1 * rng.normal(size=3), desired.qd + 0.1 * rng.normal(size=3)


@pytest.mark.parametrize('law', LAW_NAMES)
def test_it_learns_from_an_error_and_can_forget(law, state):
    subject = controller(law)
    for _ in range(2):  # the second sample has an acceleration
        subject.command(*state, STEP)
    assert subject.learned_now
    assert np.any(subject.theta != subject.adaptation.unknowns.start)
    subject.reset()
    np.testing.assert_array_equal(subject.theta, subject.adaptation.unknowns.start)


def test_a_cut_torque_is_within_the_limits_and_nothing_is_learned(state):
    subject = controller(limit=0.5)
    result = subject.command(*state, STEP)
    assert np.abs(result.effort).max() == 0.5 and result.clamped.any()
    assert not subject.learned_now
    np.testing.assert_array_equal(subject.theta, subject.adaptation.unknowns.start)


@pytest.mark.parametrize('step', [0.0, -1.0, np.nan])
def test_a_step_that_makes_no_sense_teaches_nothing(state, step):
    subject = controller()
    assert np.all(np.isfinite(subject.command(*state, step).effort))
    assert not subject.learned_now


@pytest.mark.parametrize('step', [1.1 * LONGEST_LEARNING_STEP, 10.0, np.inf])
def test_a_long_step_teaches_no_more_than_the_longest(state, step):
    subject, other = controller(), controller()
    subject.command(*state, step)
    other.command(*state, LONGEST_LEARNING_STEP)
    np.testing.assert_array_equal(subject.theta, other.theta)
    assert subject.learned_now


def test_learning_can_be_switched_off(state):
    subject = controller()
    subject.learning = False
    subject.command(*state, STEP)
    assert not subject.learned_now


@pytest.mark.parametrize('law', LAW_NAMES)
@pytest.mark.parametrize('place', [1, 2])
def test_a_state_that_is_not_finite_is_refused_and_nothing_learned(state, law, place):
    subject = controller(law)
    broken = [*state]
    broken[place] = np.array([0.0, np.nan, 0.0])
    with pytest.raises(StateError, match='not finite'):
        subject.command(*broken, STEP)
    np.testing.assert_array_equal(subject.theta, subject.adaptation.unknowns.start)
    for _ in range(2):
        subject.command(*state, STEP)
    assert subject.learned_now
    assert np.any(subject.theta != subject.adaptation.unknowns.start)


numbers = st.floats(allow_nan=True, allow_infinity=True, width=64)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(LAW_NAMES), st.lists(numbers, min_size=15, max_size=15), numbers)
def test_any_numbers_give_finite_limited_efforts_and_unknowns_or_a_named_error(law, values, step):
    subject = controller(law, limit=5.0)
    rows = np.array(values).reshape(5, 3)
    with np.errstate(all='ignore'):
        for _ in range(2):
            try:
                result = subject.command(TrajectorySample(*rows[:3], np.zeros(3)), rows[3],
                                         rows[4], step)
            except StateError:
                continue
            assert np.all(np.abs(result.effort) <= 5.0)
            assert np.all(np.isfinite(subject.theta))


def test_the_weight_is_that_of_what_was_learned(rng):
    subject = controller(learn=('load',))
    q = rng.normal(size=3)
    np.testing.assert_allclose(subject.weight(q), MODEL.gravity_torque(q), atol=1e-12)
    theta = np.zeros(10)
    theta[-1] = 2.0
    subject.theta = theta
    mass = subject.weight(q) - MODEL.gravity_torque(q)
    subject.theta = 2.0 * theta
    np.testing.assert_allclose(subject.weight(q) - MODEL.gravity_torque(q), 2.0 * mass)


def test_the_estimate_says_what_was_learned(state):
    subject = controller(learn=('load', 'Fv2'))
    before = subject.estimate()
    np.testing.assert_allclose(before.mlc.values, MODEL.parameters)
    assert before.state == EstimateState.FROM_URDF and not any(before.identified)
    subject.command(*state, STEP)
    after = subject.estimate('khalil')
    assert after.mlc.set == 'khalil' and after.samples == 1
    assert after.state == EstimateState.LEARNING and any(after.identified)
    assert after.joint_physics.viscous[1] != before.joint_physics.viscous[1]
    np.testing.assert_array_equal(after.joint_physics.coulomb, before.joint_physics.coulomb)
    subject.learning = False
    subject.command(*state, STEP)
    assert subject.estimate().state == EstimateState.FROZEN
    with pytest.raises(ParameterError, match='unknown set'):
        subject.estimate('magic')


def test_assigned_unknowns_are_kept_inside_the_bounds():
    subject = controller(learn=('load',), heaviest_load=3.0)
    subject.theta = np.full(10, 1e9)
    assert subject.theta[-1] == 3.0
    for wrong in (np.full(10, np.nan), np.zeros(9)):
        with pytest.raises(StateError, match='10 finite numbers'):
            subject.theta = wrong


def test_choices_become_laws():
    inertia = controller('slotine_li_modified', bandwidth=(7.0,)).law
    assert isinstance(inertia, SlotineLi) and inertia.modified and inertia.damping is None
    per_joint = controller(bandwidth=(1.0, 2.0, 3.0), damping=(4.0, 5.0, 6.0)).law
    np.testing.assert_array_equal(per_joint.bandwidth, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(per_joint.damping, [4.0, 5.0, 6.0])
    scaled = controller(damping=(2.0,)).law
    assert np.ptp(scaled.damping) > 0.0 and not scaled.modified
    assert isinstance(controller('craig').law, Craig)


@pytest.mark.parametrize(('choice', 'message'), [
    ({'law': 'magic'}, "unknown law 'magic'"),
    ({'bandwidth': (1.0, 2.0)}, 'bandwidth has 2 values, expected 1 or 3'),
    ({'bandwidth': (-1.0,)}, 'bandwidth must be finite and positive'),
    ({'bandwidth': (1.0, 2.0, 3.0)}, 'bandwidth must be the same'),
    ({'law': 'craig', 'damping': (1.0,)}, 'no damping'),
    ({'law': 'craig', 'bandwidth': (1.0, 2.0, 3.0)}, 'one bandwidth'),
    ({'damping': (1.0, 2.0)}, 'damping has 2 values'),
    ({'learn': ('everything',)}, "'everything' cannot be learned"),
    ({'learning_time': -1.0}, 'time constants must be positive'),
    ({'dead_zone': -1.0}, 'dead_zone'), ({'leakage': np.nan}, 'leakage'),
    ({'heaviest_load': -1.0}, 'must be positive'),
])
def test_bad_gains_are_refused_with_a_reason(choice, message):
    with pytest.raises(ParameterError, match=message):
        controller(**choice)


def test_the_low_pass_filter_has_the_derivative_of_a_ramp_in_the_end():
    subject = LowPass(50.0)
    for k in range(200):
        value, rate = subject.update(np.array([3.0 * k * STEP]), STEP)
    np.testing.assert_allclose(rate, [3.0], rtol=1e-6)
    np.testing.assert_allclose(value, [3.0 * 199 * STEP], atol=3.1 / 50.0)
    subject.restart()
    value, rate = subject.update(np.array([7.0]), STEP)
    assert value == 7.0 and rate == 0.0
