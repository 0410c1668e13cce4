# SPDX-License-Identifier: Apache-2.0
"""Parameters from the URDF, a file, or live through the gate, in both nodes that use them."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from rclpy.lifecycle import TransitionCallbackReturn
from std_msgs.msg import String
from std_srvs.srv import Trigger
from support.messages import (
    diagnostics,
    joint_state_message,
    motion_message,
    payload_message,
    published,
)
from support.motions import swinging_samples
from support.tolerances import OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_interfaces.msg import MlcSet
from robot_dynamics_interfaces.srv import GetDynamics, GetMlc, SetPayload
from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState, MlcEstimate
from robot_dynamics_ros.estimation.parameters.parameters_file import write_parameters
from robot_dynamics_ros.nodes.dynamics_server import DynamicsServerNode
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.support.conversion import (
    estimate_to_message,
    stamp,
    trajectory_from_message,
)
from robot_dynamics_ros.nodes.support.parameter_source import RECONSIDER, STEP

pytestmark = pytest.mark.ros

Q, QD, QDD = [0.3, -0.5], [1.0, -2.0], [3.0, 0.5]


@pytest.fixture
def learned(planar, true_model):
    """Return what a perfect identification would have found."""
    estimate = MlcEstimate.not_estimated(true_model.chain, true_model.mlc)
    return replace(estimate, state=EstimateState.CONVERGED, samples=1000,
                   identified=(True,) * len(true_model.mlc), residual_rms=np.array([0.1, 0.1]))


@pytest.fixture
def file(tmp_path, learned):
    path = tmp_path / 'parameters.yaml'
    write_parameters(path, learned)
    return str(path)


def torque(node):
    answer = node.call(
        GetDynamics.Request(position=Q, velocity=QD, acceleration=QDD))
    assert answer.success, answer.message
    return np.array(answer.torque)


def mlc(node):
    return node.call(GetMlc.Request()).mlc


def move(node, model, start=1.0):
    """Show a node the joint states of a robot that moves for four seconds."""
    for sample in swinging_samples(model, 4.0, start=start, rate=100.0):
        node.receive(joint_state_message(sample.time, sample.q, sample.qd,
                                                 sample.effort))


def changing(node):
    """Return whether a gradual change is under way, and take one step of it."""
    return node.tick(STEP) > 0


def let_change(node):
    """Run the timer of a gradual change to its end."""
    for _ in range(1000):
        if not changing(node):
            return
    raise AssertionError('the change does not end')


def live_node(make_node, planar, kind=DynamicsServerNode, **parameters):
    node = make_node(kind, follow_mlc=True, swap_duration=0.0, **parameters)
    node.receive(String(data=planar))
    assert not changing(node)
    return node


def test_both_nodes_take_parameters_from_a_file(make_node, planar, file, true_model):
    server = make_node(DynamicsServerNode, robot_description=planar, parameters_file=file)
    assert_close(torque(server), true_model.torque(Q, QD, QDD), OTHER_IMPLEMENTATION)
    assert mlc(server).state == MlcSet.FROM_FILE
    assert mlc(server).samples == 1000
    feedforward = make_node(FeedforwardNode, robot_description=planar, parameters_file=file,
                            blend_time=0.0)
    sent = published(feedforward, '/joint_trajectory')
    feedforward.receive(motion_message())
    result = trajectory_from_message(sent[0], with_efforts=True)
    assert_close(result.efforts, true_model.torque(result.positions, result.velocities,
                                                   result.accelerations), OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('set', ['khalil', 'numeric'])
def test_a_file_with_another_minimal_set_gives_the_same_torque(make_node, planar, tmp_path,
                                                               learned, true_model, set):
    path = tmp_path / 'parameters.yaml'
    write_parameters(path, learned.converted_to(true_model.chain, set))
    server = make_node(DynamicsServerNode, robot_description=planar, parameters_file=str(path))
    assert_close(torque(server), true_model.torque(Q, QD, QDD), OTHER_IMPLEMENTATION)


@pytest.mark.parametrize(('spoil', 'message'), [
    (lambda text: 'format: 7', 'is not a parameters file'),
    (lambda text: text.replace('model_hash: ', 'model_hash: 0'), 'another geometry, gravity'),
    (lambda text: text.replace('value: ', 'value: -', 1), 'not positive definite'),
])
def test_a_file_that_cannot_be_used_ends_the_start(make_node, planar, file, tmp_path, spoil,
                                                   message):
    path = tmp_path / 'spoiled.yaml'
    path.write_text(spoil(Path(file).read_text(encoding='utf-8')), encoding='utf-8')
    node = make_node(DynamicsServerNode, start=False, robot_description=planar,
                     parameters_file=str(path))
    assert node.trigger_configure() != TransitionCallbackReturn.SUCCESS
    assert message in node.diagnostics.status().message


@pytest.mark.parametrize('kind', [DynamicsServerNode, FeedforwardNode])
def test_learned_parameters_are_taken_over_when_they_explain_the_motion(make_node, planar, kind,
                                                                        learned, true_model):
    node = live_node(make_node, planar, kind)
    node.receive(estimate_to_message(learned, stamp(1.0)))
    assert not changing(node), 'no motion to judge it by'
    move(node, true_model)
    node.receive(estimate_to_message(learned, stamp(1.0)))
    let_change(node)
    assert_close(node.robot.model.torque(Q, QD, QDD), true_model.torque(Q, QD, QDD),
                 OTHER_IMPLEMENTATION)
    assert node.diagnostics.counted('parameter changes') == 1
    values = diagnostics(node)
    assert values['parameters'] == 'CONVERGED'
    assert 'falls to' in values['learned parameters']


def test_the_server_tells_what_it_uses(make_node, planar, learned, true_model):
    node = live_node(make_node, planar)
    assert mlc(node).state == MlcSet.FROM_URDF
    move(node, true_model)
    node.receive(estimate_to_message(learned, stamp(1.0)))
    let_change(node)
    told = mlc(node)
    assert (told.state, told.samples) == (MlcSet.CONVERGED, 1000)
    assert all(told.identified)
    assert_close(np.array(told.values), learned.mlc.values, OTHER_IMPLEMENTATION)
    khalil = node.call(GetMlc.Request(set='khalil'))
    assert khalil.success
    assert khalil.mlc.set == 'khalil'


def test_a_payload_stays_on_learned_parameters(make_node, planar, learned, true_model):
    node = live_node(make_node, planar)
    load = payload_message(2.0, true_model.chain.tip, (0.1, 0.0, 0.0))
    node.call(SetPayload.Request(payload=load))
    loaded = compile_model(true_model.chain.with_payload(node.robot.payload))
    move(node, loaded)
    node.receive(estimate_to_message(learned, stamp(1.0)))
    let_change(node)
    assert_close(torque(node), loaded.torque(Q, QD, QDD), OTHER_IMPLEMENTATION)
    nothing = payload_message(0.0, true_model.chain.tip)
    node.call(SetPayload.Request(payload=nothing))
    assert_close(torque(node), true_model.torque(Q, QD, QDD), OTHER_IMPLEMENTATION)


@pytest.mark.parametrize(('change', 'counted'), [
    (lambda message: setattr(message, 'state', MlcSet.LEARNING), 0),
    (lambda message: setattr(message, 'model_hash', 'x'), 1),
    (lambda message: setattr(message, 'values', [np.nan] * len(message.values)), 1),
    (lambda message: setattr(message, 'values', [3.0 * each for each in message.values]), 0),
    (lambda message: setattr(message, 'viscous_friction', [-9.0, -9.0]), 0),
    (lambda message: setattr(message, 'torque_offset', [np.inf, 0.0]), 0),
])
def test_parameters_that_do_not_pass_change_nothing(make_node, planar, learned, true_model,
                                                    change, counted):
    node = live_node(make_node, planar)
    move(node, true_model)
    before = torque(node)
    message = estimate_to_message(learned, stamp(1.0))
    change(message)
    node.receive(message)
    assert not changing(node)
    np.testing.assert_array_equal(torque(node), before)
    assert node.diagnostics.counted('refused parameters') == counted
    assert node.diagnostics.counted('parameter changes') == 0


def test_parameters_that_fail_later_are_taken_back(make_node, planar, learned, true_model):
    node = live_node(make_node, planar, now=1.0)
    before = torque(node)
    move(node, true_model)
    node.now = 5.0
    node.receive(estimate_to_message(learned, stamp(1.0)))
    let_change(node)
    move(node, compile_model(chain_from_urdf(planar)), start=6.0)
    node.now = 10.0
    node.tick(RECONSIDER)
    let_change(node)
    np.testing.assert_allclose(torque(node), before)
    assert node.diagnostics.counted('parameter rollbacks') == 1
    assert mlc(node).state == MlcSet.FROM_URDF


def test_a_change_is_gradual(make_node, planar, learned, true_model):
    node = make_node(DynamicsServerNode, robot_description=planar, follow_mlc=True,
                     swap_duration=30.0)
    move(node, true_model)
    before, end = torque(node), true_model.torque(Q, QD, QDD)
    node.receive(estimate_to_message(learned, stamp(1.0)))
    assert changing(node)
    assert np.abs(torque(node) - before).max() < 0.1 * np.abs(end - before).max()
    assert mlc(node).state == MlcSet.FROM_URDF, 'not before the change is complete'
    node.clock_set_back()
    np.testing.assert_allclose(torque(node), end)


def test_a_new_description_starts_with_its_own_parameters(make_node, planar, learned, true_model,
                                                          description):
    node = live_node(make_node, planar)
    move(node, true_model)
    node.receive(estimate_to_message(learned, stamp(1.0)))
    let_change(node)
    node.receive(String(data=planar.replace('<link', '<!-- weighed again --><link', 1)))
    assert_close(torque(node), compile_model(chain_from_urdf(planar)).torque(Q, QD, QDD),
                 OTHER_IMPLEMENTATION)
    assert mlc(node).state == MlcSet.FROM_URDF


@pytest.mark.parametrize('kind', [DynamicsServerNode, FeedforwardNode])
def test_learned_parameters_of_an_unknown_state_are_refused(make_node, planar, learned, kind):
    node = live_node(make_node, planar, kind)
    message = estimate_to_message(learned, stamp(1.0))
    message.state = 77
    node.receive(message)
    assert node.diagnostics.counted('refused parameters') == 1
    assert node.diagnostics.counted('unforeseen errors') == 0


def scaled(learned, factor):
    """Return what is learned from efforts in another unit."""
    physics = learned.joint_physics
    terms = {name: factor * getattr(physics, name)
             for name in ('rotor_inertia', 'viscous', 'coulomb', 'offset')}
    return replace(learned, mlc=learned.mlc.with_values(factor * learned.mlc.values),
                   joint_physics=replace(physics, **terms))


def move_scaled(node, model, factor):
    for sample in swinging_samples(model, 4.0, rate=100.0):
        node.receive(joint_state_message(sample.time, sample.q, sample.qd,
                                                 factor * sample.effort))


def accept(node):
    return node.call(Trigger.Request(), '~/accept_parameters')


def shown(node):
    return {each.key: each.value for each in node.diagnostics.status().values}


@pytest.mark.parametrize('kind', [DynamicsServerNode, FeedforwardNode])
def test_currents_in_place_of_torques_do_not_take_the_weight_away(make_node, planar, kind, learned,
                                                                  true_model):
    node = live_node(make_node, planar, kind)
    before = node.robot.model.gravity_torque(Q)
    move_scaled(node, true_model, 0.01)
    message = estimate_to_message(scaled(learned, 0.01), stamp(1.0))
    for _ in range(3):
        node.receive(message)
    assert node.diagnostics.counted('parameter changes') == 0
    np.testing.assert_array_equal(node.robot.model.gravity_torque(Q), before)
    told = shown(node)
    assert 'its gravity torque would be 0.00' in told['parameters to accept']
    assert told['parameters to accept'].endswith(f'call /{node.get_name()}/accept_parameters')
    assert node.diagnostics.counted('refused parameters') == 1, 'one line, not one per message'


def test_a_wider_factor_lets_them_pass(make_node, planar, learned, true_model):
    node = live_node(make_node, planar, largest_change=200.0)
    move_scaled(node, true_model, 0.01)
    node.receive(estimate_to_message(scaled(learned, 0.01), stamp(1.0)))
    assert node.diagnostics.counted('parameter changes') == 1


@pytest.mark.parametrize('kind', [DynamicsServerNode, FeedforwardNode])
def test_without_inertias_in_the_urdf_a_person_accepts_the_first_parameters(
        make_node, planar, kind, learned, true_model):
    node = live_node(make_node, without_inertias(planar), kind)
    answer = accept(node)
    assert not answer.success and 'no learned parameters wait' in answer.message
    move(node, true_model)
    message = estimate_to_message(learned, stamp(1.0))
    node.receive(message)
    assert node.diagnostics.counted('parameter changes') == 0
    assert 'no weight to compare with' in shown(node)['parameters to accept']
    assert accept(node).success
    let_change(node)
    assert_close(node.robot.model.torque(Q, QD, QDD), true_model.torque(Q, QD, QDD),
                 OTHER_IMPLEMENTATION)
    assert shown(node)['parameters to accept'] == 'none'


def without_inertias(urdf):
    return re.sub(r'<inertial>.*?</inertial>', '', urdf, flags=re.DOTALL)


def test_the_service_is_there_where_mlc_is_followed(make_node, planar):
    def services(node):
        return {service.srv_name for service in node.services}

    assert '~/accept_parameters' in services(live_node(make_node, planar, FeedforwardNode))
    idle = make_node(DynamicsServerNode, robot_description=planar)
    assert '~/accept_parameters' not in services(idle)


@pytest.fixture
def weightless(planar):
    return re.sub(r'<inertial>.*?</inertial>', '', planar, flags=re.DOTALL)


@pytest.mark.parametrize('kind', [FeedforwardNode, DynamicsServerNode])
def test_a_robot_without_any_mass_is_refused(kind, make_node, weightless, capfd):
    node = make_node(kind, start=False, robot_description=weightless)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert 'no moving link has mass or inertia, so every torque would be zero' in (
        capfd.readouterr().err)


def test_a_robot_without_mass_may_learn_but_not_float(make_node, weightless, file, capfd):
    make_node(FeedforwardNode, robot_description=weightless, follow_mlc=True)
    assert 'torques are too small until parameters are learned' in capfd.readouterr().err
    node = make_node(FeedforwardNode, start=False, robot_description=weightless, follow_mlc=True,
                     mode='float')
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    make_node(FeedforwardNode, robot_description=weightless, parameters_file=file, mode='float')


def test_a_link_without_mass_is_named(make_node, planar, capfd):
    lighter = re.sub(r'<inertial>.*?</inertial>', '', planar, count=1, flags=re.DOTALL)
    make_node(DynamicsServerNode, robot_description=lighter)
    assert 'moves but has no mass and no inertia in the URDF: torques are too small' in (
        capfd.readouterr().err)
