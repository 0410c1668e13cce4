# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics excite``: a short motion that shows all parameters of a robot well."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.cli.support.arguments import (
    add_joints_argument,
    add_robot_arguments,
    note_rigid_joints,
    robot_from_arguments,
)
from robot_dynamics_ros.cli.support.motion_table import motion_from_table
from robot_dynamics_ros.cli.support.output import save_figure, write_file
from robot_dynamics_ros.cli.support.share_folder import PACKAGE
from robot_dynamics_ros.cli.support.terminal import Progress, short, table
from robot_dynamics_ros.collision.motion import clearance
from robot_dynamics_ros.collision.obstacles import read_obstacles
from robot_dynamics_ros.collision.postures import slow_trajectory
from robot_dynamics_ros.collision.scene import MARGIN, CollisionScene, Floor, collision_scene
from robot_dynamics_ros.errors import CollisionError, ExcitationError
from robot_dynamics_ros.estimation.excitation.design import Excitation, design_excitation
from robot_dynamics_ros.estimation.excitation.fourier import JointMotion
from robot_dynamics_ros.estimation.excitation.information import CRITERIA
from robot_dynamics_ros.estimation.excitation.limits import HeightPoints, stuck_joints
from robot_dynamics_ros.estimation.excitation.starts import posture_text
from robot_dynamics_ros.files.csv_table import read_csv_table, write_csv_table

#: A condition number that is good for identification.
GOOD = 20.0
_LIMITED = ('position', 'velocity', 'acceleration', 'effort')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_robot_arguments(parser)
    add_joints_argument(parser, 'limits and joint physics that the URDF lacks')
    parser.add_argument('-o', '--output', metavar='NAME', type=Path, default=Path('excitation'),
                        help='write NAME.csv (t, q_, qd_, qdd_<joint>), NAME.yaml '
                        '(trajectory_msgs/JointTrajectory) and NAME.png (default: excitation)')
    parser.add_argument('--start', metavar='Q1,Q2,...', type=_numbers,
                        help='posture at both ends, e.g. the current one [rad, m]; write '
                        '--start=-1,0.5,... (default: zero, or the middle of the range, or a '
                        'free posture near it)')
    parser.add_argument('--from', metavar='Q1,Q2,...', type=_numbers, dest='home',
                        help='posture where the robot stands: the way from there to the start and '
                        'back is also planned, checked and written')
    parser.add_argument('--duration', metavar='SECONDS', type=float, default=10.0,
                        help='duration of the motion (default: 10)')
    parser.add_argument('--harmonics', metavar='N', type=int, default=5,
                        help='number of harmonics of the Fourier series (default: 5)')
    parser.add_argument('--criterion', choices=CRITERIA, default='condition',
                        help='condition number, or determinant of the information '
                        '(D-optimality) (default: condition)')
    parser.add_argument('--share', metavar='PART', type=float, default=0.8,
                        help='share of the velocity, acceleration and effort limits that may be '
                        'used (default: 0.8)')
    parser.add_argument('--acceleration', metavar='LIMIT', type=float,
                        help='acceleration limit of all joints [rad/s^2, m/s^2] (default: '
                        'whatever the efforts allow)')
    parser.add_argument('--height', metavar='METRES', type=float,
                        help='lowest height of the tip and of the centres of mass of the links '
                        'above the base')
    parser.add_argument('--after', metavar='FILE.csv', type=Path, action='append', default=[],
                        help='motion that has already been recorded (t, q_<joint>, optional qd_, '
                        'qdd_); the new one adds what it lacks; may be repeated')
    parser.add_argument('--rate', metavar='HZ', type=float, default=100.0,
                        help='points per second in the files (default: 100)')
    parser.add_argument('--candidates', metavar='N', type=int, default=200,
                        help='random motions to start from (default: 200)')
    parser.add_argument('--iterations', metavar='N', type=int, default=100,
                        help='steps in each stage of the search (default: 100)')
    parser.add_argument('--seed', metavar='N', type=int, default=0,
                        help='seed of the random motions; the same seed gives the same motion')
    _add_collision_arguments(parser)


def _add_collision_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group('collisions', 'The motion keeps away from the robot itself, '
                                      'from the floor and from obstacles.')
    floor = group.add_mutually_exclusive_group()
    floor.add_argument('--floor', metavar='METRES', type=_height, default='base',
                       help='height of the floor above the origin of the base link, against '
                       'gravity (default: 0)')
    floor.add_argument('--no-floor', action='store_const', const=None, dest='floor',
                       help='there is no floor')
    group.add_argument('--obstacles', metavar='FILE.yaml', type=Path,
                       help='boxes, spheres and capsules around the robot')
    group.add_argument('--margin', metavar='METRES', type=float, default=MARGIN,
                       help='smallest distance that is kept (default: 0.02)')
    group.add_argument('--meshes', metavar='FOLDER', type=Path, action='append', default=[],
                       help='folder with mesh files or packages; may be repeated')
    group.add_argument('--unchecked', action='store_true',
                       help='design a motion that may collide with anything')


