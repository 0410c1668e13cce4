# SPDX-License-Identifier: Apache-2.0
"""The verdict: relative errors, the limit, the URDF as a baseline, and reasons."""

import numpy as np
import pytest

from robot_dynamics_ros.estimation.identification.verdict import (
    RelativeErrors,
    judged,
    relative_errors,
)

TAU = np.array([[3.0, 1.0], [4.0, 0.0]])


TURNING, SLIDING = np.array([True, True]), np.array([True, False])
ALL = np.ones((2, 2), dtype=bool)


def errors_of(by_joint, total=None, part=(1.0, 1.0)):
    by_joint = np.array(by_joint)
    return RelativeErrors(by_joint, float(np.max(by_joint)) if total is None else total,
                          np.array(part), np.zeros(2))


def test_relative_errors_on_paper():
    predicted = TAU + np.array([[0.3, 0.0], [-0.4, 0.5]])
    errors = relative_errors(TAU, predicted, ALL, TURNING)
    np.testing.assert_allclose(errors.by_joint, [0.1, 0.5])
    np.testing.assert_array_equal(errors.removed, [0.0, 0.0])
    np.testing.assert_allclose(errors.part, [1.0, np.sqrt(0.04)])
    assert errors.total == pytest.approx(np.sqrt((0.25 + 0.25) / (25.0 + 1.0)))


def test_forces_are_not_pooled_with_torques():
    predicted = TAU + np.array([[0.3, 0.0], [-0.4, 0.5]])
    errors = relative_errors(TAU, predicted, ALL, SLIDING)
    assert errors.total == pytest.approx(0.5)
    np.testing.assert_array_equal(errors.part, [1.0, 1.0])


def test_what_the_filter_removes_is_no_success():
    raw = np.array([np.sqrt(12.5), 10.0])
    errors = relative_errors(TAU, TAU, ALL, TURNING, raw)
    assert errors.removed == pytest.approx([0.0, np.sqrt(1.0 - 0.005)])
    verdict = judged(errors, 0.4, 0.1, [], ('shoulder', 'elbow'))
    assert not verdict.passed
    assert 'removes 100 % of the effort of elbow' in verdict.reasons[0]


def test_entries_that_are_not_usable_do_not_count():
    usable = np.array([[True, False], [True, False]])
    errors = relative_errors(TAU, np.where(usable, 0.5 * TAU, np.nan), usable, TURNING)
    np.testing.assert_array_equal(errors.by_joint, [0.5, np.nan])
    assert errors.total == pytest.approx(0.5)
    assert np.isnan(relative_errors(TAU, TAU, ~ALL, TURNING).total)


@pytest.mark.parametrize('errors, urdf, against, passed, reasons', [
    (errors_of([0.05, 0.05]), 0.4, [], True, [
        'is 5.0 %, within the limit of 10 %; of the joints with at least 5 % of the largest',
        'have an error of 40.0 %']),
    (errors_of([0.10, 0.10]), 0.4, [], True, ['within the limit of 10 %', '40.0 %']),
    (errors_of([0.12, 0.12]), 0.4, [], False, ['is 12.0 %, above the limit of 10 %']),
    (errors_of([0.05, 0.05]), 0.05, [], True, ['within the limit', '5.0 %']),
    (errors_of([0.0002, 0.0002]), 0.0, [], True, ['within the limit', '0.0 %']),
    (errors_of([0.05, 0.05]), 0.03, [], False, ['5.0 % is above the error of the URDF']),
    (errors_of([0.12, 0.12]), 0.01, [], False, ['above the limit', 'above the error of the URDF']),
    (errors_of([0.05, 0.05]), 0.4, ['wrong sign'], False, ['wrong sign']),
    (errors_of([np.nan, np.nan]), np.nan, [], False, ['above the limit', 'above the error']),
    (errors_of([0.03, 0.55], 0.04), 0.4, [], False, ['error of elbow is 55.0 %, above 5 times']),
    (errors_of([0.03, 0.55], 0.04, (1.0, 0.02)), 0.4, [], True, [
        'shoulder is worst with 3.0 %', '']),
    (errors_of([0.03, 1.95], 0.04, (1.0, 0.02)), 0.4, [], False, ['elbow is predicted hardly']),
    (errors_of([0.03, 1.95], 0.04, (1.0, 0.002)), 0.4, [], True, [
        'shoulder is worst with 3.0 %', '']),
])
def test_a_verdict_says_why(errors, urdf, against, passed, reasons):
    verdict = judged(errors, urdf, 0.1, against, ('shoulder', 'elbow'))
    assert verdict.passed is passed
    assert len(verdict.reasons) == len(reasons)
    for reason, words in zip(verdict.reasons, reasons):
        assert words in reason
    np.testing.assert_array_equal(verdict.held_out_by_joint, errors.by_joint)
