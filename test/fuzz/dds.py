# SPDX-License-Identifier: Apache-2.0
"""
Attacks over DDS on node processes: what the attacks in process say holds for real messages, too.

One case is a number. It makes some thousand messages and requests, for every topic and service
that the graph shows of the processes. What must hold: no process ends, none reports an unforeseen
error, every service answers, commands are finite and within the limits, and all work afterwards.
"""

import importlib
import os
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import yaml
from geometry_msgs.msg import InertiaStamped
from lifecycle_msgs.srv import GetState
from rclpy.node import NodeNameNonExistentError
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.messages import joint_state_message, motion_message, payload_message
from support.ros import RosDomain
from trajectory_msgs.msg import JointTrajectory

from fuzz.message_mutation import mutated
from fuzz.nodes import CONTROLLER, PLANAR
from robot_dynamics_interfaces.msg import MlcSet
from robot_dynamics_interfaces.srv import GetMlc
from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.demo.node_processes import loopback
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.nodes.support.conversion import estimate_to_message, stamp
from robot_dynamics_ros.robot import load_robot

#: Modules by node name. tracking_experiment ends by itself, so it is attacked in process only.
MODULES = {
    'feedforward': 'support.relaying_node',
    'streaming': 'robot_dynamics_ros.nodes.feedforward',
    **{name: f'robot_dynamics_ros.nodes.{name}' for name in (
        'calibration', 'dynamics_server', 'identification', 'adaptive_controller', 'excitation',
        'live_view',
        'payload_identification', 'simulated_robot')}}
PARAMETERS = {
    'feedforward': {'controller_action': CONTROLLER},
    'streaming': {'mode': 'stream', 'follow_mlc': True},
    'dynamics_server': {'follow_mlc': True, 'publish_shares': True},
    'calibration': {'unchecked': True, 'duration': 2.0, 'harmonics': 2,
                    'folder': tempfile.mkdtemp(prefix='fuzz-calibration-')},
    'excitation': {'start_at_once': False, 'duration': 2.0, 'harmonics': 2, 'unchecked': True}}
#: Messages of one case, over all topics; a request follows every so many of them.
MESSAGES, PER_REQUEST = 3000, 40
#: Services that are not called: they may end a process on purpose, or are rclpy's own.
NOT_CALLED = ('change_state', 'get_type_description')
#: Latched subscribers match, and all others too.
_QOS = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def _told(names_and_types, name):
    """Return what a node has; nothing as long as its name, which comes late, is not known."""
    try:
        return names_and_types(name, '/')
    except NodeNameNonExistentError:
        return []


