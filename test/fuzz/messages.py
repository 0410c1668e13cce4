# SPDX-License-Identifier: Apache-2.0
"""
Attacks on every subscription, service and parameter of every node, inside this process.

One case is a number: it makes a node, and a few hundred messages, requests and ticks, valid and
mutated, that the node gets one after the other. What must hold after each of them:

- no exception leaves the node, and none arises that no handler foresees;
- every service answers;
- every published message can be sent; commands are finite and within the effort limits.
"""

import io
import tempfile
import traceback
import warnings
from dataclasses import dataclass
from random import Random

import numpy as np
import rclpy
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from support.messages import joint_state_message, motion_message, payload_message
from trajectory_msgs.msg import JointTrajectory

from fuzz.message_mutation import NUMBERS, TEXTS, mutated
from fuzz.nodes import NODES, PLANAR, context_of_its_own, settings_of
from fuzz.target import HANG
from robot_dynamics_interfaces.msg import MlcSet
from robot_dynamics_ros import RobotDynamicsError
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.nodes.support.conversion import estimate_to_message, stamp

#: Steps of one case.
STEPS = 200
#: Services that are not called at random: the lifecycle is gone through by itself, and the
#: description of types is rclpy's own.
NOT_CALLED = ('change_state', 'get_type_description')


class Attack:
    """
    One node and those who send it something.

    :param name: name of the mode in NODES.
    :param random: random numbers that make all that is sent.
    :param context: context of rclpy.
    :param options: keyword arguments of rclpy's Node.
    """

    def __init__(self, name, random, context, **options):
        kind = type(NODES[name][0].__name__, (NODES[name][0],), {'now': 100.0})
        settings = settings_of(name)
        if random.random() < 0.2:
            del settings['robot_description']
        self.random, self.errors, self.outputs = random, [], 0
        #: Topics and services that got something.
        self.reached = set()
        self._waiting = {'topics': [], 'services': []}
        self.node = kind(context=context, enable_rosout=False, parameter_overrides=[
            rclpy.parameter.Parameter(key, value=value) for key, value in settings.items()],
            **options)
        self.node.stream = io.StringIO()
        report = self.node.report
        self.node.report = lambda error: (self.errors.append(error), report(error))
        self.node.get_logger().set_level(rclpy.logging.LoggingSeverity.FATAL)
        self.node.count_publishers = lambda topic: 9
        self._start()

    def _start(self):
        self.node.trigger_configure()
        self.node.trigger_activate()
        for each in self.node.publishers:
            each.publish = lambda message, topic=each.topic_name: self._check(topic, message)
            each.get_subscription_count = lambda: 1

    def close(self):
        self.node.remove_interfaces()  # rclpy leaves actions alone
        self.node.destroy_node()

    def step(self):
        """Do one thing to the node."""
        node, random = self.node, self.random
        node.now += random.choice((0.002, 0.01, 0.05))
        kind = random.random()
        if kind < 0.45:
            self._receive(self._next('topics', self.subscriptions), random.random() < 0.6)
        elif kind < 0.6:
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
        elif kind < 0.995:
            node.trigger_deactivate()
            node.trigger_activate()
        else:
            self._start_over()
        assert not self.errors, ''.join(traceback.format_exception(self.errors[0]))

    def _start_over(self):
        """Clean the node up, and start it in another mode if it has several."""
        node = self.node
        node.trigger_deactivate()
        node.trigger_cleanup()
        self._set(('folder', tempfile.mkdtemp(prefix='fuzz-calibration-')))
        if not getattr(node.settings, 'controller_action', ''):
            self._set(('mode', self.random.choice(('trajectory', 'stream', 'float'))),
                                 ('feedback_frequency', 0.0))
        self._start()

    def _set(self, *values):
        """Set those parameters that the node has."""
        self.node.set_parameters([rclpy.parameter.Parameter(name, value=value)
                                  for name, value in values if hasattr(self.node.settings, name)])

    @property
    def subscriptions(self):
        """Subscriptions by name; that of the clock is rclpy's own."""
        return {each.topic_name: each for each in self.node.subscriptions}

    @property
    def services(self):
        """Services to call, by name."""
        return {each.service_name: each for each in self.node.services
                if not each.service_name.endswith(NOT_CALLED)}

    def _next(self, kind, offered):
        """Return all that is offered in turn, each time in another order."""
        waiting = self._waiting[kind] = [each for each in self._waiting[kind] if each in offered]
        if not waiting:
            waiting.extend(self.random.sample(sorted(offered), len(offered)))
        return offered[waiting.pop()]

    def _receive(self, subscription, mutates):
        message = self._valid(subscription.msg_type)
        if mutates:
            message = mutated(self.random, message)
        if subscription.raw:  # as DDS delivers it
            message = serialize_message(message)
            if mutates and self.random.random() < 0.3:
                message = _damaged(self.random, message)
        subscription.callback(message)
        self.reached.add(subscription.topic_name)

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
        service = self._next('services', self.services)
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
        self.reached.add(service.service_name)
        assert isinstance(response, service.srv_type.Response)
        serialize_message(response)
        if hasattr(response, 'torque') and response.success:
            assert np.all(np.isfinite([*response.torque, *response.mass_matrix]))

    def _parameter(self):
        random = self.random
        known = ['use_sim_time_', *self.node.get_parameters_by_prefix('')]
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
            check_trajectory(message, limits)
        elif isinstance(message, JointState):
            assert np.all(np.isfinite([*message.position, *message.effort])), message
        elif isinstance(message, MlcSet):
            assert np.all(np.isfinite(message.values)), message


def check_trajectory(message, limits):
    """
    Assert that a trajectory is finite and its efforts are within the limits.

    :param limits: effort limits by joint.
    """
    for point in message.points:
        for field in ('positions', 'velocities', 'accelerations', 'effort'):
            assert np.all(np.isfinite(getattr(point, field))), (field, point)
        if len(point.effort):
            allowed = [limits.get(name, np.inf) for name in message.joint_names]
            assert np.all(np.abs(point.effort) <= allowed), point.effort


def _damaged(random, data):
    """Return serialized bytes that are cut, or wrong in a few places."""
    if random.random() < 0.3:
        return data[:random.randrange(len(data))]
    damaged = bytearray(data)
    for _ in range(random.choice((1, 2, 8))):
        damaged[random.randrange(len(damaged))] = random.choice((0, 1, 127, 128, 255))
    return bytes(damaged)


@dataclass
class MessageTarget:
    """
    A node to attack; the same fields as the targets of files have.

    :param name: name of the mode in NODES.
    :param context: context of rclpy; None = one of its own.
    :param hang: processor time after which a try is a failure [s].
    """

    name: str
    context: object = None
    hang: float = 2.0 * HANG  # what is compiled at first counts, too

    def examples(self):
        return [b'0', b'1']

    def mutate(self, random, examples):
        return str(random.randrange(2**32)).encode()

    def read(self, case, steps=STEPS):
        """Attack a node with everything that belongs to this number; return the attack."""
        self.context = self.context or context_of_its_own()
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')  # of numbers beyond the range
            attack = Attack(self.name, Random(f'{self.name}/{case.decode()}'), self.context)
            try:
                for _ in range(steps):
                    attack.step()
                return attack
            except RobotDynamicsError as error:  # would count as a refusal
                raise AssertionError(f'left the node: {error}') from error
            finally:
                attack.close()


TARGETS = [MessageTarget(name) for name in NODES]
