# SPDX-License-Identifier: Apache-2.0
"""The adaptive controller node: what it commands, what it refuses, how it ends, what it learns."""

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.serialization import serialize_message
from std_msgs.msg import String
from std_srvs.srv import SetBool, Trigger
from support.messages import (
    JOINTS,
    joint_state_message,
    motion_message,
    payload_message,
    published,
    trajectory_message,
)
from support.tolerances import OTHER_IMPLEMENTATION, assert_close
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_interfaces.msg import MlcSet
from robot_dynamics_interfaces.srv import GetMlc
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.nodes.adaptive_controller import AdaptiveControllerNode
from robot_dynamics_ros.nodes.support import robot_node

pytestmark = pytest.mark.ros

Q = (0.1, 0.2)


@pytest.fixture
def make(make_node, planar):
    def make_controller(**parameters):
        return make_node(AdaptiveControllerNode, now=100.0, robot_description=planar,
                         **parameters)
    return make_controller


@pytest.fixture
def node(make):
    return make()


@pytest.fixture
def commands(node):
    return published(node, '/commands')


def see(node, position=Q, velocity=(0.0, 0.0)):
    node.now += 0.002
    node.receive(joint_state_message(node.now, position, velocity))


def watch(node):
    node.tick(0.5 * node.settings.joint_state_timeout)


def tell(node):
    node.tick(1.0 / node.settings.mlc_rate)


def learned(node, wanted=''):
    answer = node.call(GetMlc.Request(set=wanted))
    assert answer.success, answer.message
    return answer.mlc


def efforts(messages):
    return np.array([message.data for message in messages])


