# SPDX-License-Identifier: Apache-2.0
"""
Closed-form set of minimal linear combinations for the gravity load (Lin 1994, Theorem 4).

Its delta and sigma are not those of the set for the whole torque, hence the other words here.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.lin_set import constants_as_forms, first_moments
from robot_dynamics_ros.dynamics.linear_forms import Form, LinearForms
from robot_dynamics_ros.dynamics.structure import Structure, parallel, perpendicular


def gravity_forms(chain: Chain, groups: Structure) -> LinearForms:
    """
    Return what the gravity load depends on, joint 1 first; nothing where there is no gravity.

    :param chain: the robot; its inertias are not used.
    :param groups: its joint groups.
    """
    constants = constants_as_forms(chain)
    # an axis perpendicular to gravity at one position chosen at random is so at all positions
    rng = np.random.default_rng(1994)
    axes = [pose.rotation[:, 2] for pose in chain.joint_poses(rng.uniform(-3, 3, len(chain)))]
    forms: list[Form] = []
    for i, (joint, axis) in enumerate(zip(chain.joints, axes), start=1):
        if not np.any(chain.gravity):
            break
        if not joint.revolute and not perpendicular(axis, chain.gravity):
            forms.append((f'm{i}', 'kg', constants.m_hat[i]))
        if joint.revolute and (i >= groups.s or not parallel(axis, chain.gravity)):
            forms += first_moments(constants, i)
    return LinearForms.of(forms, len(chain))
