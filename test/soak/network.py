# SPDX-License-Identifier: Apache-2.0
"""Two hosts on a bad wire, as network namespaces of this machine."""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager

from support.ros import TEST_FOLDER

from soak.measuring import NODES, PLANAR, Row, parameters

#: Name of the host, its interface, its address.
HOSTS = (('soak_host_a', 'soak_a', '10.213.7.1/24'), ('soak_host_b', 'soak_b', '10.213.7.2/24'))
#: Share of the frames that the wire loses, and time that a frame takes [s].
LOSS, DELAY = 0.05, 0.02


def python(*words, host=None):
    """Start a Python module, on a host if there is one."""
    environment = {**{name: value for name, value in os.environ.items()
                      if not name.endswith('_DEFAULT_PROFILES_FILE')},  # that of the loopback
                   'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET',
                   'FASTDDS_BUILTIN_TRANSPORTS': 'UDPv4',  # memory would be a way past the wire
                   'PYTHONPATH': os.pathsep.join([str(TEST_FOLDER),
                                                  os.environ.get('PYTHONPATH', '')])}
    where = ['ip', 'netns', 'exec', host] if host else []
    return subprocess.Popen([*where, sys.executable, '-m', *words], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


@contextmanager
def wire():
    """Carry frames between two new interfaces; gives the process that does so."""
    process = python('soak.wire', *(name for _, name, _ in HOSTS), str(LOSS), str(DELAY))
    try:
        if process.stdout.readline().strip() != 'ready':
            raise OSError('no interface could be made with /dev/net/tun')
        yield process
    finally:
        process.terminate()
        process.wait()


def _run(command):
    done = subprocess.run(command.split(), capture_output=True, text=True)
    if done.returncode:
        raise OSError(f'{command}: {done.stderr.strip()}')


@contextmanager
def two_hosts():
    """
    Make two hosts on a wire; gives the process that is the wire.

    :raises OSError: this machine does not allow it.
    """
    if os.geteuid() != 0 or not shutil.which('ip'):
        raise OSError('network namespaces need root and ip')
    try:
        with wire() as process:
            for host, name, address in HOSTS:
                for command in (f'ip netns add {host}', f'ip link set {name} netns {host}',
                                f'ip -n {host} addr add {address} dev {name}',
                                f'ip -n {host} link set lo up', f'ip -n {host} link set {name} up',
                                f'ip -n {host} route add 224.0.0.0/4 dev {name}'):
                    _run(command)
            yield process
    finally:
        for host, _, _ in HOSTS:
            subprocess.run(['ip', 'netns', 'del', host], check=False, capture_output=True)


def two_hosts_on_a_bad_wire(folder, calls=200):
    """Ask a server on another host."""
    name, (server_host, client_host) = 'two hosts', (host for host, _, _ in HOSTS)
    try:
        with two_hosts() as process:
            answered = _ask(folder, server_host, client_host, calls)
            process.terminate()
            carried, lost = map(int, process.stdout.read().split())
    except OSError as obstacle:
        return [Row(name, f'skipped: {obstacle}')]
    return [Row(name, f'{answered} of {calls} calls answered; {lost} of {carried + lost} packets '
                f'lost, the others {1000 * DELAY:.0f} ms late',
                answered == calls and lost > 0)]


def _ask(folder, server_host, client_host, calls):
    """Return the number of calls that were answered."""
    server = python(f'{NODES}dynamics_server', *parameters(folder, robot_description=PLANAR),
                    host=server_host)
    client = python('support.storm_client', 'get_dynamics', str(calls), '50', 'ours',
                    host=client_host)
    try:
        return int(client.communicate(timeout=150.0)[0].split()[1])
    except (subprocess.TimeoutExpired, IndexError):
        return 0
    finally:
        for process in (client, server):
            process.terminate()
            process.wait()
