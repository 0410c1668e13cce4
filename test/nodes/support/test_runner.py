# SPDX-License-Identifier: Apache-2.0
"""How a node process lives and ends when something unforeseen happens."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from support.availability import skip_without_ros

skip_without_ros()

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from std_msgs.msg import Float32
from std_srvs.srv import Trigger
from support.messages import motion_message

from robot_dynamics_ros.nodes.support import runner

pytestmark = pytest.mark.ros

NODES = 'robot_dynamics_ros.nodes.'


def test_a_node_whose_callbacks_fail_at_random_stays_up_and_works(ros):
    node = ros.start('support.failing_node')
    topic = ros.node.create_publisher(Float32, 'input', 10)
    ros.spin_until(topic.get_subscription_count, 'the node')
    answers = []
    for _ in range(30):
        topic.publish(Float32())
        answers.append(ros.call(Trigger, 'failing/request', Trigger.Request()))
    assert {answer.success for answer in answers} == {True, False}
    assert all(answer.success or 'nobody foresaw this' in answer.message for answer in answers)
    first = ros.receive(Float32, 'failing/successes')[0].data
    ros.spin_until(lambda: ros.receive(Float32, 'failing/successes')[0].data > first + 10,
                   'more successes')
    status = ros.receive(DiagnosticArray, '/diagnostics')[0].status[0]
    assert status.level == DiagnosticStatus.ERROR
    assert 'unforeseen errors' in status.message
    assert node.interrupt() == 0, node.output
    assert 'came to rest' in node.output
    assert 'nobody foresaw this' in node.output
    assert '(failing_node.py:' in node.output
    assert 'nobody foresaw this either' in node.output
    assert 'Traceback' not in node.output


def test_timers_fire_while_more_messages_come_than_a_node_can_take(ros):
    """With the events executor alone they waited behind an event for every message."""
    ros.start('support.slow_node')
    flood, ticks = ros.node.create_publisher(Float32, 'input', 10), []
    ros.node.create_subscription(Float32, 'slow/ticks', ticks.append, 10)
    ros.spin_until(flood.get_subscription_count, 'the node')
    ros.spin_until(lambda: ticks, 'the first tick')
    first = ticks[-1].data

    def thirty_more():
        for _ in range(20):
            flood.publish(Float32())
        return ticks[-1].data >= first + 30

    ros.spin_until(thirty_more, 'ticks during the flood')


def test_robots_in_one_process_work_and_end_together(ros):
    process = ros.start('support.failing_node', '/left', '/right')
    for namespace in ('left', 'right'):
        ros.receive(Float32, f'/{namespace}/failing/successes')
    assert process.interrupt() == 0, process.output
    assert process.output.count('came to rest') == 2


def test_a_robot_that_cannot_start_brings_those_that_did_to_rest(ros, tmp_path):
    path = tmp_path / 'right.yaml'
    path.write_text('/right/failing: {ros__parameters: {robot_description: <robot/>}}')
    process = ros.start('support.failing_node', '/left', '/right', '--ros-args', '--params-file',
                        str(path))
    assert process.wait() == 1, process.output
    assert '[right.failing]' in process.output
    assert process.output.count('came to rest') == 1


def test_requests_of_ros_itself_that_make_no_sense_do_not_end_a_node(ros, parameter_file, planar):
    node = ros.start(f'{NODES}feedforward', *parameter_file(robot_description=planar))

    def change(transition):
        request = ChangeState.Request(transition=transition)
        return ros.call(ChangeState, 'feedforward/change_state', request).success

    for transition in (Transition(id=99), Transition(label='dance'),
                       Transition(id=Transition.TRANSITION_CONFIGURE)):
        assert not change(transition)
    ros.call(SetParameters, 'feedforward/set_parameters', SetParameters.Request(
        parameters=[ParameterMessage(name='resample_rate', value=ParameterValue(type=77))]))
    assert change(Transition(id=Transition.TRANSITION_DEACTIVATE))
    assert node.exit_code is None, node.output


@pytest.fixture
def relaying():
    """Return the module of the node with actions, and their type."""
    pytest.importorskip('robot_dynamics_test_interfaces.action', reason='make setup')
    from support import relaying_node
    return relaying_node


def test_nodes_with_actions_get_another_executor(relaying, make_node, planar, monkeypatch):
    monkeypatch.setattr(runner, 'SingleThreadedExecutor', lambda: 'single-threaded')
    monkeypatch.setattr('rclpy.experimental.EventsExecutor', lambda: 'events')
    plain = make_node(relaying.RelayingNode, robot_description=planar)
    relay = make_node(relaying.RelayingNode, robot_description=planar,
                      controller_action='jtc/follow')
    assert runner.make_executor([plain]) == 'events'
    assert runner.make_executor([plain, relay]) == 'single-threaded'
    relay.trigger_deactivate()
    relay.trigger_cleanup()
    assert runner.make_executor([relay]) == 'single-threaded', 'what it had may wait yet'


def test_a_node_in_use_survives_its_first_action_and_its_clean_up(ros, parameter_file, planar,
                                                               relaying):
    """
    Goals are relayed then, their node may be cleaned up meanwhile, and a signal still ends it.

    With the events executor such a process ended with SIGSEGV.
    """
    from rclpy.action import ActionClient
    from support.controller import Controller

    kind = relaying.FollowJointTrajectory
    process = ros.start('support.relaying_node', *parameter_file(
        robot_description=planar, blend_time=0.0))
    controller = Controller(ros.node, kind, 'jtc/follow')
    client = ActionClient(ros.node, kind, 'feedforward/follow_joint_trajectory')

    def feedback():
        for handle in controller.handles:
            if handle.is_active:
                handle.publish_feedback(kind.Feedback())

    def change(*transitions):
        for number in transitions:
            assert ros.call(ChangeState, 'feedforward/change_state', ChangeState.Request(
                transition=Transition(id=number))).success, process.output

    def accepted():
        sent = client.send_goal_async(kind.Goal(trajectory=motion_message(duration=100.0)))
        ros.spin_until(sent.done, 'the answer to a goal')
        return sent.result().accepted

    timer = ros.node.create_timer(0.001, feedback)
    change(Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP)
    ros.call(SetParameters, 'feedforward/set_parameters', SetParameters.Request(
        parameters=[Parameter('controller_action', value='jtc/follow').to_parameter_msg()]))
    for count in range(1, 6):
        change(Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE)
        ros.spin_until(client.server_is_ready, 'the action of the relay')
        ros.spin_until(accepted, 'a relay that has found the controller')
        ros.spin_until(lambda wanted=count: len(controller.endings) == wanted, 'the goal')
        change(Transition.TRANSITION_DEACTIVATE, Transition.TRANSITION_CLEANUP)
        controller.end(count - 1, 'succeed')
    ros.node.destroy_timer(timer)
    assert process.interrupt() == 0, process.output
    assert 'unforeseen' not in process.output
    client.destroy()
    controller.close()


@pytest.mark.parametrize(('node', 'parameters', 'arguments', 'texts'), [
    ('feedforward', {'controller_action': 'bad name!'}, (),
     ('must be a name of ROS', "got 'bad name!'")),
    ('feedforward', {}, ('-r', '__node:=bad name'), ('Error: ',)),
    ('feedforward', {'gravity': [0.0, 0.0, float('nan')]}, (),
     ('gravity must be finite, got nan',)),
])
def test_an_error_at_start_is_named(ros, parameter_file, planar, node,
                                               parameters, arguments, texts):
    module = 'support.relaying_node' if 'controller_action' in parameters else NODES + node
    process = ros.start(module, *parameter_file(robot_description=planar, **parameters),
                        *arguments)
    assert process.wait() == 1, process.output
    assert 'Traceback' not in process.output
    for text in texts:
        assert text in process.output


@pytest.mark.parametrize('name', ['feedforward', 'identification', 'live_view'])
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_any_time_of_the_start_ends_a_node_quietly(ros, parameter_file, planar, name,
                                                               number):
    arguments = parameter_file(robot_description=planar)
    moments = random.Random(f'{name}{number}')
    for _ in range(5):
        process = ros.start(f'{NODES}{name}', *arguments)
        process.wait_for_library('numpy')  # before our first import it is Python that starts
        time.sleep(moments.uniform(0.0, 1.8))
        process.signal(number)
        assert process.wait() in (0, -number), process.output
        assert 'Traceback' not in process.output
        ros.forget(process)


@pytest.mark.parametrize(('given', 'used'), [({}, '1'), ({'OPENBLAS_NUM_THREADS': '3'}, '3')])
def test_a_node_calculates_in_one_thread_unless_told_otherwise(given, used):
    """With two threads an online estimator took 900 ms instead of 45 on a busy machine."""
    program = ("import os, sys\nsys.argv[0] = 'identification'\nimport robot_dynamics_ros.nodes\n"
               "print(os.environ['OPENBLAS_NUM_THREADS'], 'numpy' in sys.modules)")
    environment = {key: value for key, value in os.environ.items()
                   if key != 'OPENBLAS_NUM_THREADS'}
    result = subprocess.run([sys.executable, '-c', program], env=environment | given, text=True,
                            capture_output=True, check=True)
    assert result.stdout.split() == [used, 'False']
