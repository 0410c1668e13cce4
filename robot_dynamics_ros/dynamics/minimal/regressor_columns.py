# SPDX-License-Identifier: Apache-2.0
"""Other columns for the regressor: by minimal parameters, and split into known and unknown."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.errors import ParameterError


def mlc_columns(Y: Array, mlc: MlcSet) -> Array:
    """
    Return the regressor (..., n, p) of a minimal set: the only one with tau = Y_mlc w.

    :param Y: (..., n, 10 n) regressor of the standard parameters.
    :param mlc: the minimal set.
    """
    return np.asarray(Y @ mlc.right_inverse)


def split_columns(Y: Array, names: Sequence[str], values: ArrayLike,
                  unknown: Sequence[str]) -> tuple[Array, Array]:
    """
    Split tau = Y x into the columns to estimate and the torque that is known already.

    :param Y: (..., n, p) regressor.
    :param names: p names of its columns.
    :param values: (p,) parameters; those of `unknown` are not used.
    :param unknown: names of the columns to estimate, in the order wanted.
    :returns: Y_unknown (..., n, len(unknown)) and tau_known (..., n):
        ``tau = Y_unknown @ x_unknown + tau_known``.
    :raises ParameterError: a name that is not a column, or sizes that do not fit.
    """
    x = np.array(values, dtype=np.float64)
    if x.shape != (len(names),) or Y.shape[-1] != len(names):
        raise ParameterError(f'{len(names)} names, {x.shape} values and a regressor of '
                             f'{Y.shape[-1]} columns do not fit together')
    places = {name: place for place, name in enumerate(names)}
    missing = [name for name in unknown if name not in places]
    if missing:
        raise ParameterError(f'the regressor has no column {", ".join(missing)}; '
                             f'it has {", ".join(names)}')
    chosen = [places[name] for name in unknown]
    x[chosen] = 0.0
    return Y[..., chosen], np.asarray(Y @ x)