def run(arguments: argparse.Namespace) -> int:
    """Design the motion, print how good it is and write it."""
    robot = robot_from_arguments(arguments)
    note_rigid_joints(robot, 'the torques of the motion are those of')
    chain = robot.chain
    if not arguments.rate > 0.0:
        raise ExcitationError(f'--rate must be positive, got {arguments.rate:g}')
    scene, missing = _scene(arguments, chain)
    if arguments.unchecked:
        print(f'NOT CHECKED for collisions{f": {missing}" if missing else " (--unchecked)"}')
    with Progress() as progress:
        excitation = design_excitation(
            chain, scene=None if arguments.unchecked else scene, unchecked=arguments.unchecked,
            home=arguments.home, start=arguments.start, duration=arguments.duration,
            harmonics=arguments.harmonics, criterion=arguments.criterion, share=arguments.share,
            acceleration=arguments.acceleration, height=arguments.height,
            recorded=[_recorded(path, chain) for path in arguments.after],
            candidates=arguments.candidates, iterations=arguments.iterations,
            seed=arguments.seed,
            progress=lambda done, of: progress(done / max(of, 1), 'searching'))
    print(summary(chain, excitation))
    for line in stuck_joints(chain, excitation.limits):
        print(f'\nNote: {line}')
    print(_distances(chain, scene, excitation))
    times = excitation.trajectory.times(arguments.rate)
    motion = excitation.trajectory.sample(times)
    name = str(arguments.output)
    write_csv_table(f'{name}.csv', _columns(chain, times, motion))
    write_file(f'{name}.yaml', trajectory_yaml(chain, times, motion))
    plot(chain, excitation, Path(f'{name}.png'))
    written = [f'{name}.csv', f'{name}.yaml', f'{name}.png']
    if scene is not None and excitation.way is not None:
        for word, way in (('approach', excitation.way), ('return', excitation.way[::-1])):
            slow = slow_trajectory(scene, way)
            times = np.unique(np.concatenate([slow.times, np.arange(0.0, slow.duration, 0.1)]))
            sampled = slow.sample(times)
            write_file(f'{name}_{word}.yaml', trajectory_yaml(
                chain, times, JointMotion(sampled.q, sampled.qd, sampled.qdd)))
            written.append(f'{name}_{word}.yaml')
    print(f'Written: {", ".join(written)}')
    print(f'Play it: {play_command(Path(f"{name}.yaml"), unchecked=arguments.unchecked)}')
    return 0


def play_command(file: Path, *, unchecked: bool) -> str:
    """Return the command that plays a motion on a robot with the usual controller."""
    return (f'ros2 run {PACKAGE} excitation --ros-args -p trajectory_file:={file.resolve()} '
            + ('-p unchecked:=true ' if unchecked else '')
            + "-r '~/joint_trajectory:=/joint_trajectory_controller/joint_trajectory'")


def _scene(arguments: argparse.Namespace, chain: Chain) -> tuple[CollisionScene | None, str]:
    """Return the scene, or None and why there is none where that is allowed."""
    floor: Floor = arguments.floor
    try:
        return collision_scene(
            arguments.robot, chain, locked=dict(arguments.lock), folders=arguments.meshes,
            srdf=arguments.srdf, floor=floor, margin=arguments.margin,
            obstacles=() if arguments.obstacles is None else read_obstacles(arguments.obstacles),
        ), ''
    except CollisionError as error:
        if arguments.unchecked:
            return None, str(error)
        raise CollisionError(f'{error}. --unchecked designs a motion that nothing has '
                             'checked') from error


def _distances(chain: Chain, scene: CollisionScene | None, excitation: Excitation) -> str:
    """Return the lowest point, the smallest distance, and what was not checked."""
    if scene is None:
        points = HeightPoints.of(chain)
        trajectory = excitation.trajectory
        heights = points.heights(trajectory.sample(trajectory.times(100.0)).q)
        if not points.names:
            return '\nLowest point and smallest distance: not known'
        k = int(np.argmin(heights.min(axis=0)))
        start = f'\n{_start(excitation)}' if excitation.start_note else ''
        return (f'\nLowest point {heights[:, k].min():.3f} m above the base ({points.names[k]}; '
                f'sizes of links are not known); smallest distance not known{start}')
    found = excitation.clearance or clearance(scene, excitation.trajectory)
    line = str(found)
    lines = ['', line[0].upper() + line[1:]]
    if excitation.clearance is None:
        lines.append('' if found.kept else f'It comes closer than {scene.margin:g} m: it collides '
                     'or may collide.')
    else:
        narrow = ' (less in the narrow gaps below)' if np.any(scene.margins < scene.margin) else ''
        lines.append(f'A distance of {1000 * scene.margin:g} mm is kept{narrow}, which is proved '
                     'between samples, too.')
    if excitation.start_note:
        lines.append(_start(excitation))
    if excitation.way is not None:
        lines.append('The way to the start and back is free; it has '
                     f'{len(excitation.way) - 2} intermediate postures.')
    elif excitation.clearance is not None:
        lines.append('The way to the start is not included; --from=Q1,Q2,... plans it.')
    lines += [f'Note: {finding}' for finding in scene.findings]
    reasons: dict[str, list[str]] = {}
    for first, second, reason in scene.left_out:
        reasons.setdefault(reason, []).append(f'{first} - {second}')
    lines += [f'Not checked ({reason}): {", ".join(names)}' for reason, names in reasons.items()]
    return '\n'.join(line for k, line in enumerate(lines) if line or not k)


