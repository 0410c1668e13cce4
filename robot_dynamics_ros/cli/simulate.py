# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics simulate``: controllers compared on a simulated arm, without ROS."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.chain.urdf.document import read_text
from robot_dynamics_ros.cli.support.arguments import (
    add_joints_argument,
    add_robot_arguments,
    weighed_robot_from_arguments,
)
from robot_dynamics_ros.cli.support.motion_table import motion_from_table
from robot_dynamics_ros.cli.support.output import save_figure
from robot_dynamics_ros.cli.support.terminal import short, table
from robot_dynamics_ros.codegen.runtime.model import Model, compile_model
from robot_dynamics_ros.control.adaptive.choice import AdaptiveSettings
from robot_dynamics_ros.control.adaptive.unknown_parameters import GROUPS
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.estimation.parameters.parameters_file import read_parameters
from robot_dynamics_ros.estimation.recordings.files import write_recording
from robot_dynamics_ros.files.csv_table import read_csv_table
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.playing.lively_motion import lively_motion
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.simulation.closed_loop import ClosedLoopRun, LoadChange, run_closed_loop
from robot_dynamics_ros.simulation.compared_controllers import CONTROLLERS, make_controller
from robot_dynamics_ros.simulation.controlled_robot import SensorNoise
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error
from robot_dynamics_ros.simulation.robot import SPRING_DAMPING, SimulatedRobot

_DEFAULTS = AdaptiveSettings()
#: Width of the spans over which errors are averaged in the plot [s].
_SPAN = 0.25


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_robot_arguments(parser)
    parser.add_argument('--controller', metavar='NAME', action='append', choices=CONTROLLERS,
                        help=f'one of {", ".join(CONTROLLERS)}; repeat it to compare (default: '
                        'computed_torque and slotine_li)')
    parser.add_argument('--trajectory', metavar='FILE.csv', type=Path,
                        help='columns t, q_<joint>, optional qd_<joint>, qdd_<joint> [s, rad, m] '
                        '(default: ten seconds inside the limits of the robot)')
    add_joints_argument(parser, 'rotor inertia, friction, limits, payload, stiffness')
    parser.add_argument('--parameters', metavar='parameters.yaml', type=Path,
                        help='identified parameters that the controllers know (default: those of '
                        'the robot description)')
    parser.add_argument('--payload', metavar='MASS[,X,Y,Z][@TIME]', type=_payload, default=[],
                        action='append', help='point mass [kg] at a place in the tip frame [m] '
                        'that appears at a time [s], unknown to the controller; if repeated, each '
                        'replaces the one before; mass 0 = put down')
    parser.add_argument('--parameter-error', metavar='SHARE', type=float, default=0.1,
                        help='how much the arm differs from its URDF (default: %(default)s)')
    parser.add_argument('--seed', type=int, default=1,
                        help='seed of that difference and of the noise (default: %(default)s)')
    parser.add_argument('--rate', metavar='HZ', type=float, default=500.0,
                        help='rate of the controller (default: %(default)s)')
    parser.add_argument('--velocity-noise', metavar='RAD/S', type=float, default=0.0,
                        help='standard deviation of the measured velocity (default: %(default)s)')
    group = parser.add_argument_group('adaptive controllers')
    group.add_argument('--bandwidth', metavar='1/S', type=float, default=_DEFAULTS.bandwidth[0],
                       help='bandwidth of all controllers (default: %(default)s)')
    group.add_argument('--learn', metavar='WORD', nargs='+', default=_DEFAULTS.learn,
                       help=f'groups ({", ".join(GROUPS)}) or names of parameters (default: '
                       f'{" ".join(_DEFAULTS.learn)})')
    group.add_argument('--learning-time', metavar='S', type=float, default=0.0,
                       help='time constant for links and payload (default: that of the law)')
    group.add_argument('--friction-time', metavar='S', type=float, default=0.0,
                       help='time constant for joint terms (default: that of the law)')
    group.add_argument('--dead-zone', metavar='RAD/S', type=float, default=_DEFAULTS.dead_zone,
                       help='errors below this are not learned from (default: %(default)s)')
    parser.add_argument('-o', '--output', metavar='FILE.csv', type=Path,
                        help='write what the last controller measured and commanded, for '
                        'robot-dynamics identify (.csv, .npz, or a rosbag2 folder)')
    parser.add_argument('--plot', metavar='FILE.png', type=Path,
                        help='draw the tracking errors and what was learned')


def run(arguments: argparse.Namespace) -> int:
    """Simulate the controllers one after the other, print and draw."""
    robot = weighed_robot_from_arguments(arguments)
    chain = robot.chain
    motion = _motion(arguments, chain)
    if arguments.payload and len(chain.tips) > 1:
        print(f'note: the payload is at {chain.tip}, the first of {chain.tip_names}; --tips gives '
              'another order', file=sys.stderr)
    true = with_parameter_error(chain, arguments.parameter_error, arguments.seed)
    models = compile_model(chain), compile_model(true)
    if arguments.parameters is not None:
        known = read_parameters(arguments.parameters, chain)
        models[0].swap(known.mlc.values, known.joint_physics)
    runs, names = [], arguments.controller or ['computed_torque', 'slotine_li']
    for name in names:
        try:
            runs.append(_simulated(name, arguments, motion, *models, robot.stiffness))
        except StateError as error:
            print(f'{name}: unstable: {error}')
    if runs:
        print(summary(runs, arguments.payload))
        if arguments.output is not None:
            write_recording(arguments.output, runs[-1].recording,
                            description=read_text(arguments.robot)[0].decode(errors='replace'))
        if arguments.plot is not None:
            plot(chain, runs, arguments.payload, arguments.plot)
    return 0 if len(runs) == len(names) else 1


