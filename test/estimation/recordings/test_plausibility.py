# SPDX-License-Identifier: Apache-2.0
"""What joints can plausibly measure, from the limits of a chain."""

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.estimation.recordings.plausibility import PlausibleRange


def plausible(**limits):
    chain = chain_from_dh('R', beta=[0.0], b=[0.0], d=[0.0], theta=[0.0])
    return PlausibleRange.of_chain(replace(chain, joints=(replace(chain.joints[0], **limits),)))


def test_limits_have_a_margin():
    found = plausible(lower=-1.0, upper=3.0, velocity_limit=2.0, effort_limit=50.0)
    assert (found.middle, found.reach) == (1.0, 4.0)  # from -3 to 5: half the range beyond
    assert (found.velocity, found.torque) == (6.0, 250.0)


def test_without_limits_almost_everything_is_plausible():
    found = plausible()
    assert found.has_state(np.array([1e4]), np.array([100.0]))
    assert not found.has_state(np.array([1e155]), np.array([0.0]))
    assert not found.has_state(np.array([0.0]), np.array([1e155]))


def test_samples_are_judged_one_by_one():
    found = plausible(lower=-1.0, upper=1.0, velocity_limit=1.0)
    q = np.array([[0.0], [2.5], [0.0], [np.nan], [0.0]])
    qd = np.array([[0.0], [0.0], [3.5], [0.0], [np.inf]])
    assert found.has_state(q, qd).tolist() == [True, False, False, False, False]
    assert found.has_state(q, None).tolist() == [True, False, True, False, True]
