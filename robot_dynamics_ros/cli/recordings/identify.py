# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics identify``: from recordings to parameters.yaml and report.html."""

from __future__ import annotations

import argparse
import math
from dataclasses import fields
from pathlib import Path

from robot_dynamics_ros.calibration.folder import CalibrationFolder
from robot_dynamics_ros.calibration.stages import Stage
from robot_dynamics_ros.cli.support.arguments import (
    RECORDING,
    RecordedRobot,
    add_recording_arguments,
    note_rigid_joints,
    recorded_robot_from_arguments,
    recordings_from_arguments,
)
from robot_dynamics_ros.cli.support.output import write_file
from robot_dynamics_ros.cli.support.terminal import Progress, table
from robot_dynamics_ros.errors import ParameterError, RecordingError
from robot_dynamics_ros.estimation.consistency.projection import MASS_TOLERANCE
from robot_dynamics_ros.estimation.identification.identify import identify
from robot_dynamics_ros.estimation.identification.report import html_report
from robot_dynamics_ros.estimation.identification.result import Identification
from robot_dynamics_ros.estimation.parameters.identified_urdf import identified_urdf
from robot_dynamics_ros.estimation.parameters.parameters_file import write_parameters
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.estimation.settings import (
    FRICTION_LAWS,
    METHODS,
    REFINEMENTS,
    IdentificationSettings,
)
from robot_dynamics_ros.picture.robot_picture import picture_if_possible

#: Exit code of an identification that is not to be trusted.
NOT_PASSED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument('recordings', metavar='RECORDING', nargs='+', type=Path,
                        help=f'{RECORDING}; or the folder of a calibration, which contains its '
                        'robot')
    add_recording_arguments(parser)
    parser.add_argument('-o', '--output', metavar='DIR', type=Path,
                        help='folder for report.html and parameters.yaml (default: here, or the '
                        'folder of the calibration)')
    parser.add_argument('--write-urdf', action='store_true',
                        help='also write identified.urdf: the URDF with physically consistent '
                        'inertias and friction')
    parser.add_argument('--mass', metavar='KG', type=float,
                        help='total mass of the moving links, for --write-urdf (default: that of '
                        'the URDF)')
    parser.add_argument('--mass-tolerance', metavar='PART', type=float, default=MASS_TOLERANCE,
                        help='share by which the total mass may differ from that (default: '
                        f'{MASS_TOLERANCE:g})')
    parser.add_argument('--meshes', metavar='DIR', type=Path, action='append', default=[],
                        help='folder with the mesh files of the URDF, for --write-urdf; may be '
                        'repeated')
    parser.add_argument('--cutoff', metavar='HZ', type=_frequency,
                        help="low-pass on positions, velocities and torques; 'none' = no filter "
                        '(default: ten times the bandwidth of the motion)')
    parser.add_argument('--parallel-cutoff', metavar='HZ', type=_frequency,
                        help="low-pass on regressor and torque; 'none' = no filter (default: "
                        'half of the other one)')
    parser.add_argument('--method', choices=METHODS, help='least squares (default: robust)')
    parser.add_argument('--friction', choices=FRICTION_LAWS, help='laws to choose from (default: '
                        'auto = Coulomb, plus static friction, load, direction and presliding if '
                        'the data require them)')
    parser.add_argument('--coulomb-velocity', metavar='V', type=float,
                        help='velocity of the smooth sign [rad/s, m/s] (default: that of '
                        'joints.yaml, or found)')
    parser.add_argument('--refinement', choices=REFINEMENTS,
                        help='refinement against noise in the positions (default: none)')
    parser.add_argument('--prior-strength', metavar='X', type=float,
                        help='confidence in the links of the URDF; the data reduce it where it '
                        'is wrong (default: 1 = errors as large as the links)')
    parser.add_argument('--folds', metavar='N', type=int,
                        help='number of time blocks of the held-out test (default: 5)')
    parser.add_argument('--last-part', metavar='PART', type=float,
                        help='hold out only the last part of the time, e.g. 0.3')
    parser.add_argument('--error-limit', metavar='PART', type=float,
                        help='largest held-out error that passes (default: 0.1)')


