# SPDX-License-Identifier: Apache-2.0
"""More of everything than a robot sends: joint states, robots, requests, descriptions."""

import time

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from robot_dynamics_interfaces.srv import GetDynamics
from robot_dynamics_ros import chain_from_urdf, compile_model
from soak.measuring import (
    GROWTH,
    MASS,
    NODES,
    PLANAR,
    Counters,
    Row,
    memory,
    parameters,
    processor_time,
    spin_for,
    stop,
)

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
#: Growth of a node's memory that a run of a minute or more may not pass [MB per minute]; at 1 kHz
#: a node that loses 20 bytes per message passes it.
LEAK = 1.0
#: Time between two looks at the memory [s].
LOOK = 1.0


def growth_per_minute(times, sizes):
    """
    Return the slope of the memory in use [MB per minute].

    :param times: times of the looks [s].
    :param sizes: memory in use [MB].
    """
    return 60.0 * float(np.polyfit(times, sizes, 1)[0])


def leaks(times, sizes):
    """Return whether memory grows; a minute has to pass before small steps tell anything."""
    if times[-1] - times[0] < 60.0:
        return sizes[-1] - sizes[0] > GROWTH
    return growth_per_minute(times, sizes) > LEAK


def load(ros, folder, duration):
    """Joint states at 1 kHz on three nodes; counts, and memory over time after a warm-up."""
    counters, names = Counters(ros), ('dynamics_server', 'feedforward', 'identification')
    choices = ({'publish_shares': True}, {'mode': 'stream'}, {'publish_period': 1.0})
    nodes = {name: ros.start(f'{NODES}{name}', *parameters(
        folder, robot_description=PLANAR, **choice)) for name, choice in zip(names, choices)}
    source = ros.start('soak.joint_state_source', '1000', '')
    for name in names:
        ros.spin_until(lambda name=name: counters.count(name) or counters.count(name, 'samples'),
                       name)
    spin_for(ros, min(0.25 * duration, 30.0))  # caches and histories fill
    before = {name: (processor_time(node), counters.count(name)) for name, node in nodes.items()}
    times, sizes = [time.monotonic()], {name: [memory(node)] for name, node in nodes.items()}
    while times[-1] < times[0] + 0.75 * duration:
        spin_for(ros, LOOK)
        times.append(time.monotonic())
        for name, node in nodes.items():
            sizes[name].append(memory(node))
    elapsed, rows = times[-1] - times[0], []
    for name, node in nodes.items():
        processor, count = before[name]
        # counts are told once a second, later on a busy machine
        ros.spin_until(lambda name=name, count=count: counters.input_rate(name, count, 1.0) > 0.0,
                       f'{name} at work')
        rate = counters.input_rate(name, count, elapsed)
        share = 100 * (processor_time(node) - processor) / elapsed
        rows.append(Row(
            f'1 kHz joint states: {name}', f'{rate:.0f} 1/s taken, {share:.0f} % of a core, '
            f'{memory(node):.0f} MB, {growth_per_minute(times, sizes[name]):+.2f} MB per minute '
            f'over {elapsed:.0f} s', not leaks(times, sizes[name])))
    clean = stop(ros, source, *nodes.values())
    sent, in_time = source.output.split()[1::2]
    return [*rows, Row('1 kHz joint states: source',
                       f'{int(sent) / float(in_time):.0f} 1/s sent; nodes end cleanly: {clean}',
                       clean)]


