# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics torque``: torques along a trajectory, and where they exceed the limits."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.cli.support.arguments import (
    add_joints_argument,
    add_parameters_argument,
    add_robot_arguments,
    robot_from_arguments,
    weighed_robot_from_arguments,
)
from robot_dynamics_ros.cli.support.motion_table import MotionTable, motion_from_table
from robot_dynamics_ros.cli.support.output import save_figure
from robot_dynamics_ros.cli.support.terminal import short, table
from robot_dynamics_ros.codegen.runtime.model import compile_model
from robot_dynamics_ros.dynamics.joints.elastic import ElasticModel, MotorMotion
from robot_dynamics_ros.errors import ParameterError, TableError
from robot_dynamics_ros.estimation.parameters.parameters_file import read_parameters
from robot_dynamics_ros.files.csv_table import (
    CsvTable,
    read_csv_table,
    write_csv_table,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_robot_arguments(parser)
    parser.add_argument('--trajectory', metavar='FILE.csv', required=True, type=Path,
                        help='columns t, q_<joint>, optional qd_<joint>, qdd_<joint> [s, rad, m]; '
                        'missing derivatives come from a spline')
    add_joints_argument(parser, 'rotor inertia, friction, limits, payload, stiffness')
    add_parameters_argument(parser)
    parser.add_argument('-o', '--output', metavar='FILE.csv', type=Path,
                        help='write t, tau_<joint> [N m, N]; with a stiffness in the joints file '
                        'also q_motor_<joint> [rad, m]')
    parser.add_argument('--plot', metavar='FILE.png', type=Path, help='draw the torques')


def run(arguments: argparse.Namespace) -> int:
    """Compute, print and write the torques."""
    file: Path | None = arguments.parameters
    robot = (robot_from_arguments if file is not None
             else weighed_robot_from_arguments)(arguments)
    chain = robot.chain
    source = read_csv_table(arguments.trajectory)
    motion = motion_from_table(source, chain)
    model = compile_model(chain)
    if file is not None:
        if robot.stiffness is not None:
            raise ParameterError(f'{file}: identified parameters are those of rigid joints; leave '
                                 f'the stiffness out of {arguments.joints}, or --parameters')
        estimate = read_parameters(file, chain)
        model.swap(estimate.mlc.values, estimate.joint_physics)
    motors = (None if robot.stiffness is None
              else motor_motion(source, chain, robot.stiffness, motion))
    tau = model.torque(motion.q, motion.qd, motion.qdd) if motors is None else motors.torque
    print(summary(chain, motion.t, tau))
    columns = {f'tau_{name}': tau[:, i] for i, name in enumerate(chain.joint_names)}
    if motors is not None and robot.stiffness is not None:
        bent = motors.position - motion.q
        elastic = np.flatnonzero(np.isfinite(robot.stiffness)).tolist()
        print('Elastic joints, largest deflection: ' + ', '.join(
            f'{chain.joint_names[i]} {short(float(np.max(np.abs(bent[:, i]))))} '
            f'{"rad" if chain.joints[i].revolute else "m"}' for i in elastic))
        columns |= {f'q_motor_{chain.joint_names[i]}': motors.position[:, i] for i in elastic}
    if arguments.output is not None:
        write_csv_table(arguments.output, {'t': motion.t, **columns})
    if arguments.plot is not None:
        plot(chain, motion.t, tau, arguments.plot)
    return 0


def motor_motion(source: CsvTable, chain: Chain, stiffness: Array,
                 motion: MotionTable) -> MotorMotion:
    """
    Return what the motors of elastic joints must do (Khalil & Dombre 9.35).

    Jerk and snap, which their torque depends on, are those of a quintic spline through the
    accelerations.

    :raises TableError: too few samples for them.
    """
    from scipy.interpolate import make_interp_spline

    degree = 5
    if len(motion.t) <= degree:
        raise TableError(f'{source.source}: {len(motion.t)} samples are too few for the torque of '
                         f'elastic joints; give at least {degree + 1}')
    rates = make_interp_spline(motion.t, motion.qdd, degree)
    return ElasticModel(chain, stiffness).inverse(motion.q, motion.qd, motion.qdd,
                                                  rates(motion.t, 1), rates(motion.t, 2))


def summary(chain: Chain, t: Array, tau: Array) -> str:
    """Return peak and RMS per joint, and when limits are exceeded."""
    rows, warnings = [], []
    for i, joint in enumerate(chain.joints):
        size = np.abs(tau[:, i])
        peak = int(np.argmax(size))
        beyond = size > joint.effort_limit
        rows.append([joint.name, 'N m' if joint.revolute else 'N', short(tau[peak, i]),
                     short(t[peak]), short(float(np.sqrt(np.mean(size**2)))),
                     short(joint.effort_limit),
                     f'{100 * np.mean(beyond):.1f} %' if np.isfinite(joint.effort_limit) else '-'])
        if np.any(beyond):
            times = ', '.join(f'{start:.3f}-{end:.3f} s' for start, end in _spans(t, beyond)[:5])
            warnings.append(f'{joint.name} exceeds its effort limit of {joint.effort_limit:g} at '
                            f'{times}')
    lines = [table(['joint', 'unit', 'peak', 'at [s]', 'RMS', 'limit', 'over limit'], rows,
                   left=2)]
    return '\n'.join([*lines, '', *(warnings or ['No joint exceeds a known effort limit.'])])


def _spans(t: Array, flags: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Return first and last time of every run of true flags."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return [(float(t[start]), float(t[end - 1])) for start, end in zip(edges[::2], edges[1::2])]


def plot(chain: Chain, t: Array, tau: Array, path: Path) -> None:
    """
    Draw one panel per joint, with its effort limit where it is near.

    :raises RobotDynamicsError: the picture cannot be written.
    """
    from matplotlib.figure import Figure

    n = len(chain)
    figure = Figure(figsize=(8.0, 1.0 + 1.4 * n), layout='constrained')
    for i, (axes, joint) in enumerate(zip(np.atleast_1d(figure.subplots(n, sharex=True)),
                                          chain.joints)):
        axes.plot(t, tau[:, i], color='tab:blue', linewidth=1.2)
        axes.set_ylabel(f'{joint.name}\n[{"N m" if joint.revolute else "N"}]')
        axes.grid(alpha=0.3)
        if np.max(np.abs(tau[:, i])) > 0.5 * joint.effort_limit:
            for sign in (-1.0, 1.0):
                axes.axhline(sign * joint.effort_limit, color='tab:red', linestyle='--',
                             linewidth=0.9)
        if i == n - 1:
            axes.set_xlabel('time [s]')
    figure.suptitle(f'{chain.robot}: torque along the trajectory')
    save_figure(figure, path)