def _motion(arguments: argparse.Namespace, chain: Chain) -> Trajectory:
    if arguments.trajectory is None:
        return lively_motion(chain, duration=10.0)
    motion = motion_from_table(read_csv_table(arguments.trajectory), chain)
    return Trajectory(chain.joint_names, motion.t - motion.t[0], motion.q, motion.qd, motion.qdd)


def _simulated(name: str, arguments: argparse.Namespace, motion: Trajectory, model: Model,
               true: Model, stiffness: Array | None) -> ClosedLoopRun:
    settings = AdaptiveSettings(
        law=name, bandwidth=(arguments.bandwidth,), learn=tuple(arguments.learn),
        learning_time=arguments.learning_time, friction_time=arguments.friction_time,
        dead_zone=arguments.dead_zone)
    controller = make_controller(name, model, EffortLimits.of_chain(model.chain), settings)
    true.parameters = true.mlc.values
    # the arm moves in steps of at most a millisecond
    steps = max(1, round(1000.0 / arguments.rate))
    robot = SimulatedRobot(true.chain, true, q=motion.positions[0],
                           step=1.0 / (steps * arguments.rate),
                           stiffness=stiffness, spring_damping=SPRING_DAMPING)
    return run_closed_loop(controller, robot, motion, rate=arguments.rate, loads=arguments.payload,
                           noise=SensorNoise(velocity=arguments.velocity_noise),
                           seed=arguments.seed, name=name)


def _payload(text: str) -> LoadChange:
    numbers, _, time = text.partition('@')
    try:
        mass, *place = (float(word) for word in numbers.split(','))
        x, y, z = place or (0.0, 0.0, 0.0)
        return LoadChange(float(time or 0.0), payload_inertia(mass, [x, y, z], np.zeros((3, 3))))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"'{text}' is not of the form MASS[,X,Y,Z][@TIME]") from None
    except ParameterError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def summary(runs: Sequence[ClosedLoopRun], loads: Sequence[LoadChange]) -> str:
    """Return a table: errors between payload changes, saturated efforts, learned mass."""
    end = runs[0].tracked.trajectory.duration
    spans = _spans(loads, end)
    learned = any(each.value_of('load_M') is not None for each in runs)
    header = ['tracking error, rms [mrad, mm]', *(f'{a:g}-{b:g} s' for a, b in spans), 'largest',
              'saturated efforts', *(['learned payload [kg]'] if learned else [])]
    rows = []
    for each in runs:
        mass = each.value_of('load_M')
        told = '-' if mass is None else short(float(mass[-1]))
        rows.append([each.tracked.name,
                     *(f'{1e3 * each.error_between(a, b):.2f}' for a, b in spans),
                     f'{1e3 * each.tracked.tracking.largest.max():.1f}',
                     str(int(each.clamped.sum())), *([told] if learned else [])])
    return table(header, rows)


def _spans(loads: Sequence[LoadChange], end: float) -> list[tuple[float, float]]:
    times = sorted({load.time for load in loads if 0.0 < load.time < end})
    return list(zip([0.0, *times], [*times, end]))


def plot(chain: Chain, runs: Sequence[ClosedLoopRun], loads: Sequence[LoadChange],
         path: Path) -> None:
    """
    Draw the errors of all controllers, and the learned payload where one is learned.

    :raises RobotDynamicsError: the picture cannot be written.
    """
    from matplotlib.figure import Figure

    learned = [(each, mass) for each in runs if (mass := each.value_of('load_M')) is not None]
    panels = 2 if learned else 1
    figure = Figure(figsize=(8.0, 1.0 + 2.4 * panels), layout='constrained')
    axes = np.atleast_1d(figure.subplots(panels, sharex=True))
    end = runs[0].tracked.trajectory.duration
    # dashed on top of solid, so that equal curves both show
    styles: list[dict[str, Any]] = [
        {'color': f'C{k}', 'linestyle': ('-', '--')[k % 2], 'zorder': 2 + k % 2}
        for k in range(len(runs))]
    begins = np.arange(0.0, end - 0.5 * _SPAN, _SPAN)
    for k, each in enumerate(runs):
        errors = [1e3 * each.error_between(t, t + _SPAN) for t in begins]
        axes[0].semilogy(begins + 0.5 * _SPAN, errors, label=each.tracked.name, **styles[k])
    axes[0].set_ylabel(f'rms error over {_SPAN:g} s\n[mrad, mm]')
    axes[0].legend(loc='lower center', bbox_to_anchor=(0.5, 1.0), fontsize=8, ncols=4)
    axes[0].set_ylim(top=4.0 * axes[0].get_ylim()[1])  # room for the legend
    for each, mass in learned:
        axes[1].plot(each.tracked.times, mass, **styles[runs.index(each)])
    if learned:
        axes[1].set_ylabel('learned payload [kg]')
        times = [0.0, *(load.time for load in loads), end]
        masses = [0.0, *(load.load.mass for load in loads)]
        axes[1].stairs(masses, times, color='black', linestyle=':', baseline=None)
    for panel in axes:
        panel.grid(alpha=0.3, which='both')
        for load in loads:
            panel.axvline(load.time, color='black', linewidth=0.8, linestyle='--')
    axes[-1].set_xlabel('time [s]')
    figure.suptitle(f'{chain.robot}: tracking in simulation')
    save_figure(figure, path)
