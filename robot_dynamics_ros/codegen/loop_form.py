# SPDX-License-Identifier: Apache-2.0
"""
A model function without generated code: its equations run on floats or on rows.

It is the judge of all generated code, and what models run whose code would be too long.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.equations import Equations
from robot_dynamics_ros.codegen.functions import result_shape
from robot_dynamics_ros.codegen.grouping import Grouping
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm
from robot_dynamics_ros.dynamics.scalars.samples import Samples


def loop_form(chain: Chain, grouping: Grouping, name: str, form: JointForm,
              values: Mapping[str, Sequence[float]], arrays: Mapping[str, Array],
              grouped: list[list[float]] | None = None) -> Array:
    """
    Return the result of one function without generating code.

    :param values: parameters by name.
    :param arrays: (n,) or (N, n) inputs by name; 'wrench', where there is one, with six entries
        for each tip.
    :param grouped: what the grouping makes of the minimal parameters; None = not known yet.
    """
    used: set[str] = set()

    def parameter(vector: str, _: int) -> Sequence[float]:
        used.add(vector)
        return values[vector]

    state = Samples.of(chain, **arrays)
    shape = result_shape(name, chain, grouping.matrix.shape[1])
    try:
        with np.errstate(all='ignore'):
            result = state.vector(Equations(chain, grouping, form, state.scalars, parameter,
                                            state.functions, grouped=grouped).result(name))
    except ZeroDivisionError:  # a joint that moves no mass at all
        result = state.vector([math.nan] * math.prod(shape))
    if not all(all(map(math.isfinite, values[vector])) for vector in used):
        result[...] = math.nan
    return result.reshape((*result.shape[:-1], *shape))
