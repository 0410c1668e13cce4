# SPDX-License-Identifier: Apache-2.0
"""The state of a controller in a message."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import StateError
from robot_dynamics_ros.motion.controller_state import controller_state

ROWS = {'q': [1.0, 2.0, 3.0], 'qd': [0.1, 0.2, 0.3], 'error': [0.0, 0.0, 0.0],
        'output': [4.0, 5.0, 6.0]}


def read(names=('c', 'b', 'a'), **changes):
    return controller_state(('a', 'b'), list(names), **{
        'received': 1.0, 'elapsed': 0.5, 'scaling': 1.0, **ROWS, **changes})


def test_joints_are_found_by_name():
    state = read()
    np.testing.assert_array_equal(state.q, [3.0, 2.0])
    np.testing.assert_array_equal(state.output, [6.0, 5.0])


def test_what_is_not_shown_is_unknown():
    state = read(qd=[], error=[0.0], output=[np.nan, 1.0, 1e300])
    np.testing.assert_array_equal(state.qd, [np.nan, np.nan])
    np.testing.assert_array_equal(state.qd_or_rest, [0.0, 0.0])
    np.testing.assert_array_equal(state.output, [np.nan, 1.0])


@pytest.mark.parametrize('scaling', [0.0, -1.0, np.nan, np.inf])
def test_an_impossible_scaling_is_ignored(scaling):
    assert read(scaling=scaling).scaling == 1.0
    assert read(scaling=0.5).scaling == 0.5


@pytest.mark.parametrize('changes', [{'names': ('c', 'b', 'd')}, {'q': []},
                                     {'q': [1.0, np.nan, 1.0]}, {'q': [1.0, 1.0, 1e300]}])
def test_a_state_without_a_reference_is_refused(changes):
    with pytest.raises(StateError, match='dropped'):
        read(**changes)
