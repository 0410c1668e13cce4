# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics compare``: what has changed between two calibrations, or parameter files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.calibration.drift import ParameterChange, explanations
from robot_dynamics_ros.chain.inertia import STANDARD_PARAMETERS
from robot_dynamics_ros.cli.support.terminal import short, table
from robot_dynamics_ros.dynamics.minimal.estimate import covariance_of
from robot_dynamics_ros.dynamics.minimal.linear_forms import coefficients
from robot_dynamics_ros.dynamics.minimal.numeric_set import conversion_matrix
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.parameters.parameters_file import covariance_in, read_mapping

#: Terms of a joint, and the letters of their unknowns.
_TERMS = {'rotor_inertia': 'Ia', 'viscous_friction': 'Fv', 'coulomb_friction': 'Fc',
          'static_friction': 'Fs', 'torque_offset': 'offset',
          'load_friction': 'Fl', 'viscous_asymmetry': 'Fa',
          'presliding_distance': 'presliding'}

#: Rows that do not follow from the other set, relative: the files are of different robots.
_SAME_SPACE = 1e-6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument('first', metavar='A', type=Path,
                        help='parameters.yaml of a robot, or the folder of a calibration')
    parser.add_argument('second', metavar='B', type=Path,
                        help='the same for the same robot, with the same or another minimal set')


def run(arguments: argparse.Namespace) -> int:
    """Print both files side by side, in the set of the first one."""
    first, second = (read_mapping(path / 'parameters.yaml' if path.is_dir() else path)
                     for path in (arguments.first, arguments.second))
    try:
        print(comparison(first, second))
    except (KeyError, TypeError, ValueError) as error:
        raise ParameterError(f'{arguments.first} or {arguments.second}: a value is missing or of '
                             f'the wrong type ({type(error).__name__}: {error})') from error
    return 0


def comparison(first: dict[str, Any], second: dict[str, Any]) -> str:
    """
    Return a table of both with a verdict for each parameter, and what the changes point to.

    :raises ParameterError: the files are of different robots.
    """
    if first['joint_names'] != second['joint_names']:
        raise ParameterError(f'the files are of different robots: joints '
                             f'{", ".join(first["joint_names"])} and '
                             f'{", ".join(second["joint_names"])}')
    M = _conversion(second, first)
    values = M @ [line['value'] for line in second['parameters']]
    variances = _second_variances(M, second)
    changes = [ParameterChange(
        str(line['name']), float(line['value']), float(value),
        float(np.sqrt(float(line['standard_deviation']) ** 2 + float(variance))))
        for line, value, variance in zip(first['parameters'], values, variances)]
    units = [str(line['unit']) for line in first['parameters']]
    for term, letter in _TERMS.items():
        for j, (one, other) in enumerate(zip(first['joints'], second['joints'])):
            if term in one or term in other:
                a, b = float(one.get(term, 'nan')), float(other.get(term, 'nan'))
                if np.isfinite(a) or np.isfinite(b):
                    variance = sum(_variance(content, f'{letter}{j + 1}')
                                   for content in (first, second))
                    changes.append(ParameterChange(f'{term} {one["name"]}', a, b,
                                                   float(np.sqrt(variance)), str(one['name'])))
    units += [''] * (len(changes) - len(units))
    header = f'{first["robot"]} ({first["set"]}) and {second["robot"]} ({second["set"]})'
    columns = ['parameter', 'unit', 'A', 'B', 'B - A', 'in standard deviations', 'verdict']
    rows = [_row(change, unit) for change, unit in zip(changes, units)]
    return '\n'.join([header, table(columns, rows, align='<<>>>><'), '',
                      *explanations(changes, len(first['joint_names']))])


def _variance(content: dict[str, Any], name: str) -> float:
    """Return the variance of a joint term; NaN = not known."""
    names, C = covariance_in(content)
    return float(C[names.index(name), names.index(name)]) if name in names else float('nan')


def _row(change: ParameterChange, unit: str) -> list[str]:
    return [change.name, unit, short(change.before), short(change.after),
            short(change.after - change.before),
            f'{change.score:.1f}' if np.isfinite(change.score) else '-', change.verdict]


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
