# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics demo``: a simulated arm over ROS, tracked with and without feedforward."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from robot_dynamics_ros.cli.node_processes import NodeProcesses
from robot_dynamics_ros.cli.share_folder import share_folder
from robot_dynamics_ros.cli.table import table
from robot_dynamics_ros.control.recording import MotionRecording, load_recordings
from robot_dynamics_ros.errors import RobotDynamicsError

#: The demo does not meet other robots: loopback only, and a namespace of its own.
NAMESPACE = '/robot_dynamics_demo'
#: Longest time for starting the nodes [s], on top of the motions.
START = 30.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the demo."""
    parser.add_argument('--plot', metavar='FILE', type=Path, default=Path('demo.png'),
                        help='picture of the tracking errors (default: %(default)s)')
    parser.add_argument('--duration', metavar='SECONDS', type=float, default=6.0,
                        help='duration of the motion (default: %(default)s)')
    parser.add_argument('--parameter-error', metavar='SHARE', type=float, default=0.1,
                        help='how much the simulated arm differs from its URDF '
                        '(default: %(default)s)')
    parser.add_argument('--seed', type=int, default=1,
                        help='of that difference (default: %(default)s)')


def run(arguments: argparse.Namespace) -> int:
    """Run the demo: start the nodes, wait for the experiment, print and plot the tracking."""
    if find_spec('rclpy') is None or find_spec('robot_dynamics_interfaces') is None:
        raise RobotDynamicsError('the demo needs ROS 2 with robot_dynamics_interfaces: run '
                                 '`make demo`, or source the workspace that colcon has built')
    with tempfile.TemporaryDirectory(prefix='robot_dynamics_demo_') as folder:
        recordings = _record(arguments, Path(folder))
    print(f'\n{_report(recordings)}\n')
    _plot(recordings, arguments.plot)
    print(f'plot: {arguments.plot}')
    return 0


def _record(arguments: argparse.Namespace, folder: Path) -> list[MotionRecording]:
    share, output = share_folder(), folder / 'recordings.npz'
    robot = {
        'robot_description': (share / 'urdf' / 'demo_arm.urdf').read_text(encoding='utf-8'),
        'joints_file': str(share / 'config' / 'demo_arm_joints.yaml')}
    # the simulated robot is the clock: on a busy machine the demo is slower, not different
    listening = {**robot, 'use_sim_time': True}
    print('demo arm, simulated; nodes over DDS: simulated_robot, feedforward, dynamics_server, '
          'tracking_experiment')
    print(f'two motions of {arguments.duration:g} s, about {2 * arguments.duration + 18:.0f} s '
          'in all ...', flush=True)
    started = time.monotonic()
    with NodeProcesses(folder, NAMESPACE) as nodes:
        nodes.start('simulated_robot', {
            **robot, 'parameter_error': arguments.parameter_error,
            'seed': arguments.seed, 'publish_clock': True})
        nodes.start('feedforward', listening,
                    {'~/joint_trajectory': 'simulated_robot/joint_trajectory'})
        nodes.start('dynamics_server', listening)
        nodes.start('tracking_experiment', {
            **listening, 'output': str(output), 'motion_duration': arguments.duration})
        nodes.wait('tracking_experiment', START + 4.0 * (arguments.duration + 6.0))
    print(f'done in {time.monotonic() - started:.0f} s')
    return load_recordings(output)


def _report(recordings: Sequence[MotionRecording]) -> str:
    """Return the table of tracking errors, the last line over all joints."""
    before, after = (recording.tracking for recording in recordings)
    rows = [[name, f'{1e3 * a:.2f}', f'{1e3 * b:.2f}', f'{a / b:.1f}']
            for name, a, b in zip(before.joint_names, before.rms, after.rms)]
    rows.append(['all', f'{1e3 * before.total_rms:.2f}', f'{1e3 * after.total_rms:.2f}',
                 f'{before.total_rms / after.total_rms:.1f}'])
    header = ['tracking error, rms [mrad]', *(recording.name for recording in recordings),
              'times better']
    return table(header, rows)


def _plot(recordings: Sequence[MotionRecording], path: Path) -> None:
    """Write a picture: the errors of all joints, without and with feedforward."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 5.0), layout='constrained')
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 1, sharex=True, sharey=True)
    for axis, recording in zip(axes, recordings):
        tracking = recording.tracking
        lines = axis.plot(tracking.times, 1e3 * np.asarray(tracking.errors), linewidth=1.0)
        axis.set_title(f'{recording.name}: {1e3 * tracking.total_rms:.2f} mrad rms', loc='left',
                       fontsize=10)
        axis.set_ylabel('error [mrad]')
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel('time [s]')
    figure.legend(lines, recordings[0].trajectory.joint_names, loc='outside right center',
                  fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
