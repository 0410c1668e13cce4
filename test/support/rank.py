# SPDX-License-Identifier: Apache-2.0
"""Numeric rank by singular values, independent of the way the package decides it."""

import numpy as np


def rank(W):
    """Return the number of singular values above 1e-9 of the largest one."""
    singular_values = np.linalg.svd(W, compute_uv=False)
    return int(np.sum(singular_values > 1e-9 * singular_values[0]))