class Fire:
    """
    Node processes and those who send them something.

    :param ros: domain with the node of this process.
    :param folder: folder for the parameters.
    :param names: names of the nodes, of MODULES.
    """

    def __init__(self, ros, folder, names):
        self._ros, self._robot = ros, load_robot(PLANAR)
        self.processes = {}
        for name in names:
            path = Path(folder) / f'{name}.yaml'
            path.write_text(yaml.safe_dump({'/**': {'ros__parameters': {
                'robot_description': PLANAR, **PARAMETERS.get(name, {})}}}))
            self.processes[name] = ros.start(MODULES[name], '--ros-args', '-r', f'__node:={name}',
                                             '--params-file', str(path))
        for name in names:
            self._call(GetState, f'/{name}/get_state', GetState.Request())
            if name in ('identification', 'dynamics_server'):
                assert ros.call(GetMlc, f'/{name}/get_mlc', GetMlc.Request()).success
        self.commands = []
        for name in ('streaming', 'adaptive_controller'):
            ros.node.create_subscription(Float64MultiArray, f'/{name}/commands',
                                         self.commands.append, 100)
        self.topics = self._made(ros.node.get_subscriber_names_and_types_by_node, 'msg')
        self.services = self._made(ros.node.get_service_names_and_types_by_node, 'srv')
        self._publishers = {topic: ros.node.create_publisher(kind, topic, _QOS)
                            for topic, kind in self.topics.items()}
        for topic, each in self._publishers.items():
            ros.spin_until(each.get_subscription_count, f'a subscriber of {topic}')
        self.sent = self.called = 0

    def _made(self, names_and_types, folder):
        """Return the types of what the processes have, by name; not what is rclpy's own."""
        found = {}
        for name in self.processes:
            for full, kinds in self._ros.spin_until(
                    lambda name=name: _told(names_and_types, name), f'{name} in the graph'):
                if ('/_action/' in full or full in ('/clock', '/parameter_events')
                        or full.endswith(NOT_CALLED)):
                    continue
                package, _, kind = kinds[0].split('/')
                found[full] = getattr(importlib.import_module(f'{package}.{folder}'), kind)
        return found

    @property
    def now(self):
        return self._ros.node.get_clock().now().nanoseconds * 1e-9

    def _valid(self, kind):
        if kind is JointState:
            return joint_state_message(self.now, effort=(1.0, 2.0))
        if kind is JointTrajectory:
            return motion_message()
        if kind is InertiaStamped:
            return payload_message(1.0, self._robot.chain.tip)
        if kind is MlcSet:
            return estimate_to_message(self._robot.estimate, stamp(self.now))
        return kind()

    def _call(self, kind, name, request):
        return self._ros.call(kind, name, request)

    def shoot(self, random, messages):
        """Send messages, most of them mutated, and requests between them."""
        for k in range(messages):
            topic = random.choice(list(self.topics))
            message = self._valid(self.topics[topic])
            if random.random() < 0.7:
                message = mutated(random, message)
            if len(serialize_message(message)) < 60_000:  # longer ones are slow over loopback
                self._publishers[topic].publish(message)
                self.sent += 1
            if k % 10 == 0:
                self._ros.spin_until(lambda: True, 'messages')
                self._check()
            if k % PER_REQUEST == 0:
                name = random.choice(list(self.services))
                self._call(self.services[name], name,
                           mutated(random, self.services[name].Request()))
                self.called += 1

    def finish(self):
        """Assert that all processes are there and work."""
        for name, process in self.processes.items():
            self._call(GetState, f'/{name}/get_state', GetState.Request())
            assert process.exit_code is None, f'{name} has ended:\n{process.output[-3000:]}'
            assert 'unforeseen' not in process.output, f'{name}:\n{process.output[-3000:]}'
            assert 'Traceback' not in process.output, f'{name}:\n{process.output[-3000:]}'
        self._check()

    def assert_commands(self, joint_state):
        """
        Assert that torques are commanded for a good trajectory.

        :param joint_state: function that makes a joint state from a time.
        """
        def commanding():
            self._publishers['/joint_states'].publish(joint_state(self.now))
            self._publishers['/joint_trajectory'].publish(motion_message())
            return len(self.commands) > 5

        self._ros.spin_until(commanding, 'commands after all that')
        self._check()

    def _check(self):
        limits = EffortLimits.of_chain(chain_from_urdf(PLANAR)).values
        for each in self.commands:
            assert np.all(np.abs(each.data) <= limits), each.data
        self.commands.clear()


@dataclass
class DdsTarget:
    """
    All processes at once; the same fields as the targets of files have.

    :param weight: share of the time, in those of other targets.
    """

    name: str = 'dds'
    hang: float = 100.0
    weight: float = 6.0

    def examples(self):
        return [b'0']

    def mutate(self, random, examples):
        return str(random.randrange(2**32)).encode()

    def read(self, case):
        """Send everything that belongs to this number; return what was fired."""
        from domain_coordinator import domain_id

        with (warnings.catch_warnings(), domain_id() as domain,
              tempfile.TemporaryDirectory(prefix='fuzz-dds-') as folder):
            warnings.simplefilter('ignore')  # of packages that are imported now
            os.environ.update(loopback(), ROS_DOMAIN_ID=str(domain), ROS_LOG_DIR=folder,
                              OPENBLAS_NUM_THREADS='1')
            ros = RosDomain(domain, Path(folder))
            try:
                fire = Fire(ros, folder, MODULES)
                fire.shoot(Random(case.decode()), MESSAGES)
                fire.finish()
                return fire
            finally:
                ros.close()


TARGETS = [DdsTarget()]
