# SPDX-License-Identifier: Apache-2.0
"""Lin 1995 and Lin 1994: sets, counts, Corollary 6, operations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from support.chains import reference_chains

from papers import robots
from papers.markdown import pair, table
from robot_dynamics_ros.dynamics.minimal.lin_set import lin_forms
from robot_dynamics_ros.dynamics.minimal.linear_forms import formula
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.minimal.structure import parameter_bound, structure


def table_i() -> str:
    """Return Table I for the Stanford arm: joint 3 is prismatic."""
    chain = robots.stanford()
    lin, khalil = (dict(zip(mlc.names, mlc.formulas)) for mlc in (
        minimal_parameters(chain), minimal_parameters(chain, 'khalil')))
    rows = [('k_(i-1), x', lin['k2_x'], khalil['MX2']), ('k_(i-1), y', lin['k2_y'], khalil['MY2']),
            ('m_hat_i', lin['m3'], khalil['M3']), ('k_i, x', lin['k3_x'], khalil['MX3']),
            ('k_i, y', lin['k3_y'], khalil['MY3']), ('k_i, z', lin['k3_z'], khalil['MZ3'])]
    return table(['element, i = 3', 'Lin, here', 'Gautier (= Khalil), here'], rows)


def counts() -> str:
    """Return the theorems against the rank of the regressor, for every reference chain."""
    rows = []
    for reference in reference_chains():
        chain, data = reference.chain, reference.data
        still = replace(chain, gravity=np.zeros(3))
        theorem = len(lin_forms(chain, structure(chain)).names)
        rank = len(minimal_parameters(chain, 'numeric'))
        gravity, inertia = (minimal_parameters(chain, name)
                            for name in ('gravity', 'inertia_matrix'))
        rows.append((
            reference.name, data['types'], theorem, rank,
            '' if theorem == rank else 'no gravity: see the errata',
            f'{len(gravity)} / {data["rank_gravity"]}',
            f'{len(inertia)}{"*" if inertia.findings else ""} / '
            f'{len(minimal_parameters(still, "numeric"))}', parameter_bound(chain)))
    return table(['chain', 'types', 'Theorem 2 (= L94 Theorem 5)', 'rank', 'remark',
                  'L94 Theorem 4 / rank', 'mass matrix (L94 (61)), closed / rank',
                  'bound (KD (9.61))'], rows)


def corollary_6() -> str:
    """Return the matrix from Khalil's to Lin's set of the RX-90, row by row."""
    lin, khalil = minimal_parameters(robots.RX90), minimal_parameters(robots.RX90, 'khalil')
    M = khalil.conversion_to(lin)
    M = np.round(M, 12) + 0.0
    rows = [(name, formula(row, khalil.names)) for name, row in zip(lin.names, M)
            if np.count_nonzero(row) != 1 or np.max(row) != 1.0]
    same = len(lin) - len(rows)
    determinant = np.linalg.det(M)
    return (table(['Lin', 'in terms of Khalil'], rows)
            + f'\n\nThe other {same} of the {len(lin)} rows are one element of Khalil each '
            f'(`k2_x` is MX2). The matrix is square, its determinant is {determinant:.3g}: each '
            'set follows from the other. `robot-dynamics inspect ROBOT --set khalil --conversion '
            'lin` prints it for any robot.')


def table_iii() -> str:
    """Return operations: published, Lin's form here, generated code here."""
    with_offset, bare = robots.stanford(), robots.stanford(0.0)
    sizes = range(4, 9)
    symmetric = robots.STANFORD_SYMMETRIC
    rows = [
        ('n revolute joints', '89n - 82 / 77n - 71',
         robots.growth([robots.lin_form(robots.general(n)) for n in sizes], 4),
         robots.growth([robots.generated(robots.general(n)) for n in sizes], 4),
         'gravity in any direction, d_1 = d_n = 0, wrench; from n = 4 on'),
        ('Stanford arm, general', '231/219', pair(robots.lin_form(with_offset)),
         pair(robots.generated(with_offset)), 'd_2 and one more offset (d_4), wrench, no rotors'),
        ('the same without d_4', '', pair(robots.lin_form(bare)), pair(robots.generated(bare)),
         'not what Lin counted'),
        ('Stanford arm, simplified', '139/101', pair(robots.lin_form(with_offset, symmetric)),
         pair(robots.generated(with_offset, robots.STANFORD_SIMPLIFIED, searched=True)),
         'diagonal tensors, one first moment a link'),
        ('the same without d_4', '', pair(robots.lin_form(bare, symmetric)),
         pair(robots.generated(bare, robots.STANFORD_SIMPLIFIED, searched=True)),
         'neither reading gives 139/101')]
    return table(['robot', 'Lin, published', "Lin's form, here", 'generated code, here',
                  'conditions'], rows)
