# SPDX-License-Identifier: Apache-2.0
"""The dynamics server: answers equal the model, refusals say why."""

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from std_msgs.msg import Float64MultiArray, String
from support.messages import diagnostics, joint_state_message, payload_message, published
from support.tolerances import OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_interfaces.msg import MlcSet
from robot_dynamics_interfaces.srv import GetDynamics, GetMlc, SetPayload
from robot_dynamics_ros import chain_from_urdf, compile_model, minimal_parameters
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.nodes.dynamics_server import DynamicsServerNode

pytestmark = pytest.mark.ros

Q, QD, QDD = [0.3, -0.5], [1.0, -2.0], [3.0, 0.5]


@pytest.fixture
def node(make_node, planar):
    return make_node(DynamicsServerNode, robot_description=planar)


@pytest.fixture
def chain(planar):
    return chain_from_urdf(planar)


def dynamics(node, **fields):
    return node.call(GetDynamics.Request(**fields))


def test_the_answer_is_that_of_the_model(node, chain):
    model = compile_model(chain)
    answer = dynamics(node, position=Q, velocity=QD, acceleration=QDD)
    assert answer.success, answer.message
    assert answer.joint_names == list(chain.joint_names)
    for ours, expected in ((answer.torque, model.torque(Q, QD, QDD)),
                           (answer.gravity, model.gravity_torque(Q)),
                           (answer.coriolis, model.coriolis_torque(Q, QD)),
                           (answer.friction, model.friction_torque(QD)),
                           (answer.mass_matrix, model.mass_matrix(Q).ravel())):
        assert_close(np.array(ours), expected, OTHER_IMPLEMENTATION)


def test_joints_may_be_asked_for_in_any_order(node):
    straight = dynamics(node, position=Q, velocity=QD, acceleration=QDD)
    turned = dynamics(node, joint_names=['joint_2', 'joint_1'], position=Q[::-1],
                      velocity=QD[::-1], acceleration=QDD[::-1])
    np.testing.assert_allclose(turned.torque, straight.torque[::-1])
    np.testing.assert_allclose(np.reshape(turned.mass_matrix, (2, 2)),
                               np.reshape(straight.mass_matrix, (2, 2))[::-1, ::-1])


def test_velocity_and_acceleration_may_be_left_out(node, chain):
    answer = dynamics(node, position=Q)
    assert_close(np.array(answer.torque), compile_model(chain).gravity_torque(Q),
                 OTHER_IMPLEMENTATION)


@pytest.mark.parametrize(('fields', 'message'), [
    ({'position': [1.0]}, 'position has 1 values, expected 2'),
    ({'position': []}, 'position has 0 values'),
    ({'position': Q, 'velocity': [1.0]}, 'velocity has 1 values'),
    ({'position': [np.nan, 0.0]}, 'position has values that are not finite'),
    ({'position': Q, 'acceleration': [np.inf, 0.0]}, 'acceleration has values'),
    ({'joint_names': ['joint_1', 'elbow'], 'position': Q}, 'joint_1, joint_2 in any order'),
    ({'joint_names': ['joint_1', 'joint_1'], 'position': Q}, 'in any order'),
])
def test_a_bad_request_is_refused_with_a_reason(node, fields, message):
    answer = dynamics(node, **fields)
    assert not answer.success
    assert message in answer.message
    assert not answer.torque


@pytest.mark.parametrize('name', ['', 'lin', 'khalil', 'numeric'])
def test_minimal_parameters_are_those_of_the_urdf(node, chain, name):
    answer = node.call(GetMlc.Request(set=name))
    assert answer.success, answer.message
    expected = minimal_parameters(chain, name or 'lin')
    assert answer.mlc.names == list(expected.names)
    assert answer.mlc.formulas == list(expected.formulas)
    assert answer.mlc.model_hash == expected.model_hash
    assert_close(np.array(answer.mlc.values), expected.values, OTHER_IMPLEMENTATION)
    assert answer.mlc.state == MlcSet.FROM_URDF
    assert np.isnan(answer.mlc.standard_deviations).all()
    assert not any(answer.mlc.identified)
    assert (answer.mlc.base_link, answer.mlc.tip_links) == (chain.base, [chain.tip])


def test_an_unknown_set_is_refused(node):
    answer = node.call(GetMlc.Request(set='best'))
    assert not answer.success
    assert 'best' in answer.message


def test_a_payload_changes_the_answers_and_is_told_to_everybody(node, chain):
    told = published(node, '/payload')
    message = payload_message(2.0, chain.tip, (0.1, 0.0, 0.0))
    answer = node.call(SetPayload.Request(payload=message))
    assert answer.success, answer.message
    load = payload_inertia(2.0, [0.1, 0.0, 0.0], np.zeros((3, 3)))
    loaded = compile_model(chain.with_payload(load))
    assert_close(np.array(dynamics(node, position=Q).gravity), loaded.gravity_torque(Q),
                 OTHER_IMPLEMENTATION)
    assert told[0].inertia.m == 2.0
    assert told[0].header.frame_id == chain.tip
    node.call(SetPayload.Request())
    assert_close(np.array(dynamics(node, position=Q).gravity),
                 compile_model(chain).gravity_torque(Q), OTHER_IMPLEMENTATION)


@pytest.mark.parametrize(('mass', 'frame'), [(-1.0, 'link_2'), (np.nan, 'link_2'), (1.0, 'world')])
def test_an_impossible_payload_is_refused(node, mass, frame):
    told = published(node, '/payload')
    request = SetPayload.Request(payload=payload_message(mass, frame))
    answer = node.call(request)
    assert not answer.success
    assert 'payload' in answer.message
    assert not told