def test_every_joint_state_is_answered_and_the_arm_held_where_it_is(node, commands, model):
    see(node)
    see(node)
    assert len(commands) == 2
    assert_close(efforts(commands)[0], model.torque(Q, [0, 0], [0, 0]), OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('stopped', [False, True])
def test_a_trajectory_is_followed_without_a_bump_and_an_empty_one_stops(make, model, stopped):
    node = make(learning_time=np.inf, friction_time=np.inf, joint_state_timeout=10.0,
                largest_error=np.inf)
    commands, goal = published(node, '/commands'), (0.5, -0.4)
    see(node)
    node.receive(motion_message(goal=goal))
    see(node)
    first, second = efforts(commands)
    jump = model.mass_matrix(Q) @ (400.0 * np.array(Q))  # bandwidth 20, from Q to zero
    assert np.abs(second - first).max() < 0.2 * np.abs(jump).max()
    if stopped:
        node.receive(JointTrajectory())
    end = Q if stopped else goal
    node.now += 5.0
    see(node, end)  # where the reference is, no feedback adds to the torque of the model
    nearby = model.mass_matrix(end) @ (400.0 * np.full(2, 0.05 if stopped else 1e-6))
    assert np.all(np.abs(efforts(commands)[-1] - model.torque(end, [0, 0], [0, 0])) < nearby)
    assert node.diagnostics.counted('trajectories') == 1 + stopped


def test_it_learns_and_says_so(node, commands, model):
    mlc = published(node, '/mlc')
    tell(node)
    assert mlc[0].state == MlcSet.FROM_URDF
    np.testing.assert_allclose(mlc[0].values, model.parameters)
    see(node)
    for _ in range(20):
        see(node, (Q[0] - 0.002, Q[1]))
    tell(node)
    tell(node)
    assert len(mlc) == 2 and mlc[1].state == MlcSet.LEARNING and mlc[1].samples > 0
    assert any(mlc[1].identified)
    assert np.any(np.array(mlc[1].values) != model.parameters)
    assert learned(node, 'khalil').set == 'khalil'
    assert node.call(Trigger.Request()).success
    np.testing.assert_allclose(learned(node).values, model.parameters)
    assert not node.call(GetMlc.Request(set='none')).success


def test_lost_joint_states_end_control_with_the_weight_and_freeze_learning(node, commands, model):
    see(node)
    see(node, (Q[0] - 0.02, Q[1]))
    before = learned(node)
    assert before.samples > 0
    watch(node)
    assert len(commands) == 2  # all is well still
    node.now += node.settings.joint_state_timeout + 0.01
    watch(node)
    model.parameters = before.values
    weight = model.gravity_torque([Q[0] - 0.02, Q[1]])
    assert_close(efforts(commands)[-1], weight, OTHER_IMPLEMENTATION)
    assert node.diagnostics.counted('ends of control') == 1
    assert learned(node).values == before.values
    see(node)
    assert not node.under_control
    node.receive(motion_message())
    assert node.under_control


def test_enable_takes_over_and_gives_back(make, model):
    node = make(enabled=False)
    commands = published(node, '/commands')
    see(node)
    assert not commands
    node.receive(motion_message())
    assert node.diagnostics.counted('dropped trajectories') == 1
    assert node.call(SetBool.Request(data=True)).success
    see(node)
    assert len(commands) == 1
    assert node.call(SetBool.Request(data=False)).success
    assert_close(efforts(commands)[-1], model.gravity_torque(Q), OTHER_IMPLEMENTATION)
    see(node)
    assert len(commands) == 2


def test_it_cannot_be_enabled_blind(make):
    node = make(enabled=False)
    answer = node.call(SetBool.Request(data=True))
    assert not answer.success and 'no joint state yet' in answer.message


def test_efforts_are_cut_counted_and_nothing_is_learned(make):
    node = make(effort_limits__joint_1=0.5, effort_limits__joint_2=0.5)
    commands = published(node, '/commands')
    for _ in range(3):
        see(node)
    assert np.abs(efforts(commands)).max() == 0.5
    assert node.diagnostics.counted('clipped torques of joint_1') == 3
    assert learned(node).samples == 0


def test_a_payload_on_the_topic_counts_at_once(node, commands):
    see(node)
    node.receive(payload_message(2.0, node.robot.chain.tip, (0.1, 0.0, 0.0)))
    see(node)
    assert np.all(np.abs(efforts(commands)[1]) > np.abs(efforts(commands)[0]))


def test_a_description_that_is_sent_again_loses_nothing_and_another_one_is_awaited_safely(
        make_node, planar, model, monkeypatch):
    node = make_node(AdaptiveControllerNode, now=100.0)
    commands = published(node, '/commands')
    node.receive(String(data=planar))
    see(node)
    for _ in range(50):
        see(node, (0.15, 0.2))
    samples = learned(node).samples
    assert samples > 0
    node.receive(String(data=planar))
    assert node.under_control and learned(node).samples == samples
    monkeypatch.setattr(robot_node, 'Robot', lambda *arguments: (
        ended.append((node.under_control, len(commands))), 1 / 0))
    ended, count = [], len(commands)
    node.receive(String(data=planar.replace('"2.5"', '"2.6"')))
    assert ended == [(False, count + 1)]


def test_the_clock_set_back_ends_control(node, commands, model):
    see(node)
    node.now -= 50.0
    node.clock_set_back()
    assert_close(efforts(commands)[-1], model.gravity_torque(Q), OTHER_IMPLEMENTATION)
    assert not node.under_control


def test_deactivation_leaves_the_weight_behind_and_activation_takes_over(node, commands, model):
    see(node)
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert_close(efforts(commands)[-1], model.gravity_torque(Q), OTHER_IMPLEMENTATION)
    see(node)
    assert len(commands) == 2
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    see(node)
    assert len(commands) == 3 and node.under_control


def test_after_a_clean_up_no_arm_is_controlled_before_its_description_comes(make_node, planar):
    node = make_node(AdaptiveControllerNode, now=100.0)
    node.receive(String(data=planar))
    see(node)
    assert node.under_control
    node.trigger_deactivate()
    assert node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    commands = published(node, '/commands')
    see(node)
    watch(node)
    assert not commands and not node.under_control
    node.receive(String(data=planar))
    see(node)
    assert commands and node.under_control


@pytest.mark.parametrize('message', [
    motion_message(names=('joint_1', 'elbow')), motion_message(goal=(np.nan, 0.0)),
    trajectory_message([{'time': 1.0, 'positions': [0.0, 0.0]},
                        {'time': 0.5, 'positions': [0.0, 0.0]}])])
def test_a_bad_trajectory_is_dropped(node, message):
    see(node)
    node.receive(message)
    assert node.diagnostics.counted('dropped trajectories') == 1


@pytest.mark.parametrize('form', [serialize_message, lambda message: message],
                         ids=['bytes', 'message'])
def test_more_points_than_allowed_are_refused(make, form):
    node = make(maximum_points=10)
    see(node)
    subscription = next(each for each in node.subscriptions if each.msg_type is JointTrajectory)
    assert subscription.raw, 'a long message does not become objects before it is refused'
    for points, refusals in ((10, 0), (11, 1)):
        subscription.callback(form(trajectory_message(
            [{'time': 1.0 + i, 'positions': Q} for i in range(points)])))
        assert node.diagnostics.counted('dropped trajectories') == refusals
        assert node.diagnostics.counted('trajectories') == 1
    assert node.under_control, 'a refused trajectory changes nothing'


@pytest.mark.parametrize('parameters', [
    {'law': 'magic'}, {'learning_time': -1.0}, {'dead_zone': -1.0}, {'safe_end': 'limp'}])
def test_parameters_outside_their_range_end_the_node(make_node, planar, parameters):
    from robot_dynamics_ros.errors import ParameterError
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        make_node(AdaptiveControllerNode, start=False, robot_description=planar, **parameters)


@pytest.mark.parametrize('parameters', [
    {'bandwidth': [1.0, 2.0]}, {'bandwidth': [-1.0]}, {'learn': ['everything']},
    {'damping': [1.0, 2.0, 3.0]}, {'effort_limits__joint_1': -5.0}])
def test_bad_gains_fail_at_configuration(make_node, planar, parameters):
    node = make_node(AdaptiveControllerNode, start=False, robot_description=planar, **parameters)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE


numbers = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=60, deadline=None, suppress_health_check=[
    HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(numbers, min_size=4, max_size=4), min_size=1, max_size=6))
