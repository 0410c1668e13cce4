# SPDX-License-Identifier: Apache-2.0
"""The verdict: relative errors, the limit, the URDF as a baseline, and reasons."""

import numpy as np
import pytest

from robot_dynamics_ros.estimation.identification.verdict import judged, relative_errors

TAU = np.array([[3.0, 1.0], [4.0, 0.0]])


def test_relative_errors_on_paper():
    predicted = TAU + np.array([[0.3, 0.0], [-0.4, 0.5]])
    by_joint, total = relative_errors(TAU, predicted, np.ones((2, 2), dtype=bool))
    np.testing.assert_allclose(by_joint, [0.1, 0.5])
    assert total == pytest.approx(np.sqrt((0.25 + 0.25) / (25.0 + 1.0)))


def test_entries_that_are_not_usable_do_not_count():
    usable = np.array([[True, False], [True, False]])
    by_joint, total = relative_errors(TAU, np.where(usable, 0.5 * TAU, np.nan), usable)
    np.testing.assert_array_equal(by_joint, [0.5, np.nan])
    assert total == pytest.approx(0.5)
    assert np.isnan(relative_errors(TAU, TAU, np.zeros((2, 2), dtype=bool))[1])


@pytest.mark.parametrize('error, urdf, against, passed, reasons', [
    (0.05, 0.4, [], True, ['is 5.0 %, within the limit of 10 %', 'have an error of 40.0 %']),
    (0.10, 0.4, [], True, ['within the limit of 10 %', '40.0 %']),
    (0.12, 0.4, [], False, ['is 12.0 %, above the limit of 10 %']),
    (0.05, 0.05, [], False, ['5.0 % is not below the error of the URDF parameters, 5.0 %']),
    (0.12, 0.01, [], False, ['above the limit', 'not below the error of the URDF']),
    (0.05, 0.4, ['wrong sign'], False, ['wrong sign']),
    (np.nan, np.nan, [], False, ['above the limit', 'not below']),
])
def test_a_verdict_says_why(error, urdf, against, passed, reasons):
    by_joint = np.array([error, error])
    verdict = judged((by_joint, error), urdf, 0.1, against)
    assert verdict.passed is passed
    assert len(verdict.reasons) == len(reasons)
    for reason, words in zip(verdict.reasons, reasons):
        assert words in reason
    np.testing.assert_array_equal(verdict.held_out_by_joint, by_joint)
