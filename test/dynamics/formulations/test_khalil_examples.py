# SPDX-License-Identifier: Apache-2.0
"""Khalil & Dombre: all of Table 9.1, Example 9.1 and Example 9.4 as printed."""

import numpy as np
import pytest
from support.chains import random_inertia
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import chain_from_dh, gravity_torque, mass_matrix, potential_energy
from robot_dynamics_ros.chain.inertia import parameters_seen_from
from robot_dynamics_ros.codegen.graph import Graph, Node
from robot_dynamics_ros.dynamics.recursions.customized import customized_motion
from robot_dynamics_ros.dynamics.scalars.frames import joint_frames


def table_9_1(theta, alpha, d, r):
    """Return lambda (10, 10) as printed."""
    C, S, c, s = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    CC, SS, CS, cc, ss, cs = C * C, S * S, C * S, c * c, s * s, c * s
    return np.array([
        [CC, -2 * CS, 0, SS, 0, 0, 0, 0, 2 * r, r**2],
        [CS * c, (CC - SS) * c, -C * s, -CS * c, S * s, 0, -d * S * c + r * C * s,
         -d * C * c - r * S * s, d * s, d * r * s],
        [CS * s, (CC - SS) * s, C * c, -CS * s, -S * c, 0, -d * S * s - r * C * c,
         -d * C * s + r * S * c, -d * c, -d * r * c],
        [SS * cc, 2 * CS * cc, -2 * S * cs, CC * cc, -2 * C * cs, ss, 2 * (d * C + r * S * cs),
         2 * (-d * S + r * C * cs), 2 * r * cc, d**2 + r**2 * cc],
        [SS * cs, 2 * CS * cs, S * (cc - ss), CC * cs, C * (cc - ss), -cs, r * S * (ss - cc),
         r * C * (ss - cc), 2 * r * cs, r**2 * cs],
        [SS * ss, 2 * CS * ss, 2 * S * cs, CC * ss, 2 * C * cs, cc, 2 * (d * C - r * S * cs),
         2 * (-d * S - r * C * cs), 2 * r * ss, d**2 + r**2 * ss],
        [0, 0, 0, 0, 0, 0, C, -S, 0, d],
        [0, 0, 0, 0, 0, 0, S * c, C * c, -s, -r * s],
        [0, 0, 0, 0, 0, 0, S * s, C * s, c, r * c],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]])


@pytest.mark.parametrize('seed', range(20))
def test_all_100_entries_of_table_9_1(seed):
    theta, alpha, d, r = np.random.default_rng(seed).normal(size=4)
    chain = chain_from_dh('R', beta=[alpha], b=[d], d=[r], theta=[0.0])
    assert_close(parameters_seen_from(chain.joints[0].pose(theta)),
                 table_9_1(theta, alpha, d, r), SAME_ALGEBRA)


@pytest.mark.parametrize('seed', range(5))
def test_example_9_1_has_the_printed_matrix_and_gravity(seed):
    """The first three links of the RX-90; Ia is left out, rotors are joint terms here."""
    rng = np.random.default_rng(seed)
    D3, G3 = 0.45, -9.81
    chain = chain_from_dh('RRR', beta=[0, np.pi / 2, 0], b=[0, 0, D3], d=[0, 0, 0],
                          theta=[0, 0, 0], gravity=[0, 0, G3],
                          links=[random_inertia(rng) for _ in range(3)])
    K = dict(zip(chain.standard_parameter_names, chain.standard_parameters))
    q = rng.uniform(-3, 3, 3)
    S2, C2, S3, C3 = np.sin(q[1]), np.cos(q[1]), np.sin(q[2]), np.cos(q[2])
    S23, C23 = np.sin(q[1] + q[2]), np.cos(q[1] + q[2])
    A11 = (K['ZZ1'] + S2**2 * K['XX2'] + 2 * C2 * S2 * K['XY2'] + C2**2 * K['YY2']
           + S23**2 * K['XX3'] + 2 * C23 * S23 * K['XY3'] + C23**2 * K['YY3']
           + 2 * C2 * C23 * D3 * K['MX3'] - 2 * C2 * S23 * D3 * K['MY3'] + C2**2 * D3**2 * K['M3'])
    A12 = (S2 * K['XZ2'] + C2 * K['YZ2'] + S23 * K['XZ3'] + C23 * K['YZ3'] - S2 * D3 * K['MZ3'])
    A13 = S23 * K['XZ3'] + C23 * K['YZ3']
    A22 = (K['ZZ2'] + K['ZZ3'] + 2 * C3 * D3 * K['MX3'] - 2 * S3 * D3 * K['MY3']
           + D3**2 * K['M3'])
    A23 = K['ZZ3'] + C3 * D3 * K['MX3'] - S3 * D3 * K['MY3']
    A = np.array([[A11, A12, A13], [A12, A22, A23], [A13, A23, K['ZZ3']]])
    assert_close(mass_matrix(chain, q), A, SAME_ALGEBRA)
    U = -G3 * (K['MZ1'] + S2 * K['MX2'] + C2 * K['MY2'] + S23 * K['MX3']
               + C23 * K['MY3'] + D3 * S2 * K['M3'])
    assert_close(potential_energy(chain, q), U, SAME_ALGEBRA)
    Q3 = -G3 * (C23 * K['MX3'] - S23 * K['MY3'])
    Q2 = -G3 * (C2 * K['MX2'] - S2 * K['MY2'] + D3 * C2 * K['M3']) + Q3
    assert_close(gravity_torque(chain, q), [0.0, Q2, Q3], SAME_ALGEBRA)


def test_example_9_4_needs_14_intermediate_variables():
    half = np.pi / 2
    chain = chain_from_dh('RRRRRR', beta=[0, half, 0, -half, half, -half],
                          b=[0, 0, 0.45, 0, 0, 0], d=[0, 0, 0, 0.47, 0, 0], theta=[0] * 6)
    graph = Graph()
    q, qd = graph.inputs('q', 6), graph.inputs('qd', 6)
    frames = joint_frames(chain, q, graph.cos, graph.sin)
    motion = customized_motion(frames, qd, [0.0] * 6, (0.0, 0.0, 0.0))
    speeds = {node.index for node in qd}
    variables = {x.index for link in motion for x in link.omega
                 if isinstance(x, Node) and x.index not in speeds}
    assert len(variables) == 14