def test_a_payload_survives_a_new_description_of_the_robot(make_node, planar, chain):
    node = make_node(DynamicsServerNode)
    node.receive(String(data=planar))
    message = payload_message(2.0, chain.tip)
    node.call(SetPayload.Request(payload=message))
    before = dynamics(node, position=Q).gravity
    node.receive(String(data=planar))
    assert dynamics(node, position=Q).gravity == before


def test_before_a_description_every_service_says_so(make_node):
    node = make_node(DynamicsServerNode)
    for answer in (dynamics(node, position=Q),
                   node.call(GetMlc.Request()),
                   node.call(SetPayload.Request())):
        assert not answer.success
        assert 'no robot description yet' in answer.message


def test_shares_of_the_measured_motion(make_node, planar, chain):
    node = make_node(DynamicsServerNode, robot_description=planar, publish_shares=True,
                     observer_bandwidth=1000.0)
    topics = {name: published(node, f'/{name}')
              for name in ('gravity', 'coriolis', 'friction', 'residual', 'external_torque')}
    effort = compile_model(chain).gravity_torque(Q) + 1.5
    for time in (1.0, 1.05):
        node.receive(joint_state_message(time, Q, [0.0, 0.0], effort))
    assert_close(np.array(topics['gravity'][0].effort), compile_model(chain).gravity_torque(Q),
                 OTHER_IMPLEMENTATION)
    np.testing.assert_allclose(topics['residual'][0].effort, [1.5, 1.5])
    np.testing.assert_allclose(topics['external_torque'][0].effort, [-1.5, -1.5])
    node.receive(joint_state_message(1.06, Q, [0.0, 0.0], [np.nan, 0.0]))
    node.receive(joint_state_message(1.07, Q, []))
    assert len(topics['gravity']) == 2
    assert len(topics['residual']) == 1, 'a residual that is not finite is not published'
    assert node.diagnostics.counted('dropped joint states') == 1


def test_an_external_torque_above_its_threshold_is_an_event(make_node, planar, chain):
    node = make_node(DynamicsServerNode, robot_description=planar, publish_shares=True,
                     observer_bandwidth=1000.0, external_torque_thresholds__joint_2=4.0)
    weight = compile_model(chain).gravity_torque(Q)
    for time, push in ((1.0, 0.0), (1.05, 3.0), (1.1, -5.0), (1.15, -5.0)):
        node.receive(joint_state_message(time, Q, [0.0, 0.0], weight - push))
    assert node.diagnostics.counted('external torque events') == 1
    values = diagnostics(node)
    assert values['external torque above threshold'] == 'joint_2'
    node.receive(joint_state_message(1.2, Q, [0.0, 0.0], weight))
    node.receive(joint_state_message(1.25, Q, [0.0, 0.0], weight))
    values = diagnostics(node)
    assert values['external torque above threshold'] == 'none'


def test_efforts_are_read_as_the_joints_file_says(make_node, planar, chain, tmp_path):
    """A current with another sign and a motor constant, of a robot that hides its weight."""
    file = tmp_path / 'joints.yaml'
    effort = '{sign: -1, gain: 50.0, offset: 0.1, gravity_removed: true}'
    file.write_text(f'joints: {{joint_1: {{effort: {effort}}}}}')
    node = make_node(DynamicsServerNode, robot_description=planar, publish_shares=True,
                     joints_file=str(file), observer_bandwidth=1000.0)
    residual = published(node, '/residual')
    weight = compile_model(chain).gravity_torque(Q)
    for time in (1.0, 1.05):
        node.receive(joint_state_message(time, Q, [0.0, 0.0],
                                                 [0.1 - 2.0 / 50.0, weight[1]]))
    np.testing.assert_allclose(residual[0].effort, [2.0, 0.0], atol=1e-9)


def test_efforts_may_be_those_that_are_commanded(make_node, planar, chain):
    node = make_node(DynamicsServerNode, robot_description=planar, publish_shares=True,
                     observer_bandwidth=1000.0, effort_source='commands')
    residual = published(node, '/residual')
    weight = compile_model(chain).gravity_torque(Q)
    node.receive(joint_state_message(1.0, Q, [0.0, 0.0], weight))
    node.receive(joint_state_message(1.05, Q, [0.0, 0.0], weight))
    assert not residual, 'nothing was commanded yet'
    node.receive(Float64MultiArray(data=list(weight + 2.5)))
    for time in (1.1, 1.15):
        node.receive(joint_state_message(time, Q, [0.0, 0.0], weight))
    np.testing.assert_allclose(residual[0].effort, [2.5, 2.5], atol=1e-9)


@pytest.mark.parametrize('state', [
    {'position': [1e308, 0.0]}, {'position': [0.0, 0.0], 'velocity': [1e200, 1e200]},
    {'position': [0.0, 0.0], 'acceleration': [1e308, 1e308]},
    {'position': [float('inf'), 0.0]}])
def test_a_state_without_finite_torque_is_refused(make_node, planar, state):
    node = make_node(DynamicsServerNode, robot_description=planar)
    answer = node.call(GetDynamics.Request(**state))
    if answer.success:
        assert np.all(np.isfinite([*answer.torque, *answer.mass_matrix]))
    else:
        assert 'not finite' in answer.message
        assert len(answer.torque) == 0
    assert answer.success == (state == {'position': [1e308, 0.0]}), 'sines are always finite'
