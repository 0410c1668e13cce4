# SPDX-License-Identifier: Apache-2.0
"""What nodes have to survive. Each scenario gets a ROS domain and returns rows of the table."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from support.ros import TEST_FOLDER

from robot_dynamics_interfaces.srv import GetDynamics, GetMlc

NODES = 'robot_dynamics_ros.nodes.'
PLANAR = (TEST_FOLDER.parent / 'urdf' / 'planar_2r.urdf').read_text(encoding='utf-8')
MASS = '<mass value="2.5"/>'
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
TICKS = os.sysconf('SC_CLK_TCK')
PAGE = os.sysconf('SC_PAGE_SIZE')
MEGABYTE = 2**20
#: Growth of a node's memory that a longer run may not pass [MB].
GROWTH = 30.0


@dataclass(frozen=True)
class Row:
    """
    A line of the table.

    :param scenario: name of the scenario.
    :param result: measured figures, for people.
    :param passed: None = nothing to pass, or skipped.
    """

    scenario: str
    result: str
    passed: bool | None = None


def parameters(folder, **values):
    """Return the arguments that give a node these parameters."""
    path = Path(tempfile.mkstemp('.yaml', dir=folder)[1])
    path.write_text(yaml.safe_dump({'/**': {'ros__parameters': values}}), encoding='utf-8')
    return ['--ros-args', '--params-file', str(path)]


def memory(process):
    """Return the memory that a process has in use [MB]."""
    pages = int(Path(f'/proc/{process.pid}/statm').read_text().split()[1])
    return pages * PAGE / MEGABYTE


def processor_time(process):
    """Return the processor time that a process has used [s]."""
    fields = Path(f'/proc/{process.pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Counters:
    """The latest diagnostics of all nodes, by name of the node."""

    def __init__(self, ros):
        self._values = {}
        ros.node.create_subscription(DiagnosticArray, '/diagnostics', self._take, 100)

    def _take(self, message):
        for status in message.status:
            self._values[status.name] = ({each.key: each.value for each in status.values},
                                         time.monotonic())

    def count(self, node, key='joint states'):
        """Return a number that a node shows; 0 before it was heard."""
        return float(self._values.get(node, ({}, 0.0))[0].get(key, 0))

    def input_rate(self, node, before, elapsed):
        """Return how many joint states per second a node has taken since it had so many."""
        shown = self.count(node, 'input rate [1/s]')  # learning nodes show it themselves
        return shown or (self.count(node) - before) / elapsed

    def heard_since(self, node, moment):
        """Return whether a node has told its diagnostics after a moment."""
        return self._values.get(node, ({}, -np.inf))[1] > moment


def spin_for(ros, duration):
    """Handle messages for a time [s]."""
    end = time.monotonic() + duration
    ros.spin_until(lambda: time.monotonic() > end, 'the end of the time', duration + 30.0)


def stop(ros, *processes):
    """End processes as Ctrl-C would; return whether all ended cleanly."""
    return all(process.interrupt() == 0 for process in processes)


def load(ros, folder, duration):
    """Joint states at 1 kHz on three nodes; memory and counts over time."""
    counters, names = Counters(ros), ('dynamics_server', 'feedforward', 'identification')
    choices = ({'publish_shares': True}, {'mode': 'stream'}, {'publish_period': 1.0})
    nodes = {name: ros.start(f'{NODES}{name}', *parameters(
        folder, robot_description=PLANAR, **choice)) for name, choice in zip(names, choices)}
    source = ros.start('soak.joint_state_source', '1000', '')
    for name in names:
        ros.spin_until(lambda name=name: counters.count(name) or counters.count(name, 'samples'),
                       name, 60.0)
    spin_for(ros, 0.25 * duration)  # caches fill
    before = {name: (memory(node), processor_time(node), counters.count(name))
              for name, node in nodes.items()}
    start = time.monotonic()
    spin_for(ros, 0.75 * duration)
    elapsed, rows = time.monotonic() - start, []
    for name, node in nodes.items():
        memory_before, processor, count = before[name]
        growth = memory(node) - memory_before
        rate = counters.input_rate(name, count, elapsed)
        share = 100 * (processor_time(node) - processor) / elapsed
        rows.append(Row(
            f'1 kHz joint states: {name}', f'{rate:.0f} 1/s taken, {share:.0f} % of a '
            f'core, {memory(node):.0f} MB, {growth:+.1f} MB in {elapsed:.0f} s',
            growth < GROWTH and rate > 0.0))
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
    ros.spin_until(topic.get_subscription_count, 'the subscriber', 60.0)
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
    ros.spin_until(topic.get_subscription_count, 'the subscriber', 60.0)
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

    ros.spin_until(last_counts, 'the last description', 60.0)
    ros.node.destroy_publisher(topic)
    loaded = server.output.count('robot planar_2r')
    return [Row(f'{count} new descriptions', f'{loaded} loaded (a newer one replaces one that '
                f'waits), the last one is in use, {growth:+.1f} MB over three quarters',
                stop(ros, server) and growth < 2 * GROWTH)]


def _gravity():
    from robot_dynamics_ros import chain_from_urdf, compile_model

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

    ros.spin_until(idle, 'the node to come to rest', 120.0)


def _identification(ros, folder, checkpoint, node='identification'):
    return ros.start(f'{NODES}identification', *parameters(
        folder, robot_description=PLANAR, checkpoint_file=str(checkpoint),
        checkpoint_period=0.5), '-r', f'__node:={node}')


def _samples(ros, node='identification'):
    return ros.call(GetMlc, f'{node}/get_mlc', GetMlc.Request()).mlc.samples


def kills(ros, folder, duration, seed=1):
    """Kill -9 at random times: what was learned until the last checkpoint is there again."""
    rng, checkpoint = np.random.default_rng(seed), Path(folder) / 'kills.npz'
    source = ros.start('soak.joint_state_source', '200', '')
    node = _identification(ros, folder, checkpoint)
    ros.spin_until(checkpoint.exists, 'the first checkpoint', 60.0)
    rounds = lost = 0
    end = time.monotonic() + duration
    while rounds == 0 or time.monotonic() < end:
        spin_for(ros, rng.uniform(0.3, 2.0))
        known = _samples(ros)
        spin_for(ros, 1.0)  # two checkpoints later it is on the disk
        spin_for(ros, rng.uniform(0.0, 0.5))
        ros.kill(node)
        node = _identification(ros, folder, checkpoint)
        ros.spin_until(lambda node=node: 'robot planar_2r' in node.output, 'the restart', 60.0)
        rounds += 1
        lost += 'resumed from' not in node.output or _samples(ros) < known
    return [Row('kill -9 with checkpoint', f'{rounds} kills, {lost} times more lost than the last '
                'interval', stop(ros, source, node) and lost == 0)]


@contextmanager
def small_disk(folder, size='96k'):
    """Mount a small disk; gives None where that is not allowed."""
    place = Path(tempfile.mkdtemp(dir=folder))
    made = os.geteuid() == 0 and subprocess.run(
        ['mount', '-t', 'tmpfs', '-o', f'size={size}', 'none', str(place)],
        capture_output=True).returncode == 0
    try:
        yield place if made else None
    finally:
        if made:
            subprocess.run(['umount', '-l', str(place)], check=False, capture_output=True)


def bad_disk(ros, folder, *, full):
    """Take the disk away from a checkpoint: full, or read-only."""
    name = 'disk full' if full else 'read-only folder'
    with small_disk(folder) as disk:
        if disk is None:
            return [Row(name, 'skipped: mounting a small disk needs root')]
        checkpoint, counters = disk / 'state.npz', Counters(ros)
        source = ros.start('soak.joint_state_source', '200', '')
        node = _identification(ros, folder, checkpoint)
        ros.spin_until(checkpoint.exists, 'the first checkpoint', 60.0)
        spin_for(ros, 1.0)
        if full:
            with (disk / 'filler').open('wb', buffering=0) as filler:
                try:
                    while filler.write(bytes(1024)):
                        pass
                except OSError:
                    pass  # that is what was wanted
        else:
            subprocess.run(['mount', '-o', 'remount,ro', str(disk)], check=True)
        kept, known = checkpoint.read_bytes(), _samples(ros)
        spin_for(ros, 3.0)
        moment = time.monotonic()
        ros.spin_until(lambda: counters.heard_since('identification', moment), 'diagnostics')
        learns, whole = _samples(ros) > known, checkpoint.read_bytes() == kept
        if not full:
            subprocess.run(['mount', '-o', 'remount,rw', str(disk)], check=True)
        else:
            (disk / 'filler').unlink()
        ros.spin_until(lambda: checkpoint.read_bytes() != kept, 'a checkpoint after the trouble')
        clean = stop(ros, source, node)
    return [Row(name, f'learning goes on: {learns}; the old checkpoint stays whole: {whole}; '
                'written again when there is room', learns and whole and clean)]


def shared_checkpoint(ros, folder, duration=5.0):
    """Two nodes write one checkpoint: it is always whole."""
    checkpoint = Path(folder) / 'shared.npz'
    source = ros.start('soak.joint_state_source', '200', '')
    nodes = [_identification(ros, folder, checkpoint, node) for node in ('one', 'two')]
    ros.spin_until(checkpoint.exists, 'the first checkpoint', 60.0)
    end, looks, broken = time.monotonic() + duration, 0, 0
    while time.monotonic() < end:
        spin_for(ros, 0.05)
        looks += 1
        try:
            with np.load(checkpoint, allow_pickle=False) as state:
                broken += not state.files
        except Exception:  # whatever is wrong with it
            broken += 1
    clean = stop(ros, source, *nodes)
    again = _identification(ros, folder, checkpoint)
    ros.spin_until(lambda: 'resumed from' in again.output, 'the resumed node', 60.0)
    left = [path.name for path in Path(folder).glob('*.tmp*')]
    return [Row('two nodes on one checkpoint', f'{looks} looks, {broken} broken; a third node '
                f'resumes; files left over: {len(left)}',
                clean and stop(ros, again) and not broken and not left)]


def cost(ros, folder, robots, rate, duration):
    """Processor and memory of dynamics servers that publish all contributions to the torque."""
    counters, names = Counters(ros), [f'/cost_{i}' for i in range(robots)]
    servers = [ros.start(f'{NODES}dynamics_server', *parameters(
        folder, robot_description=PLANAR, publish_shares=True), '-r', f'__ns:={name}')
        for name in names]
    source = ros.start('soak.joint_state_source', str(rate), *names)
    keys = [f'{name.lstrip("/")}/dynamics_server' for name in names]
    for key in keys:
        ros.spin_until(lambda key=key: counters.count(key) > 0, key, 180.0)
    spin_for(ros, 1.0)
    before = [processor_time(server) for server in servers]
    counts = [counters.count(key) for key in keys]
    start = time.monotonic()
    spin_for(ros, duration)
    elapsed = time.monotonic() - start
    share = np.mean([processor_time(each) - was for each, was in zip(servers, before)]) / elapsed
    taken = np.mean([counters.count(key) - was
                     for key, was in zip(keys, counts)]) / elapsed
    size = np.mean([memory(server) for server in servers])
    for process in (*servers, source):
        process.interrupt()
    beyond = '' if taken > 0.95 * rate else f'; beyond this machine of {os.cpu_count()} cores'
    return [Row(f'cost: {robots} robots at {rate} Hz', f'{100 * share:.1f} % of a core and '
                f'{size:.0f} MB per robot, {taken:.0f} 1/s taken{beyond}')]


HOSTS = ('soak_host_a', 'soak_host_b')


@contextmanager
def two_hosts():
    """Make two hosts on a lossy wire; gives what stands against it, and how the wire is."""
    if os.geteuid() != 0 or not shutil.which('ip') or not shutil.which('tc'):
        yield 'network namespaces need root, ip and tc', ''
        return
    one, two = HOSTS
    commands = [f'ip netns add {one}', f'ip netns add {two}',
                f'ip link add soak_a netns {one} type veth peer name soak_b netns {two}']
    for host, wire, address in ((one, 'soak_a', 1), (two, 'soak_b', 2)):
        commands += [f'ip -n {host} addr add 10.213.7.{address}/24 dev {wire}',
                     f'ip -n {host} link set lo up', f'ip -n {host} link set {wire} up',
                     f'ip -n {host} link set {wire} multicast on',
                     f'ip -n {host} route add 224.0.0.0/4 dev {wire}']
    wire_quality = ', 5 % of the packets lost, 20 ms late'
    try:
        for command in commands:
            done = subprocess.run(command.split(), capture_output=True, text=True)
            if done.returncode:
                yield f'{command}: {done.stderr.strip()}', ''
                return
        for host, wire in ((one, 'soak_a'), (two, 'soak_b')):
            done = subprocess.run(f'tc -n {host} qdisc add dev {wire} root netem loss 5% '
                                  'delay 20ms'.split(), capture_output=True)
            if done.returncode:
                wire_quality = '; without loss and delay: this kernel has no netem'
        yield '', wire_quality
    finally:
        for host in HOSTS:
            subprocess.run(['ip', 'netns', 'del', host], check=False, capture_output=True)


def lossy_network(folder, calls=200):
    """Ask a server on another host, with 5 % loss and 20 ms delay."""
    name = 'two hosts'
    environment = {**os.environ, 'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET',
                   'PYTHONPATH': os.pathsep.join([str(TEST_FOLDER),
                                                  os.environ.get('PYTHONPATH', '')])}

    def on(host, *words):
        return subprocess.Popen(['ip', 'netns', 'exec', host, sys.executable, '-m', *words],
                                env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True)

    with two_hosts() as (obstacle, quality):
        if obstacle:
            return [Row(name, f'skipped: {obstacle}')]
        server = on(HOSTS[0], f'{NODES}dynamics_server',
                    *parameters(folder, robot_description=PLANAR))
        try:
            client = on(HOSTS[1], 'support.storm_client', 'get_dynamics', str(calls), '50', 'ours')
            try:
                answered = client.communicate(timeout=150.0)[0].split()
            except subprocess.TimeoutExpired:
                client.kill()
                answered = ['answered', '0']
        finally:
            server.terminate()
            server.wait()
    got = int(answered[1]) if len(answered) > 1 else 0
    return [Row(name, f'{got} of {calls} calls answered{quality}', got == calls)]
