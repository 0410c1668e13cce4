# SPDX-License-Identifier: Apache-2.0
"""Whether identified parameters can be trusted, by their error on held-out data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask

#: A joint matters if its torque is at least this part of the largest one...
_MATTERS = 0.05
#: ...and its error may be this many times the limit for all joints together.
_JOINT_FACTOR = 5.0

#: Nobody should be told that a joint is known whose torque is predicted hardly better than by
#: zero, with this error...
_WORTHLESS = 0.9
#: ...or is mostly removed by the filter, with this part, if its torque is at least...
_REMOVED = 0.8
#: ...this part of the largest one.
_NOTICED = 0.01

#: Errors this much above those of the URDF are equally good: factor, and part of the torque.
_EQUAL, _NEGLIGIBLE = 1.1, 0.002


@dataclass(frozen=True, eq=False)
class Verdict:
    """
    The judgement on an identification.

    :param passed: whether the parameters can be trusted.
    :param held_out_error: root mean square error over root mean square torque on held-out data,
        all joints that turn, or all that slide, whichever is larger; 0.05 = 5 %.
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


@dataclass(frozen=True, eq=False)
class RelativeErrors:
    """
    Errors of predicted torques; forces are not compared with torques.

    :param by_joint: (n,) root mean square error over root mean square torque; NaN = no data.
    :param total: error of all joints that turn, or of all that slide, whichever is larger.
    :param part: (n,) torque over that of the largest joint of its kind.
    :param removed: (n,) part of the torque that the filter has removed.
    """

    by_joint: Array
    total: float
    part: Array
    removed: Array


def relative_errors(tau: Array, predicted: Array, usable: Mask, turning: Mask,
                    raw: Array | None = None) -> RelativeErrors:
    """
    Return the relative errors of predicted torques.

    :param tau: (N, n) measured torques.
    :param predicted: (N, n) predicted torques.
    :param usable: (N, n) mask of the entries to compare; a joint without any gets NaN.
    :param turning: (n,) joints that turn; the others slide.
    :param raw: (n,) root mean square torque before the filter [N m, N]; None = that of `tau`.
    """
    error = np.sum(np.where(usable, tau - predicted, 0.0) ** 2, axis=0)
    square = np.sum(np.where(usable, tau, 0.0) ** 2, axis=0)
    size = np.sqrt(square / np.maximum(usable.sum(axis=0), 1))
    whole = size if raw is None else raw
    totals, part = [], np.zeros(size.size)
    with np.errstate(invalid='ignore', divide='ignore'):
        for kind in (turning, ~turning):
            if np.any(square[kind] > 0.0):
                totals.append(float(np.sqrt(error[kind].sum() / square[kind].sum())))
                part[kind] = whole[kind] / np.max(whole[kind])
        return RelativeErrors(np.sqrt(error / square), max(totals, default=np.nan), part,
                              np.sqrt(np.maximum(1.0 - (size / whole) ** 2, 0.0)))


def judged(held_out: RelativeErrors, urdf_error: float, limit: float, against: Sequence[str],
           names: Sequence[str]) -> Verdict:
    """
    Return the verdict.

    :param held_out: errors on held-out data.
    :param urdf_error: error of the URDF parameters.
    :param limit: largest error that passes.
    :param against: reasons against it that are already known.
    :param names: names of the joints.
    """
    by_joint, total = held_out.by_joint, held_out.total
    reasons = [*against, *(reason for j, name in enumerate(names)
                           if held_out.part[j] >= _NOTICED
                           for reason in _against_joint(held_out, j, name))]
    if not total <= limit:
        reasons.append(f'the held-out error is {100 * total:.1f} %, above the limit of '
                       f'{100 * limit:g} %')
    worst = int(np.argmax(np.where((held_out.part >= _MATTERS) & np.isfinite(by_joint), by_joint,
                                   -1.0)))
    if _JOINT_FACTOR * limit < by_joint[worst] < _WORTHLESS:
        reasons.append(f'the held-out error of {names[worst]} is {100 * by_joint[worst]:.1f} %, '
                       f'above {_JOINT_FACTOR:g} times the limit of {100 * limit:g} %')
    if not total <= max(_EQUAL * urdf_error, urdf_error + _NEGLIGIBLE):
        reasons.append(f'the held-out error {100 * total:.1f} % is above the error of the URDF '
                       f'parameters, {100 * urdf_error:.1f} %')
    passed = not reasons
    if passed:
        reasons = [f'the held-out error is {100 * total:.1f} %, within the limit of '
                   f'{100 * limit:g} %; of the joints with at least {100 * _MATTERS:g} % of the '
                   f'largest torque, {names[worst]} is worst with {100 * by_joint[worst]:.1f} %',
                   f'the URDF parameters have an error of {100 * urdf_error:.1f} % on the same '
                   'data']
    return Verdict(passed, total, by_joint, urdf_error, limit, tuple(reasons))


def _against_joint(held_out: RelativeErrors, j: int, name: str) -> list[str]:
    error, removed = held_out.by_joint[j], held_out.removed[j]
    if removed > _REMOVED:
        return [f'the filter removes {100 * removed:.0f} % of the effort of {name}: it is noise, '
                'or has little to do with the motion']
    if error >= _WORTHLESS:
        return [f'{name} is predicted hardly better than by no torque at all ({100 * error:.0f} '
                '%): its effort has little to do with the motion, or means something else']
    return []
