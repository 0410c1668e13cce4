# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics compare``: how two parameter files differ, also across minimal sets."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.inertia import STANDARD_PARAMETERS
from robot_dynamics_ros.cli.support.terminal import short, table
from robot_dynamics_ros.dynamics.minimal.estimate import covariance_of
from robot_dynamics_ros.dynamics.minimal.linear_forms import coefficients
from robot_dynamics_ros.dynamics.minimal.numeric_set import conversion_matrix
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.parameters.parameters_file import covariance_in, read_mapping

_TERMS = ('rotor_inertia', 'viscous_friction', 'coulomb_friction', 'static_friction',
          'torque_offset')

#: Rows that do not follow from the other set, relative: the files are of different robots.
_SAME_SPACE = 1e-6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument('first', metavar='A.yaml', type=Path, help='parameters of a robot')
    parser.add_argument('second', metavar='B.yaml', type=Path,
                        help='parameters of the same robot, of the same or another minimal set')


def run(arguments: argparse.Namespace) -> int:
    """Print both files side by side, in the set of the first one."""
    first, second = read_mapping(arguments.first), read_mapping(arguments.second)
    try:
        print(comparison(first, second))
    except (KeyError, TypeError, ValueError) as error:
        raise ParameterError(f'{arguments.first} or {arguments.second}: a value is missing or of '
                             f'the wrong type ({type(error).__name__}: {error})') from error
    return 0


def comparison(first: dict[str, Any], second: dict[str, Any]) -> str:
    """
    Return a table of both, and of the difference in standard deviations where known.

    :raises ParameterError: the files are of different robots.
    """
    if first['joint_names'] != second['joint_names']:
        raise ParameterError(f'the files are of different robots: joints '
                             f'{", ".join(first["joint_names"])} and '
                             f'{", ".join(second["joint_names"])}')
    M = _conversion(second, first)
    values = M @ [line['value'] for line in second['parameters']]
    variances = _second_variances(M, second)
    rows = [_row(line['name'], line['unit'], float(line['value']), float(value),
                 float(line['standard_deviation']) ** 2 + float(variance))
            for line, value, variance in zip(first['parameters'], values, variances)]
    for term in _TERMS:
        for one, other in zip(first['joints'], second['joints']):
            if term in one or term in other:
                a, b = float(one.get(term, 'nan')), float(other.get(term, 'nan'))
                if np.isfinite(a) or np.isfinite(b):
                    rows.append(_row(f'{term} {one["name"]}', '', a, b, float('nan')))
    header = f'{first["robot"]} ({first["set"]}) and {second["robot"]} ({second["set"]})'
    columns = ['parameter', 'unit', 'A', 'B', 'B - A', 'in standard deviations']
    return f'{header}\n' + table(columns, rows, left=2)


def _row(name: str, unit: str, a: float, b: float, variance: float) -> list[str]:
    score = (b - a) / np.sqrt(variance) if variance > 0.0 else float('nan')
    return [name, unit, short(a), short(b), short(b - a),
            f'{score:.1f}' if np.isfinite(score) else '-']


def _conversion(source: dict[str, Any], target: dict[str, Any]) -> Array:
    """Return M with w_target = M w_source, from the formulas alone (Lin 1994, Corollary 6)."""
    if [line['name'] for line in source['parameters']] == [
            line['name'] for line in target['parameters']]:
        return np.eye(len(source['parameters']))
    n = len(source['joint_names'])
    joint_terms = ('Ia', 'offset', 'Fv', 'Fc', 'Fs')
    names = [f'{name}{j + 1}' for name in (*STANDARD_PARAMETERS, *joint_terms) for j in range(n)]
    links = len(STANDARD_PARAMETERS) * n

    def forms(content: dict[str, Any]) -> Array:
        rows = [coefficients(str(line['formula']), names) for line in content['parameters']]
        return np.array(rows)[:, :links]

    M, missed = conversion_matrix(forms(source), forms(target))
    if np.max(missed) > _SAME_SPACE:
        raise ParameterError('the parameters of one file do not follow from the other: geometry '
                             'or gravity differ')
    return M


def _second_variances(M: Array, content: dict[str, Any]) -> Array:
    """Return the variances of converted parameters; NaN where one of them is not known."""
    C = covariance_of([line['name'] for line in content['parameters']], *covariance_in(content))
    return np.array([float(row[row != 0.0] @ C[np.ix_(row != 0.0, row != 0.0)] @ row[row != 0.0])
                     for row in M])
