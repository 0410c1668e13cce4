# SPDX-License-Identifier: Apache-2.0
"""Latency of the nodes over DDS between processes, and what an executor costs."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import rclpy
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_interfaces.srv import GetDynamics, GetMlc
from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.demo.node_processes import NodeProcesses, loopback
from robot_dynamics_ros.motion.playing.lively_motion import lively_motion
from robot_dynamics_ros.nodes.support.conversion import trajectory_to_message

URDF = Path(__file__).parents[1] / 'urdf' / 'demo_arm.urdf'
NAMESPACE = '/bench'
POINTS, REPEATS, CALLS = 1000, 50, 300
PATIENCE = 30.0
CHILD = ('import rclpy.executors, rclpy.experimental; '
         'from robot_dynamics_ros.nodes.feedforward import FeedforwardNode; '
         'from robot_dynamics_ros.nodes.support.runner import run; '
         'run(FeedforwardNode, executor_of=lambda nodes: {}())')


class Client:
    """A node that waits and measures."""

    def __init__(self):
        self.node = rclpy.create_node('bench', namespace=NAMESPACE)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)

    def spin_until(self, condition):
        """Handle messages until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise SystemExit('no answer from the nodes')
            self._executor.spin_once(timeout_sec=0.1)

    def publisher(self, kind, topic):
        """Return a publisher that is connected."""
        result = self.node.create_publisher(kind, topic, 10)
        self.spin_until(result.get_subscription_count)
        return result

    def call_times(self, kind, name, request):
        """Return the round trips of a service [s]."""
        client = self.node.create_client(kind, name)
        self.spin_until(client.service_is_ready)
        times = []
        for _ in range(CALLS):
            start = time.perf_counter()
            future = client.call_async(request)
            self.spin_until(future.done)
            times.append(time.perf_counter() - start)
            assert future.result().success, future.result().message
        return times

    def trajectory_times(self, message):
        """Return how long trajectories take there and back [s]."""
        answers = []
        subscription = self.node.create_subscription(
            JointTrajectory, 'feedforward/joint_trajectory', answers.append, 10)
        self.spin_until(subscription.get_publisher_count)
        topic = self.publisher(JointTrajectory, 'joint_trajectory')
        times = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            topic.publish(message)
            self.spin_until(lambda: answers)
            times.append(time.perf_counter() - start)
            assert len(answers.pop().points) >= POINTS
        return times

    def own_latency(self, node, what):
        """Return p50 and p99 [ms] that a node reports about itself."""
        found = []

        def look(message):
            for status in message.status:
                values = {pair.key: pair.value for pair in status.values}
                if status.name.endswith(node) and f'{what} p50 [ms]' in values:
                    found.append([float(values[f'{what} {p} [ms]']) for p in ('p50', 'p99')])

        self.node.create_subscription(DiagnosticArray, '/diagnostics', look, 10)
        self.spin_until(lambda: found)
        return found[-1]


def show(what, times):
    """Print percentiles."""
    p50, p99 = np.percentile(times, [50, 99]) * 1e3
    print(f'{what:52} p50 {p50:7.2f} ms   p99 {p99:7.2f} ms')


def processor_time(pid):
    """Return the processor time of a process so far [s]."""
    fields = Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def executor_load(client, folder, expression, chain, seconds=5.0, rate=1000.0):
    """Return the share of a core that a feedforward node needs for 1 kHz of joint states."""
    file = folder / 'executor.yaml'
    file.write_text(yaml.safe_dump({'/**': {'ros__parameters': {
        'robot_description': URDF.read_text()}}}))
    child = subprocess.Popen([sys.executable, '-c', CHILD.format(expression), '--ros-args',
                              '--params-file', str(file), '-r', f'__ns:={NAMESPACE}/executor'],
                             stderr=subprocess.DEVNULL)
    try:
        topic = client.publisher(JointState, f'{NAMESPACE}/executor/joint_states')
        message = JointState(name=list(chain.joint_names), position=[0.0] * len(chain),
                             velocity=[0.0] * len(chain), effort=[0.0] * len(chain))
        before, start = processor_time(child.pid), time.perf_counter()
        for k in range(round(seconds * rate)):
            message.header.stamp = client.node.get_clock().now().to_msg()
            topic.publish(message)
            time.sleep(max(0.0, start + (k + 1) / rate - time.perf_counter()))
        return (processor_time(child.pid) - before) / (time.perf_counter() - start)
    finally:
        client.node.destroy_publisher(topic)
        child.terminate()
        child.wait(10)


def main():
    """Measure and print."""
    os.environ.update(loopback())
    description = URDF.read_text(encoding='utf-8')
    chain = chain_from_urdf(description)
    rclpy.init()
    client = Client()
    n = len(chain)
    with tempfile.TemporaryDirectory() as name, NodeProcesses(Path(name), NAMESPACE) as nodes:
        for node in ('feedforward', 'dynamics_server'):
            nodes.start(node, {'robot_description': description})
        motion = lively_motion(chain, duration=(POINTS - 1) / 100.0, rate=100.0)
        message = trajectory_to_message(motion, JointTrajectory().header)
        show(f'feedforward, {len(motion)} points of {n} joints, there and back',
             client.trajectory_times(message))
        p50, p99 = client.own_latency('feedforward', 'trajectory')
        print(f'{"  of it inside the node":52} p50 {p50:7.2f} ms   p99 {p99:7.2f} ms')
        state = GetDynamics.Request(position=[0.1] * n, velocity=[0.2] * n,
                                    acceleration=[0.3] * n)
        show('service get_dynamics, round trip',
             client.call_times(GetDynamics, 'dynamics_server/get_dynamics', state))
        show('service get_mlc, round trip',
             client.call_times(GetMlc, 'dynamics_server/get_mlc', GetMlc.Request()))
        nodes.end()
        for title, expression in (('single-threaded', 'rclpy.executors.SingleThreadedExecutor'),
                                  ('events', 'rclpy.experimental.EventsExecutor')):
            load = executor_load(client, Path(name), expression, chain)
            print(f'{title + " executor, 1 kHz of joint states":52} {100 * load:5.0f} % of a core')
    rclpy.shutdown()


if __name__ == '__main__':
    main()
