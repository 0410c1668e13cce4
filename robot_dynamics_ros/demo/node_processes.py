# SPDX-License-Identifier: Apache-2.0
"""Nodes as processes under supervision: none of them outlives its parent's block."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import yaml

from robot_dynamics_ros.cli.support.share_folder import share_folder
from robot_dynamics_ros.errors import NodeError

#: A node has this long to end by itself after SIGINT [s].
GRACE = 5.0


def require_ros(advice: str) -> None:
    """
    Refuse to go on where ROS 2 or our messages are missing.

    :param advice: one way to get them, for people.
    :raises NodeError: they are missing.
    """
    try:
        import_module('robot_dynamics_ros.nodes')
    except ImportError as error:
        raise NodeError(f'the demo needs ROS 2 with robot_dynamics_interfaces: {advice}, or '
                        f'source the workspace that colcon has built; {error}') from error


def loopback() -> dict[str, str]:
    """
    Return environment variables that keep ROS 2 on this machine, and discovery sure on a busy one.

    Range LOCALHOST of Fast DDS uses shared memory, whatever FASTDDS_BUILTIN_TRANSPORTS says; see
    config/fastdds_loopback.xml. Another middleware gets LOCALHOST.
    """
    from robot_dynamics_ros.nodes.support.runner import uses_fast_dds

    profile = share_folder() / 'config' / 'fastdds_loopback.xml'
    if not (profile.is_file() and uses_fast_dds()):
        return {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
    return {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SYSTEM_DEFAULT',  # as the profile says
            'FASTRTPS_DEFAULT_PROFILES_FILE': str(profile),  # Fast DDS 2
            'FASTDDS_DEFAULT_PROFILES_FILE': str(profile)}  # Fast DDS 3


class NodeProcesses:
    """
    A group of nodes; use as ``with NodeProcesses(folder, namespace) as nodes:``.

    At the end of the block every node gets SIGINT, and what still runs after a grace time is
    killed with all its children. Ctrl-C and SIGTERM are kept until no node is half started or half
    ended, and raised then.
    """

    def __init__(self, folder: Path, namespace: str) -> None:
        """
        Prepare a group without starting anything.

        :param folder: folder for parameter files, logs and outputs of the nodes.
        :param namespace: namespace of all nodes and of their clock.
        """
        self._folder = folder
        self._namespace = namespace
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._may_end: set[str] = set()
        self._signal: int | None = None

    def __enter__(self) -> NodeProcesses:
        """Keep signals from now on."""
        self._handlers = {number: signal.signal(number, self._keep)
                          for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """End all nodes, then obey a signal that came meanwhile."""
        self.end()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if kind is None:
            self._obey()

    def _keep(self, number: int, frame: FrameType | None) -> None:
        self._signal = number

    def _obey(self) -> None:
        number, self._signal = self._signal, None
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        if number is not None:
            raise SystemExit(128 + number)

    def start(self, module: str, parameters: Mapping[str, Any],
              remappings: Mapping[str, str] | None = None, *, node: str = '',
              shown: bool = False) -> None:
        """
        Start a node.

        :param module: below robot_dynamics_ros.nodes.
        :param parameters: ROS parameters.
        :param remappings: names in the node to other names.
        :param node: its name; empty = that of the module.
        :param shown: True = what it prints is seen at once, instead of being kept.
        """
        self._obey()
        node = node or module
        file = self._folder / f'{node}.yaml'
        file.write_text(yaml.safe_dump({'/**': {'ros__parameters': dict(parameters)}}),
                        encoding='utf-8')
        words = ['--ros-args', '--params-file', str(file)]
        names = {**(remappings or {}), '__node': node, '__ns': self._namespace,
                 '/clock': f'{self._namespace}/clock'}
        for old, new in names.items():
            words += ['--remap', f'{old}:={new}']
        environment = {**os.environ, **loopback(),
                       'ROS_LOG_DIR': str(self._folder / 'log'), 'PYTHONUNBUFFERED': '1'}
        with self._output(node).open('wb') as output:
            # a session of its own: Ctrl-C in the terminal reaches the parent alone
            self._processes[node] = subprocess.Popen(
                [sys.executable, '-m', f'robot_dynamics_ros.nodes.{module}', *words],
                stdin=subprocess.DEVNULL, stdout=None if shown else output, stderr=output,
                start_new_session=True, env=environment)

    def wait(self, node: str, patience: float,
             meanwhile: Callable[[], None] = lambda: None) -> None:
        """
        Wait until a node has ended by itself with exit code 0, while all others run.

        :param node: its name; it may be gone from now on.
        :param patience: longest time to wait [s].
        :param meanwhile: function that is called again and again.
        :raises NodeError: it failed, another node ended, or the time is over; with the output.
        """
        end = time.monotonic() + patience
        self._may_end.add(node)
        while (code := self._processes[node].poll()) is None:
            self._obey()
            meanwhile()
            for other, process in self._processes.items():
                if other not in self._may_end and process.poll() is not None:
                    raise NodeError(f'{other} has ended with exit code {process.returncode}:\n'
                                    f'{self.output(other)}')
            if time.monotonic() > end:
                raise NodeError(f'{node} did not end within {patience:g} s:\n{self.output(node)}')
            time.sleep(0.05)
        if code != 0:
            raise NodeError(f'{node} has ended with exit code {code}:\n{self.output(node)}')

    def output(self, node: str) -> str:
        """Return what a node has printed."""
        return self._output(node).read_text(encoding='utf-8', errors='replace')

    def stop(self, *nodes: str) -> None:
        """End some nodes: SIGINT, then SIGKILL to the process group."""
        self._may_end.update(nodes)
        running = [self._processes[node] for node in nodes if self._processes[node].poll() is None]
        for process in running:
            process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + GRACE
        while time.monotonic() < deadline and any(each.poll() is None for each in running):
            time.sleep(0.02)
        for process in running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def end(self) -> None:
        """End all nodes."""
        self.stop(*self._processes)

    def exit_codes(self) -> Mapping[str, int | None]:
        """Return the exit code of every node; None = still running."""
        return {node: process.poll() for node, process in self._processes.items()}

    def _output(self, node: str) -> Path:
        return self._folder / f'{node}.txt'
