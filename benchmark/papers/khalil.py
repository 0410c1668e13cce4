# SPDX-License-Identifier: Apache-2.0
"""Khalil & Dombre, chapter 9: tables 9.2-9.6, example 9.2, section 9.7.2, figure 9.2."""

from __future__ import annotations

import math
import re

import numpy as np

from papers import robots
from papers.markdown import pair, table
from robot_dynamics_ros import chain_from_urdf, compile_model, standalone_source
from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.dynamics.joints.joint_terms import dry_friction_level
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.minimal.rotor_grouping import rotor_grouping

COLUMNS = ('XX', 'XY', 'XZ', 'YY', 'YZ', 'ZZ', 'MX', 'MY', 'MZ', 'M', 'Ia')
BASE = minimal_parameters(robots.RX90, 'khalil').names


def table_9_2() -> str:
    """Return the cases of Table 9.2 with the parameters that are kept here."""
    from robot_dynamics_ros.chain.dh import chain_from_dh

    rows = []
    for title, beta, theta in (
            ('a_z != 0, a_x = 0', 0.7, 0.0), ('a_z != 0, a_x a_y != 0', 0.7, 0.4),
            ('a_z = 0, a_x = 0', robots.HALF, 0.0), ('a_z = 0, a_y = 0', robots.HALF,
                                                     robots.HALF),
            ('a_z = 0, a_x a_y != 0', robots.HALF, 0.4)):
        chain = chain_from_dh('RPR', beta=[0, beta, 0], b=[0, 0.1, 0.1], d=[0, 0, 0.1],
                              theta=[0, theta, 0], gravity=[1.0, 2.0, -9.0])
        mlc = minimal_parameters(chain, 'khalil')
        kept = [(name, text) for name, text in zip(mlc.names, mlc.formulas)
                if name.endswith('2') and name.startswith('M') and name != 'M2']
        gone = sorted({'MX2', 'MY2', 'MZ2'} - {name for name, _ in kept})
        rows.append((title, ', '.join(gone), '; '.join(f'{name} = {text}' for name, text in kept)))
    return table(['axis of joint r in E_j', 'eliminated', 'kept (joint 2 of an R P R arm)'], rows)


def base_parameters() -> str:
    """Return Tables 9.3 and 9.4: which parameters are kept."""
    rotors = rotor_grouping(robots.RX90, minimal_parameters(robots.RX90)).separate
    general = {*BASE, *rotors}
    simplified = {*robots.RX90_SIMPLIFIED, *rotors}
    rows = []
    for j in range(1, 7):
        names = [f'{column}{j}' for column in COLUMNS]
        rows.append((j, *('s' if name in simplified else 'g' if name in general else ''
                          for name in names)))
    return (table(['j', *COLUMNS], rows)
            + f'\n\ng: in Table 9.3 ({len(general)} parameters, 40 published); s: in Table 9.4 '
            f'too ({len(simplified)}, 19 published).')


def groupings() -> str:
    """Return the relations of Example 9.2 as they come out here."""
    mlc = minimal_parameters(robots.RX90, 'khalil')
    formulas = rotor_grouping(robots.RX90, mlc).formulas
    rows = [(name, text) for name, text in zip(mlc.names, formulas) if name != text]
    return table(['element', 'grouped, here (D3 = 0.45 m, RL4 = 0.47 m)'], rows)


def table_9_5() -> str:
    """Return the last row of Table 9.5."""
    stanford, rx90 = robots.stanford(), robots.RX90
    th8 = robots.th8()
    rows = [
        ('n revolute joints', '92n - 127 / 81n - 117',
         robots.growth([robots.generated(robots.general(n)) for n in range(4, 9)], 4),
         'no rotors; n > 3'),
        ('6 revolute joints', '425/369', pair(robots.generated(robots.general(6), rotors=None)),
         'gravity in any direction, 5 separate rotors (axes 1 and 2 are oblique)'),
        ('the same, gravity along joint 1', '',
         pair(robots.generated(robots.general(6, tilted=False), rotors=None)), '5 rotors'),
        ('Stanford, general', '240/227', pair(robots.generated(stanford, rotors=None)),
         '4 rotors; what `inspect urdf/stanford.urdf` prints'),
        ('Stanford, simplified', '142/99',
         pair(robots.generated(stanford, robots.STANFORD_SIMPLIFIED, rotors=None,
                               searched=True)),
         '4 rotors, with d_4: 5 multiplications fewer, 7 additions more'),
        ('the same without d_4', '',
         pair(robots.generated(robots.stanford(0.0), robots.STANFORD_SIMPLIFIED, rotors=None,
                               searched=True)),
         'axis 4 continues axis 3, so that d_4 only moves the zero of joint 3: 8 operations fewer '
         'in all'),
        ('TH8, general', '175/162', pair(robots.generated(th8, rotors=None)),
         'geometry not given in the chapter: our reading R P P R R R, not a comparison'),
        ('RX-90, general', '253/238', pair(robots.generated(rx90, rotors=None)), '4 rotors'),
        ('RX-90, simplified', '159/113 (160/113 in Table 9.6)',
         pair(robots.generated(rx90, robots.RX90_SIMPLIFIED, rotors=None, searched=True)),
         '4 rotors')]
    return table(['robot', 'published', 'generated code, here',
                  'conditions; always with a wrench'], rows)


