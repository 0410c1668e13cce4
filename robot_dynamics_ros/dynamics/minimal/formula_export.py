# SPDX-License-Identifier: Apache-2.0
"""Formulas of minimal parameters for papers (LaTeX) and for computer algebra (SymPy)."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.dynamics.minimal.rotor_grouping import TORQUE_SETS, rotor_grouping

#: Letters of minimal parameters as LaTeX, by the pattern of their names.
_LATEX = (
    (r'U(\d+)_11-22', r'U_{\1,11} - U_{\1,22}'),
    (r'U(\d+)_(\d)(\d)(\*?)', r'U_{\1,\2\3}\4'),
    (r'k(\d+)_([xyz])', r'k_{\1\2}'),
    (r'kap([12])_(\d+)', r'\\kappa_{\1,\2}'),
    (r'm(\d+)', r'\\hat{m}_{\1}'),
    (r'Ia(\d+)', r'I_{a\1}'),
    (r'(XX|XY|XZ|YY|YZ|ZZ|MX|MY|MZ|M)(\d+)', r'\1_{\2}'),
)


def grouped_formulas(chain: Chain, mlc: MlcSet) -> tuple[str, ...]:
    """
    Return the formulas of a set, with the rotor inertias that are inside of its elements.

    :param chain: the robot.
    :param mlc: a minimal set of this robot.
    """
    return rotor_grouping(chain, mlc).formulas if mlc.set in TORQUE_SETS else mlc.formulas


def latex_formulas(chain: Chain, mlc: MlcSet) -> str:
    """
    Return the formulas of a set as a LaTeX align environment.

    :param chain: the robot.
    :param mlc: a minimal set of this robot.
    """
    lines = [f'  {latex_name(name)} &= {_latex_sum(formula)}'
             for name, formula in zip(mlc.names, grouped_formulas(chain, mlc))]
    return '\n'.join(['\\begin{align}', ' \\\\\n'.join(lines), '\\end{align}'])


def latex_name(name: str) -> str:
    """Return the name of a standard, minimal or rotor parameter as LaTeX."""
    for pattern, replacement in _LATEX:
        if re.fullmatch(pattern, name):
            return re.sub(pattern, replacement, name).replace('}*', '}^{*}')
    return f'\\mathrm{{{name}}}'.replace('_', r'\_')


def sympy_formulas(chain: Chain, mlc: MlcSet) -> str:
    """
    Return Python source that defines ``minimal``: SymPy expressions by the names of the elements.

    :param chain: the robot.
    :param mlc: a minimal set of this robot.
    """
    formulas = grouped_formulas(chain, mlc)
    used = set(re.findall(r'[A-Z][A-Za-z]*\d+', ' '.join(formulas)))
    known: Sequence[str] = (*chain.standard_parameter_names,
                            *(f'Ia{j}' for j in range(1, len(chain) + 1)))
    names = [name for name in known if name in used]
    lines = ['from sympy import symbols', '']
    for name in names:
        lines.append(f"{name} = symbols('{name}', real=True)")
    lines += ['', '#: ' + textwrap.shorten(
        f'{mlc.set} set of {chain.robot}: {len(mlc)} minimal parameters', 90), 'minimal = {']
    lines += [f'    {name!r}: {formula},' for name, formula in zip(mlc.names, formulas)]
    return '\n'.join([*lines, '}', ''])


def _latex_sum(formula: str) -> str:
    words = []
    for word in formula.split(' '):
        sign = '-' if word.startswith('-') and len(word) > 1 else ''
        size, star, name = word.removeprefix(sign).rpartition('*')
        if word in '+-' or not re.match(r'[A-Za-z]', name):
            words.append(word)
        else:
            words.append(sign + (f'{_latex_number(size)}\\,' if star else '') + latex_name(name))
    return ' '.join(words)


def _latex_number(text: str) -> str:
    mantissa, exponent, power = text.partition('e')
    return f'{mantissa} \\cdot 10^{{{int(power)}}}' if exponent else text