def _start(excitation: Excitation) -> str:
    """Return why the default start was not taken, and which one was."""
    return (f'Start: {excitation.start_note}; this one was chosen: '
            f'--start={posture_text(excitation.limits.start)}')


def summary(chain: Chain, excitation: Excitation) -> str:
    """Return the condition number beside those of random motions, and the use of the limits."""
    random = excitation.random_condition_numbers
    limits = excitation.limits
    limited = np.isfinite([limits.upper, limits.velocity, limits.acceleration, limits.effort])
    rows = [[joint.name, *(f'{100 * share:.0f} %' if known else '-'
                           for share, known in zip(*columns))]
            for joint, *columns in zip(chain.joints, excitation.utilisation.T, limited.T)]
    aim = '' if excitation.condition_number < GOOD else (
        f' Below {GOOD:g} is good: try a longer --duration or more --candidates, and leave out '
        'a gripper with --tip or --lock.')
    return '\n'.join([
        f'{chain.robot}: a motion of {short(excitation.trajectory.duration)} s shows '
        f'{len(excitation.columns)} parameters',
        f'Condition number {excitation.condition_number:.1f} (columns of unit length); '
        f'{len(random)} random motions: median {np.median(random):.1f}, best '
        f'{np.min(random):.1f}.{aim}',
        '', 'Largest use of the permitted limits:', table(['joint', *_LIMITED], rows)])


def trajectory_yaml(chain: Chain, times: Array, motion: JointMotion) -> str:
    """Return a trajectory_msgs/JointTrajectory as YAML."""
    lines = ['joint_names: [' + ', '.join(chain.joint_names) + ']', 'points:']
    for t, *rows in zip(times, *motion):
        nanoseconds = round(float(t) * 1e9)
        for bullet, name, row in zip('-  ', ('positions', 'velocities', 'accelerations'), rows):
            lines.append(f'{bullet} {name}: [' + ', '.join(_decimal(x) for x in row) + ']')
        lines.append(f'  time_from_start: {{sec: {nanoseconds // 10**9}, '
                     f'nanosec: {nanoseconds % 10**9}}}')
    return '\n'.join(lines) + '\n'


def _decimal(value: float) -> str:
    return f'{round(float(value), 12) + 0.0:.12g}'


def plot(chain: Chain, excitation: Excitation, path: Path) -> None:
    """
    Draw positions, velocities and accelerations with the limits that were kept.

    :raises RobotDynamicsError: the picture cannot be written.
    """
    from matplotlib.figure import Figure

    trajectory, limits = excitation.trajectory, excitation.limits
    times = trajectory.times(100.0)
    motion = trajectory.sample(times)
    n = len(chain)
    figure = Figure(figsize=(10.0, 1.0 + 1.3 * n), layout='constrained')
    panels = figure.subplots(n, 3, sharex=True, squeeze=False)
    bounds = ((limits.lower, limits.upper), (-limits.velocity, limits.velocity),
              (-limits.acceleration, limits.acceleration))
    titles = ('position [rad, m]', 'velocity [rad/s, m/s]', 'acceleration [rad/s², m/s²]')
    for k, (values, (low, high), title) in enumerate(zip(motion, bounds, titles)):
        panels[0, k].set_title(title, fontsize=10)
        panels[-1, k].set_xlabel('time [s]')
        for j in range(n):
            panels[j, k].plot(times, values[:, j], color='tab:blue', linewidth=1.2)
            panels[j, k].grid(alpha=0.3)
            for bound in (low[j], high[j]):
                if np.isfinite(bound):
                    panels[j, k].axhline(bound, color='tab:red', linestyle='--', linewidth=0.8)
    for j, name in enumerate(chain.joint_names):
        panels[j, 0].set_ylabel(name)
    figure.suptitle(f'{chain.robot}: exciting trajectory, condition number '
                    f'{excitation.condition_number:.1f}')
    save_figure(figure, path)


def _columns(chain: Chain, times: Array, motion: JointMotion) -> dict[str, Array]:
    columns: dict[str, Any] = {'t': times}
    for prefix, values in zip(('q', 'qd', 'qdd'), motion):
        columns.update({f'{prefix}_{name}': values[:, j]
                        for j, name in enumerate(chain.joint_names)})
    return columns


def _recorded(path: Path, chain: Chain) -> tuple[JointMotion, float]:
    motion = motion_from_table(read_csv_table(path), chain)
    return JointMotion(motion.q, motion.qd, motion.qdd), float(motion.t[-1] - motion.t[0])


def _height(text: str) -> float | str:
    try:
        return text if text == 'base' else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a height in metres") from None


def _numbers(text: str) -> list[float]:
    try:
        return [float(word) for word in text.split(',')]
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form Q1,Q2,...") from None
