# SPDX-License-Identifier: Apache-2.0
"""What a robot costs: one process per robot, or all robots in one process."""

import os
import time

from soak.measuring import (
    NODES,
    PLANAR,
    Counters,
    Row,
    memory,
    parameters,
    processor_time,
    spin_for,
)


def cost(ros, folder, robots, rate, *, together, duration=5.0):
    """
    Measure dynamics servers that publish all contributions to the torque.

    :param robots: number of robots, each in a namespace of its own.
    :param rate: joint states per second and robot [1/s].
    :param together: True = all robots in one process.
    :param duration: time of the measurement [s].
    """
    counters, names = Counters(ros), [f'/cost_{i}' for i in range(robots)]
    options = parameters(folder, robot_description=PLANAR, publish_shares=True)
    if together:
        servers = [ros.start('soak.robots_in_one_process', *names, *options)]
    else:
        servers = [ros.start(f'{NODES}dynamics_server', *options, '-r', f'__ns:={name}')
                   for name in names]
    keys = [f'{name.lstrip("/")}/dynamics_server' for name in names]
    for key in keys:
        ros.spin_until(lambda key=key: counters.heard_since(key, 0.0), key)
    source = ros.start('soak.joint_state_source', str(rate), *names)
    ros.wait_for_publishers(f'{names[-1]}/joint_states')
    spin_for(ros, 2.0)
    used = sum(processor_time(server) for server in servers)
    count = sum(counters.count(key) for key in keys)
    start = time.monotonic()
    spin_for(ros, duration)
    elapsed = time.monotonic() - start
    share = (sum(processor_time(server) for server in servers) - used) / elapsed / robots
    taken = (sum(counters.count(key) for key in keys) - count) / elapsed / robots
    size = sum(memory(server) for server in servers) / robots
    late = sum(not counters.heard_since(key, start) for key in keys)
    for process in (source, *servers):
        process.interrupt()
    beyond = '' if taken > 0.95 * rate else f'; beyond this machine of {os.cpu_count()} cores'
    if late:
        beyond += f', {late} of {robots} without diagnostics for {elapsed:.0f} s'
    where = 'in one process' if together else 'in a process each'
    return [Row(f'cost: {robots} robots at {rate} Hz {where}',
                f'{100 * share:.1f} % of a core and {size:.0f} MB per robot, '
                f'{taken:.0f} 1/s taken{beyond}')]
