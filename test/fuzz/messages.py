# SPDX-License-Identifier: Apache-2.0
"""
Attacks on every subscription, service and parameter of every node, inside this process.

One case is a number: it makes a node, and a few hundred messages, requests and ticks, valid and
mutated, that the node gets one after the other. What must hold after each of them:

- no exception leaves the node, and none arises that no handler foresees;
- every service answers;
- every published message can be sent; commands are finite and within the effort limits.

``python test/fuzz/messages.py --seconds 300`` is the long attack.
"""

import argparse
import io
import os
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import SimpleNamespace

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / 'test'))

import numpy as np
import rclpy
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from support.messages import joint_state_message, motion_message, payload_message
from trajectory_msgs.msg import JointTrajectory

from fuzz.message_mutation import NUMBERS, TEXTS, mutated
from robot_dynamics_interfaces.msg import MlcSet
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.nodes.adaptive_controller import AdaptiveControllerNode
from robot_dynamics_ros.nodes.dynamics_server import DynamicsServerNode
from robot_dynamics_ros.nodes.excitation import ExcitationNode
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.identification import IdentificationNode
from robot_dynamics_ros.nodes.live_view import LiveViewNode
from robot_dynamics_ros.nodes.payload_identification import PayloadIdentificationNode
from robot_dynamics_ros.nodes.simulated_robot import SimulatedRobotNode
from robot_dynamics_ros.nodes.support.conversion import estimate_to_message, stamp
from robot_dynamics_ros.nodes.tracking_experiment import TrackingExperimentNode

PLANAR = (ROOT / 'urdf' / 'planar_2r.urdf').read_text(encoding='utf-8')
#: Steps of one case.
STEPS = 200
NODES = {
    'feedforward_trajectory': (FeedforwardNode, {'follow_mlc': True, 'swap_duration': 0.02}),
    'feedforward_stream': (FeedforwardNode, {'mode': 'stream'}),
    'computed_torque': (FeedforwardNode, {'mode': 'stream', 'feedback_frequency': 10.0,
                                          'follow_mlc': True}),
    'dynamics_server': (DynamicsServerNode, {'publish_shares': True, 'follow_mlc': True}),
    'adaptive_controller': (AdaptiveControllerNode, {'largest_error': float('inf')}),
    'excitation': (ExcitationNode, {'duration': 2.0, 'harmonics': 2, 'approach_duration': 0.1}),
    'identification': (IdentificationNode, {}),
    'commands_identification': (IdentificationNode, {'effort_source': 'commands'}),
    'payload_identification': (PayloadIdentificationNode, {}),
    'simulated_robot': (SimulatedRobotNode, {'simulation_rate': 200.0}),
    'live_view': (LiveViewNode, {}),
    'tracking_experiment': (TrackingExperimentNode, {
        'output': str(Path(tempfile.gettempdir()) / 'nowhere' / 'x.npz'),
        'motion_duration': 1.0, 'approach_duration': 0.5}),
}


