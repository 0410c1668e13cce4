# SPDX-License-Identifier: Apache-2.0
"""The turn in which a motion of a continuous joint begins."""

import numpy as np
import pytest

from robot_dynamics_ros.motion.turns import in_nearest_turn

YES = np.array([True])


@pytest.mark.parametrize(('q', 'goal', 'way'), [
    (3.0, -3.0, 2.0 * np.pi - 6.0), (-3.0, 3.0, 6.0 - 2.0 * np.pi), (0.1, 0.3, 0.2),
    (0.0, 20.0, 20.0 - 6.0 * np.pi),
    # half a turn: the way that the numbers show
    (0.0, np.pi, np.pi), (np.pi, 0.0, -np.pi), (0.0, -np.pi, -np.pi), (0.0, 3.0 * np.pi, np.pi),
])
def test_the_way_is_the_short_one(q, goal, way):
    near = in_nearest_turn(np.array([q]), np.array([goal]), YES)
    assert goal - near[0] == pytest.approx(way)
    assert np.cos(near[0] - q) == pytest.approx(1.0)


def test_a_joint_with_limits_stays_where_it_is():
    q, goal = np.array([3.0, 3.0]), np.array([-3.0, -3.0])
    assert in_nearest_turn(q, goal, np.array([True, False]))[1] == 3.0
    assert in_nearest_turn(q, goal, None) is q
