# SPDX-License-Identifier: Apache-2.0
"""The case study of Lu & Meng against an independent simulation of it."""

import numpy as np
import pytest
from studies.lu_meng_case_study import (
    DURATION,
    LOAD_MASS,
    case_study,
    desired_motion,
    first_state,
)
from support.chains import papers_reference
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf

REFERENCE = papers_reference()['case_study']
#: The stored numbers have 2 ms between samples.
SAMPLING = 0.0021
#: The integrators differ in their step.
STEP_SIZE = 1e-3


@pytest.fixture(scope='module')
def chain():
    return chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf')


def simulated(chain, law, duration=DURATION, **options):
    return case_study(chain, law, **options).run(*first_state(), duration, 1e-3)


def test_the_motion_is_that_of_the_paper():
    t, step = 0.37, 1e-6
    c, a, w = (np.array(REFERENCE[key]) for key in ('c_rad', 'a_rad', 'omega'))
    angle = w * t / np.array([1.0, 2.0, 3.0, 4.0])
    expected = c + a * [np.sin(angle[0]), np.cos(angle[1]), np.sin(angle[2]), np.cos(angle[3])]
    now = desired_motion(t)
    np.testing.assert_allclose(now.q, expected)
    before, after = desired_motion(t - step), desired_motion(t + step)
    np.testing.assert_allclose((after.q - before.q) / (2 * step), now.qd, atol=1e-6)
    np.testing.assert_allclose((after.qd - before.qd) / (2 * step), now.qdd, atol=1e-5)
    np.testing.assert_allclose(first_state()[0], 0.8 * desired_motion(0.0).q)


@pytest.mark.parametrize(('law', 'key'), [('modified', 'H'), ('modified_constant', 'K'),
                                          ('craig', 'C')])
def test_every_law_settles_as_in_the_independent_simulation(chain, law, key):
    expected = REFERENCE['results'][key]
    run = simulated(chain, law)
    m4 = 0.5 + run.theta[:, 0]
    wrong = np.abs(m4 - 1.0)
    assert run.settling_time(0.01) == pytest.approx(expected['t_1e2'], abs=SAMPLING)
    assert run.settling_time(0.001) == pytest.approx(expected['t_1e3'], abs=SAMPLING)
    assert run.time_below(wrong, 0.05) == pytest.approx(expected['m_5pc'], abs=SAMPLING)
    assert run.time_below(wrong, 0.01) == pytest.approx(expected['m_1pc'], abs=SAMPLING)
    assert m4.max() == pytest.approx(expected['m4max'], rel=STEP_SIZE)
    assert m4.min() == pytest.approx(expected['m4min'], rel=STEP_SIZE)
    peaks = np.abs(run.torque[::2]).max(axis=0)
    np.testing.assert_allclose(peaks, expected['taumax'], rtol=STEP_SIZE)
    for t, error in expected['e_at'].items():
        if float(t) <= 1.0:
            found = np.abs(run.errors[round(1e3 * float(t))]).max()
            assert found == pytest.approx(error, rel=0.01)


def test_without_learning_it_never_settles(chain):
    run = simulated(chain, 'modified', gamma=0.0)
    for t, error in REFERENCE['results']['no_adapt_H'].items():
        assert np.abs(run.errors[round(1e3 * float(t))]).max() == pytest.approx(error, rel=0.01)
    assert run.settling_time(0.01) == np.inf


def test_bounds_keep_the_estimate_possible_and_the_mass_is_found(chain):
    run = simulated(chain, 'modified', 1.0, bounded=True)
    assert run.theta.min() >= 0.0 and run.theta.max() <= 1.0
    assert run.theta[-1, 0] == pytest.approx(LOAD_MASS, rel=0.01)


def test_the_original_law_finds_the_mass_too(chain):
    run = simulated(chain, 'original', 1.0)
    assert run.theta[-1, 0] == pytest.approx(LOAD_MASS, rel=0.01)
    assert run.settling_time(0.01) < 0.5
