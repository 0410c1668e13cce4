# SPDX-License-Identifier: Apache-2.0
"""
``robot-dynamics demo``: a simulated arm over ROS whose URDF is wrong learns what it really is.

An exciting motion is played while the identification node learns; then one more motion is tracked
with PID alone, with feedforward of the URDF, and with feedforward of what was learned.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf
from robot_dynamics_ros.cli.support.share_folder import share_folder
from robot_dynamics_ros.demo.node_processes import NodeProcesses, require_ros
from robot_dynamics_ros.demo.report import DemoResult, parameter_table, tracking_table, write
from robot_dynamics_ros.estimation.parameters.history import load_history
from robot_dynamics_ros.motion.playing.tracked_motion import load_tracked_motions
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

#: The demo does not meet other robots: loopback only, and a namespace of its own.
NAMESPACE = '/robot_dynamics_demo'
#: Longest time for starting the nodes [s], on top of the motions.
START = 60.0
#: A slow machine may take this many times as long as the motions.
SLOW = 4.0
#: Approach, rest and lead of one motion [s].
AROUND = 7.0

CONTROLLER = 'simulated_robot/joint_trajectory'
#: Ways of tracking and the topics they are sent to.
WAYS = {'PID': CONTROLLER, 'PID + URDF': 'urdf/joint_trajectory',
        'PID + learned': 'learned/joint_trajectory'}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the demo."""
    parser.add_argument('-o', '--output', metavar='FOLDER', type=Path, default=Path('output/demo'),
                        help='folder for report.html, tracking.png and parameters.yaml '
                        '(default: %(default)s)')
    parser.add_argument('--duration', metavar='SECONDS', type=float, default=6.0,
                        help='duration of the motion that is tracked (default: %(default)s)')
    parser.add_argument('--learning', metavar='SECONDS', type=float, default=30.0,
                        help='duration of the exciting motion (default: %(default)s)')
    parser.add_argument('--parameter-error', metavar='SHARE', type=float, default=0.25,
                        help='how much the simulated arm differs from its URDF '
                        '(default: %(default)s)')
    parser.add_argument('--seed', type=int, default=1,
                        help='seed of that difference (default: %(default)s)')
    parser.add_argument('--engine', choices=('mujoco', 'own'),
                        default='mujoco' if find_spec('mujoco') else 'own',
                        help='physics of the simulated arm (default: %(default)s)')


def run(arguments: argparse.Namespace) -> int:
    """Run the demo; exit code 1 where learning did not help."""
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
    print('learning did not help as it should')
    return 1


def _experiment(arguments: argparse.Namespace, folder: Path) -> DemoResult:
    share = share_folder()
    urdf, joints = share / 'urdf' / 'demo_arm.urdf', share / 'config' / 'demo_arm_joints.yaml'
    robot = {'robot_description': urdf.read_text(encoding='utf-8'), 'joints_file': str(joints)}
    chain = read_joints_file(joints).applied_to(chain_from_urdf(urdf))
    saved = arguments.output.resolve() / 'parameters.yaml'
    print(f'demo arm in {"MuJoCo" if arguments.engine == "mujoco" else "our own simulation"}; its '
          f'inertias and friction differ from the URDF by {100 * arguments.parameter_error:.0f} %')
    with NodeProcesses(folder, NAMESPACE) as nodes:
        _start_robot(nodes, arguments, robot, folder, saved)
        print(f'learning, {arguments.learning:g} s of motion:', flush=True)
        nodes.wait('excitation', START + SLOW * (arguments.learning + AROUND))
        nodes.stop('live_view')  # writes its history
        if 'are taken over' not in nodes.output('feedforward_learned'):
            print('the feedforward node has not taken over what was learned')
        print(f'\ntracking a motion of {arguments.duration:g} s three ways ...', flush=True)
        nodes.start('tracking_experiment', {
            **robot, 'use_sim_time': True, 'output': str(folder / 'tracking.npz'),
            'ways': list(WAYS), 'topics': list(WAYS.values()),
            'motion_duration': arguments.duration})
        nodes.wait('tracking_experiment',
                   START + len(WAYS) * SLOW * (arguments.duration + AROUND))
    return DemoResult(chain, _truth(chain, arguments), load_history(folder / 'history.npz'),
                      tuple(load_tracked_motions(folder / 'tracking.npz')))


def _start_robot(nodes: NodeProcesses, arguments: argparse.Namespace, robot: dict[str, Any],
                 folder: Path, saved: Path) -> None:
    # the simulated robot is the clock: on a busy machine the demo is slower, not different
    listening = {**robot, 'use_sim_time': True}
    nodes.start('simulated_robot', {
        **robot, 'engine': arguments.engine, 'publish_rate': 200.0, 'publish_clock': True,
        'parameter_error': arguments.parameter_error, 'seed': arguments.seed,
        'position_noise': 1e-5, 'velocity_noise': 1e-3, 'effort_noise': 0.05})
    nodes.start('identification', {**listening, 'parameters_file': str(saved),
                                   'save_at_end': True})
    for name in ('urdf', 'learned'):
        nodes.start('feedforward', {**listening, 'follow_mlc': name == 'learned'},
                    {'joint_trajectory': f'{name}/joint_trajectory',
                     '~/joint_trajectory': CONTROLLER, 'mlc': 'identification/mlc'},
                    node=f'feedforward_{name}')
    nodes.start('live_view', {**listening, 'history_file': str(folder / 'history.npz')},
                {'mlc': 'identification/mlc', 'progress': 'excitation/progress'}, shown=True)
    nodes.start('excitation', {**listening, 'duration': 0.5 * arguments.learning,
                               'repetitions': 2, 'exit_at_end': True},
                {'~/joint_trajectory': CONTROLLER})


def _truth(chain: Chain, arguments: argparse.Namespace) -> Chain:
    return with_parameter_error(chain, arguments.parameter_error, arguments.seed)
