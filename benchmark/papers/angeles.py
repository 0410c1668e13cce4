# SPDX-License-Identifier: Apache-2.0
"""Angeles, Ma & Rojas 1989: operations, and the two examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.chains import papers_reference

from papers import robots
from papers.markdown import table
from robot_dynamics_ros import inverse_dynamics
from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia

REFERENCE = papers_reference()


def table_1() -> str:
    """Return the rows of Table 1 that can be counted here."""
    sizes = range(4, 9)
    counted = [robots.kane_form(robots.general(n, last_offset=0.3)) for n in sizes]
    code = [robots.generated(robots.general(n, last_offset=0.3), function='inverse_dynamics')
            for n in sizes]
    rows = [('Angeles, Ma & Rojas, published', '105n - 109 / 90n - 105', '521/435'),
            ('the same algorithm, counted here', robots.growth(counted, 4),
             '{}/{}'.format(*counted[2])),
            ('Khalil et al. 1986, published there', '105n - 92 / 94n - 86', '538/478'),
            ('generated code, here (minimal parameters)', robots.growth(code, 4),
             '{}/{}'.format(*code[2]))]
    return table(['method', 'multiplications / additions', 'n = 6'], rows)


def example_1() -> str:
    """Return figures 4 and 5 at five instants: the Stanford arm."""
    data = REFERENCE['stanford']
    chain = chain_from_dh('RRPRRR', beta=np.radians([0, 90, 90, 0, 90, 90]), b=np.zeros(6),
                          d=[0.1, 0.1, 0, 0.6, 0, 0], theta=np.zeros(6), gravity=data['g'],
                          links=_links(data['masses'], data['rho'], data['I_diag_com']))
    rows = []
    for row in data['torques_main_d3_minus_b3']:
        q = np.array(row['q'])
        tau = _torque(chain, row['q'], row['qd'], row['qdd'])
        rows.append((f'{row["t"]:g}', _numbers(np.append(np.degrees(q[:2]), q[2])),
                     _numbers(np.degrees(q[3:])), _numbers(tau, 4)))
    return table(['t [s]', 'theta_1, theta_2 [deg], d_3 [m] (fig. 4)',
                  'theta_4..theta_6 [deg] (fig. 4)',
                  'torques [N m], force of joint 3 [N] (fig. 5)'], rows)


def example_2() -> str:
    """Return figures 6 to 8 at five instants: the six-axis robot on a straight line."""
    data = REFERENCE['example2']
    readings = []
    for centres, diagonals in (('rho_printed', 'I_diag_printed'),
                               ('rho_if_distal_frames', 'I_diag_if_distal_frames')):
        frames = data['table3']
        readings.append(chain_from_dh(
            'RRRRRR', beta=np.radians(frames['alpha_deg']), b=frames['a'],
            d=[-b for b in frames['b_angeles']], theta=np.zeros(6),
            links=_links(data['masses'], data[centres], data[diagonals])))
    rows = []
    for row in data['rows']:
        t = row['t']
        state = np.radians(row['q_deg']), row['qd'], row['qdd']
        rows.append((f'{t:g}', f'{10 * t**3 - 15 * t**4 + 6 * t**5:.4f}',
                     _numbers(np.array(row['q_deg']), 2),
                     *(_numbers(_torque(chain, *state), 1) for chain in readings)))
    return table(['t [s]', 's [m] (fig. 6)', 'joint angles [deg] (fig. 7)',
                  'torques, printed frames [N m] (fig. 8)', 'torques, distal frames [N m]'], rows)


def _links(masses: Any, centres: Any, diagonals: Any) -> list[Inertia]:
    return [Inertia.from_centre_of_mass(m, c, np.diag(d))
            for m, c, d in zip(masses, centres, diagonals)]


def _torque(chain: Chain, q: Any, qd: Any, qdd: Any) -> Array:
    return inverse_dynamics(chain, q, qd, qdd, formulation='kane')


def _numbers(values: Array, digits: int = 3) -> str:
    return ', '.join(f'{value + 0.0:.{digits}f}'.replace('-0.' + '0' * digits, '0.' + '0' * digits)
                     for value in np.round(values, digits))
