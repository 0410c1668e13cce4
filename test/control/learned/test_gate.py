# SPDX-License-Identifier: Apache-2.0
"""The gate: what it lets pass, what it refuses and why; changes without a bump, and rollback."""

from dataclasses import replace

import numpy as np
import pytest
from support.motions import swinging_samples
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.control.learned.gate import DynamicParameters, GateSettings, ParameterGate
from robot_dynamics_ros.control.learned.live_parameters import LiveParameters
from robot_dynamics_ros.control.learned.recent_motion import RecentMotion
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

RAMP = 0.5


@pytest.fixture(scope='module')
def chain():
    return chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')


@pytest.fixture(scope='module')
def gate(chain):
    return ParameterGate(chain)


@pytest.fixture(scope='module')
def true_model(chain):
    return compile_model(with_parameter_error(chain, 0.3, seed=3))


@pytest.fixture(scope='module')
def truth(true_model):
    return DynamicParameters(true_model.parameters, true_model.joint_physics)


@pytest.fixture(scope='module')
def urdf(chain):
    model = compile_model(chain)
    return DynamicParameters(model.parameters, model.joint_physics)


@pytest.fixture
def motion(true_model):
    window = RecentMotion(4.0)
    for sample in swinging_samples(true_model, 4.0):
        window.add(sample)
    return window


@pytest.fixture
def load(truth):
    return np.zeros_like(truth.minimal)


def test_better_parameters_pass(gate, truth, urdf, motion, load):
    judgement = gate.judge(truth, urdf, motion, load, trusted=urdf, converged=True)
    assert judgement.accepted
    assert judgement.ratio < 0.05
    assert 'falls to' in judgement.reason


def test_a_payload_is_taken_into_account(gate, truth, urdf, load, true_model, chain):
    carried = true_model.mlc.of(chain) * 0.2
    loaded = compile_model(chain)
    loaded.swap(truth.minimal + carried, truth.joint_physics)
    window = RecentMotion(4.0)
    for sample in swinging_samples(loaded, 4.0):
        window.add(sample)
    assert gate.judge(truth, urdf, window, carried, trusted=urdf, converged=True).ratio < 0.05
    assert gate.judge(truth, urdf, window, load, trusted=urdf, converged=True).ratio > 0.1


@pytest.mark.parametrize(('change', 'message'), [
    (lambda p: replace(p, minimal=p.minimal * np.nan), 'not finite'),
    (lambda p: replace(p, minimal=p.minimal * [-1.0, *[1.0] * (p.minimal.size - 1)]),
     'not positive definite at q'),
    (lambda p: replace(p, joint_physics=replace(p.joint_physics, viscous=[-1.0, 1.0])),
     'joint joint_1: viscous is -1'),
    (lambda p: replace(p, joint_physics=replace(p.joint_physics, offset=[np.inf, 1.0])),
     'offset is not finite'),
    (lambda p: replace(p, minimal=p.minimal * 3.0), 'times the present one'),
    (lambda p: replace(p, minimal=p.minimal[1:]), 'parameters have shape'),
])
def test_parameters_that_no_robot_should_get_are_refused(gate, truth, urdf, motion, load, change,
                                                         message):
    judgement = gate.judge(change(truth), urdf, motion, load, trusted=urdf, converged=True)
    assert not judgement.accepted
    assert message in judgement.reason


def test_what_is_still_learning_is_refused_however_good(gate, truth, urdf, motion, load):
    judgement = gate.judge(truth, urdf, motion, load, trusted=urdf, converged=False)
    assert judgement.reason == 'still learning'


def test_the_parameters_in_use_are_no_improvement_on_themselves(gate, urdf, motion, load):
    judgement = gate.judge(urdf, urdf, motion, load, trusted=urdf, converged=True)
    assert not judgement.accepted
    assert 'no better on recent motion' in judgement.reason


def test_a_joint_that_gets_much_worse_is_named(gate, truth, urdf, motion, load):
    offset = np.array([0.0, 40.0])
    spoiled = replace(truth, joint_physics=replace(truth.joint_physics, offset=offset))
    judgement = gate.judge(spoiled, urdf, motion, load, trusted=urdf, converged=True)
    assert 'joint joint_2' in judgement.reason


