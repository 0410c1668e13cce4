# SPDX-License-Identifier: Apache-2.0
"""A short attack on every node; ``python test/fuzz/messages.py`` is the long one."""

import numpy as np
import pytest
import yaml
from support.availability import skip_without_ros

skip_without_ros()

from random import Random

from geometry_msgs.msg import InertiaStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.messages import joint_state_message, motion_message, payload_message
from trajectory_msgs.msg import JointTrajectory

from fuzz.message_mutation import mutated
from fuzz.messages import NODES, PLANAR, targets
from robot_dynamics_interfaces.msg import MlcSet
from robot_dynamics_interfaces.srv import GetDynamics, GetMlc
from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.nodes.support.conversion import estimate_to_message, stamp
from robot_dynamics_ros.robot import load_robot

pytestmark = pytest.mark.ros

#: Cases of each node.
CASES = 5


@pytest.mark.parametrize('name', NODES)
def test_no_message_request_or_parameter_ends_a_node(ros, name):
    target = next(each for each in targets(ros.node.context) if each.name == name)
    random = Random(1995)
    cases = [*target.examples(), *(target.mutate(random, []) for _ in range(CASES - 2))]
    assert sum(target.read(case).outputs for case in cases) > 0


def test_the_attack_sees_what_no_handler_foresees(ros, monkeypatch):
    from robot_dynamics_ros.nodes.support.controller_link import ControllerLink

    def fail(self, message):
        raise KeyError('nobody foresaw this')

    monkeypatch.setattr(ControllerLink, 'fill', fail)
    with pytest.raises(AssertionError, match='nobody foresaw this'):
        targets(ros.node.context)[0].read(b'1')


def test_the_attack_sees_a_command_beyond_the_limits(ros, monkeypatch):
    monkeypatch.setattr(EffortLimits, 'limit', lambda self, effort: type('Unlimited', (), {
        'effort': 1e3 * np.ones(2), 'clamped': np.zeros(2, dtype=np.int64)})())
    stream = next(each for each in targets(ros.node.context) if each.name == 'feedforward_stream')
    with pytest.raises(AssertionError):
        for case in range(20):
            stream.read(str(case).encode())


def test_processes_stay_up_and_work_under_fire_over_dds(ros, tmp_path):
    path = tmp_path / 'parameters.yaml'
    path.write_text(yaml.safe_dump({'/**': {'ros__parameters': {
        'robot_description': PLANAR, 'follow_mlc': True, 'mode': 'stream',
        'joint_state_timeout': 10.0}}}))
    arguments = ['--ros-args', '--params-file', str(path)]
    processes = [ros.start(f'robot_dynamics_ros.nodes.{name}', *arguments)
                 for name in ('feedforward', 'dynamics_server', 'identification')]
    commands = []
    ros.node.create_subscription(Float64MultiArray, 'feedforward/commands', commands.append, 100)
    topics = {kind: ros.node.create_publisher(kind, topic, 100) for kind, topic in (
        (JointState, 'joint_states'), (JointTrajectory, 'joint_trajectory'),
        (InertiaStamped, 'payload'), (MlcSet, 'mlc'))}
    for service, name in ((GetMlc, 'identification/get_mlc'), (GetMlc, 'dynamics_server/get_mlc')):
        assert ros.call(service, name, service.Request()).success
    ros.spin_until(lambda: topics[JointTrajectory].get_subscription_count(), 'feedforward')
    random, robot = Random(1995), load_robot(PLANAR)

    def now():
        return ros.node.get_clock().now().nanoseconds * 1e-9

    for k in range(400):
        valid = {JointState: joint_state_message(now(), effort=(1.0, 2.0)),
                 JointTrajectory: motion_message(),
                 InertiaStamped: payload_message(1.0, robot.chain.tip),
                 MlcSet: estimate_to_message(robot.estimate, stamp(now()))}
        topics[JointState].publish(valid[JointState])
        for kind, topic in topics.items():
            topic.publish(mutated(random, valid[kind]))
        if k % 20 == 0:
            request = mutated(random, GetDynamics.Request(position=[0.1, 0.2]))
            answer = ros.call(GetDynamics, 'dynamics_server/get_dynamics', request)
            assert not answer.success or np.all(np.isfinite(answer.torque))
    assert [process.exit_code for process in processes] == [None] * 3
    for name in ('identification/get_mlc', 'dynamics_server/get_mlc'):
        answer = ros.call(GetMlc, name, GetMlc.Request())
        assert answer.success and np.all(np.isfinite(answer.mlc.values)), answer.message
    count = len(commands)

    def commanding():
        topics[JointState].publish(joint_state_message(now()))
        topics[JointTrajectory].publish(motion_message())
        return len(commands) > count + 5

    ros.spin_until(commanding, 'commands after all that')
    limits = EffortLimits.of_chain(chain_from_urdf(PLANAR)).values
    assert np.all(np.abs([command.data for command in commands]) <= limits)
    for process in processes:
        assert 'unforeseen' not in process.output
        assert 'Traceback' not in process.output
