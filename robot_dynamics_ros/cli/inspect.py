# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics inspect``: what a robot's URDF says, and what is odd about it."""

from __future__ import annotations

import argparse
import json
import math
import re
import textwrap
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint import Joint
from robot_dynamics_ros.cli.support.arguments import add_robot_arguments, chain_from_arguments
from robot_dynamics_ros.cli.support.findings import grouped_findings
from robot_dynamics_ros.cli.support.terminal import WIDTH, short, table
from robot_dynamics_ros.codegen.folding import ALL_ZEROS
from robot_dynamics_ros.codegen.runtime.model import compile_model
from robot_dynamics_ros.codegen.runtime.operation_counts import PUBLISHED
from robot_dynamics_ros.dynamics.formulations.comparison import AGREEMENT, compare_formulations
from robot_dynamics_ros.dynamics.minimal.formula_export import (
    grouped_formulas,
    latex_formulas,
    sympy_formulas,
)
from robot_dynamics_ros.dynamics.minimal.linear_forms import formula
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.minimal.rotor_grouping import rotor_grouping
from robot_dynamics_ros.errors import ParameterError

SETS = ('lin', 'khalil', 'numeric', 'gravity', 'inertia_matrix')

#: Functions whose operations are told.
COUNTED = ('inverse_dynamics', PUBLISHED, 'forward_dynamics', 'mass_matrix', 'regressor')

#: Entries of a conversion matrix below this part of the largest are rounding.
CONVERSION_DUST = 1e-12

#: Functions whose operations are told with zeros folded.
FOLDED = ('inverse_dynamics', 'inverse_dynamics_with_wrench', 'forward_dynamics', 'mass_matrix')

#: What the letters in the table of minimal parameters mean.
LETTERS = (
    'Link i has mass Mi, first moments MXi, MYi, MZi (mass times centre) and inertias XXi ... ZZi '
    'about the origin of E_i; Iai is the inertia of rotor i at the joint. A torque never shows '
    'them one by one, but only the sums below: Ui are inertias, ki first moments of link i and '
    'what it carries; U2_11-22 is U2_11 - U2_22. Joint r is the first revolute one, s the first '
    'revolute one that is not parallel to it.')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_robot_arguments(parser)
    parser.add_argument('--set', choices=SETS, help='print only this set of minimal parameters')
    parser.add_argument('--conversion', metavar='SET', choices=SETS,
                        help='with --set: also print the matrix from that set to this one '
                        f'({", ".join(SETS)})')
    form = parser.add_mutually_exclusive_group()
    form.add_argument('--json', action='store_true', help='print the same as JSON')
    form.add_argument('--latex', action='store_true',
                      help='print the formulas of the set (default: lin) as LaTeX')
    form.add_argument('--sympy', action='store_true',
                      help='print the formulas of the set (default: lin) as Python for SymPy')


def run(arguments: argparse.Namespace) -> int:
    """Print the chain."""
    chain = chain_from_arguments(arguments)
    if arguments.set or arguments.conversion or arguments.latex or arguments.sympy:
        print(inspected_set(chain, arguments))
        return 0
    inspection = Inspection(chain)
    if arguments.json:
        print(json.dumps(inspection.as_data(), indent=2))
    else:
        print(inspection.as_text())
    return 0


