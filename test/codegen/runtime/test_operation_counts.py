# SPDX-License-Identifier: Apache-2.0
"""
Operation counts against the published ones, on generic numbers.

Published: Khalil & Dombre, tables 9.5 and 9.6, and Lin 1995, table III. They include a wrench at
the last link; Khalil & Dombre also the rotor inertias that are not grouped (1 multiplication and
1 addition each), Lin none.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model, standalone_source
from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.codegen.arrangement_search import fewest_operations
from robot_dynamics_ros.codegen.generation import program_of
from robot_dynamics_ros.codegen.grouping import Grouping
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.minimal.rotor_grouping import rotor_grouping

HALF = np.pi / 2

RX90 = chain_from_dh('RRRRRR', beta=[0, HALF, 0, -HALF, HALF, -HALF], b=[0, 0, 0.45, 0, 0, 0],
                     d=[0, 0, 0, 0.47, 0, 0], theta=np.zeros(6))
STANFORD = chain_from_dh('RRPRRR', beta=[0, -HALF, HALF, 0, -HALF, HALF], b=np.zeros(6),
                         d=[0, 0.15, 0, 0.6, 0, 0], theta=np.zeros(6))
GENERAL = chain_from_dh('RRRRRR', beta=[0, 0.3, 0.5, 0.7, 0.9, 1.1],
                        b=[0, 0.11, 0.12, 0.13, 0.14, 0.15], d=[0, 0.21, 0.22, 0.23, 0.24, 0],
                        theta=np.zeros(6))
GENERAL_TILTED = replace(GENERAL, gravity=np.array([1.0, 2.0, -9.0]))

#: Khalil & Dombre, table 9.4; for the Stanford arm diagonal tensors and one first moment a link.
RX90_SIMPLIFIED = ['ZZ1', 'XX2', 'ZZ2', 'MX2', 'MY2', 'XX3', 'ZZ3', 'MY3', 'XX4', 'ZZ4', 'XX5',
                   'ZZ5', 'MY5', 'XX6', 'ZZ6']
STANFORD_SIMPLIFIED = ['ZZ1', 'XX2', 'ZZ2', 'MY2', 'MZ3', 'M3', 'XX4', 'ZZ4', 'XX5', 'ZZ5',
                       'MY5', 'XX6', 'ZZ6']


def places_of(chain, names):
    """Return the grouping that puts parameters with these names at their places."""
    matrix = np.zeros((10 * len(chain), len(names)))
    for j, name in enumerate(names):
        matrix[chain.standard_parameter_names.index(name), j] = 1.0
    return Grouping(matrix)


def torque_operations(chain, names, arrangement=None, rotors=True):
    """Return the operations of inverse dynamics with wrench and separate rotor inertias."""
    program = program_of(chain, places_of(chain, names), 'inverse_dynamics_with_wrench',
                         arrangement=arrangement)
    separate = len(rotor_grouping(chain, minimal_parameters(chain)).separate) if rotors else 0
    return tuple(count + separate for count in program.operations)


@pytest.mark.parametrize(('chain', 'rotors', 'published', 'expected'), [
    (RX90, True, (253, 238), (239, 229)),
    (STANFORD, False, (231, 219), (219, 212)),
    (STANFORD, True, (240, 227), (223, 216)),
    (GENERAL, True, (425, 369), (391, 332)),  # axes 1 and 2 are oblique: 5 separate rotors
    (GENERAL_TILTED, True, (425, 369), (395, 338)),
], ids=['RX-90', 'Stanford, Lin', 'Stanford, Khalil', 'general 6R', 'general 6R, any gravity'])
def test_general_parameters_need_fewer_operations_than_published(chain, rotors, published,
                                                                 expected):
    count = torque_operations(chain, minimal_parameters(chain, 'khalil').names, rotors=rotors)
    assert count == expected
    assert all(ours < theirs for ours, theirs in zip(count, published))


@pytest.mark.parametrize(('chain', 'names', 'rotors', 'published', 'expected'), [
    (RX90, RX90_SIMPLIFIED, True, (160, 113), (152, 112)),
    (STANFORD, STANFORD_SIMPLIFIED, False, (139, 101), (133, 102)),
], ids=['RX-90', 'Stanford'])
def test_simplified_parameters_too_with_a_searched_arrangement(chain, names, rotors, published,
                                                               expected):
    arrangement = fewest_operations(chain, lambda candidate: program_of(
        chain, places_of(chain, names), 'inverse_dynamics_with_wrench', arrangement=candidate,
    ).operations)
    count = torque_operations(chain, names, arrangement, rotors)
    assert count == expected
    assert sum(count) < sum(published)  # Stanford arm: 6 less, 1 more


def test_the_command_inspect_tells_them(capsys):
    assert main(['inspect', str(URDF_FOLDER / 'rx90.urdf'), '--json']) == 0
    operations = json.loads(capsys.readouterr().out)['operations']
    assert operations['inverse_dynamics_with_rotor_and_wrench'] == {
        'multiplications': 239, 'additions': 229}


def test_zeros_of_a_minimal_set_save_operations():
    standard = torque_operations(RX90, RX90.standard_parameter_names)
    minimal = torque_operations(RX90, minimal_parameters(RX90, 'khalil').names)
    assert minimal[0] < standard[0] - 20 and minimal[1] < standard[1] - 20


def test_the_stanford_arm_without_its_zeros():
    """A compiled model takes a fixed arrangement, a generated file the one with the least sum."""
    chain = chain_from_urdf(URDF_FOLDER / 'stanford.urdf')
    function = 'inverse_dynamics_with_wrench'
    assert np.sum(minimal_parameters(chain).values == 0.0) == 20
    assert compile_model(chain, 'numpy').operations[function] == (219, 212)
    assert compile_model(chain, 'numpy', zeros='chain').operations[function] == (128, 100)
    assert '129 multiplications, 98 additions' in standalone_source(
        chain, function, 'c', zeros='chain')


def test_a_search_never_makes_it_worse():
    names = minimal_parameters(RX90, 'khalil').names
    arrangement = fewest_operations(RX90, lambda candidate: program_of(
        RX90, places_of(RX90, names), 'inverse_dynamics', arrangement=candidate).operations)
    assert sum(torque_operations(RX90, names, arrangement)) <= sum(torque_operations(RX90, names))


#: Links with planes of symmetry (example 9.3): what is not zero.
RX90_SYMMETRIC = [*(f'{name}{j}' for j in range(1, 7) for name in ('XX', 'YY', 'ZZ', 'M')),
                  'MZ1', 'MX2', 'MY2', 'MY3', 'MZ4', 'MY5', 'MZ6']


@pytest.mark.parametrize(('names', 'published', 'expected'), [
    (RX90.standard_parameter_names, (294, 283), (280, 270)),
    (RX90_SYMMETRIC, (202, 153), (189, 150)),
], ids=['general', 'simplified'])
def test_the_standard_rows_of_table_9_6(names, published, expected):
    """Standard parameters: all six rotor inertias are parameters of their own."""
    program = program_of(RX90, places_of(RX90, names), 'inverse_dynamics_with_wrench')
    count = tuple(each + 6 for each in program.operations)
    assert count == expected
    assert all(ours < theirs for ours, theirs in zip(count, published))


@pytest.mark.parametrize(('names', 'published', 'expected'), [
    (minimal_parameters(RX90, 'khalil').names, (889, 653), (446, 411)),
    (RX90_SIMPLIFIED, (637, 423), (316, 255)),
], ids=['general', 'simplified'])
def test_direct_dynamics_need_half_of_the_published_operations(names, published, expected):
    program = program_of(RX90, places_of(RX90, names), 'forward_dynamics_with_wrench')
    assert program.operations == expected
    assert all(ours < 0.7 * theirs for ours, theirs in zip(expected, published))


def test_derivatives_need_about_five_times_the_operations_of_their_torque():
    model = compile_model(chain_from_urdf(URDF_FOLDER / 'demo_arm.urdf'), 'python')
    assert model.operations['inverse_dynamics'] == (293, 277)
    assert model.operations['inverse_dynamics_derivatives'] == (1373, 1249)
    assert model.operations['forward_dynamics_derivatives'] == (2483, 2270)
