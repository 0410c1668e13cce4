# SPDX-License-Identifier: Apache-2.0
"""
Pinocchio's algorithms on CasADi's symbols, generated as C and compiled.

The wheel of Pinocchio has no Python binding for it, but the headers: a small C++ program
(`casadi_generator.cpp`) runs the algorithms on symbols and writes the C code.
"""

from __future__ import annotations

import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from speed.compiled_casadi import compiled, sizes
from speed.compiled_casadi import contenders as compiled_contenders
from speed.contender import Contender, PeerRobot

NAME = 'Pinocchio + CasADi, generated and compiled'
_HERE = Path(__file__).resolve().parent
_FUNCTIONS = sizes({'inverse_dynamics': 1, 'forward_dynamics': 1, 'mass_matrix': 1,
                    'inverse_dynamics_derivatives': 2, 'forward_dynamics_derivatives': 3})


def _generator(packages: Path) -> Path:
    """Return the program that generates, compiled once (a minute or two)."""
    program = packages / 'robot_dynamics_casadi_generator'
    source = _HERE / 'casadi_generator.cpp'
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        cmeel, casadi = packages / 'cmeel.prefix', packages / 'casadi'
        libraries = [casadi, cmeel / 'lib']
        subprocess.run(
            ['c++', '-std=c++17', '-O0', '-w', '-DBOOST_FUSION_INVOKE_MAX_ARITY=10',
             '-DBOOST_MPL_LIMIT_LIST_SIZE=40', '-DBOOST_MPL_LIMIT_VECTOR_SIZE=40',
             '-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS',
             *(f'-I{path}' for path in (cmeel / 'include', cmeel / 'include' / 'eigen3',
                                        casadi / 'include')),
             str(source), '-o', str(program), *(f'-L{path}' for path in libraries), '-lcasadi',
             '-lpinocchio_default', *(f'-Wl,-rpath,{path}' for path in libraries)],
            check=True, capture_output=True)
    return program


def _description(robot: PeerRobot) -> str:
    """Return the robot as numbers: gravity, then type, pose, mass, centre and tensor of each."""
    chain = robot.chain
    numbers = [len(chain), *chain.gravity]
    for i, (joint, link) in enumerate(zip(chain.joints, chain.links)):
        pose = chain.base_pose @ joint.pose() if i == 0 else joint.pose()
        numbers += [int(joint.revolute), *pose.rotation.flat, *pose.translation, link.mass,
                    *(link.centre_of_mass if link.mass else np.zeros(3)),
                    *(link.central_tensor if link.mass else link.tensor).flat]
    return ' '.join(repr(float(number)) if isinstance(number, float) else str(number)
                    for number in numbers)


def contenders(robot: PeerRobot) -> Iterator[Contender]:
    """Yield what is timed."""
    program = _generator(Path(sysconfig.get_path('purelib')))
    folder = Path(tempfile.mkdtemp(prefix='casadi_'))
    (folder / 'robot.txt').write_text(_description(robot))
    subprocess.run([str(program), 'robot.txt'], check=True, cwd=folder, capture_output=True)
    library = compiled((folder / 'peer_casadi.c').read_text(), _FUNCTIONS, len(robot.chain),
                       folder)
    yield from compiled_contenders(NAME, library, _FUNCTIONS, robot)
