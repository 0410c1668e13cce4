# SPDX-License-Identifier: Apache-2.0
"""The room of the prior: small where the URDF is right, large where it is wrong."""

import numpy as np
import pytest

from robot_dynamics_ros.estimation.regression.prior import Prior
from robot_dynamics_ros.estimation.regression.prior_choice import ROOMS, chosen_room
from robot_dynamics_ros.estimation.regression.rows import Rows

UNKNOWNS, SAMPLES = 6, 400


def rows_of(rng, x, noise):
    """Return rows of one joint whose last unknown hardly shows in the torque."""
    Y = rng.normal(size=(SAMPLES, 1, UNKNOWNS)) * np.array([*np.ones(UNKNOWNS - 1), 1e-3])
    tau = Y @ x + noise * rng.normal(size=(SAMPLES, 1))
    return Rows(Y, tau, np.ones(tau.shape, dtype=bool), np.arange(SAMPLES) * 0.1,
                np.zeros(SAMPLES, dtype=np.int64), rng.normal(size=(SAMPLES, 2)))


def room_of(rng, x, mean, noise=0.1):
    rows = rows_of(rng, x, noise)
    blocks = np.repeat(np.arange(5), SAMPLES // 5)
    return chosen_room(rows, blocks, lambda room: Prior(mean, room * np.full(UNKNOWNS, 0.1)))


def test_a_prior_that_is_right_keeps_its_deviations(rng):
    x = rng.normal(size=UNKNOWNS)
    assert room_of(rng, x, x + 0.05) == ROOMS[0]


@pytest.mark.parametrize('size', [10.0, 1000.0])
def test_a_prior_that_is_wrong_is_given_room(size, rng):
    x = size * np.ones(UNKNOWNS)
    assert room_of(rng, x, np.zeros(UNKNOWNS), noise=0.1 * size) >= 10.0


def test_one_block_is_not_enough_to_judge(rng):
    rows = rows_of(rng, np.ones(UNKNOWNS), 0.1)
    assert chosen_room(rows, np.zeros(SAMPLES, dtype=np.int64), lambda room: None) == ROOMS[0]
