# SPDX-License-Identifier: Apache-2.0
"""What counts as excited."""

import numpy as np

from robot_dynamics_ros.estimation.identification.study import excited_unknowns
from robot_dynamics_ros.estimation.regression.prior import Prior


def test_an_unknown_is_excited_if_the_data_reduce_its_uncertainty():
    prior = Prior(np.zeros(3), np.array([1.0, 10.0, 1.0]))
    excited = excited_unknowns(np.array([0.29, 3.1, 0.01]), prior, np.array([False, False, True]))
    np.testing.assert_array_equal(excited, [True, False, False])
