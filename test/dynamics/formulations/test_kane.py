# SPDX-License-Identifier: Apache-2.0
"""Kane's equations: the examples of Angeles, Ma & Rojas."""

import math

import numpy as np
import pytest
from support.chains import papers_reference
from support.oracle import Oracle
from support.tolerances import OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import inverse_dynamics

PAPERS = papers_reference()


def links(masses, centres, diagonals):
    return [Inertia.from_centre_of_mass(m, c, np.diag(d))
            for m, c, d in zip(masses, centres, diagonals)]


def stanford_arm(alpha_2=90):
    """Return the arm of example 1; joint variables are the paper's theta_i, and d_3."""
    data = PAPERS['stanford']
    alpha = np.radians([0, alpha_2, 90, 0, 90, 90])
    return chain_from_dh('RRPRRR', beta=alpha, b=np.zeros(6), d=[0.1, 0.1, 0, 0.6, 0, 0],
                         theta=np.zeros(6), gravity=data['g'],
                         links=links(data['masses'], data['rho'], data['I_diag_com']))


def arm_of_example_2(centres, diagonals):
    table = PAPERS['example2']['table3']
    return chain_from_dh('RRRRRR', beta=np.radians(table['alpha_deg']), b=table['a'],
                         d=[-b for b in table['b_angeles']], theta=np.zeros(6),
                         links=links(PAPERS['example2']['masses'], centres, diagonals))


def test_the_stanford_arm_at_rest_carries_its_weight():
    """On paper: the arm lies horizontally; moments of links 4, 5 and 6 about joint 2."""
    tau = inverse_dynamics(stanford_arm(), [0, math.pi / 2, 0, 0, 0, 0], np.zeros(6), np.zeros(6),
                           formulation='kane')
    assert tau[1] == pytest.approx(9.81 * (1.0 * 0.7 + 0.6 * 0.66 + 0.5 * 0.6), rel=1e-12)


@pytest.mark.parametrize(('rows', 'alpha_2'), [
    ('torques_main_d3_minus_b3', 90), ('torques_alt_d3_plus_b3', 90),
    ('torques_alt_alpha2_minus90_d3_plus_b3', -90)])
def test_example_1_has_the_reference_torques(rows, alpha_2):
    chain = stanford_arm(alpha_2)
    for row in PAPERS['stanford'][rows]:
        state = row['q'], row['qd'], row['qdd']
        tau = inverse_dynamics(chain, *state, formulation='kane')
        assert_close(tau, row['tau'], OTHER_IMPLEMENTATION)
        assert_close(tau, Oracle(chain).inverse_dynamics(*map(np.array, state)),
                     OTHER_IMPLEMENTATION)


def test_the_trajectory_of_example_1_is_the_printed_one():
    """Q = q0 + A (t - sin(B t) / B); the paper's b_3 is -d_3."""
    A = np.array([math.pi / 30, -math.pi / 60, -0.01, math.pi / 30, math.pi / 30, math.pi / 30])
    q0 = np.array([0, math.pi / 2, 0, 0, 0, 0])
    B = math.pi / 5
    for row in PAPERS['stanford']['torques_main_d3_minus_b3']:
        t = row['t']
        assert_close(row['q'], q0 + A * (t - math.sin(B * t) / B), OTHER_IMPLEMENTATION)
        assert_close(row['qd'], A * (1 - math.cos(B * t)), OTHER_IMPLEMENTATION)
        assert_close(row['qdd'], A * B * math.sin(B * t), OTHER_IMPLEMENTATION)


@pytest.mark.parametrize(('centres', 'diagonals', 'torque'), [
    ('rho_printed', 'I_diag_printed', 'tau'),
    ('rho_if_distal_frames', 'I_diag_if_distal_frames', 'tau_distal_read')])
def test_example_2_has_the_reference_torques(centres, diagonals, torque):
    data = PAPERS['example2']
    chain = arm_of_example_2(data[centres], data[diagonals])
    for row in data['rows']:
        state = np.radians(row['q_deg']), np.array(row['qd']), np.array(row['qdd'])
        tau = inverse_dynamics(chain, *state, formulation='kane')
        assert_close(tau, row[torque], OTHER_IMPLEMENTATION)
        assert_close(tau, Oracle(chain).inverse_dynamics(*state), OTHER_IMPLEMENTATION)


def test_example_2_starts_where_the_printed_path_starts():
    """X = 1.33 m, z = 1.80 m, with theta_4 = 93.6 degrees (printed as 39.6)."""
    chain = arm_of_example_2(np.zeros((6, 3)), np.zeros((6, 3)))
    angles = np.radians([0, 68.5, -135, 93.6, 90, 90])
    np.testing.assert_allclose(chain.joint_poses(angles)[-1].translation, [1.33, 0.0, 1.80],
                               atol=0.01)
