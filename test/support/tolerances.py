# SPDX-License-Identifier: Apache-2.0
"""Named tolerances, relative to the largest expected entry."""

import numpy as np

#: The same algebra in another order of operations.
SAME_ALGEBRA = 1e-12
#: Another formulation of the same quantity within this package.
OTHER_FORMULATION = 1e-10
#: Another program.
OTHER_IMPLEMENTATION = 1e-9
#: A derivative by differences.
FINITE_DIFFERENCE = 1e-6


def assert_close(actual, expected, tolerance, err_msg='', *, terms=1e-3):
    """
    Compare with `tolerance` times the largest expected entry, or times `terms` if that is more.

    :param terms: size of what is summed up; terms that cancel leave their rounding errors.
    """
    scale = max(float(np.max(np.abs(expected), initial=0.0)), terms)
    np.testing.assert_allclose(actual, expected, rtol=0.0, atol=tolerance * scale,
                               err_msg=err_msg)
