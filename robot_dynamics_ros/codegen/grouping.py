# SPDX-License-Identifier: Apache-2.0
"""From minimal parameters to the grouped standard parameters that kernels start with."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.minimal.khalil_set import khalil_forms
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.dynamics.minimal.numeric_set import numeric_forms, stacked_regressor
from robot_dynamics_ros.dynamics.minimal.structure import structure

#: Rounding dust of the conversion, relative to the largest entry; exact numbers fold.
_DUST = 1e-12


def grouping_matrix(chain: Chain, mlc: MlcSet) -> Array:
    """
    Return (10 n, p): standard parameters, many of them zero, that have the torque of `mlc`.

    They are Khalil & Dombre's, whose zeros save the most operations. Where the closed form does
    not hold for a chain (see `minimal_parameters`), `mlc` consists of standard parameters itself.
    """
    forms = (khalil_forms(chain, structure(chain)) if mlc.set == 'lin'
             else numeric_forms(chain, stacked_regressor(chain)))
    conversion = forms.matrix @ mlc.right_inverse
    for exact in (0.0, 1.0, -1.0):
        conversion[np.abs(conversion - exact) <= _DUST * np.max(np.abs(conversion))] = exact
    matrix = np.zeros((10 * len(chain), len(mlc)))
    places = [chain.standard_parameter_names.index(name) for name in forms.names]
    matrix[places] = conversion
    return read_only(matrix)
