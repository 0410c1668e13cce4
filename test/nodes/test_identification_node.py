# SPDX-License-Identifier: Apache-2.0
"""The identification node: learns, tells, and stays up whatever comes in."""

import re
import sys

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from geometry_msgs.msg import WrenchStamped
from rclpy.lifecycle import TransitionCallbackReturn
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool
from support.identification_node import LEARNED, STATE, answer, move, torque, trigger
from support.messages import (
    JOINTS,
    diagnostics,
    joint_state_message,
    payload_message,
    published,
)
from support.motions import swinging_samples
from support.tolerances import assert_close

from robot_dynamics_interfaces.msg import MlcSet
from robot_dynamics_interfaces.srv import GetMlc
from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.nodes.identification import IdentificationNode
from robot_dynamics_ros.nodes.support.conversion import stamp

pytestmark = pytest.mark.ros


@pytest.fixture
def node(make_node, planar):
    return make_node(IdentificationNode, robot_description=planar)


def tell(node):
    node.tick(node.settings.publish_period)


def test_before_any_data_the_answer_is_the_urdf(node, planar):
    told = answer(node)
    assert told.state == MlcSet.FROM_URDF
    assert told.samples == 0
    model = compile_model(chain_from_urdf(planar))
    assert_close(torque(node), model.torque(*STATE), 1e-9)


def test_it_learns_tells_and_converges(node, true_model):
    topic = published(node, '/mlc')
    move(node, true_model, 3.0)
    tell(node)
    move(node, true_model, 20.0, start=4.0)
    tell(node)
    first, last = topic
    assert first.state == MlcSet.LEARNING
    assert last.state == MlcSet.CONVERGED
    assert last.samples > first.samples > 0
    assert max(last.residual_rms) < max(first.residual_rms)
    assert 1.0 < last.condition_number < np.inf
    assert all(last.identified)
    assert_close(torque(node), true_model.torque(*STATE), LEARNED)
    khalil = answer(node, 'khalil')
    assert khalil.set == 'khalil'
    assert all(deviation > 0.0 for deviation in khalil.standard_deviations)
    values = diagnostics(node)
    assert values['state'] == 'CONVERGED'
    assert values['excitation of joint_1'] == '100 %'
    assert values['not used: invalid state'] == '0'
    assert float(values['input rate [1/s]']) > 0.0


def nan_position(message):
    message.position[0] = np.nan


def nan_velocity(message):
    message.velocity[1] = np.nan


def nan_effort(message):
    message.effort[1] = np.nan


def no_effort(message):
    message.effort = []


def short(message):
    message.position = message.position[:1]


def huge_position(message):
    message.position[0] = 1e155


def wild_position(message):
    message.position[1] = -1e3


def huge_velocity(message):
    message.velocity[1] = 1e155


def wild_velocity(message):
    message.velocity[0] = 1e3


def huge_effort(message):
    message.effort[1] = 1e155


def wild_effort(message):
    message.effort[0] = 1e6


def unknown_joint(message):
    message.name = ['joint_1', 'elbow']


def backward(message):
    message.header.stamp.sec -= 1


@pytest.mark.parametrize(('change', 'refused', 'learning'), [
    (nan_position, True, [True, True]),
    (short, True, [True, True]),
    (unknown_joint, True, [True, True]),
    (backward, True, [True, True]),
    (nan_velocity, False, [True, True]),
    (nan_effort, False, [True, True]),  # single missing efforts are bridged
    (no_effort, False, [True, True]),
])
def test_bad_joint_states_are_counted_and_do_not_spoil_anything(node, true_model, change, refused,
                                                                learning):
    """A joint is learning where new samples change its residual."""
    move(node, true_model, 20.0)
    before, residual = torque(node), answer(node).residual_rms
    changed = move(node, true_model, 5.0, start=30.0, change=change)
    assert_close(torque(node), before, LEARNED)
    assert node.diagnostics.counted('dropped joint states') == (changed if refused else 0)
    after = answer(node).residual_rms
    assert [old != new for old, new in zip(residual, after)] == learning


@pytest.mark.parametrize('change', [huge_position, wild_position, huge_velocity, wild_velocity,
                                    huge_effort, wild_effort])