def table_9_6() -> str:
    """Return Table 9.6."""
    def here(names: object, rotors: int, searched: bool = False) -> str:
        return pair(robots.generated(robots.RX90, names, rotors=rotors,  # type: ignore[arg-type]
                                     searched=searched))

    rows = [('general, standard parameters', '294/283',
             here(robots.RX90.standard_parameter_names, 6)),
            ('general, base parameters', '253/238', here(BASE, 4)),
            ('simplified, standard parameters', '202/153', here(robots.RX90_SYMMETRIC, 6)),
            ('simplified, base parameters', '160/113', here(robots.RX90_SIMPLIFIED, 4, True))]
    return table(['RX-90', 'published', 'here'], rows)


def folded(root: str) -> str:
    """
    Return what zeros of the Stanford arm save, in a compiled model and in a generated file.

    :param root: folder of the repository.
    """
    chain = chain_from_urdf(f'{root}/urdf/stanford.urdf')
    mlc = minimal_parameters(chain)
    zeros = int(np.sum(mlc.values == 0.0))
    whole = pair(compile_model(chain, 'numpy').operations[robots.WITH_WRENCH])
    compiled = pair(compile_model(chain, 'numpy', zeros='chain').operations[robots.WITH_WRENCH])
    source = standalone_source(chain, robots.WITH_WRENCH, 'python', zeros='chain')
    counted = re.search(r'(\d+) multiplications, (\d+) additions', source)
    generated = pair((int(counted[1]), int(counted[2]))) if counted else 'DOES NOT AGREE'
    return (f'`stanford.urdf` as it stands ({zeros} of its {len(mlc)} minimal parameters are '
            f'zero) needs {whole} with a wrench.\nWith its zeros folded it is {compiled} in a '
            "compiled model (`compile_model(chain, zeros='chain')`, what `inspect` prints) and\n"
            f'{generated} in the file of `generate --zeros`, which looks for the smallest sum.')


def direct_dynamics() -> str:
    """Return the counts of section 9.7.2."""
    forward = 'forward_dynamics_with_wrench'
    rows = []
    for title, names, published in (('general', BASE, '889/653'),
                                    ('simplified (Table 9.4)', robots.RX90_SIMPLIFIED,
                                     '637/423')):
        rows.append((title, published, pair(robots.linear_form(robots.RX90, names)),
                     pair(robots.generated(robots.RX90, names, forward))))
    return table(['RX-90, wrench', 'published, (9.100)-(9.124)', 'the same recursion, here',
                  'generated code (mass matrix, solved from the tip; friction included)'], rows)


def friction_curves(velocity: Array) -> dict[str, Array]:
    """
    Return friction [N m] of the models of figure 9.2 by their titles; at rest, just before moving.

    :param velocity: (N,) velocities [rad/s].
    """
    coulomb, static, viscous, stribeck = 2.0, 3.0, 1.5, 0.2
    sign, size = np.copysign(1.0, velocity), np.abs(velocity)
    level = np.array([dry_friction_level(v, coulomb, static, stribeck, math.exp) for v in size])
    return {'(a) static, Coulomb': sign * np.where(size == 0.0, static, coulomb),
            '(b) with Stribeck, (9.26)': sign * (level + viscous * size),
            '(c) Coulomb + viscous (9.27)': sign * (coulomb + viscous * size)}


def figure_9_2() -> str:
    """Return points of the friction models of figure 9.2, and of (9.26)."""
    velocity = np.array([0.0, 0.05, 0.1, 0.2, 0.4, 1.0])
    curves = friction_curves(velocity)
    rows = [(f'{v:g}', *(f'{values[k]:.3f}' for values in curves.values()))
            for k, v in enumerate(velocity)]
    first, *others = curves
    return table(['velocity [rad/s]', f'{first} [N m]', *others], rows)
