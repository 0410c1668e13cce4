# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics generate``: the dynamics of a robot as source for another program."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from robot_dynamics_ros.cli.support.arguments import (
    add_joints_argument,
    add_parameters_argument,
    add_robot_arguments,
    note_rigid_joints,
    robot_from_arguments,
    warn_of_massless_links,
)
from robot_dynamics_ros.cli.support.output import write_file
from robot_dynamics_ros.codegen.folding import ALL_ZEROS
from robot_dynamics_ros.codegen.printers.library import LIBRARY_FUNCTIONS, c_library
from robot_dynamics_ros.codegen.printers.library_build import GENERATED
from robot_dynamics_ros.codegen.printers.standalone import (
    FUNCTIONS,
    LANGUAGES,
    standalone_files,
    standalone_source,
)
from robot_dynamics_ros.errors import RobotDynamicsError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_robot_arguments(parser)
    parser.add_argument('--function', default=['inverse_dynamics'], metavar='NAME', nargs='+',
                        choices=FUNCTIONS, help='one or several functions, in one file: '
                        f'{", ".join(FUNCTIONS)}')
    parser.add_argument('--language', default='c', choices=LANGUAGES, help='default: c')
    add_joints_argument(parser, 'rotor inertia, friction, payload')
    add_parameters_argument(parser)
    parser.add_argument('--zeros', metavar='NAME', nargs='*',
                        help='remove the terms of parameters that are zero (XX2, MX3, Fc1 ...); '
                        'without names, of all that are zero in the robot description. Other '
                        'values are then refused')
    parser.add_argument('--bake', action='store_true',
                        help='write all parameters as numbers; none is left as an argument')
    output = parser.add_mutually_exclusive_group()
    output.add_argument('-o', '--output', metavar='FILE', type=Path,
                        help='write to this file; for C, also a header for C and C++ beside it '
                        '(default: print)')
    output.add_argument('--library', metavar='FOLDER', type=Path,
                        help='write a CMake project with a C99 library of all functions instead')


def run(arguments: argparse.Namespace) -> int:
    """Write the source."""
    from robot_dynamics_ros.estimation.parameters.parameters_file import read_parameters

    robot = robot_from_arguments(arguments)
    note_rigid_joints(robot, 'generated functions are of')
    chain = robot.chain
    file: Path | None = arguments.parameters
    parameters = None if file is None else read_parameters(file, chain)
    if parameters is None:
        warn_of_massless_links(chain)
    zeros = ALL_ZEROS if arguments.zeros == [] else arguments.zeros
    options = {'zeros': zeros, 'baked': arguments.bake}
    output: Path | None = arguments.output
    if arguments.library is not None:
        files = c_library(chain, parameters, **options)
        _write_folder(arguments.library, files)
        print(f'{arguments.library}: a CMake project with {", ".join(LIBRARY_FUNCTIONS)}; build '
              'it with cmake and ctest')
    elif output is None:
        sys.stdout.write(standalone_source(chain, arguments.function, arguments.language,
                                           parameters, **options))
    else:
        files = standalone_files(chain, arguments.function, arguments.language, output.stem,
                                 parameters, **options)
        for name, text in files.items():
            path = output if name == next(iter(files)) else output.parent / name
            write_file(path, text)
            print(f'{path}: ' + ('declarations, also for C++' if name.endswith('.h') else
                                 f'{", ".join(dict.fromkeys(arguments.function))} of '
                                 f'{chain.robot}, {len(text.splitlines())} lines'))
    return 0


def _write_folder(folder: Path, files: dict[str, str]) -> None:
    """
    Write files into a folder that is new, empty or generated.

    :raises RobotDynamicsError: it is somebody's own, or cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        cmake = folder / 'CMakeLists.txt'
        own = cmake.is_file() and cmake.read_bytes().startswith(GENERATED.encode())
        if not own and any(folder.iterdir()):
            raise RobotDynamicsError(f'{folder}: is not empty and was not written by this '
                                     'command; name a new folder')
        for name in files:
            (folder / name).parent.mkdir(exist_ok=True)
    except OSError as error:
        raise RobotDynamicsError(f'{folder}: cannot be written: {error.strerror}') from None
    for name, text in files.items():
        write_file(folder / name, text)
