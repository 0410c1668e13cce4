# SPDX-License-Identifier: Apache-2.0
"""
The identification node at 1 kHz with 7 joints: lost messages, processor time, latency.

An empty subscriber with the same executor listens to the same topic in the same run; what the node
costs is told in parts of that. Give another duration in seconds as the argument.
"""

import json
import os
import subprocess
import sys
import time
from array import array
from pathlib import Path

import numpy as np
import rclpy
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.demo.node_processes import loopback
from robot_dynamics_ros.nodes.identification import IdentificationNode
from robot_dynamics_ros.nodes.support.conversion import stamp
from robot_dynamics_ros.nodes.support.runner import make_executor, run

URDF = Path(__file__).parents[1] / 'urdf' / 'demo_arm.urdf'
RATE = 1000
#: The first messages belong to the start (compilation, discovery) and are not measured.
WARM_UP = 5.0
TOPIC = '/bench/joint_states'
PATIENCE = 60.0


class Meter:
    """Counts messages and measures the processor time and latency after the warm-up."""

    def __init__(self, messages):
        self._messages, self._first = messages, round(WARM_UP * RATE)
        self.received, self._latencies = 0, []
        self._cpu = self._wall = 0.0

    def take(self, message):
        """Count a message that was handled; True = it was the last one."""
        self.received += 1
        number = int(message.header.frame_id)
        if number == self._first:
            self._cpu, self._wall = time.process_time(), time.monotonic()
        elif number > self._first:
            sent = message.header.stamp
            self._latencies.append(time.time() - sent.sec - 1e-9 * sent.nanosec)
        return number == self._messages - 1

    def report(self, **more):
        """Print what was measured."""
        p50, p99, worst = np.percentile(self._latencies, [50, 99, 100]) * 1e3
        cpu = (time.process_time() - self._cpu) / (time.monotonic() - self._wall)
        print(json.dumps({'lost': self._messages - self.received, 'cpu': cpu, 'p50': p50,
                          'p99': p99, 'worst': worst, **more}), flush=True)


def listen(messages):
    """Be an empty subscriber."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node, meter, done = rclpy.create_node('empty'), Meter(messages), []

    def take(message):
        if meter.take(message):
            done.append(True)

    node.create_subscription(JointState, TOPIC, take, QoSProfile(depth=1000))
    executor = make_executor([])
    executor.add_node(node)
    while not done:
        executor.spin_once(timeout_sec=0.1)
    meter.report()


def identify(messages):
    """Be the identification node."""
    meter = Meter(messages)

    class MeasuredNode(IdentificationNode):
        def _on_joint_state(self, message):
            super()._on_joint_state(message)
            self.finished = meter.take(message)

        def come_to_rest(self):
            estimate = self._estimator.estimate()
            meter.report(samples=estimate.samples, state=estimate.state.name,
                         dropped=self.diagnostics.counted('dropped joint states'))

    arguments = ['--ros-args', '-r', f'joint_states:={TOPIC}', '-p',
                 f'robot_description:={json.dumps(URDF.read_text(encoding="utf-8"))}']
    run(MeasuredNode, arguments=arguments)


def send(messages):
    """Publish joint states of a moving arm at an even rate."""
    model = compile_model(chain_from_urdf(URDF))
    names, n = list(model.chain.joint_names), len(model.chain)
    t = np.arange(messages)[:, None] / RATE
    w = 1.0 + 0.37 * np.arange(n)
    q, qd, qdd = 0.8 * np.sin(w * t), 0.8 * w * np.cos(w * t), -0.8 * w**2 * np.sin(w * t)
    rows = [[array('d', row) for row in table] for table in (q, qd, model.torque(q, qd, qdd))]
    rclpy.init()
    node = rclpy.create_node('sender')
    topic = node.create_publisher(JointState, TOPIC, QoSProfile(depth=1000))
    end = time.monotonic() + PATIENCE
    while topic.get_subscription_count() < 2:
        if time.monotonic() > end:
            raise SystemExit('the subscribers did not come')
        time.sleep(0.05)
    begin = time.monotonic()
    for k in range(messages):
        message = JointState(name=names, position=rows[0][k], velocity=rows[1][k],
                             effort=rows[2][k])
        message.header.frame_id = str(k)
        time.sleep(max(0.0, begin + k / RATE - time.monotonic()))
        message.header.stamp = stamp(time.time())
        topic.publish(message)
    time.sleep(5.0)  # until the slowest has got it
    print(json.dumps({'rate': messages / (time.monotonic() - 5.0 - begin)}), flush=True)


def main():
    """Run the three processes and print the comparison."""
    duration = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    messages = round((duration + WARM_UP) * RATE)
    environment = {**os.environ, **loopback(), 'OPENBLAS_NUM_THREADS': '1'}
    processes = {role: subprocess.Popen([sys.executable, __file__, role, str(messages)], text=True,
                                        env=environment, stdout=subprocess.PIPE)
                 for role in ('listen', 'identify', 'send')}
    try:
        answers = {role: json.loads(process.communicate(timeout=duration + 3.0 * PATIENCE)[0]
                                    .splitlines()[-1])
                   for role, process in processes.items()}
    finally:
        for process in processes.values():
            process.kill()
    print(f'{messages} joint states of 7 joints, {answers["send"]["rate"]:.0f} per second')
    print(f'{"":<16}{"lost":>6}{"core":>8}{"p50":>10}{"p99":>10}{"worst":>10}')
    for role, title in (('listen', 'empty node'), ('identify', 'identification')):
        each = answers[role]
        print(f'{title:<16}{each["lost"]:>6}{100 * each["cpu"]:>6.1f} %{each["p50"]:>7.2f} ms'
              f'{each["p99"]:>7.2f} ms{each["worst"]:>7.1f} ms')
    print(f'processor time {answers["identify"]["cpu"] / answers["listen"]["cpu"]:.2f} times that '
          f'of the empty node; {answers["identify"]["samples"]} samples used, '
          f'{answers["identify"]["dropped"]} dropped, state {answers["identify"]["state"]}')


if __name__ == '__main__':
    ROLES = {'listen': listen, 'identify': identify, 'send': send}
    if sys.argv[1:2] and sys.argv[1] in ROLES:
        ROLES[sys.argv[1]](int(sys.argv[2]))
    else:
        main()
