# SPDX-License-Identifier: Apache-2.0
"""Angeles, Ma & Rojas 1989: operations, and the two examples."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.chains import papers_reference

from papers import robots
from papers.markdown import table
from robot_dynamics_ros import compile_model, inverse_dynamics
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


def _first_robot() -> Chain:
    """Return the Stanford arm of example 1."""
    data = REFERENCE['stanford']
    return chain_from_dh('RRPRRR', beta=np.radians([0, 90, 90, 0, 90, 90]), b=np.zeros(6),
                         d=[0.1, 0.1, 0, 0.6, 0, 0], theta=np.zeros(6), gravity=data['g'],
                         links=_links(data['masses'], data['rho'], data['I_diag_com']))


def _second_robot() -> list[Chain]:
    """Return the six-axis robot of example 2, with both readings of its inertias."""
    data = REFERENCE['example2']
    frames = data['table3']
    return [chain_from_dh('RRRRRR', beta=np.radians(frames['alpha_deg']), b=frames['a'],
                          d=[-b for b in frames['b_angeles']], theta=np.zeros(6),
                          links=_links(data['masses'], data[centres], data[diagonals]))
            for centres, diagonals in (('rho_printed', 'I_diag_printed'),
                                       ('rho_if_distal_frames', 'I_diag_if_distal_frames'))]


def first_motion(t: Array) -> tuple[Array, Array, Array]:
    """Return times (N,), positions and torques (N, 6) of example 1: cycloids over 10 s."""
    A, B = np.array([np.pi / 30, -np.pi / 60, -0.01, *[np.pi / 30] * 3]), np.pi / 5
    start = np.array([0.0, np.pi / 2, 0.0, 0.0, 0.0, 0.0])
    q = start + np.outer(t - np.sin(B * t) / B, A)
    qd, qdd = np.outer(1.0 - np.cos(B * t), A), np.outer(B * np.sin(B * t), A)
    return t, q, _torque(_first_robot(), q, qd, qdd)


def second_motion(t: Array) -> tuple[Array, Array, Array, Array]:
    """Return s (N,), joint angles [rad] and the torques of both readings (N, 6), example 2."""
    readings = _second_robot()
    model = compile_model(readings[0])
    s, v, a = 10*t**3 - 15*t**4 + 6*t**5, 30*t**2 - 60*t**3 + 30*t**4, 60*t - 180*t**2 + 120*t**3
    frames = REFERENCE['example2']['table3']
    q = np.radians([*frames['theta0_deg_printed'][:3], frames['theta4_inferred_deg'],
                    *frames['theta0_deg_printed'][4:]])
    R = model.tip_pose(q)[:3, :3]
    states = []
    for way, speed, rate in zip(s, v, a):
        for _ in range(20):  # Newton
            T = model.tip_pose(q)
            turn = 0.5 * np.cross(T[:3, :3], R, axis=0).sum(axis=1)
            missing = np.concatenate([[1.33, way, 1.80] - T[:3, 3], turn])
            q = q + np.linalg.solve(model.jacobian(q), missing)
        J = model.jacobian(q)
        qd = np.linalg.solve(J, [0.0, speed, 0.0, 0.0, 0.0, 0.0])
        along = np.array([0.0, rate, 0.0, 0.0, 0.0, 0.0])
        states.append((q, qd, np.linalg.solve(J, along - model.bias_acceleration(q, qd))))
    q, qd, qdd = (np.array(each) for each in zip(*states))
    return s, q, _torque(readings[0], q, qd, qdd), _torque(readings[1], q, qd, qdd)


def example_1() -> str:
    """Return figures 4 and 5 at five instants: the Stanford arm."""
    data, chain = REFERENCE['stanford'], _first_robot()
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
    readings = _second_robot()
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