def test_whatever_is_measured_commands_are_finite_and_limited(node, commands, rows):
    limits = EffortLimits.of_chain(node.robot.chain, {}).values
    with np.errstate(all='ignore'):
        for row in rows:
            see(node, row[:2], row[2:])
            watch(node)
    for effort in efforts(commands):
        assert np.all(np.abs(effort) <= limits)
    assert np.all(np.isfinite(learned(node).values))


def test_shuffled_joints_are_sorted(node, commands, model):
    node.receive(joint_state_message(node.now, Q[::-1], names=JOINTS[::-1]))
    assert_close(efforts(commands)[0], model.torque(Q, [0, 0], [0, 0]), OTHER_IMPLEMENTATION)


def test_a_payload_beyond_all_robots_does_not_take_the_weight_away(node, commands, model):
    see(node)
    node.receive(payload_message(1e308, model.chain.tip))
    see(node)
    assert node.under_control
    node.trigger_deactivate()
    assert_close(efforts(commands)[-1], model.gravity_torque(Q), OTHER_IMPLEMENTATION)


def test_an_unforeseen_error_ends_control_with_the_weight_until_the_next_trajectory(
        node, commands, model, monkeypatch):
    see(node)

    def fail(*arguments):
        raise ZeroDivisionError('nobody foresaw this')

    with monkeypatch.context() as patch:
        patch.setattr(node._stream.controller, 'command', fail)
        see(node)
    assert not node.under_control
    assert_close(efforts(commands)[-1], model.gravity_torque(Q), OTHER_IMPLEMENTATION)
    assert node.diagnostics.counted('unforeseen errors') == 1
    node.receive(motion_message())
    see(node)
    assert node.under_control


@pytest.mark.parametrize('distance, joints', [
    ('coulomb: 1.0', 'none'), ('presliding: 0.001', JOINTS[1])])
def test_presliding_is_left_out_and_the_node_says_so(make, tmp_path, distance, joints):
    path = tmp_path / 'joints.yaml'
    path.write_text(f'format: 1\njoints:\n  {JOINTS[1]}: {{{distance}}}\n')
    node = make(joints_file=str(path))
    shown = {each.key: each.value for each in node.diagnostics.status().values}
    assert shown['presliding left out'] == joints
