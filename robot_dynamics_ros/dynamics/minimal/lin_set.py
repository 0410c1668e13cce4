# SPDX-License-Identifier: Apache-2.0
"""
Lin's closed-form sets of minimal linear combinations, for the whole torque and for gravity.

Lin 1995, Theorem 2, and 1994, Theorem 5: an element is in the set when it acts on the torque for
this geometry, whatever the inertias are, so a massless link does not change the set. Lin 1994,
Theorem 4: the set of the gravity torque. Its delta and sigma are not those of the set for the
whole torque, hence the other words there.
"""

from __future__ import annotations

import math

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.minimal.linear_forms import Form, LinearForms
from robot_dynamics_ros.dynamics.minimal.structure import (
    FROM_S,
    Structure,
    meeting_points,
    parallel,
    perpendicular,
)
from robot_dynamics_ros.dynamics.recursions.composite import InertiaConstants, inertia_constants
from robot_dynamics_ros.dynamics.scalars.frames import joint_frames


def lin_forms(chain: Chain, groups: Structure) -> LinearForms:
    """
    Return the set of Theorem 2, joint 1 first.

    :param chain: the robot; its inertias are not used.
    :param groups: its joint groups.
    """
    return LinearForms.of(_forms(chain, groups, constants_as_forms(chain)), len(chain.links))


def _forms(chain: Chain, groups: Structure, constants: InertiaConstants) -> list[Form]:
    forms: list[Form] = []
    for i, joint in enumerate(chain.moving, start=1):
        if joint.revolute:
            forms += _revolute_forms(constants, i, beyond_s=groups.stages[i] == FROM_S,
                                     moments=groups.delta[i])
        else:
            forms += _prismatic_forms(constants, i, groups)
    return forms


def inertia_matrix_forms(chain: Chain, groups: Structure) -> LinearForms:
    """
    Return what the mass matrix depends on, joint 1 first (Lin 1994 (61), completed).

    It is the set of Theorem 2 of Lin 1995 without gravity, with one exception that the papers do
    not have: where all axes up to that of joint j >= s meet in one point, k_x and k_y of joint j
    act like moments about that point. They are not elements, and U_13 and U_23 are those about the
    point.

    :param chain: the robot; neither its inertias nor its gravity are used.
    :param groups: its joint groups without gravity.
    """
    constants, points = constants_as_forms(chain), meeting_points(chain)
    forms: list[Form] = []
    for form in _forms(chain, groups, constants):
        name, unit, row = form
        letter, _, component = name.partition('_')
        j = int(letter[1:]) if letter[1:].isdigit() else 0
        if groups.stages[j] != FROM_S or j not in points or letter[0] not in 'kU':
            forms.append(form)
        elif component in ('13', '23'):
            moment = constants.k[j][0 if component == '13' else 1]
            shifted = points[j] != 0.0
            forms.append((f'{name}*' if shifted else name, unit, row + points[j] * moment))
        elif letter[0] == 'U':
            forms.append(form)
    return LinearForms.of(forms, len(chain.links))


def constants_as_forms(chain: Chain) -> InertiaConstants:
    """Return m_hat, k and U with a row (10 m,) of coefficients for every scalar."""
    n = len(chain.links)
    frames = joint_frames(chain, [0.0] * len(chain), math.cos, math.sin)
    return inertia_constants(frames, list(np.eye(10 * n).reshape(n, 10, 10 * n)))


def _first_moments(constants: InertiaConstants, i: int) -> list[Form]:
    """Return k_x and k_y of joint i."""
    k_x, k_y, _ = constants.k[i]
    return [(f'k{i}_x', 'kg m', k_x), (f'k{i}_y', 'kg m', k_y)]


def _revolute_forms(constants: InertiaConstants, i: int, *, beyond_s: bool,
                    moments: bool) -> list[Form]:
    U = constants.U[i]
    forms = [(f'U{i}_33', 'kg m^2', U[2][2])]
    if beyond_s:  # item 2 of the theorem; U_22 has been moved inward
        forms = [(f'U{i}_11-22', 'kg m^2', U[0][0] - U[1][1]), *forms,
                 (f'U{i}_12', 'kg m^2', U[0][1]), (f'U{i}_13', 'kg m^2', U[0][2]),
                 (f'U{i}_23', 'kg m^2', U[1][2])]
    return forms + (_first_moments(constants, i) if moments else [])


def _prismatic_forms(constants: InertiaConstants, i: int, groups: Structure) -> list[Form]:
    k_x, k_y, k_z = constants.k[i]
    forms: list[Form] = [(f'm{i}', 'kg', constants.m_hat[i])]
    if groups.stages[i] == FROM_S:
        forms += [*_first_moments(constants, i), (f'k{i}_z', 'kg m', k_z)]
    elif groups.sigma[i]:
        x, y, z = groups.u_r[i]
        kappa_1 = x * k_y - y * k_x  # (86)
        kappa_2 = (1.0 - z * z) * k_z - z * (x * k_x + y * k_y)  # (87)
        forms += [(f'kap1_{i}', 'kg m', kappa_1), (f'kap2_{i}', 'kg m', kappa_2)]
    return forms


def gravity_forms(chain: Chain, groups: Structure) -> LinearForms:
    """
    Return what the gravity torque depends on, joint 1 first; nothing where there is no gravity.

    :param chain: the robot; its inertias are not used.
    :param groups: its joint groups.
    """
    constants = constants_as_forms(chain)
    # an axis perpendicular to gravity at one position chosen at random is so at all positions
    rng = np.random.default_rng(1994)
    axes = [pose.rotation[:, 2] for pose in chain.joint_poses(rng.uniform(-3, 3, len(chain)))]
    forms: list[Form] = []
    for i, (joint, axis) in enumerate(zip(chain.moving, axes), start=1):
        if not np.any(chain.gravity):
            break
        if not joint.revolute and not perpendicular(axis, chain.gravity):
            forms.append((f'm{i}', 'kg', constants.m_hat[i]))
        if joint.revolute and (groups.stages[i] == FROM_S
                               or not parallel(axis, chain.gravity)):
            forms += _first_moments(constants, i)
    return LinearForms.of(forms, len(chain.links))
