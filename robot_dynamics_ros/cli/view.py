# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics view``: a robot, its axes, inertias and weights in the browser."""

from __future__ import annotations

import argparse
import sys
import time
import webbrowser
from pathlib import Path

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.cli.support.arguments import (
    add_joints_argument,
    add_robot_arguments,
    robot_from_arguments,
)
from robot_dynamics_ros.cli.support.motion_table import motion_from_table
from robot_dynamics_ros.cli.support.output import write_file
from robot_dynamics_ros.errors import ChainError, ParameterError, RobotDynamicsError
from robot_dynamics_ros.estimation.parameters.identified_urdf import identified_urdf
from robot_dynamics_ros.estimation.parameters.parameters_file import read_parameters
from robot_dynamics_ros.files.csv_table import read_csv_table
from robot_dynamics_ros.motion.trajectory_file import read_trajectory
from robot_dynamics_ros.picture.drawn_robot import drawn_robot
from robot_dynamics_ros.picture.robot_picture import picture_of
from robot_dynamics_ros.view.guarded_server import LOCALHOST, GuardedServer
from robot_dynamics_ros.view.robot_page import RATE, RobotPage
from robot_dynamics_ros.view.viewed_robot import OVERLAYS, ShownMotion, ViewedRobot


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_robot_arguments(parser)
    add_joints_argument(parser, 'limits, payload')
    parser.add_argument('--parameters', metavar='parameters.yaml', type=Path,
                        help='identified parameters, shown beside those of the URDF')
    parser.add_argument('--motion', metavar='FILE', type=Path,
                        help='motion to play: .yaml of excite, or .csv with t, q_<joint>')
    parser.add_argument('--at', metavar='JOINT=VALUE', action='append', default=[], type=_position,
                        help='position to begin with [rad, m]; may be repeated')
    parser.add_argument('--meshes', metavar='DIR', type=Path, action='append', default=[],
                        help='folder with the mesh files; may be repeated')
    parser.add_argument('--show', metavar='WHAT', default=None, type=_overlays,
                        help=f'what to show at first, of {",".join(OVERLAYS)} (default: gravity '
                        'on the page, nothing in a picture)')
    parser.add_argument('--floor', metavar='Z', type=float,
                        help='height of the floor [m] (default: lowest point)')
    parser.add_argument('--screenshot', metavar='FILE.png', type=_png,
                        help='write a picture instead; needs neither window nor browser')
    parser.add_argument('--size', metavar='WxH', default=(1280, 800), type=_size,
                        help='size of the picture [pixels] (default: 1280x800)')
    parser.add_argument('--port', type=int, default=8080, help='port (default: %(default)s)')
    parser.add_argument('--no-browser', action='store_true', help='only print the address')


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C, or write the picture."""
    robot, motion = viewed_robot(arguments), None
    if arguments.motion is not None:
        motion = shown_motion(arguments.motion, robot.chain)
    for finding in robot.drawn.findings[:3]:
        print(f'note: {finding}', file=sys.stderr)
    if len(robot.drawn.findings) > 3:
        print(f'note: and {len(robot.drawn.findings) - 3} more links', file=sys.stderr)
    if arguments.screenshot is not None:
        write_file(arguments.screenshot, picture(robot, arguments))
        print(arguments.screenshot)
        return 0
    shown = ('gravity',) if arguments.show is None else arguments.show
    with GuardedServer(port=arguments.port, address=LOCALHOST) as server:
        page = RobotPage(server, robot, motion, shown, arguments.floor)
        page.move(_start(robot, arguments))
        try:
            print(f'{server.url}\nOpen this address in a browser of this machine; Ctrl-C ends.',
                  flush=True)
            if not arguments.no_browser:
                webbrowser.open(server.url)
            while True:
                page.step()
                time.sleep(1.0 / RATE)
        except KeyboardInterrupt:
            return 0


def viewed_robot(arguments: argparse.Namespace) -> ViewedRobot:
    """
    Return the robot of the arguments; one without a single chain is shown without dynamics.

    :raises RobotDynamicsError: the robot, a chain that was named or the parameters cannot be used.
    """
    drawn = drawn_robot(arguments.robot, folders=arguments.meshes)
    try:
        chain: Chain | None = robot_from_arguments(arguments).chain
    except ChainError as error:
        if arguments.tip or arguments.base or arguments.joints or arguments.parameters:
            raise
        print(f'note: {error}; shown without dynamics', file=sys.stderr)
        chain = None
    locked = dict(arguments.lock)
    if arguments.parameters is None or chain is None:
        return ViewedRobot(drawn, chain, locked=locked)
    estimate = read_parameters(arguments.parameters, chain)
    identified = None
    try:
        identified = identified_urdf(arguments.robot, chain, estimate, locked=locked,
                                     folders=arguments.meshes).inertias.chain
    except RobotDynamicsError as error:
        print(f'note: no identified ellipsoids: {error}', file=sys.stderr)
    return ViewedRobot(drawn, chain, estimate, identified, locked)


def shown_motion(path: Path, chain: Chain | None) -> ShownMotion:
    """
    Return the motion of a file.

    :raises RobotDynamicsError: it cannot be read, or does not belong to the robot.
    """
    if path.suffix.lower() != '.csv':
        return ShownMotion.of(read_trajectory(path))
    if chain is None:
        raise ChainError(f'{path}: a table of positions needs a chain; name --base and --tip')
    motion = motion_from_table(read_csv_table(path), chain)
    return ShownMotion(motion.t - motion.t[0], chain.joint_names, motion.q)


def picture(robot: ViewedRobot, arguments: argparse.Namespace) -> bytes:
    """Return the picture of the robot at the posture of the arguments, as PNG."""
    positions = {**robot.rest(), **_start(robot, arguments)}
    return picture_of(robot.scene(positions, arguments.show or ()), robot.drawn.placed(positions),
                      arguments.size[0], arguments.size[1], arguments.floor)


def _start(robot: ViewedRobot, arguments: argparse.Namespace) -> dict[str, float]:
    known = {joint.name for joint in robot.drawn.joints}
    for name, _ in arguments.at:
        if name not in known:
            raise ParameterError(f'--at {name}: no joint of that name can be moved; there are '
                                 f'{", ".join(sorted(known))}')
    return {**robot.rest(), **dict(arguments.at)}


def _position(text: str) -> tuple[str, float]:
    name, _, value = text.rpartition('=')
    try:
        return name, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not of the form JOINT=VALUE, with a number in rad or m") from None


def _png(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() != '.png':
        raise argparse.ArgumentTypeError(f"'{text}' does not end in .png")
    return path


def _overlays(text: str) -> tuple[str, ...]:
    names = tuple(word for word in text.split(',') if word)
    wrong = [name for name in names if name not in OVERLAYS]
    if wrong:
        raise argparse.ArgumentTypeError(f"'{wrong[0]}' is none of {', '.join(OVERLAYS)}")
    return names


def _size(text: str) -> tuple[int, int]:
    try:
        width, height = (int(word) for word in text.split('x'))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form WIDTHxHEIGHT") from None
    return width, height
