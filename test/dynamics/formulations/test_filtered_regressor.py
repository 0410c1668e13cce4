# SPDX-License-Identifier: Apache-2.0
"""The filtered regressor."""

from functools import partial

import numpy as np
import pytest
from support.chains import random_chain, random_tree
from support.tolerances import OTHER_IMPLEMENTATION, SAME_ALGEBRA, assert_close

from robot_dynamics_ros.dynamics.formulations.filtered_regressor import (
    FilteredRegressor,
    filtered_regressor,
)
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import inverse_dynamics
from robot_dynamics_ros.errors import StateError

CUTOFF = 20.0


def recording(chain, period, duration=1.0):
    """Return q, qd, tau of sine motions that start with speed and acceleration."""
    t = np.arange(0.0, duration + period / 2, period)[:, None]
    amplitude, frequency, phase = np.array([[1.0, 0.5, 0.7], [3.0, 2.0, 4.0], [0.3, 0.9, 1.4]])
    angle = frequency * t + phase
    q = amplitude * np.sin(angle)
    qd = amplitude * frequency * np.cos(angle)
    qdd = -amplitude * frequency**2 * np.sin(angle)
    return q, qd, inverse_dynamics(chain, q, qd, qdd)


def error(chain, period):
    q, qd, tau = recording(chain, period)
    Y, tau_f = filtered_regressor(chain, q, qd, tau, cutoff=CUTOFF, period=period)
    return np.max(np.abs(Y @ chain.standard_parameters - tau_f)) / np.max(np.abs(tau_f))


@pytest.mark.parametrize('chain', [
    partial(random_chain, types='RRR'), partial(random_chain, types='RPR'),
    partial(random_tree, followers=2)], ids=['RRR', 'RPR', 'followers'])
def test_filtered_torque_is_filtered_regressor_times_parameters(rng, chain):
    """The error is that of linear interpolation: it falls with the square of the period."""
    chain = chain(rng, 3)
    coarse, fine = error(chain, 2e-3), error(chain, 1e-3)
    assert coarse < 1e-4
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


def test_torque_passes_the_filter_it_should(rng):
    """A constant input x answers as x (1 - exp(-f t)), exactly, at rest without gravity."""
    chain = random_chain(rng, 2, gravity=np.zeros(3))
    tau = np.tile([2.0, -1.0], (50, 1))
    zeros = np.zeros_like(tau)
    Y, tau_f = filtered_regressor(chain, zeros, zeros, tau, cutoff=CUTOFF, period=0.01)
    t = 0.01 * np.arange(50)[:, None]
    assert_close(tau_f, tau * (1.0 - np.exp(-CUTOFF * t)), OTHER_IMPLEMENTATION)
    assert not np.any(Y)


def test_a_ramp_passes_the_filter_exactly(rng):
    """Tau = t answers as t - (1 - exp(-f t)) / f."""
    chain = random_chain(rng, 1)
    t = 0.01 * np.arange(40)[:, None]
    _, tau_f = filtered_regressor(chain, 0 * t, 0 * t, t, cutoff=CUTOFF, period=0.01)
    assert_close(tau_f, t + np.expm1(-CUTOFF * t) / CUTOFF, OTHER_IMPLEMENTATION)


def test_sample_by_sample_is_the_recording(rng):
    chain = random_chain(rng, 3, types='RPR')
    q, qd, tau = recording(chain, 0.01)
    Y, tau_f = filtered_regressor(chain, q, qd, tau, cutoff=CUTOFF, period=0.01)
    regressor = FilteredRegressor(chain, cutoff=CUTOFF, period=0.01)
    for _ in range(2):
        steps = [regressor.update(*sample) for sample in zip(q, qd, tau)]
        assert_close(np.array([step[0] for step in steps]), Y, SAME_ALGEBRA)
        assert_close(np.array([step[1] for step in steps]), tau_f, SAME_ALGEBRA)
        regressor.reset()


def test_a_bad_sample_is_refused_and_leaves_no_trace(rng):
    chain = random_chain(rng, 3)
    q, qd, tau = recording(chain, 0.01, duration=0.05)
    clean, spoiled = (FilteredRegressor(chain, cutoff=CUTOFF, period=0.01) for _ in range(2))
    for k in range(len(q)):
        if k == 2:
            with pytest.raises(StateError, match='not finite'):
                spoiled.update(q[k], qd[k], [np.nan, 0.0, 0.0])
        expected, found = clean.update(q[k], qd[k], tau[k]), spoiled.update(q[k], qd[k], tau[k])
        np.testing.assert_array_equal(found[0], expected[0])


def test_wrong_use_is_refused(rng):
    chain = random_chain(rng, 2)
    zeros = np.zeros((3, 2))
    with pytest.raises(StateError, match=r'cutoff.*positive'):
        FilteredRegressor(chain, cutoff=-1.0, period=0.01)
    with pytest.raises(StateError, match=r'period.*positive'):
        FilteredRegressor(chain, cutoff=1.0, period=float('nan'))
    with pytest.raises(StateError, match='one sample at a time'):
        FilteredRegressor(chain, cutoff=1.0, period=0.1).update(zeros, zeros, zeros)
    with pytest.raises(StateError, match=r'recording has shape \(N, n\)'):
        filtered_regressor(chain, zeros[0], zeros[0], zeros[0], cutoff=1.0, period=0.1)
    bad = zeros.copy()
    bad[1, 0] = np.inf
    with pytest.raises(StateError, match='sample 1 has an entry'):
        filtered_regressor(chain, zeros, bad, zeros, cutoff=1.0, period=0.1)