def test_implausible_joint_states_do_not_spoil_anything(node, true_model, change):
    move(node, true_model, 20.0)
    before = torque(node)
    move(node, true_model, 5.0, start=30.0, change=change)
    node.tick(node.settings.publish_period)
    assert_close(torque(node), before, LEARNED)
    counted = node.diagnostics.counted('dropped joint states') + sum(
        int(value) for key, value in diagnostics(node).items()
        if key.startswith('not used') and 'standstill' not in key)
    if change not in (huge_velocity, huge_effort):  # these are taken as not measured
        assert counted > 0


def test_a_robot_whose_limits_are_in_another_unit_is_told_about(make_node, planar, true_model):
    slow = re.sub(r'velocity="[^"]*"', 'velocity="0.01"', planar)
    node = make_node(IdentificationNode, robot_description=slow)
    move(node, true_model, 5.0)
    node.tick(node.settings.publish_period)
    assert node.diagnostics.counted('implausible joint states') == 1
    assert int(diagnostics(node)['not used: implausible state']) > 500


def test_shuffled_joints_and_joints_of_others_do_not_matter(node, true_model):
    def shuffle(message):
        order = [1, 0]
        message.name = [*(JOINTS[i] for i in order), 'gripper']
        for field in ('position', 'velocity', 'effort'):
            setattr(message, field, [*(getattr(message, field)[i] for i in order), 9.0])

    move(node, true_model, 20.0, change=shuffle)
    assert node.diagnostics.counted('dropped joint states') == 0
    assert_close(torque(node), true_model.torque(*STATE), LEARNED)


def test_a_clock_set_back_and_a_jump_forward_do_not_stop_it(node, true_model):
    move(node, true_model, 10.0, start=1000.0)
    seen = answer(node).samples
    node.clock_set_back()
    move(node, true_model, 10.0, start=1.0)
    move(node, true_model, 5.0, start=5000.0)
    assert answer(node).samples > 2 * seen
    assert_close(torque(node), true_model.torque(*STATE), LEARNED)


def test_the_same_robot_described_anew_goes_on_and_another_one_begins(
        make_node, planar, description, true_model):
    node = make_node(IdentificationNode)
    node.receive(String(data=planar))
    move(node, true_model, 20.0)
    seen = answer(node).samples
    node.receive(String(data=planar.replace('<mass value=',
                                            '<!-- weighed again --><mass value=')))
    assert answer(node).samples == seen
    assert_close(torque(node), true_model.torque(*STATE), LEARNED)
    node.receive(String(data=description))
    assert answer(node).samples == 0
    assert len(answer(node).joint_names) == 7
    node.receive(joint_state_message(100.0))
    node.catch_up()
    assert node.diagnostics.counted('dropped joint states') == 1


def test_after_a_clean_up_nothing_is_learned_before_a_description_comes(make_node, planar,
                                                                       true_model):
    node = make_node(IdentificationNode)
    node.receive(String(data=planar))
    move(node, true_model, 10.0)
    seen = answer(node).samples
    node.trigger_deactivate()
    node.trigger_cleanup()
    node.trigger_configure()
    node.trigger_activate()
    messages = published(node, '/mlc')
    move(node, true_model, 5.0, start=20.0)
    node.tick(node.settings.publish_period)
    assert not messages
    node.receive(String(data=planar))
    assert answer(node).samples == seen, 'what was learned of the same robot is kept'


def test_reset_forgets_and_enable_freezes(node, true_model):
    move(node, true_model, 20.0)
    assert node.call(SetBool.Request(data=False)).message == 'frozen'
    seen = answer(node).samples
    move(node, true_model, 2.0, start=30.0)
    assert answer(node).samples == seen
    assert answer(node).state == MlcSet.FROZEN
    node.call(SetBool.Request(data=True))
    move(node, true_model, 2.0, start=40.0)
    assert answer(node).samples > seen
    assert trigger(node, '~/reset').success
    assert answer(node).state == MlcSet.FROM_URDF


def test_a_payload_that_is_told_is_no_part_of_the_arm(node, true_model):
    message = payload_message(3.0, true_model.chain.tip, (0.1, 0.0, 0.0))
    node.receive(message)
    loaded = compile_model(true_model.chain.with_payload(node.robot.payload))
    move(node, loaded, 20.0)
    assert_close(torque(node), true_model.torque(*STATE), LEARNED)