def run(arguments: argparse.Namespace) -> int:
    """Identify, write both files and print the verdict."""
    robot, recordings = _robot_and_recordings(arguments)
    note_rigid_joints(robot, 'the identified model has')
    given = {field.name: getattr(arguments, field.name, None)
             for field in fields(IdentificationSettings)}
    if given['coulomb_velocity'] is None:
        given['coulomb_velocity'] = robot.coulomb_velocity
    options = {name: value for name, value in given.items() if value is not None}
    with Progress() as progress:
        result = identify(robot.chain, recordings, effort=robot.effort, progress=progress,
                          **options)
    folder: Path = arguments.output or Path('.')
    report, parameters = folder / 'report.html', folder / 'parameters.yaml'
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f'{folder}: cannot be written: {error.strerror}') from error
    picture = picture_if_possible(arguments.robot, robot.chain.joint_names,
                                  result.comparison.farthest_posture(),
                                  arguments.meshes)
    write_file(report, html_report(result, [path.name for path in arguments.recordings],
                                   picture=picture))
    write_parameters(parameters, result.estimate)
    print(summary(result))
    print(f'\n{report}\n{parameters}')
    if arguments.write_urdf:
        _write_urdf(folder / 'identified.urdf', result, robot, arguments)
    return 0 if result.verdict.passed else NOT_PASSED


def _robot_and_recordings(arguments: argparse.Namespace
                          ) -> tuple[RecordedRobot, list[Recording]]:
    """Return the robot and what was recorded; a calibration that has not come far is enough."""
    folder = CalibrationFolder(arguments.recordings[0])
    if len(arguments.recordings) > 1 or not folder.exists or arguments.robot is not None:
        robot = recorded_robot_from_arguments(arguments, arguments.recordings)
        return robot, recordings_from_arguments(arguments, robot.chain, arguments.recordings)
    chain, file = folder.robot()
    for stage in (Stage.MOTION, Stage.REHEARSAL):
        if recordings := folder.recordings(stage.value, chain):
            print(f'{folder.path}: {stage.value}')
            break
        if (part := folder.interrupted(stage.value, chain)) is not None:
            recordings = [part]
            print(f'{folder.path}: {stage.value}, interrupted after '
                  f'{part.t[-1] - part.t[0]:.0f} s')
            break
    else:
        raise RecordingError(f'{folder.path}: neither the full motion nor its rehearsal was '
                             'recorded: there is nothing to identify from yet')
    arguments.robot = str(folder.description)
    arguments.lock = [(name, 0.0) for name in folder.read().get('locked') or ()]
    arguments.output = arguments.output or folder.path
    return RecordedRobot(chain, file.effort_semantics(chain), file.payload,
                         payload_tip=file.payload_tip), recordings


def _write_urdf(path: Path, result: Identification, robot: RecordedRobot,
                arguments: argparse.Namespace) -> None:
    """Write identified.urdf and say what physical consistency costs."""
    written = identified_urdf(arguments.robot, robot.chain, result.estimate,
                              locked=dict(arguments.lock), payload=robot.payload,
                              payload_tip=robot.payload_tip,
                              recorded=result.recorded, mass=arguments.mass,
                              mass_tolerance=arguments.mass_tolerance, folders=arguments.meshes)
    write_file(path, written.text)
    inertias = written.inertias
    cost = (f'nearest physically possible robot, {inertias.distance:.1f} standard deviations from '
            'the estimate' if inertias.changed else 'the estimate is physically possible')
    if inertias.recorded_errors is not None:
        identified, consistent = (100 * error for error in inertias.recorded_errors)
        cost += (f'; torque error on the recording {consistent:.2f} % (identified parameters: '
                 f'{identified:.2f} %)')
    before = sum(link.mass for link in robot.chain.links)
    print(f'{path}: {cost}; moving links {inertias.mass:.3g} kg (URDF: {before:.3g} kg)')
    for finding in written.findings:
        print(f'  - {finding}')


def summary(result: Identification) -> str:
    """Return verdict and errors as text for a terminal."""
    verdict = result.verdict
    rows = [[joint.name, 'N m' if joint.revolute else 'N', f'{rms:.3g}', f'{100 * error:.1f} %']
            for joint, rms, error in zip(result.chain.joints, result.residual_rms,
                                         verdict.held_out_by_joint)]
    excited = sum(line.state == 'excited' for line in result.parameters)
    lines = [
        f'{"PASSED" if verdict.passed else "NOT PASSED"}: held-out torque error '
        f'{100 * verdict.held_out_error:.2f} %, URDF {100 * verdict.urdf_error:.1f} %',
        *(f'  - {reason}' for reason in (() if verdict.passed else verdict.reasons)), '',
        table(['joint', 'unit', 'residual RMS', 'held-out error'], rows, left=2), '',
        f'{excited} of {len(result.parameters)} parameters are determined by the data, condition '
        f'number {result.estimate.condition_number:.3g}']
    return '\n'.join([*lines, *(f'  - {finding}' for finding in result.findings)])


def _frequency(text: str) -> float:
    try:
        return math.inf if text == 'none' else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a frequency [Hz] or 'none'") from None
