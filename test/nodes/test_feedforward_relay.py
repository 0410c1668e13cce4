# SPDX-License-Identifier: Apache-2.0
"""The feedforward node as a relay of goals: filled with efforts, and what holds after them."""

import sys

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from rclpy.lifecycle import TransitionCallbackReturn
from support.messages import joint_state_message, motion_message, published
from support.tolerances import OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.support.conversion import trajectory_from_message

pytestmark = pytest.mark.ros


class RelayingNode(FeedforwardNode):
    """A feedforward node where control_msgs is not installed."""

    def action_type(self):
        return pytest.importorskip('robot_dynamics_test_interfaces.action',
                                   reason='make setup').FollowJointTrajectory


@pytest.fixture
def relayed(ros, make_node, planar):
    """Return a node whose goal is at a controller, the controller, and the client's handle."""
    from rclpy.action import ActionClient
    from support.controller import Controller

    node = make_node(RelayingNode, robot_description=planar, controller_action='jtc/follow',
                     blend_time=0.0, joint_state_timeout=10.0)
    kind = node.action_type()
    controller = Controller(ros.node, kind, 'jtc/follow')
    client = ActionClient(ros.node, kind, 'feedforward/follow_joint_trajectory')

    def accepted():
        sent = client.send_goal_async(kind.Goal(trajectory=motion_message()))
        ros.spin_until(sent.done, 'the answer to the goal')
        return sent.result() if sent.result().accepted else None

    with ros.spinning(node):
        ros.spin_until(client.server_is_ready, 'the action of the relay')
        handle = ros.spin_until(accepted, 'a relay that has found the controller')
        ros.spin_until(lambda: controller.goals, 'the goal at the controller')
        yield node, controller, handle
        node.trigger_cleanup()
        ros.spin_until(lambda: not client.server_is_ready(), 'the end of the action')
    client.destroy()
    controller.close()


def test_a_goal_is_relayed_with_the_efforts_of_the_model(ros, relayed, model):
    node, controller, handle = relayed
    filled = trajectory_from_message(controller.goals[0].trajectory, with_efforts=True)
    assert_close(filled.efforts, model.torque(filled.positions, filled.velocities,
                                              filled.accelerations), OTHER_IMPLEMENTATION)
    output = published(node, '/joint_trajectory')
    result = handle.get_result_async()
    node.trigger_deactivate()
    ros.spin_until(result.done, 'the end of the goal when the node comes to rest')
    assert result.result().result.error_string == 'stopped: the node comes to rest'
    assert_close(np.array(output[0].points[-1].effort),
                 model.gravity_torque(np.array(output[0].points[-1].positions)),
                 OTHER_IMPLEMENTATION)
    controller.end(0, 'succeed')


@pytest.mark.parametrize('how', ['abort', 'succeed'])
def test_the_weight_is_held_after_a_goal_that_was_dropped(ros, relayed, model, how):
    node, controller, handle = relayed
    node.receive(joint_state_message(node.now, (0.3, 0.4)))
    output = published(node, '/joint_trajectory')
    result = handle.get_result_async()
    controller.end(0, how)
    ros.spin_until(result.done, 'the end of the goal')
    assert len(output) == (how == 'abort')
    for message in output:
        assert list(message.points[0].positions) == [0.3, 0.4]
        assert_close(np.array(message.points[0].effort), model.gravity_torque([0.3, 0.4]),
                     OTHER_IMPLEMENTATION)
    node.trigger_deactivate()


def test_a_relay_is_refused_in_stream_mode_and_without_control_msgs(make_node, planar,
                                                                    monkeypatch):
    monkeypatch.setitem(sys.modules, 'control_msgs', None)
    for mode, message in (('stream', "needs mode 'trajectory'"),
                          ('trajectory', 'needs the package control_msgs')):
        node = make_node(FeedforwardNode, start=False, robot_description=planar, mode=mode,
                         controller_action='jtc/follow_joint_trajectory')
        assert node.trigger_configure() != TransitionCallbackReturn.SUCCESS
        assert message in node.diagnostics.status().message
