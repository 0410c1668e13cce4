# SPDX-License-Identifier: Apache-2.0
"""Whether identified parameters can be trusted, by their error on held-out data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask


@dataclass(frozen=True, eq=False)
class Verdict:
    """
    The judgement on an identification.

    :param passed: whether the parameters can be trusted.
    :param held_out_error: root mean square error over root mean square torque, all joints, on
        held-out data; 0.05 = 5 %.
    :param held_out_by_joint: (n,) the same error joint by joint.
    :param urdf_error: error of the URDF parameters on the same data.
    :param limit: largest error that passes.
    :param reasons: sentences that explain the verdict.
    """

    passed: bool
    held_out_error: float
    held_out_by_joint: Array
    urdf_error: float
    limit: float
    reasons: tuple[str, ...]


def relative_errors(tau: Array, predicted: Array, usable: Mask) -> tuple[Array, float]:
    """
    Return the relative error of each joint (n,) and of all joints together.

    :param tau: (N, n) measured torques.
    :param predicted: (N, n) predicted torques.
    :param usable: (N, n) mask of the entries to compare; a joint without any gets NaN.
    """
    error = np.sum(np.where(usable, tau - predicted, 0.0) ** 2, axis=0)
    size = np.sum(np.where(usable, tau, 0.0) ** 2, axis=0)
    with np.errstate(invalid='ignore', divide='ignore'):
        by_joint = np.sqrt(error / size)
        total = float(np.sqrt(error.sum() / size.sum()))
    return by_joint, total


def judged(held_out: tuple[Array, float], urdf_error: float, limit: float,
           against: list[str]) -> Verdict:
    """
    Return the verdict.

    :param held_out: held-out errors by joint and of all joints together.
    :param urdf_error: error of the URDF parameters.
    :param limit: largest error that passes.
    :param against: reasons against it that are already known.
    """
    by_joint, total = held_out
    reasons = list(against)
    if not total <= limit:
        reasons.append(f'the held-out error is {100 * total:.1f} %, above the limit of '
                       f'{100 * limit:g} %')
    if not total < urdf_error:
        reasons.append(f'the held-out error {100 * total:.1f} % is not below the error of the '
                       f'URDF parameters, {100 * urdf_error:.1f} %')
    passed = not reasons
    if passed:
        reasons = [f'the held-out error is {100 * total:.1f} %, within the limit of '
                   f'{100 * limit:g} %',
                   f'the URDF parameters have an error of {100 * urdf_error:.1f} % on the same '
                   'data']
    return Verdict(passed, total, by_joint, urdf_error, limit, tuple(reasons))
