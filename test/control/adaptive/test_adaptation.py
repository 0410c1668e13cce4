# SPDX-License-Identifier: Apache-2.0
"""Rates, bounds, dead zone, leakage, and gains from time constants."""

import numpy as np
import pytest
from support.adaptive import arm

from robot_dynamics_ros import chain_from_dh, compile_model
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.control.adaptive.adaptation import Adaptation
from robot_dynamics_ros.control.adaptive.choice import balanced_gains, typical_inertia
from robot_dynamics_ros.control.adaptive.laws import Craig, SlotineLi
from robot_dynamics_ros.control.adaptive.learned_model import LearnedModel
from robot_dynamics_ros.control.adaptive.unknown_parameters import (
    UnknownParameters,
    load_mass_unknown,
    minimal_unknowns,
)
from robot_dynamics_ros.errors import ParameterError

UNKNOWNS = UnknownParameters(('a', 'b'), ('kg', 'kg'), np.zeros((3, 2)), (-1, -1),
                             [1.0, 2.0], [0.0, -np.inf], [3.0, np.inf])


def test_the_rate_is_against_the_gradient():
    adaptation = Adaptation(UNKNOWNS, [2.0, 0.0], [0.0])
    np.testing.assert_allclose(adaptation.rate(UNKNOWNS.start, np.array([3.0, 4.0])), [-6.0, 0.0])
    np.testing.assert_allclose(adaptation.stepped(UNKNOWNS.start, np.array([3.0, 4.0]), 0.1),
                               [0.4, 2.0])


def test_bounds_are_kept_and_can_be_left_inwards():
    adaptation = Adaptation(UNKNOWNS, [1.0, 1.0], [0.0])
    for gradient, theta in ((1e6, 0.0), (-1e6, 3.0)):
        stepped = adaptation.stepped(UNKNOWNS.start, np.array([gradient, 0.0]), 1.0)
        assert stepped[0] == theta
        assert adaptation.rate(stepped, np.array([gradient, 0.0]))[0] == 0.0
        assert adaptation.rate(stepped, np.array([-gradient, 0.0]))[0] == gradient


def test_leakage_returns_to_the_first_values():
    adaptation = Adaptation(UNKNOWNS, [1.0, 1.0], [0.0], leakage=0.5)
    theta = np.array([2.0, -2.0])
    for _ in range(2000):
        theta = adaptation.stepped(theta, np.zeros(2), 0.01)
    np.testing.assert_allclose(theta, UNKNOWNS.start, atol=1e-3)


def test_the_dead_zone_has_no_jump_at_its_edge():
    adaptation = Adaptation(UNKNOWNS, [1.0, 1.0], [0.1, 0.1, 0.1])
    np.testing.assert_allclose(adaptation.beyond_dead_zone(np.array([0.05, -0.1, 0.3])),
                               [0.0, 0.0, 0.2], atol=1e-15)


@pytest.mark.parametrize(('settings', 'message'), [
    ({'gains': [-1.0, 1.0]}, 'gains'), ({'gains': [np.nan, 1.0]}, 'gains'),
    ({'dead_zone': [-0.1]}, 'dead_zone'), ({'leakage': np.inf}, 'leakage')])
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        Adaptation(**{'unknowns': UNKNOWNS, 'gains': [1.0, 1.0], 'dead_zone': [0.0], **settings})


def test_the_gain_of_a_mass_on_a_rail_on_paper():
    """A load on a vertical rail: Y = g all the time (but for the motion), rate gain g^2 / K."""
    car = Inertia.from_centre_of_mass(2.0, [0, 0, 0], np.zeros((3, 3)))
    chain = chain_from_dh('P', beta=[0], b=[0], d=[0], theta=[0], links=[car],
                          gravity=[0, 0, -1000.0])
    model = compile_model(chain, backend='python')
    learned = LearnedModel(model, load_mass_unknown(model, [0, 0, 0]))
    assert balanced_gains(learned, SlotineLi([5.0], [20.0]), 0.5) == pytest.approx(
        20.0 / (0.5 * 1000.0**2), rel=1e-3)
    assert balanced_gains(learned, SlotineLi([5.0]), 0.5) == pytest.approx(
        5.0 * 2.0 / (0.5 * 1000.0**2), rel=1e-3)
    assert balanced_gains(learned, Craig([25.0], [10.0], [5.0]), 0.5) == pytest.approx(
        5.0 * 2.0**2 / (0.5 * 1000.0**2), rel=1e-3)
    assert balanced_gains(learned, SlotineLi([5.0]), np.inf) == 0.0
    assert typical_inertia(model) == pytest.approx(2.0)


def test_what_does_nothing_is_not_learned(rng):
    model = compile_model(arm(rng, 2), backend='python')
    unknowns = minimal_unknowns(model)
    idle = UnknownParameters(('idle',), ('kg',), np.zeros((len(model.mlc), 1)), (-1,), [0.0],
                             [-1.0], [1.0])
    gains = balanced_gains(LearnedModel(model, unknowns + idle), SlotineLi([5.0, 5.0]), 1.0)
    assert np.all(gains[:-1] > 0.0) and gains[-1] == 0.0


def test_times_and_robots_that_make_no_sense_are_refused(rng):
    model = compile_model(arm(rng, 2), backend='python')
    learned = LearnedModel(model, minimal_unknowns(model))
    for time in (0.0, -1.0, np.nan):
        with pytest.raises(ParameterError, match='time constants must be positive'):
            balanced_gains(learned, SlotineLi([5.0, 5.0]), time)
    empty = chain_from_dh('RR', beta=[0, 0], b=[0, 1], d=[0, 0], theta=[0, 0])
    massless = compile_model(empty, backend='python')
    with pytest.raises(ParameterError, match='mass matrix of the robot is singular'):
        balanced_gains(LearnedModel(massless, minimal_unknowns(massless)), SlotineLi([5.0, 5.0]),
                       1.0)
