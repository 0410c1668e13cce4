# SPDX-License-Identifier: Apache-2.0
"""
Operation counts against the published ones, on generic numbers.

Published: Khalil & Dombre, tables 9.5 and 9.6, and Lin 1995, table III. They include the rotor
inertias that are not grouped (1 multiplication and 1 addition each) and a wrench at the last link.
"""

import json

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.codegen.arrangement_search import fewest_operations
from robot_dynamics_ros.codegen.equations import Grouping, program_of
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters

HALF = np.pi / 2

RX90 = chain_from_dh('RRRRRR', beta=[0, HALF, 0, -HALF, HALF, -HALF], b=[0, 0, 0.45, 0, 0, 0],
                     d=[0, 0, 0, 0.47, 0, 0], theta=np.zeros(6))
STANFORD = chain_from_dh('RRPRRR', beta=[0, -HALF, HALF, 0, -HALF, HALF], b=np.zeros(6),
                         d=[0, 0.15, 0, 0, 0, 0], theta=np.zeros(6))
GENERAL = chain_from_dh('RRRRRR', beta=[0, 0.3, 0.5, 0.7, 0.9, 1.1],
                        b=[0, 0.11, 0.12, 0.13, 0.14, 0.15], d=[0, 0.21, 0.22, 0.23, 0.24, 0],
                        theta=np.zeros(6))

#: Khalil & Dombre, table 9.4; for the Stanford arm diagonal tensors and one first moment a link.
RX90_SIMPLIFIED = ['ZZ1', 'XX2', 'ZZ2', 'MX2', 'MY2', 'XX3', 'ZZ3', 'MY3', 'XX4', 'ZZ4', 'XX5',
                   'ZZ5', 'MY5', 'XX6', 'ZZ6']
STANFORD_SIMPLIFIED = ['ZZ1', 'XX2', 'ZZ2', 'MY2', 'MZ3', 'M3', 'XX4', 'ZZ4', 'XX5', 'ZZ5',
                       'MY5', 'XX6', 'ZZ6']
SEPARATE_ROTORS = 4  # Ia3 to Ia6


def places_of(chain, names):
    """Return the grouping that puts parameters with these names at their places."""
    matrix = np.zeros((10 * len(chain), len(names)))
    for j, name in enumerate(names):
        matrix[chain.standard_parameter_names.index(name), j] = 1.0
    return Grouping(matrix)


def torque_operations(chain, names, arrangement=None):
    """Return the operations of inverse dynamics with separate rotor inertias and wrench."""
    program = program_of(chain, places_of(chain, names), 'inverse_dynamics_with_wrench',
                         arrangement=arrangement)
    return tuple(count + SEPARATE_ROTORS for count in program.operations)


@pytest.mark.parametrize(('chain', 'published', 'expected'), [
    (RX90, (253, 238), (239, 229)),
    (STANFORD, (231, 219), (218, 211)),
    (GENERAL, (425, 369), (390, 331)),
], ids=['RX-90', 'Stanford', 'general 6R'])
def test_general_parameters_need_fewer_operations_than_published(chain, published, expected):
    count = torque_operations(chain, minimal_parameters(chain, 'khalil').names)
    assert count == expected
    assert all(ours < theirs for ours, theirs in zip(count, published))


@pytest.mark.parametrize(('chain', 'names', 'published', 'expected'), [
    (RX90, RX90_SIMPLIFIED, (160, 113), (152, 112)),
    (STANFORD, STANFORD_SIMPLIFIED, (139, 101), (132, 101)),
], ids=['RX-90', 'Stanford'])
def test_simplified_parameters_too_with_a_searched_arrangement(chain, names, published, expected):
    arrangement = fewest_operations(chain, lambda candidate: program_of(
        chain, places_of(chain, names), 'inverse_dynamics_with_wrench', arrangement=candidate,
    ).operations)
    count = torque_operations(chain, names, arrangement)
    assert count == expected
    assert all(ours <= theirs for ours, theirs in zip(count, published))


def test_the_command_inspect_tells_them(capsys):
    assert main(['inspect', str(URDF_FOLDER / 'rx90.urdf'), '--json']) == 0
    operations = json.loads(capsys.readouterr().out)['operations']
    assert operations['inverse_dynamics_with_rotor_and_wrench'] == {
        'multiplications': 239, 'additions': 229}


def test_zeros_of_a_minimal_set_save_operations():
    standard = torque_operations(RX90, RX90.standard_parameter_names)
    minimal = torque_operations(RX90, minimal_parameters(RX90, 'khalil').names)
    assert minimal[0] < standard[0] - 20 and minimal[1] < standard[1] - 20


def test_a_search_never_makes_it_worse():
    names = minimal_parameters(RX90, 'khalil').names
    arrangement = fewest_operations(RX90, lambda candidate: program_of(
        RX90, places_of(RX90, names), 'inverse_dynamics', arrangement=candidate).operations)
    assert sum(torque_operations(RX90, names, arrangement)) <= sum(torque_operations(RX90, names))