def bursts(ros, folder, duration):
    """Two thousand joint states at once, again and again."""
    counters, name = Counters(ros), 'dynamics_server'
    node = ros.start(f'{NODES}{name}', *parameters(folder, robot_description=PLANAR,
                                                   publish_shares=True))
    topic = ros.node.create_publisher(JointState, 'joint_states', 10)
    ros.spin_until(topic.get_subscription_count, 'the subscriber')
    end, sent, first = time.monotonic() + duration, 0, memory(node)
    while sent == 0 or time.monotonic() < end:
        for _ in range(2000):
            message = JointState(name=['joint_1', 'joint_2'], position=[0.1, 0.2],
                                 velocity=[0.0, 0.0], effort=[1.0, 2.0])
            message.header.stamp = ros.node.get_clock().now().to_msg()
            topic.publish(message)
            sent += 1
        spin_for(ros, 0.5)
    moment = time.monotonic()
    ros.spin_until(lambda: counters.heard_since(name, moment), 'diagnostics after the bursts')
    growth, taken = memory(node) - first, counters.count(name)
    ros.node.destroy_publisher(topic)
    return [Row('bursts of 2000', f'{taken:.0f} of {sent} taken, {growth:+.1f} MB',
                stop(ros, node) and taken > 0 and growth < GROWTH)]


def namespaces(ros, folder, count=10):
    """Robots of different mass in namespaces: each server answers for its own."""
    servers, gravity = [], []
    for i in range(count):
        text = PLANAR.replace(MASS, f'<mass value="{1.0 + i}"/>')
        servers.append(ros.start(f'{NODES}dynamics_server', *parameters(
            folder, robot_description=text), '-r', f'__ns:=/robot_{i}'))
    for i in range(count):
        gravity.append(ros.call(GetDynamics, f'/robot_{i}/dynamics_server/get_dynamics',
                                GetDynamics.Request(position=[0.0, 0.0])).gravity[0])
    steps = np.diff(gravity)
    own = bool(np.all(steps > 0.0) and np.allclose(steps, steps[0]))
    return [Row(f'{count} namespaces', f'{count} servers answer for their own robot: {own}',
                stop(ros, *servers) and own)]


def storm(ros, folder, calls=500, clients=4):
    """Clients with all calls in flight."""
    server = ros.start(f'{NODES}dynamics_server', *parameters(folder, robot_description=PLANAR))
    services = ('get_dynamics', 'get_mlc')
    asking = [ros.start('support.storm_client', services[i % 2], str(calls), str(calls), 'ours')
              for i in range(clients)]
    clean = all(client.wait(120.0) == 0 for client in asking)
    answered = sum(int(client.output.split()[1]) for client in asking)
    return [Row('service storm', f'{answered} of {clients * calls} calls answered',
                clean and stop(ros, server) and answered == clients * calls)]


def descriptions(ros, folder, count=300):
    """Many new robots: the last one counts, memory stays."""
    server = ros.start(f'{NODES}dynamics_server', *parameters(folder, base=''))
    topic = ros.node.create_publisher(String, 'robot_description', LATCHED)
    ros.spin_until(topic.get_subscription_count, 'the subscriber')
    quarter = 0.0
    for i in range(count):
        topic.publish(String(data=PLANAR.replace(MASS, f'<mass value="{1.0 + 0.01 * i}"/>')))
        spin_for(ros, 0.02)
        if i == count // 4:
            _settled(ros, server)
            quarter = memory(server)
    _settled(ros, server)
    growth = memory(server) - quarter
    topic.publish(String(data=PLANAR))

    def last_counts():
        answer = ros.call(GetDynamics, 'dynamics_server/get_dynamics',
                          GetDynamics.Request(position=[0.0, 0.0]))
        return answer.success and abs(answer.gravity[0] - _gravity()) < 1e-9

    ros.spin_until(last_counts, 'the last description')
    ros.node.destroy_publisher(topic)
    loaded = server.output.count('robot planar_2r')
    return [Row(f'{count} new descriptions', f'{loaded} loaded (a newer one replaces one that '
                f'waits), the last one is in use, {growth:+.1f} MB over three quarters',
                stop(ros, server) and growth < 2 * GROWTH)]


def _gravity():
    return float(compile_model(chain_from_urdf(PLANAR)).gravity_torque([0.0, 0.0])[0])


def _settled(ros, process):
    """Wait until a process has stopped working."""
    used = [-1.0]

    def idle():
        now = processor_time(process)
        calm = now - used[0] < 0.05
        used[0] = now
        spin_for(ros, 0.3)
        return calm

    ros.spin_until(idle, 'the node to come to rest')
