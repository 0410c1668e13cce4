# SPDX-License-Identifier: Apache-2.0
"""
``robot-dynamics demo``: a simulated arm over ROS whose URDF is wrong is calibrated.

The calibration node goes through all its stages, as on a robot; then one more motion is tracked
with PID alone, with feedforward of the URDF, and with feedforward of the calibration.
"""

from __future__ import annotations

import argparse
import re
import shutil
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.calibration.folder import CalibrationFolder
from robot_dynamics_ros.calibration.stages import Stage
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf
from robot_dynamics_ros.cli.support.share_folder import share_folder
from robot_dynamics_ros.demo.learning_curve import learning_curve
from robot_dynamics_ros.demo.node_processes import NodeProcesses, require_ros
from robot_dynamics_ros.demo.report import DemoResult, parameter_table, tracking_table, write
from robot_dynamics_ros.estimation.parameters.parameters_file import read_parameters
from robot_dynamics_ros.motion.playing.lively_motion import middle_position
from robot_dynamics_ros.motion.playing.tracked_motion import load_tracked_motions
from robot_dynamics_ros.picture.robot_picture import picture_if_possible
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

#: The demo does not meet other robots: loopback only, and a namespace of its own.
NAMESPACE = '/robot_dynamics_demo'
#: Longest time for starting the nodes and for work without motion [s], on top of the motions.
START = 120.0
#: A slow machine may take this many times as long as the motions in real time.
SLOW = 4.0
#: Approach, rest and lead of one motion [s].
AROUND = 7.0
#: Static test and ways to the start [s].
BESIDE = 150.0
#: Longest time to wait for the address of the live page [s].
PAGE = 30.0
#: Velocity of the rehearsal, as a part of that of the motion, and times that it is played.
REHEARSAL, REPETITIONS = 0.1, 2

