# SPDX-License-Identifier: Apache-2.0
"""
Run all soak scenarios for about as long as told, and print a table.

``python test/soak/run.py [--minutes 10] [--only name]``; exit code 1 where a scenario fails.
"""

import argparse
import os
import signal
import sys
import tempfile
import traceback
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

from domain_coordinator import domain_id
from support.ros import RosDomain

from robot_dynamics_ros.demo.node_processes import loopback
from soak import checkpoint, load, network
from soak.cost import cost
from soak.measuring import Row

#: Robots and rates of the table of costs.
ROBOTS, RATES = (1, 5, 10, 20), (100, 1000)


def plan(minutes):
    """Return the scenarios by name; those of fixed length take about six minutes."""
    free = max(10.0, 60.0 * (minutes - 6.0))  # [s]
    chosen = {
        'load': partial(load.load, duration=0.7 * free),
        'bursts': partial(load.bursts, duration=0.1 * free),
        'namespaces': load.namespaces,
        'storm': load.storm,
        'descriptions': load.descriptions,
        'kills': partial(checkpoint.kills, duration=0.2 * free),
        'disk_full': partial(checkpoint.bad_disk, full=True),
        'read_only': partial(checkpoint.bad_disk, full=False),
        'shared_checkpoint': checkpoint.shared_checkpoint,
        'network': lambda ros, folder: network.two_hosts_on_a_bad_wire(folder)}
    for rate in RATES:
        for robots in ROBOTS:
            for together in (False, True):
                chosen[f'cost_{robots}_{rate}{"_together" * together}'] = partial(
                    cost, robots=robots, rate=rate, together=together)
    return chosen


def run(name, scenario):
    """Return the rows of a scenario in a domain of its own; a failure is a row, too."""
    with domain_id() as domain, tempfile.TemporaryDirectory() as folder:
        os.environ.update(loopback(), ROS_DOMAIN_ID=str(domain), ROS_LOG_DIR=folder)
        ros = None
        try:
            ros = RosDomain(domain, Path(folder))
            return scenario(ros, folder)
        except Exception as error:  # the others shall run all the same
            traceback.print_exc()
            return [Row(name, f'{type(error).__name__}: {str(error).splitlines()[0]}', False)]
        finally:
            if ros is not None:
                try:
                    ros.close()
                except AssertionError as error:
                    print(error)


def main():
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--minutes', type=float, default=10.0, help='about how long')
    parser.add_argument('--only', action='append', help='name of a scenario; may be repeated')
    arguments = parser.parse_args()
    # so that no node outlives a run that is ended from outside
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    chosen = plan(arguments.minutes)
    rows = []
    for name in arguments.only or chosen:
        for row in run(name, chosen[name]):
            rows.append(row)
            print(line(row), flush=True)
    print('\n| scenario | result | |\n|---|---|---|')
    print('\n'.join(line(row) for row in rows))
    return 1 if any(row.passed is False for row in rows) else 0


def line(row):
    """Return a row as text."""
    verdict = {True: 'passed', False: 'FAILED', None: '-'}[row.passed]
    return f'| {row.scenario} | {row.result} | {verdict} |'


if __name__ == '__main__':
    sys.exit(main())
