# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error
from robot_dynamics_ros.view.live_state import LiveState


def estimate_of(state, chain):
    """Return the estimate that says what another chain has."""
    first = state.robot.estimate
    return replace(first, mlc=first.mlc.with_values(first.mlc.of(chain)),
                   joint_physics=chain.joint_physics, state=EstimateState.LEARNING, samples=9)


def test_a_right_model_predicts_and_a_wrong_one_does_not(state, work):
    truth = with_parameter_error(state.robot.chain, 0.3, 1)
    state.learn(0.0, estimate_of(state, truth))
    work(state, compile_model(truth), 6.0)
    torques = state.torques()
    assert torques.t[-1] == 0.0 and len(torques.t) > 20
    assert np.all(torques.errors(torques.learned) < 0.03)
    assert np.all(torques.errors(torques.urdf) > 0.1)


def test_nothing_is_predicted_by_what_was_not_learned(state, work):
    work(state, state.robot.model, 3.0)
    torques = state.torques()
    assert np.isnan(torques.errors(torques.learned)).all()
    assert np.all(torques.errors(torques.urdf) < 0.03)


def test_what_is_kept_is_bounded(state, work):
    for k in range(3000):
        state.learn(float(k), state.robot.estimate)
        state.hear(f'node_{k}', {f'key {i}': 'x' * 10_000 for i in range(200)})
    assert len(state.history(0)[0]) <= 400 and state.history(0)[0][-1] > 2000.0
    assert len(state.messages) == 16
    assert all(len(values) <= 80 and max(map(len, values.values())) <= 160
               for values in state.messages.values())
    work(state, state.robot.model, 40.0)
    assert len(state.torques().t) <= 400 and state.torques().t[0] >= -20.0


def test_a_clock_that_is_set_back_begins_anew(state, work):
    work(state, state.robot.model, 4.0, begin=100.0)
    work(state, state.robot.model, 4.0, begin=0.0)
    t = state.torques().t
    assert t[0] > -5.0 and np.all(np.diff(t) > 0.0)


def test_excitation_is_what_the_learning_node_says(state):
    state.hear('identification', {'excitation of joint_1': '40 %', 'samples': '7'})
    assert state.excitation() == {'joint_1': '40 %'}


def test_the_largest_parameters_are_shown(state):
    values = np.abs(state.robot.estimate.mlc.values)
    chosen = state.largest_parameters(2)
    assert set(chosen) == set(np.argsort(-values)[:2].tolist()) and chosen == sorted(chosen)


def test_a_robot_that_has_not_moved_has_no_torques(state):
    assert isinstance(state, LiveState) and len(state.torques().t) == 0
    assert np.isnan(state.torques().errors(state.torques().urdf)).all()


def test_what_friction_holds_at_rest_is_no_error(state, work):
    still = np.zeros(2)
    for k in range(300):
        state.observe(JointSample(0.01 * k, 0.01 * k, still, still, np.array([50.0, 50.0])))
    torques = state.torques()
    assert len(torques.t) > 20 and not torques.moving.any()
    assert np.isnan(torques.errors(torques.urdf)).all()
    assert np.isnan(torques.total_error(torques.urdf))
    work(state, state.robot.model, 4.0, begin=3.0)
    torques = state.torques()
    assert torques.moving.any() and torques.total_error(torques.urdf) < 0.1