def test_without_motion_nothing_passes(gate, truth, urdf, load):
    judgement = gate.judge(truth, urdf, RecentMotion(4.0), load, trusted=urdf, converged=True)
    assert not judgement.accepted
    assert 'no recent motion' in judgement.reason


def test_a_broken_model_in_use_does_not_open_the_gate_for_anything(gate, urdf, truth, motion,
                                                                   load):
    broken = replace(urdf, minimal=urdf.minimal * np.nan)
    judgement = gate.judge(truth, broken, motion, load, trusted=urdf, converged=True)
    assert not judgement.accepted


@pytest.mark.parametrize('settings', [{'improvement': 0.0}, {'improvement': 1.1}, {'worst': 0.5},
                                      {'fewest': 0}, {'setback': 0.9}, {'largest_change': 0.5}])
def test_a_gate_that_cannot_work_is_refused(settings):
    with pytest.raises(ParameterError, match='parameter gate'):
        GateSettings(**settings)


# Live parameters

@pytest.fixture
def live(gate, urdf):
    return LiveParameters(gate, urdf, window=4.0, ramp=RAMP)


def observe(live, model, duration, start):
    for sample in swinging_samples(model, duration, start=start):
        live.observe(sample)


def settle(live, now):
    """Let a change run to its end."""
    while live.advance(now):
        now += 0.1


def test_a_change_is_gradual_and_complete(live, truth, urdf, true_model, load, chain):
    observe(live, true_model, 4.0, 1.0)
    assert live.offer(truth, load, 5.0, samples=1000, converged=True).accepted
    model = compile_model(chain)
    state = np.array([0.3, -0.2]), np.array([1.0, -1.0]), np.array([2.0, 1.0])
    torques = []
    for now in np.arange(5.0, 5.0 + RAMP + 0.05, 0.01):
        live.advance(now)
        model.swap(live.present.minimal, live.present.joint_physics)
        torques.append(model.torque(*state))
    steps = np.abs(np.diff(torques, axis=0))
    whole = np.abs(true_model.torque(*state) - torques[0])
    assert np.all(steps.max(axis=0) < 1.01 * whole * 0.01 / RAMP)
    np.testing.assert_allclose(torques[-1], true_model.torque(*state))
    assert live.present is truth
    assert not live.advance(9.0)


def test_a_second_offer_waits_for_the_first(live, truth, true_model, load):
    observe(live, true_model, 4.0, 1.0)
    assert live.offer(truth, load, 5.0, samples=1000, converged=True).accepted
    again = live.offer(truth, load, 5.1, samples=1001, converged=True)
    assert not again.accepted
    assert 'not finished' in again.reason


def test_parameters_that_turn_out_worse_are_taken_back(live, truth, urdf, true_model, load,
                                                       chain):
    observe(live, true_model, 4.0, 1.0)
    assert live.offer(truth, load, 5.0, samples=1000, converged=True).accepted
    settle(live, 5.0)
    assert live.present is truth
    assert not live.reconsider(load, 5.6).accepted, 'no motion since'
    observe(live, compile_model(chain), 4.0, 6.0)  # the robot is as its URDF says after all
    judgement = live.reconsider(load, 10.0)
    assert judgement.accepted
    settle(live, 10.0)
    assert live.present is urdf
    assert not live.reconsider(load, 11.0).accepted, 'only once'
    observe(live, true_model, 4.0, 12.0)
    refused = live.offer(truth, load, 16.0, samples=1400, converged=True)
    assert 'waiting for 1500 samples' in refused.reason
    assert live.offer(truth, load, 16.0, samples=1500, converged=True).accepted


def test_good_parameters_stay(live, truth, true_model, load):
    observe(live, true_model, 4.0, 1.0)
    live.offer(truth, load, 5.0, samples=1000, converged=True)
    settle(live, 5.0)
    observe(live, true_model, 4.0, 6.0)
    assert not live.reconsider(load, 10.0).accepted
    assert live.present is truth


def test_a_clock_set_back_finishes_a_change_and_forgets_the_motion(live, truth, true_model, load):
    observe(live, true_model, 4.0, 1.0)
    live.offer(truth, load, 5.0, samples=1000, converged=True)
    live.restart()
    assert live.present is truth
    assert 'no recent motion' in live.offer(truth, load, 0.1, samples=1000, converged=True).reason