class Attack:
    """One node and those who send it something."""

    def __init__(self, name, random, context):
        kind, settings = NODES[name]
        kind = type(kind.__name__, (kind,), {'now': 100.0})
        settings = {'robot_description': PLANAR, **settings}
        if random.random() < 0.2:
            del settings['robot_description']
        self.random, self.errors, self.outputs = random, [], 0
        self.node = kind(context=context, enable_rosout=False, parameter_overrides=[
            rclpy.parameter.Parameter(key, value=value) for key, value in settings.items()])
        self.node.stream = io.StringIO()
        report = self.node._report
        self.node._report = lambda error: (self.errors.append(error), report(error))
        self.node.get_logger().set_level(rclpy.logging.LoggingSeverity.FATAL)
        self.node.trigger_configure()
        self.node.trigger_activate()
        self.node.count_publishers = lambda topic: 9
        for each in self.node.publishers:
            each.publish = lambda message, topic=each.topic_name: self._check(topic, message)
            each.get_subscription_count = lambda: 1
            each.wait_for_all_acked = lambda timeout: True

    def close(self):
        self.node.destroy_node()

    def step(self):
        """Do one thing to the node."""
        node, random = self.node, self.random
        node.now += random.choice((0.002, 0.01, 0.05))
        kind = random.random()
        if kind < 0.45:
            subscription = random.choice(list(node.subscriptions))
            self._receive(subscription, mutates=random.random() < 0.6)
        elif kind < 0.65:
            states = [each for each in node.subscriptions if each.msg_type is JointState]
            for each in states:
                self._receive(each, mutates=False)
        elif kind < 0.75:
            self._request()
        elif kind < 0.98:
            node.tick()
        elif kind < 0.99:
            node.now = random.choice((100.0, 0.0, node.now + 1e6))
            node.clock_set_back()
        else:
            node.trigger_deactivate()
            node.trigger_activate()
        assert not self.errors, ''.join(traceback.format_exception(self.errors[0]))

    def _receive(self, subscription, mutates):
        message = self._valid(subscription.msg_type)
        self.node.receive(mutated(self.random, message) if mutates else message,
                          subscription.topic_name)

    def _valid(self, kind):
        """Return a message that the node should accept."""
        node, random = self.node, self.random
        robot = node.robot
        if kind is String:
            return String(data=PLANAR)
        if kind is JointState:
            q, qd, effort = ([random.uniform(-0.3, 0.3) for _ in range(2)] for _ in range(3))
            return joint_state_message(node.now, q, qd, effort)
        if kind is JointTrajectory:
            return motion_message(first=random.choice((0.0, 0.1)),
                                  start=random.choice((0.0, node.now)))
        if kind is Float64MultiArray:
            return Float64MultiArray(data=[random.uniform(-5.0, 5.0) for _ in range(2)])
        if kind is MlcSet and robot is not None:
            message = estimate_to_message(robot.estimate, stamp(node.now))
            message.state = int(random.choice(list(EstimateState)))
            message.samples = 1000
            return message
        if kind.__name__ == 'InertiaStamped':
            return payload_message(random.uniform(0.0, 3.0), robot.chain.tip if robot else 'tip')
        return kind()

    def _request(self):
        node, random = self.node, self.random
        service = random.choice([
            each for each in node.services
            if not each.service_name.endswith(('change_state', 'get_type_description'))])
        request = service.srv_type.Request()
        if hasattr(request, 'position'):
            request.position, request.velocity = [0.1, 0.2], [0.3, 0.4]
        if hasattr(request, 'payload'):
            request.payload = self._valid(type(request.payload))
        if hasattr(request, 'parameters'):
            request.parameters = [self._parameter() for _ in range(random.choice((1, 1, 3)))]
        elif random.random() < 0.7:
            request = mutated(random, request)
        response = node.call(request, service.service_name)
        assert isinstance(response, service.srv_type.Response)
        serialize_message(response)
        if hasattr(response, 'torque') and response.success:
            assert np.all(np.isfinite([*response.torque, *response.mass_matrix]))

    def _parameter(self):
        random = self.random
        known = ['use_sim_time_', *self.node._parameters]
        name = random.choice([each for each in known if each != 'use_sim_time'])
        value = ParameterValue(type=random.randrange(ParameterType.PARAMETER_STRING_ARRAY + 2),
                               double_value=random.choice(NUMBERS),
                               string_value=random.choice((*TEXTS[:5], 'only', 'none', 'full')),
                               integer_value=random.choice((0, 1, -1, 2**63 - 1)))
        return Parameter(name=name, value=value)

    def _check(self, topic, message):
        """Check what the node publishes."""
        self.outputs += 1
        serialize_message(message)
        limits = {} if self.node.robot is None else {
            joint.name: joint.effort_limit for joint in self.node.robot.chain.joints}
        if topic.endswith('/commands'):
            assert len(message.data) == len(limits), message.data
            assert np.all(np.abs(message.data) <= list(limits.values())), message.data
        elif isinstance(message, JointTrajectory):
            for point in message.points:
                for field in ('positions', 'velocities', 'accelerations', 'effort'):
                    assert np.all(np.isfinite(getattr(point, field))), (field, point)
                if len(point.effort):
                    allowed = [limits.get(name, np.inf) for name in message.joint_names]
                    assert np.all(np.abs(point.effort) <= allowed), point.effort
        elif isinstance(message, JointState):
            assert np.all(np.isfinite([*message.position, *message.effort])), message
        elif isinstance(message, MlcSet):
            assert np.all(np.isfinite(message.values)), message


@dataclass
class Target:
    """A node to attack; the same fields as the targets of files have."""

    name: str
    context: object = None

    def examples(self):
        return [b'0', b'1']

    def mutate(self, random, examples):
        return str(random.randrange(2**32)).encode()

    def read(self, case):
        """Attack a node with everything that belongs to this number; return the outputs."""
        if self.context is None:
            self.context = rclpy.Context()
            rclpy.init(context=self.context)
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # of numbers beyond the range
            attack = Attack(self.name, Random(f'{self.name}/{case.decode()}'), self.context)
            try:
                for _ in range(STEPS):
                    attack.step()
                return SimpleNamespace(outputs=attack.outputs, node=attack.node)
            finally:
                attack.close()


def targets(context=None):
    """
    Return one target per node.

    :param context: context of rclpy; None = one of its own.
    """
    return [Target(name, context) for name in NODES]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=300.0)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--target')
    parser.add_argument('--case', help='number of a case that failed')
    arguments = parser.parse_args()
    os.environ.setdefault('ROS_LOG_DIR', tempfile.mkdtemp())
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'OFF')
    chosen = [each for each in targets() if arguments.target in (None, each.name)]
    failed = False
    for target in chosen:
        if arguments.case:
            target.read(arguments.case.encode())
            continue
        random, begin = Random(arguments.seed), time.monotonic()
        cases, outputs, failures = 0, 0, {}
        while time.monotonic() - begin < arguments.seconds / len(chosen):
            case = target.mutate(random, target.examples())
            cases += 1
            try:
                outputs += target.read(case).outputs
            except Exception as error:
                text = str(error).strip()
                key = '\n'.join(text.splitlines()[-4:])[:1500]
                failures.setdefault(key, []).append(case.decode())
        print(f'{target.name:26}{cases:6} cases {cases * STEPS:8} steps {outputs:8} outputs '
              f'{sum(map(len, failures.values())):4} failures', flush=True)
        for text, found in failures.items():
            failed = True
            print(f'  {len(found)} x, such as --target {target.name} --case {found[0]}\n'
                  f'{text}', flush=True)
    return int(failed)


if __name__ == '__main__':
    sys.exit(main())
