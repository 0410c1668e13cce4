# SPDX-License-Identifier: Apache-2.0
"""Formulas for papers and for computer algebra, with the rotors that are inside of them."""

import sys
import types

import pytest
from support.robots import ROBOTS, URDF_FOLDER
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import (
    chain_from_urdf,
    latex_formulas,
    minimal_parameters,
    rotor_grouping,
    sympy_formulas,
)
from robot_dynamics_ros.dynamics.minimal.formula_export import latex_name


@pytest.mark.parametrize('robot', ROBOTS)
@pytest.mark.parametrize('name', ['lin', 'khalil', 'numeric', 'gravity', 'inertia_matrix'])
def test_the_sympy_source_gives_the_values(robot, name, monkeypatch):
    """With numbers for symbols the expressions are the minimal parameters, rotors grouped."""
    chain = chain_from_urdf(URDF_FOLDER / f'{robot}.urdf')
    mlc = minimal_parameters(chain, name)
    numbers = dict(zip(chain.standard_parameter_names, chain.standard_parameters.tolist()))
    rotors = [0.1 * (j + 1) for j in range(len(chain))]
    numbers |= {f'Ia{j + 1}': value for j, value in enumerate(rotors)}
    stand_in = types.ModuleType('sympy')
    stand_in.symbols = lambda word, real: numbers[word]
    monkeypatch.setitem(sys.modules, 'sympy', stand_in)
    space = {}
    exec(sympy_formulas(chain, mlc), space)
    assert list(space['minimal']) == list(mlc.names)
    expected = mlc.values
    if name in ('lin', 'khalil', 'numeric'):
        expected = expected + rotor_grouping(chain, mlc).matrix @ rotors
    assert_close(list(space['minimal'].values()), expected, 1e-9)


@pytest.mark.parametrize(('name', 'latex'), [
    ('U2_11-22', 'U_{2,11} - U_{2,22}'), ('U2_13', 'U_{2,13}'), ('U2_13*', 'U_{2,13}^{*}'),
    ('k3_x', 'k_{3x}'), ('kap2_4', r'\kappa_{2,4}'), ('m3', r'\hat{m}_{3}'),
    ('Ia1', 'I_{a1}'), ('MX12', 'MX_{12}'), ('M3', 'M_{3}'), ('load_M', r'\mathrm{load\_M}')])
def test_names_in_latex(name, latex):
    assert latex_name(name) == latex


def test_latex_has_a_line_for_every_element():
    chain = chain_from_urdf(URDF_FOLDER / 'stanford.urdf')
    mlc = minimal_parameters(chain)
    lines = latex_formulas(chain, mlc).splitlines()
    assert len(lines) == len(mlc) + 2
    assert lines[1] == (
        r'  U_{1,33} &= ZZ_{1} + YY_{2} + 0.2\,MZ_{2} + 0.01\,M_{2} + ZZ_{3} + 0.2\,MY_{3} + '
        r'0.01\,M_{3} + ZZ_{4} + 0.01\,M_{4} + YY_{5} + 0.01\,M_{5} + ZZ_{6} + 0.01\,M_{6} + '
        r'I_{a1} \\')


def test_values_follow_through_the_conversion():
    chain = chain_from_urdf(URDF_FOLDER / 'stanford.urdf')
    lin, khalil = minimal_parameters(chain), minimal_parameters(chain, 'khalil')
    assert_close(lin.conversion_to(khalil) @ lin.values, khalil.values, SAME_ALGEBRA)
