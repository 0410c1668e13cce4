# SPDX-License-Identifier: Apache-2.0
"""Rows of the table, and what all scenarios measure: memory, processor time, diagnostics."""

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from support.ros import TEST_FOLDER

NODES = 'robot_dynamics_ros.nodes.'
PLANAR = (TEST_FOLDER.parent / 'urdf' / 'planar_2r.urdf').read_text(encoding='utf-8')
MASS = '<mass value="2.5"/>'
TICKS = os.sysconf('SC_CLK_TCK')
PAGE = os.sysconf('SC_PAGE_SIZE')
MEGABYTE = 2**20
#: Growth of a node's memory that no run may pass [MB].
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
