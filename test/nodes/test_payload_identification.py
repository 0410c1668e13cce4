# SPDX-License-Identifier: Apache-2.0
"""The payload identification node: a load is found, told, and only claimed when it is known."""

import numpy as np
import pytest
import yaml
from support.availability import skip_without_ros

skip_without_ros()

from rclpy.lifecycle import TransitionCallbackReturn
from std_srvs.srv import Trigger
from support.messages import diagnostics, joint_state_message, published
from support.motions import swinging_samples

from robot_dynamics_interfaces.srv import SetPayload
from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.estimation.parameters.parameters_file import write_parameters
from robot_dynamics_ros.nodes.dynamics_server import DynamicsServerNode
from robot_dynamics_ros.nodes.payload_identification import PayloadIdentificationNode
from robot_dynamics_ros.robot import load_robot

pytestmark = pytest.mark.ros

LOAD = payload_inertia(2.0, [0.03, -0.02, 0.1], np.diag([0.01, 0.01, 0.005]))


@pytest.fixture
def chain(description):
    return chain_from_urdf(description)


@pytest.fixture
def node(make_node, description):
    return make_node(PayloadIdentificationNode, robot_description=description)


def move(node, model, start=1.0, duration=20.0):
    for sample in swinging_samples(model, duration, start=start, rate=100.0, noise=0.02):
        node.receive(joint_state_message(
            sample.time, sample.q, sample.qd, sample.effort, model.chain.joint_names))


def test_a_load_is_found_and_can_be_told_to_the_server(make_node, node, chain, description):
    told = published(node, '/payload')
    move(node, compile_model(chain.with_payload(LOAD)))
    node.tick(node.settings.publish_period)
    found = told[-1]
    assert found.header.frame_id == chain.tip
    assert found.inertia.m == pytest.approx(2.0, rel=0.02)
    np.testing.assert_allclose([found.inertia.com.x, found.inertia.com.y, found.inertia.com.z],
                               [0.03, -0.02, 0.1], atol=0.005)
    server = make_node(DynamicsServerNode, robot_description=description)
    assert server.call(SetPayload.Request(payload=found)).success


def test_nothing_is_claimed_before_it_is_known(node, chain):
    told = published(node, '/payload')
    node.tick(node.settings.publish_period)
    still = compile_model(chain.with_payload(LOAD))
    for k in range(300):
        node.receive(joint_state_message(
            1.0 + 0.01 * k, np.zeros(7), np.zeros(7), still.gravity_torque(np.zeros(7)),
            chain.joint_names))
    node.tick(node.settings.publish_period)
    assert told == []
    values = diagnostics(node)
    assert values['payload known'] == 'False'
    assert values['why not']


def test_what_is_assumed_about_the_efforts_is_told(node):
    node.tick(node.settings.publish_period)
    assert '5 % standard deviation of the drive gains' in diagnostics(node)['assumed']


def test_reset_begins_with_the_next_load(make_node, description, chain, tmp_path):
    # the efforts of a simulation are exact, and so is what they tell of a small load
    file = tmp_path / 'joints.yaml'
    file.write_text(yaml.safe_dump({'joints': {
        name: {'effort': {'gain_deviation': 0}} for name in chain.joint_names}}))
    node = make_node(PayloadIdentificationNode, robot_description=description,
                     joints_file=str(file))
    told = published(node, '/payload')
    move(node, compile_model(chain.with_payload(LOAD)))
    node.tick(node.settings.publish_period)
    assert node.call(Trigger.Request(), '~/reset').success
    half = payload_inertia(1.0, [0.0, 0.0, 0.1], np.zeros((3, 3)))
    move(node, compile_model(chain.with_payload(half)), start=50.0)
    node.tick(node.settings.publish_period)
    assert told[-1].inertia.m == pytest.approx(1.0, rel=0.05)
    assert diagnostics(node)['assumed'] == 'nothing'


def test_a_robot_that_hides_its_weight_is_refused(make_node, description, tmp_path):
    file = tmp_path / 'joints.yaml'
    file.write_text('joints: {joint_1: {effort: {gravity_removed: true}}}')
    node = make_node(PayloadIdentificationNode, start=False, robot_description=description,
                     joints_file=str(file))
    assert node.trigger_configure() != TransitionCallbackReturn.SUCCESS
    assert 'efforts without gravity torque' in node.diagnostics.status().message


def test_a_reset_without_a_robot_is_answered(make_node):
    node = make_node(PayloadIdentificationNode)
    assert 'no robot' in node.call(Trigger.Request(), '~/reset').message


def test_a_reset_whose_file_has_gone_is_answered(make_node, description, chain, tmp_path):
    path = tmp_path / 'parameters.yaml'
    write_parameters(path, load_robot(description).estimate)
    node = make_node(PayloadIdentificationNode, robot_description=description,
                     parameters_file=str(path))
    path.unlink()
    answer = node.call(Trigger.Request(), '~/reset')
    assert not answer.success
    assert 'parameters.yaml' in answer.message


@pytest.mark.parametrize('spoil', [
    lambda message: message.velocity.__setitem__(2, 1e3),
    lambda message: message.position.__setitem__(1, -1e155),
    lambda message: message.effort.__setitem__(3, 1e6),
])
def test_an_implausible_joint_state_does_not_spoil_the_load(node, chain, spoil):
    told = published(node, '/payload')
    model = compile_model(chain.with_payload(LOAD))
    for k, sample in enumerate(swinging_samples(model, 20.0, rate=100.0, noise=0.02)):
        message = joint_state_message(sample.time, sample.q, sample.qd, sample.effort,
                                      chain.joint_names)
        if k == 1500:
            spoil(message)
        node.receive(message)
    node.tick(node.settings.publish_period)
    assert told[-1].inertia.m == pytest.approx(2.0, rel=0.02)
    values = diagnostics(node)
    counted = sum(int(values[f'not used: implausible {what}']) for what in ('state', 'effort'))
    assert counted + node.diagnostics.counted('dropped joint states') == 1
