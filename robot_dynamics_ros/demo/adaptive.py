# SPDX-License-Identifier: Apache-2.0
"""
``robot-dynamics adaptive_demo``: over ROS, a payload appears on a simulated arm while it moves.

The adaptive_controller node follows a motion twice: learning, and with the same law without it.
"""

from __future__ import annotations

import argparse
import math
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf
from robot_dynamics_ros.cli.support.output import save_figure
from robot_dynamics_ros.cli.support.share_folder import share_folder
from robot_dynamics_ros.cli.support.terminal import table
from robot_dynamics_ros.control.adaptive.choice import LAW_NAMES
from robot_dynamics_ros.demo.node_processes import NodeProcesses, require_ros
from robot_dynamics_ros.errors import NodeError
from robot_dynamics_ros.motion.playing.lively_motion import middle_position
from robot_dynamics_ros.motion.playing.tracked_motion import TrackedMotion, load_tracked_motions

#: The demo does not meet other robots: loopback only, and a namespace of its own.
NAMESPACE = '/robot_dynamics_adaptive_demo'
#: Longest time for starting the nodes and for a slow machine [s], on top of four motions.
PATIENCE = 90.0
#: The payload is put at this place in the tip frame [m].
PLACE = (0.0, 0.0, 0.1)
#: With the payload, learning must bring the error below this part of that without it.
SUCCESS = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the demo."""
    parser.add_argument('--law', choices=LAW_NAMES, default='slotine_li',
                        help='control law (default: %(default)s)')
    parser.add_argument('--payload', metavar='KG', type=float, default=3.0,
                        help='payload that appears (default: %(default)s)')
    parser.add_argument('--duration', metavar='SECONDS', type=float, default=8.0,
                        help='duration of the motion; the payload appears after 40 %% of it '
                        '(default: %(default)s)')
    parser.add_argument('--plot', metavar='FILE.png', type=Path,
                        help='draw the errors of both motions')


def run(arguments: argparse.Namespace) -> int:
    """Run the demo; exit code 1 where learning did not help."""
    require_ros('run `make setup` and .venv/bin/robot-dynamics')
    load_time = 0.4 * arguments.duration
    motions = []
    for name, learning in (('without learning', False), ('learning', True)):
        print(f'demo arm, {arguments.law}, {name}: {arguments.duration:g} s, a payload of '
              f'{arguments.payload:g} kg after {load_time:g} s ...', flush=True)
        with tempfile.TemporaryDirectory(prefix='robot_dynamics_demo_') as folder:
            motions.append(_recorded(arguments, name, learning, load_time, Path(folder)))
    print(f'\n{report(motions, load_time)}')
    if arguments.plot is not None:
        plot(motions, load_time, arguments.plot)
    without, learned = (motion.tracking.rms_between(load_time + 1.0, math.inf)
                        for motion in motions)
    if learned < SUCCESS * without:
        return 0
    print('learning did not help as it should')
    return 1


def _recorded(arguments: argparse.Namespace, name: str, learning: bool, load_time: float,
              folder: Path) -> TrackedMotion:
    share, output = share_folder(), folder / 'motions.npz'
    urdf = share / 'urdf' / 'demo_arm.urdf'
    robot = {'robot_description': urdf.read_text(encoding='utf-8'),
             'joints_file': str(share / 'config' / 'demo_arm_joints.yaml')}
    first = middle_position(chain_from_urdf(urdf))  # where the motion begins
    listening = {**robot, 'use_sim_time': True}
    never = {} if learning else {'learning_time': math.inf, 'friction_time': math.inf}
    with NodeProcesses(folder, NAMESPACE) as nodes:
        # in step with the controller: on a busy machine the demo is slower, not different
        nodes.start('simulated_robot', {**robot, 'publish_clock': True, 'lockstep': True,
                                        'publish_rate': 200.0, 'simulation_rate': 400.0,
                                        'initial_position': first.tolist()})
        nodes.start('adaptive_controller', {**listening, 'law': arguments.law, **never},
                    {'~/commands': 'simulated_robot/commands'})
        _wait_for_control(nodes)
        nodes.start('tracking_experiment', {
            **listening, 'output': str(output), 'ways': [name], 'topics': ['joint_trajectory'],
            'motion_duration': arguments.duration, 'approach_duration': 0.5,
            'load_mass': arguments.payload, 'load_place': list(PLACE), 'load_time': load_time})
        nodes.wait('tracking_experiment', PATIENCE + 4.0 * arguments.duration)
    return load_tracked_motions(output)[0]


def _wait_for_control(nodes: NodeProcesses) -> None:
    """Wait until the controller has taken the arm over: before, it drops trajectories."""
    end = time.monotonic() + PATIENCE
    while 'under control' not in nodes.output('adaptive_controller'):
        codes = [code for code in nodes.exit_codes().values() if code is not None]
        if codes or time.monotonic() > end:
            raise NodeError('the adaptive controller does not take over the arm:\n'
                            f'{nodes.output("adaptive_controller")}'
                            f'{nodes.output("simulated_robot")}')
        time.sleep(0.1)


def report(motions: Sequence[TrackedMotion], load_time: float) -> str:
    """Return the table of tracking errors, before and with the payload."""
    spans = ((0.0, load_time), (load_time + 1.0, math.inf))
    rows = [[motion.name, *(f'{1e3 * motion.tracking.rms_between(*span):.2f}'
                            for span in spans)] for motion in motions]
    return table(['tracking error, rms [mrad]', 'before the payload', 'from 1 s after it on'],
                 rows)


def plot(motions: Sequence[TrackedMotion], load_time: float, path: Path) -> None:
    """
    Draw the largest error of all joints over time.

    :raises RobotDynamicsError: the picture cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.6), layout='constrained')
    axes = figure.subplots()
    for motion in motions:
        tracking = motion.tracking
        axes.plot(tracking.times, 1e3 * np.max(np.abs(tracking.errors), axis=1),
                  label=motion.name, linewidth=1.0)
    axes.axvline(load_time, color='black', linewidth=0.8, linestyle='--')
    axes.set_xlabel('time [s]')
    axes.set_ylabel('largest error of all joints [mrad]')
    axes.grid(alpha=0.3)
    axes.legend(loc='upper left')
    save_figure(figure, path)