CONTROLLER = 'simulated_robot/joint_trajectory'
#: Ways of tracking and the topics they are sent to.
WAYS = {'PID': CONTROLLER, 'PID + URDF': 'urdf/joint_trajectory',
        'PID + calibration': 'calibrated/joint_trajectory'}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the demo."""
    parser.add_argument('-o', '--output', metavar='FOLDER', type=Path, default=Path('output/demo'),
                        help='folder for report.html, tracking.png and the folder of the '
                        'calibration (default: %(default)s)')
    parser.add_argument('--duration', metavar='SECONDS', type=float, default=6.0,
                        help='duration of the motion that is tracked (default: %(default)s)')
    parser.add_argument('--learning', metavar='SECONDS', type=float, default=10.0,
                        help='duration of the exciting motion (default: %(default)s)')
    parser.add_argument('--parameter-error', metavar='SHARE', type=float, default=0.25,
                        help='how much the simulated arm differs from its URDF '
                        '(default: %(default)s)')
    parser.add_argument('--seed', type=int, default=1,
                        help='seed of that difference (default: %(default)s)')
    parser.add_argument('--engine', choices=('mujoco', 'own'),
                        default='mujoco' if find_spec('mujoco') else 'own',
                        help='physics of the simulated arm (default: %(default)s)')
    parser.add_argument('--speed', metavar='X', type=float, default=3.0,
                        help='simulated seconds per second, where the machine is fast enough '
                        '(default: %(default)s)')
    parser.add_argument('--no-page', action='store_true',
                        help='do not serve the live page in the browser')


def run(arguments: argparse.Namespace) -> int:
    """Run the demo; exit code 1 where the calibration did not help."""
    require_ros('run `make demo`')
    arguments.output.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix='robot_dynamics_demo_') as folder:
        result = _experiment(arguments, Path(folder))
    print(f'\n{tracking_table(result)}\n\n{parameter_table(result)}\n')
    write(result, arguments.output)
    print(f'{time.monotonic() - started:.0f} s; report: {arguments.output / "report.html"}')
    if result.successful:
        return 0
    print('the calibration did not help as it should')
    return 1


def _experiment(arguments: argparse.Namespace, folder: Path) -> DemoResult:
    share = share_folder()
    urdf, joints = share / 'urdf' / 'demo_arm.urdf', share / 'config' / 'demo_arm_joints.yaml'
    robot = {'robot_description': urdf.read_text(encoding='utf-8'), 'joints_file': str(joints)}
    chain = read_joints_file(joints).applied_to(chain_from_urdf(urdf))
    result = CalibrationFolder(arguments.output.resolve() / 'calibration')
    if result.exists:  # of the last demo
        shutil.rmtree(result.path)
    print(f'demo arm in {"MuJoCo" if arguments.engine == "mujoco" else "our own simulation"}; its '
          f'inertias and friction differ from the URDF by {100 * arguments.parameter_error:.0f} %')
    listening = {**robot, 'use_sim_time': True}
    with NodeProcesses(folder, NAMESPACE) as nodes:
        # the simulated robot is the clock: on a busy machine the demo is slower, not different
        nodes.start('simulated_robot', {
            **robot, 'engine': arguments.engine, 'publish_rate': 100.0, 'publish_clock': True,
            'real_time_factor': arguments.speed, 'parameter_error': arguments.parameter_error,
            'seed': arguments.seed, 'position_noise': 1e-5, 'velocity_noise': 1e-3,
            'effort_noise': 0.05})
        nodes.start('calibration', {
            **listening, 'folder': str(result.path), 'auto': True, 'exit_at_end': True,
            'duration': arguments.learning, 'repetitions': REPETITIONS,
            'rehearsal_velocity': REHEARSAL,
            # in real time as on a robot: the machine may be busy
            'joint_state_timeout': 0.5 * max(arguments.speed, 1.0)},
            {'~/joint_trajectory': CONTROLLER})
        _show_live(nodes, listening, arguments)
        moving = BESIDE + arguments.learning * (REPETITIONS + 1.0 / REHEARSAL)
        nodes.wait('calibration', START + SLOW * moving, LogTail(result.log_file).show)
        calibrated = {'robot_description': result.description.read_text(encoding='utf-8'),
                      'joints_file': str(result.joints), 'use_sim_time': True,
                      'parameters_file': str(result.parameters)}
        for name, parameters in (('urdf', listening), ('calibrated', calibrated)):
            nodes.start('feedforward', parameters, {
                'joint_trajectory': f'{name}/joint_trajectory', '~/joint_trajectory': CONTROLLER},
                node=f'feedforward_{name}')
        print(f'\ntracking a motion of {arguments.duration:g} s three ways ...', flush=True)
        nodes.start('tracking_experiment', {
            **listening, 'output': str(folder / 'tracking.npz'), 'ways': list(WAYS),
            'topics': list(WAYS.values()), 'motion_duration': arguments.duration})
        nodes.wait('tracking_experiment',
                   START + len(WAYS) * SLOW * (arguments.duration + AROUND))
    recordings = result.recordings(Stage.MOTION.value, chain)
    effort = read_joints_file(result.joints).effort_semantics(chain)
    return DemoResult(chain, _truth(chain, arguments), read_parameters(result.parameters, chain),
                      tuple(load_tracked_motions(folder / 'tracking.npz')),
                      learning_curve(chain, effort, recordings[0]) if recordings else None,
                      picture_if_possible(urdf, chain.joint_names, _posture(chain), height=760))


def _show_live(nodes: NodeProcesses, listening: dict[str, Any],
               arguments: argparse.Namespace) -> None:
    """Learn beside the calibration, and show it on a page whose address is printed."""
    nodes.start('identification', {
        **listening, 'parameters_file': str(arguments.output.resolve() / 'learned.yaml')})
    nodes.start('live_view', {
        **listening, 'page': not arguments.no_page},
        {'mlc': 'identification/mlc', 'progress': 'calibration/progress',
         'stop': 'calibration/stop', 'reset': 'identification/reset',
         'save': 'identification/save'})
    end = time.monotonic() + PAGE
    while not arguments.no_page and time.monotonic() < end:
        if found := re.search(r'live page: \S+', nodes.output('live_view')):
            print(found.group(), flush=True)
            return
        if nodes.exit_codes()['live_view'] is not None or 'no page' in nodes.output('live_view'):
            return
        time.sleep(0.1)


class LogTail:
    """Shows the lines of a log as they are written."""

    def __init__(self, path: Path) -> None:
        """
        Begin at the first line.

        :param path: the log; it may not exist yet.
        """
        self._path, self._shown = path, 0

    def show(self) -> None:
        """Print what is new."""
        if self._path.is_file():
            lines = self._path.read_text(encoding='utf-8').splitlines()
            for line in lines[self._shown:]:
                print(line, flush=True)
            self._shown = len(lines)


def _posture(chain: Chain) -> Array:
    """Return a posture in which an arm looks like one (n,) [rad, m]."""
    lower, upper = chain.position_limits
    middle = middle_position(chain)
    return np.asarray(np.where(np.arange(len(chain)) % 2, middle + 0.12 * (upper - lower), middle))


def _truth(chain: Chain, arguments: argparse.Namespace) -> Chain:
    return with_parameter_error(chain, arguments.parameter_error, arguments.seed)