def inspected_set(chain: Chain, arguments: argparse.Namespace) -> str:
    """
    Return one set of minimal parameters in the form that is asked for.

    :raises ParameterError: a conversion that does not exist, or in a form that it does not have.
    """
    name = arguments.set or 'lin'
    mlc = minimal_parameters(chain, name)
    if arguments.latex or arguments.sympy:
        if arguments.conversion is not None:
            raise ParameterError('--conversion is printed as text or with --json; leave out '
                                 '--latex and --sympy')
        return (latex_formulas if arguments.latex else sympy_formulas)(chain, mlc).rstrip()
    other = (None if arguments.conversion is None
             else minimal_parameters(chain, arguments.conversion))
    M = None if other is None else mlc.conversion_to(other)
    formulas = grouped_formulas(chain, mlc)
    if arguments.json:
        data: dict[str, Any] = {
            'set': mlc.set, 'asked': name, 'model_hash': mlc.model_hash,
            'entries': [{'name': word, 'formula': text, 'unit': unit, 'value': value}
                        for word, text, unit, value in zip(
                            mlc.names, formulas, mlc.units, mlc.values.tolist())],
            'findings': [asdict(finding) for finding in mlc.findings]}
        if other is not None and M is not None:
            data['conversion'] = {'to': other.set, 'rows': list(other.names),
                                  'columns': list(mlc.names), 'matrix': M.tolist()}
        return json.dumps(data, indent=2)
    rows = [[word, unit, f'{value:.6g}', _rounded(text)] for word, unit, value, text in zip(
        mlc.names, mlc.units, mlc.values, formulas)]
    parts = [_filled(f'Minimal parameters of {chain.robot}, set {name}: {len(mlc)} of '
                     f'{10 * len(chain.links)} link parameters') + '\n'
             + table(['name', 'unit', 'value', 'formula'], rows, align='<<><', wrap=True)]
    if mlc.findings:
        parts.append(grouped_findings(mlc.findings))
    if other is not None and M is not None:
        entries = np.where(np.abs(M) <= CONVERSION_DUST * np.max(np.abs(M)), 0.0, M)
        sums = [[word, _rounded(formula(row, mlc.names))]
                for word, row in zip(other.names, entries)]
        parts.append(f'Conversion from {name} to {arguments.conversion}, {len(other)} x '
                     f'{len(mlc)} (Lin 1994, Corollary 6)\n'
                     + table([other.set, f'in terms of {mlc.set}'], sums, align='<<',
                             wrap=True))
    return '\n\n'.join(parts)