def test_efforts_may_come_from_commands(make_node, planar, true_model):
    node = make_node(IdentificationNode, now=100.0, robot_description=planar,
                     effort_source='commands')
    for sample in swinging_samples(true_model, 20.0):
        node.receive(Float64MultiArray(data=list(sample.effort)))
        # what the joint states say is the torque after friction
        node.receive(joint_state_message(sample.time, sample.q, sample.qd, [7.0, 7.0]))
    assert_close(torque(node), true_model.torque(*STATE), LEARNED)
    node.receive(Float64MultiArray(data=[1.0]))
    assert node.diagnostics.counted('dropped efforts') == 1
    node.now += 1.0
    residual = answer(node).residual_rms
    for sample in swinging_samples(true_model, 3.0, start=30.0):
        node.receive(joint_state_message(sample.time, sample.q, sample.qd, [7.0, 7.0]))
    assert_close(torque(node), true_model.torque(*STATE), LEARNED)
    assert answer(node).residual_rms == residual, 'no effort is fresh: nothing is learned'


def wrench_message(time, values, frame=''):
    message = WrenchStamped()
    message.header.stamp, message.header.frame_id = stamp(time), frame
    for part, numbers in ((message.wrench.force, values[:3]), (message.wrench.torque, values[3:])):
        part.x, part.y, part.z = numbers
    return message


def test_a_force_sensor_takes_the_wrench_off(make_node, planar, true_model):
    node = make_node(IdentificationNode, robot_description=planar, force_sensor=True)
    model = compile_model(true_model.chain)
    for sample in swinging_samples(true_model, 20.0, start=1.0):
        wrench = 5.0 * np.sin(sample.time * np.arange(1.0, 7.0))
        outer = model.torque(sample.q, 0 * sample.q, 0 * sample.q, wrench=wrench) - model.torque(
            sample.q, 0 * sample.q, 0 * sample.q)
        node.receive(wrench_message(sample.time, wrench, true_model.chain.tip))
        node.receive(joint_state_message(sample.time, sample.q, sample.qd, sample.effort + outer))
    assert_close(torque(node), true_model.torque(*STATE), LEARNED)


def test_without_a_good_wrench_nothing_is_learned(make_node, planar, true_model):
    node = make_node(IdentificationNode, robot_description=planar, force_sensor=True)
    move(node, true_model, 5.0)
    assert answer(node).samples == 0
    zero = np.zeros(6)
    for message in (wrench_message(1.0, zero, 'another_link'), wrench_message(1.0, zero + np.nan),
                    wrench_message(1.0, zero), wrench_message(0.5, zero)):
        node.receive(message)
    assert node.diagnostics.counted('dropped wrenches') == 3


def test_efforts_of_a_controller_need_control_msgs(make_node, planar, monkeypatch):
    monkeypatch.setitem(sys.modules, 'control_msgs', None)
    node = make_node(IdentificationNode, start=False, robot_description=planar,
                     effort_source='controller_state')
    assert node.trigger_configure() != TransitionCallbackReturn.SUCCESS
    assert 'needs the package control_msgs' in node.diagnostics.status().message


def test_an_unknown_set_and_a_node_without_robot_are_answered(make_node, node):
    response = node.call(GetMlc.Request(set='best'))
    assert not response.success
    empty = make_node(IdentificationNode)
    for service in ('~/reset', '~/save'):
        assert 'no robot description yet' in trigger(empty, service).message
    empty.receive(joint_state_message(1.0))
    told = published(empty, '/mlc')
    tell(empty)
    assert told == []


@pytest.mark.parametrize('value', [1e155, -1e308, 1e10])
def test_a_joint_state_where_no_joint_can_be_is_dropped(node, true_model, value):
    def far(message):
        message.position[1] = value

    move(node, true_model, 20.0)
    changed = move(node, true_model, 5.0, start=30.0, change=far)
    assert node.diagnostics.counted('dropped joint states') == changed
    assert node.diagnostics.counted('unforeseen errors') == 0
    assert_close(torque(node), true_model.torque(*STATE), LEARNED)
