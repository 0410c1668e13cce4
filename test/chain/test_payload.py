# SPDX-License-Identifier: Apache-2.0
"""A load that can exist."""

import numpy as np
import pytest

from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.errors import ParameterError


def test_a_load_is_moved_to_the_tip_frame():
    load = payload_inertia(2.0, [0.0, 0.0, 0.1], np.diag([0.01, 0.01, 0.005]))
    assert load.first_moment.tolist() == [0.0, 0.0, 0.2]
    np.testing.assert_allclose(np.diag(load.tensor), [0.03, 0.03, 0.005])


def test_no_mass_is_no_load():
    assert not payload_inertia(0.0, [1.0, 2.0, 3.0], np.eye(3)).standard_parameters.any()


def test_a_point_mass_is_a_load():
    assert payload_inertia(1.0, [0, 0, 0], np.zeros((3, 3))).mass == 1.0


def test_a_point_mass_may_be_moved_to_the_tip_frame_and_back():
    centre = np.array([0.1, -0.2, 0.3])
    steiner = 1.5 * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    back = payload_inertia(1.5, centre, np.zeros((3, 3))).tensor - steiner * (1 + 1e-15)
    assert payload_inertia(1.5, centre, back).mass == 1.5


@pytest.mark.parametrize(('mass', 'tensor', 'message'), [
    (-1.0, np.eye(3), 'negative'),
    (np.nan, np.eye(3), 'finite'),
    (1.0, np.diag([1.0, 1.0, 3.0]), 'no body'),
    (1.0, np.diag([1.0, 1.0, -1.0]), 'no body'),
    (1.0, np.array([[1.0, 0.5, 0], [0, 1, 0], [0, 0, 1]]), 'symmetric'),
    (1.0, np.eye(2), '3 x 3'),
])
def test_a_body_that_cannot_exist_is_refused(mass, tensor, message):
    with pytest.raises(ParameterError, match=message):
        payload_inertia(mass, [0.0, 0.0, 0.0], tensor)
