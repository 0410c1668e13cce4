# SPDX-License-Identifier: Apache-2.0
"""The torque error of other parameters on condensed rows."""

import numpy as np
import pytest

from robot_dynamics_ros.estimation.regression.recorded_torque import RecordedTorque


def rows(rng, samples):
    Y = rng.normal(size=(samples, 2, 4))
    w = rng.normal(size=4)
    tau = Y @ w + 0.1 * rng.normal(size=(samples, 2))
    return Y, w, tau, rng.random((samples, 2)) < 0.8


@pytest.mark.parametrize('samples', [3, 200])
def test_errors_are_those_of_all_rows(rng, samples):
    Y, w, tau, usable = rows(rng, samples)
    recorded = RecordedTorque.of_rows(Y, tau, Y @ w, usable)
    assert recorded.factors.shape == (2, 6, 6)
    for change in (np.zeros(4), rng.normal(size=4)):
        error = np.where(usable, tau - Y @ (w + change), 0.0)
        size = np.linalg.norm(np.where(usable, tau, 0.0))
        assert recorded.relative_error(change) == pytest.approx(np.linalg.norm(error) / size)
        moved = np.linalg.norm(np.where(usable, Y @ change, 0.0))
        assert recorded.relative_change(change) == pytest.approx(moved / size)


def test_a_recording_without_torque_has_no_relative_error(rng):
    Y, w, tau, usable = rows(rng, 20)
    recorded = RecordedTorque.of_rows(Y, 0.0 * tau, Y @ w, usable)
    assert recorded.relative_error(w) == recorded.relative_change(w) == 0.0
