# SPDX-License-Identifier: Apache-2.0
"""
Unknowns that bodies can have, nearest to those of a least squares.

Of the inertias of a robot some hardly show in its torques. Errors of the friction law make them
negative in a least squares, and with them the mass matrix: nothing may be commanded with that.
The nearest bodies that fit into the space of the links (`projection`) take their place, and the
other unknowns follow as their covariance with the inertias says.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.dynamics.minimal.estimate import covariance_of
from robot_dynamics_ros.errors import IdentificationError, ParameterError
from robot_dynamics_ros.estimation.consistency.projection import consistent_inertias
from robot_dynamics_ros.estimation.regression.torque_terms import Unknowns


def possible_unknowns(unknowns: Unknowns, x: Array, covariance: Array, free: Mask,
                      not_negative: Mask) -> Array:
    """
    Return the nearest unknowns (u,) that possible bodies have; x itself if these are.

    :param unknowns: unknowns of the torque.
    :param x: (u,) their values.
    :param covariance: (u, u) covariance of those that are free, given the others.
    :param free: (u,) False where held at zero.
    :param not_negative: (u,) unknowns that cannot be negative.
    """
    chain, mlc, names = unknowns.chain, unknowns.mlc, unknowns.names
    links = np.array([name in mlc.names for name in names])
    known = links & free
    rotors = [name for j, name in enumerate(chain.joint_names, start=1)
              if f'Ia{j}' in unknowns.all_names and f'Ia{j}' not in names]
    stated = covariance_of(mlc.names, np.asarray(names)[known].tolist(),
                           covariance[np.ix_(known, known)])
    try:
        found = consistent_inertias(chain, mlc.with_values(unknowns.minimal(x)),
                                    covariance=stated, rotors=rotors, unknowns=unknowns)
    except (IdentificationError, ParameterError, np.linalg.LinAlgError):
        return x  # whoever uses it looks at the mass matrix
    if not found.changed:
        return x
    bodies = dict(zip(mlc.names, found.mlc.values))
    bodies |= {f'Ia{chain.joint_names.index(name) + 1}': found.rotor_inertia[
        chain.joint_names.index(name)] for name in rotors}
    result = np.where(links, unknowns.grouping @ [bodies.get(name, 0.0)
                                                  for name in unknowns.all_names], x)
    others = free & ~links
    C = covariance[np.ix_(known, known)]
    result[others] += covariance[np.ix_(others, known)] @ np.linalg.lstsq(
        C, (result - x)[known], rcond=1e-12)[0]
    return np.asarray(np.where(not_negative, np.maximum(result, 0.0), result))