class Inspection:
    """What can be said about a chain before it has moved."""

    def __init__(self, chain: Chain) -> None:
        """Find its minimal parameters and compare the formulations."""
        self.chain = chain
        self.mlc = minimal_parameters(chain)
        self.counts = {name: len(minimal_parameters(chain, name)) for name in SETS}
        self.rotors = rotor_grouping(chain, self.mlc)
        self.disagreement = compare_formulations(chain, self.mlc)
        counts = compile_model(chain).operations
        self.operations = {name: counts[name] for name in COUNTED}
        folded = compile_model(chain, zeros=ALL_ZEROS)
        self.folded = folded.folded
        self.operations_folded: dict[str, tuple[int, int]] = {}
        for name in FOLDED:
            with suppress(ParameterError):  # a joint that moves nothing has no acceleration
                self.operations_folded[name] = folded.operations[name]
        self.findings = (*chain.findings, *self.mlc.findings)

    def as_data(self) -> dict[str, Any]:
        """Return plain data for JSON (SI units; null = unknown)."""
        chain, mlc = self.chain, self.mlc
        return {
            'robot': chain.robot, 'base': chain.base, 'tip': chain.tip,
            'tips': [tip.link for tip in chain.tips],
            'gravity': chain.gravity.tolist(),
            'joints': [self._joint(i) for i in range(len(chain))],
            'minimal_parameters': {
                'set': mlc.set, 'r': mlc.r, 's': mlc.s, 'model_hash': mlc.model_hash,
                'counts': self.counts, 'separate_rotor_inertias': list(self.rotors.separate),
                'entries': [{'name': name, 'formula': formula, 'unit': unit, 'value': value}
                            for name, formula, unit, value in zip(
                                mlc.names, mlc.formulas, mlc.units, mlc.values.tolist())],
            },
            'operations': {name: {'multiplications': count[0], 'additions': count[1]}
                           for name, count in self.operations.items()},
            'folded_zeros': list(self.folded),
            'operations_folded': {name: {'multiplications': count[0], 'additions': count[1]}
                                  for name, count in self.operations_folded.items()},
            'self_check': self.disagreement,
            'findings': [asdict(finding) for finding in self.findings],
        }

    def _joint(self, i: int) -> dict[str, Any]:
        body = self.chain.numbers[i] - 1  # joints that follow others have links, too
        joint, link = self.chain.joints[i], self.chain.links[body]
        physics = self.chain.joint_physics
        known = {name: value if not isinstance(value, float) or math.isfinite(value) else None
                 for name, value in asdict(joint).items()}
        return known | {
            'viscous': float(physics.viscous[i]), 'coulomb': float(physics.coulomb[i]),
            'link': {'name': self.chain.link_names[body], 'mass': link.mass,
                     'first_moment': link.first_moment.tolist(), 'inertia': link.tensor.tolist()},
        }

    def as_text(self) -> str:
        """Return a report for a terminal."""
        parts = [self._headline(), self._joints(), self._bodies(), self._minimal_parameters(),
                 self._operations(), self._self_check(), self._findings()]
        return '\n\n'.join(parts)

    def _headline(self) -> str:
        chain = self.chain
        gravity = ', '.join(short(g) for g in chain.gravity)
        kinds = ''.join(joint.type[0].upper() for joint in chain.joints)
        first = (f'{chain.robot}: {chain.joint_count} ({kinds}; R revolute, P prismatic) '
                 f'from {chain.base} to {chain.tip_names}, gravity ({gravity}) m/s^2 in '
                 f'{chain.base}')
        if chain.serial:
            return _filled(f'{first}; leave joints out with --tip or --lock')
        return _filled(first) + '\n' + self._choices()

    def _choices(self) -> str:
        """Return which joints of a tree are in, and how to leave some out."""
        chain = self.chain
        lines = [_filled(f'All of these joints move: {", ".join(chain.joint_names)}.')]
        if chain.followers:
            lines.append(_filled('They are followed by ' + ', '.join(
                f'{each.joint.name} ({each.multiplier:g} x '
                f'{chain.joints[each.leader - 1].name})' for each in chain.followers) + '.'))
        lines.append("Leave some out with --lock 'PATTERN', or choose one branch:")
        for tip in chain.tips:
            way = [chain.moving[i - 1].name for i in chain.path(tip.joint)]
            named = (f'1 joint, {way[0]}' if len(way) == 1 else
                     f'{len(way)} joints, {way[0]} ... {way[-1]}')
            lines.append(textwrap.fill(
                f'--tip {tip.link}  ({named})', WIDTH, initial_indent='  ',
                subsequent_indent='      ', break_on_hyphens=False))
        return '\n'.join(lines)

    def _joints(self) -> str:
        chain = self.chain
        limits = [[_number(number, joint), joint.name, short(joint.lower), short(joint.upper),
                   short(joint.velocity_limit), short(joint.effort_limit)]
                  for number, joint in zip(chain.numbers, chain.joints)]
        return '\n'.join([
            self._places() if chain.serial and not chain.followers else self._places_in_a_tree(),
            '', 'Limits [rad or m, per s, N m or N]',
            table(['i', 'joint', 'lower', 'upper', 'velocity', 'effort'], limits, left=2,
                  shorten=1)])

    def _places(self) -> str:
        rows = [[_number(i, joint), joint.name, *_place(joint)]
                for i, joint in enumerate(self.chain.joints, start=1)]
        return '\n'.join([
            'Joints: frame E_i in E_(i-1) is Tx(b) Rx(beta) Tz(d) Rz(theta) at q = 0;',
            'b, beta are a, alpha of modified DH (Craig, Khalil); q adds to theta or d',
            table(['i', 'joint', 'b=a [m]', 'beta=alpha [deg]', 'd [m]', 'theta [deg]'], rows,
                  left=2, shorten=1)])

    def _places_in_a_tree(self) -> str:
        joints = list(enumerate(zip(self.chain.moving, self.chain.parents), start=1))
        branches = [[_number(i, joint), joint.name, _degrees(joint.gamma), short(joint.epsilon)]
                    for i, (joint, _) in joints if joint.gamma or joint.epsilon]
        return '\n'.join([
            'Joints: frame E_i in E_parent (0 = base), at q = 0, is Rz(gamma) Tz(epsilon)',
            'Tx(b) Rx(beta) Tz(d) Rz(theta) (Khalil & Dombre, chapter 7; b, beta are a,',
            'alpha of modified DH); q adds to theta or d; metres and degrees',
            table(['i', 'joint', 'parent', 'b', 'beta', 'd', 'theta'],
                  [[_number(i, joint), joint.name, str(parent), *_place(joint)]
                   for i, (joint, parent) in joints], left=2, shorten=1),
            *(['', 'gamma and epsilon; they are 0 for all other joints',
               table(['i', 'joint', 'gamma', 'epsilon'], branches, left=2, shorten=1)]
              if branches else [])])

    def _bodies(self) -> str:
        physics, places = self.chain.joint_physics, self.chain.numbers
        rows = [[str(i + 1), name, f'{link.mass:.4g}',
                 *(_length(c) for c in link.centre_of_mass),
                 *(['follows', ''] if i + 1 not in places else
                   [f'{values[places.index(i + 1)]:.4g}'
                    for values in (physics.viscous, physics.coulomb)])]
                for i, (name, link) in enumerate(zip(self.chain.link_names, self.chain.links))]
        header = ['i', 'link', 'mass [kg]', 'x [m]', 'y [m]', 'z [m]', 'viscous', 'coulomb']
        return ('Moving bodies, with fixed links: centre of mass x, y, z in E_i; friction\n'
                + table(header, rows, left=2, shorten=1))

    def _minimal_parameters(self) -> str:
        mlc, n = self.mlc, len(self.chain)
        counts = ', '.join(f'{name} {count}' for name, count in self.counts.items())
        groups = ', '.join(f'{letter} = {joint if joint <= n else "none"}'
                           for letter, joint in (('r', mlc.r), ('s', mlc.s)))
        beside = ', '.join(self.rotors.separate) or 'none'
        rows = [[name, unit, f'{value:.6g}', _rounded(text)] for name, unit, value, text in zip(
            mlc.names, mlc.units, mlc.values, mlc.formulas)]
        return '\n'.join([
            *(_filled(text) for text in (
                f'Minimal parameters, set {mlc.set}: {len(mlc)} of {10 * len(self.chain.links)} '
                f'link parameters; '
                f'joints {groups}',
                f'Counts: {counts}. Rotor inertias beside them: {beside}', LETTERS)),
            table(['name', 'unit', 'value', 'formula'], rows, align='<<><', wrap=True)])

    def _operations(self) -> str:
        folded = f'with {len(self.folded)} zeros folded'
        rows = [[name, _count(self.operations.get(name)),
                 _count(self.operations_folded.get(name))]
                for name in dict.fromkeys([*COUNTED, *FOLDED])]
        return ('Multiplications/additions in a compiled model (generate --zeros folds, too)\n'
                + table(['function', 'as it is', folded], rows))

    def _self_check(self) -> str:
        worst = max(self.disagreement, key=lambda name: self.disagreement[name])
        value = self.disagreement[worst]
        verdict = 'agree' if value <= AGREEMENT else 'DO NOT AGREE'
        return _filled(f'Self-check: {len(self.disagreement) + 1} formulations {verdict}; largest '
                       f'relative difference {value:.1e} ({worst})')

    def _findings(self) -> str:
        return grouped_findings(self.findings)


def _filled(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_on_hyphens=False)


def _rounded(text: str) -> str:
    """Return a formula with six digits of every coefficient."""
    return re.sub(r'\d+\.\d{6,}(e[-+]?\d+)?', lambda number: f'{float(number[0]):.6g}', text)


def _number(number: int, joint: Joint) -> str:
    return f'{number} {joint.type[0].upper()}'


def _degrees(angle: float) -> str:
    return short(math.degrees(angle))


def _place(joint: Joint) -> list[str]:
    return [short(joint.b), _degrees(joint.beta), short(joint.d), _degrees(joint.theta)]


def _length(value: float) -> str:
    """Return a length to a hundredth of a millimetre."""
    return f'{round(value, 5) + 0.0:g}' if abs(value) < 100.0 else short(value)


def _count(operations: tuple[int, int] | None) -> str:
    return '' if operations is None else f'{operations[0]}/{operations[1]}'
