# SPDX-License-Identifier: Apache-2.0
"""
Lin's identification procedure: joint n first, then inward (Lin 1995, section IV).

The torque of joint i depends on the parameters of the bodies i to n only. With those beyond i
known, their contribution phi_i (110) is subtracted; what remains is A_i w_i = gamma_i (111), a
small least squares of its own; before joint r it is (116). The matrix A_i (107) consists of the
vectors v_i (97), (98), (103), (104), the diagonal blocks of the regressor; friction and rotor of
the joint join them as further columns.

One pass is cheap and tells at which joint a model fails. But errors of the outer joints propagate
inward, and the inner torques are not used for the outer parameters. So it is a diagnosis beside
one least squares over all joints, which finds better parameters from the same data; as a method
of its own it is there to compare (`lin_fit`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.estimation.regression.least_squares import Fit, upper_triangle
from robot_dynamics_ros.estimation.regression.rows import Rows


@dataclass(frozen=True)
class JointDiagnosis:
    """
    One step of the procedure.

    :param joint: name of the joint.
    :param unknowns: names of the parameters found at this joint.
    :param rank: numeric rank of A_i; below the number of unknowns if some are not excited.
    :param condition_number: condition number of A_i with columns of equal length; infinite if
        rank-deficient.
    :param relative_error: residual of the joint over its torque.
    """

    joint: str
    unknowns: tuple[str, ...]
    rank: int
    condition_number: float
    relative_error: float


def lin_recursion(rows: Rows, blocks: Sequence[int], names: Sequence[str],
                  joint_names: Sequence[str],
                  start: Array) -> tuple[Array, tuple[JointDiagnosis, ...]]:
    """
    Return the unknowns (u,) and the diagnosis of every joint, joint 1 first.

    :param rows: regression rows.
    :param blocks: (u,) joint, 0-based, that each unknown belongs to.
    :param names: names of the unknowns.
    :param joint_names: names of the n joints.
    :param start: (u,) values for unknowns that cannot be found.
    """
    x = start.copy()
    own_joint = np.asarray(blocks)
    diagnosis = []
    for i in reversed(range(len(joint_names))):
        own = np.flatnonzero(own_joint == i)
        use = rows.usable[:, i]
        A = rows.Y[use, i][:, own]
        outer = np.flatnonzero(own_joint > i)
        gamma = rows.tau[use, i] - rows.Y[use, i][:, outer] @ x[outer]  # (108)
        lengths = np.linalg.norm(A, axis=0)
        acting = lengths > 0.0
        singular = (np.linalg.svd(A[:, acting] / lengths[acting], compute_uv=False)
                    if np.any(acting) and len(A) else np.zeros(0))
        rank = int(np.sum(singular > 1e-9 * np.max(singular, initial=0.0)))
        if rank:
            change, *_ = np.linalg.lstsq(A[:, acting] / lengths[acting],
                                         gamma - A @ x[own], rcond=1e-9)  # (111)
            x[own[acting]] += change / lengths[acting]
        size = float(np.linalg.norm(rows.tau[use, i]))
        left = float(np.linalg.norm(gamma - A @ x[own]))
        full = rank == own.size and rank > 0
        diagnosis.append(JointDiagnosis(
            joint_names[i], tuple(names[int(k)] for k in own), rank,
            float(singular[0] / singular[-1]) if full else float('inf'),
            left / size if size > 0.0 else float('nan')))
    return x, tuple(reversed(diagnosis))


#: Parts of the time that are left out in turn to find standard deviations.
_PARTS = 10


def lin_fit(weighted: Fit, rows: Rows, blocks: Sequence[int], names: Sequence[str],
            joint_names: Sequence[str], not_negative: Mask) -> Fit:
    """
    Return the unknowns by Lin's procedure, in the form of a least squares over all joints.

    Standard deviations come from leaving out a tenth of the time in turn; how the unknowns hang
    together is taken from the weighted least squares.

    :param weighted: weighted least squares of the same rows.
    :param rows: regression rows.
    :param blocks: (u,) joint, 0-based, that each unknown belongs to.
    :param names: names of the unknowns.
    :param joint_names: names of the n joints.
    :param not_negative: (u,) unknowns that cannot be negative; held at 0 if they would be.
    """
    fixed = weighted.fixed.copy()

    def found(part: Rows) -> Array:
        shown = replace(part, Y=np.where(fixed, 0.0, part.Y))
        start = np.where(fixed, 0.0, weighted.x)  # of what the data do not show
        return lin_recursion(shown, blocks, names, joint_names, start)[0]

    x = found(rows)
    while np.any(~fixed & not_negative & (x < 0.0)):
        fixed |= not_negative & (x < 0.0)
        x = found(rows)
    part = np.arange(len(rows)) * _PARTS // max(len(rows), 1)
    others = np.array([found(rows.of_samples(part != k)) for k in range(_PARTS)])
    deviation = np.sqrt((_PARTS - 1) * np.mean((others - np.mean(others, axis=0))**2, axis=0))
    before = weighted.standard_deviations
    factor = np.where((before > 0.0) & (deviation > 0.0),
                      deviation / np.where(before > 0.0, before, 1.0), 1.0)
    R = upper_triangle((weighted.triangle / factor)[:, ~fixed])
    triangle = np.zeros((len(R), len(names)))
    triangle[:, ~fixed] = R
    inverse = np.linalg.pinv(triangle)
    return replace(weighted, x=x, covariance=inverse @ inverse.T, triangle=triangle, fixed=fixed)
