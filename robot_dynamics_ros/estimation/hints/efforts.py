# SPDX-License-Identifier: Apache-2.0
"""Sign and unit of efforts, by the torque of the URDF's links."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.estimation.hints.effort_units import UNITS_OF_LIMIT, common_unit
from robot_dynamics_ros.estimation.regression.rows import Rows

#: Measured torques may differ from those of the URDF by this factor.
_TORQUE_FACTOR = 5.0

#: Sign and unit are checked only if the URDF explains this part of the squared torque...
_EXPLAINED = 0.6
#: ...and the links contribute at least this part of the torque beside friction, rotor and offset.
_MATTERS = 0.3

#: In what all joints show together, a joint counts if the URDF explains this part of what
#: friction, rotor and offset leave, however little that is.
_SURELY_EXPLAINED = 0.9

#: A common unit of all joints is named if so many of them show it.
_COMMON = 3


def effort_findings(rows: Rows, rigid: Array, terms: Array, chain: Chain,
                    effort: EffortSemantics) -> list[Finding]:
    """
    Compare the measured torques with those of the URDF: sign and unit.

    :param rows: rows with the measured torques.
    :param rigid: (N, n) torque of the URDF's links on the same samples, equally filtered.
    :param terms: (N, n, k) columns of rotors, friction and offsets, whose contribution is removed.
    :param chain: the robot.
    :param effort: meaning of the efforts that the torques come from.
    """
    scales = {j: scale for j in range(len(chain))
              if (scale := _scale(rows, rigid, terms, j)) is not None}
    findings = [Finding('effort_sign', chain.joint_names[j], 'the effort has the wrong sign: it '
                        'falls where the torque of the URDF rises', scale,
                        effort_remedy(chain, j, sign=int(-effort.sign[j])))
                for j, scale in scales.items() if scale < 0.0]
    if findings:
        return findings
    odd = any(_odd(scale) for scale in scales.values())
    scales |= {j: scale for j in range(len(chain)) if j not in scales
               and (scale := _scale(rows, rigid, terms, j, _SURELY_EXPLAINED, 0.0)) is not None}
    if (findings := _of_limits(chain, effort, scales)) or not odd:
        return findings
    return [Finding('effort_unit', chain.joint_names[j], f'the effort is {scale:.3g} times the '
                    'torque of the URDF: it looks like a current or another unit (the gain below '
                    'is as right as the masses of the URDF; robot-dynamics gains finds it by a '
                    'known payload)', scale,
                    effort_remedy(chain, j, gain=_rounded(effort.gain[j] / scale)))
            for j, scale in sorted(scales.items()) if scale > 0.0 and _odd(scale)]


def _rounded(gain: float) -> float:
    return float(f'{gain:.6g}')


def _odd(scale: float) -> bool:
    return not 1.0 / _TORQUE_FACTOR < scale < _TORQUE_FACTOR


def effort_remedy(chain: Chain, joint: int, **entries: float | str) -> str:
    """Return the text for joints.yaml that changes what an effort means."""
    said = ', '.join(f'{key}: {value}' for key, value in entries.items())
    return f'joints: {{{chain.joint_names[joint]}: {{effort: {{{said}}}}}}}'


def _scale(rows: Rows, rigid: Array, terms: Array, joint: int, explained: float = _EXPLAINED,
           least: float = _MATTERS) -> float | None:
    """
    Return the measured torque over that of the links; None where it cannot be seen.

    :param explained: part of the squared torque that the links must explain.
    :param least: part of the torque that they must have.
    """
    use = rows.usable[:, joint]
    if use.sum() < 10 or not np.any(rigid[use, joint]):
        return None
    both = np.column_stack([rows.tau[use, joint], rigid[use, joint]])
    others, *_ = np.linalg.lstsq(terms[use, joint], both, rcond=None)
    tau, model = (both - terms[use, joint] @ others).T
    product, squares, size = float(tau @ model), float(model @ model), float(tau @ tau)
    matters = size > least ** 2 * float(rows.tau[use, joint] @ rows.tau[use, joint])
    if not matters or product ** 2 < explained * squares * size:
        return None
    return product / squares


def _of_limits(chain: Chain, effort: EffortSemantics, scales: dict[int, float]) -> list[Finding]:
    """Return findings about efforts that are parts of the limits of their joints."""
    if len(scales) < _COMMON or min(scales.values()) < 0.0:
        return []
    places = list(scales)
    limits = chain.effort_limits
    unit, torques = common_unit(np.array(list(scales.values())), limits[places])
    if unit is None or torques:
        return []
    return [Finding('effort_unit', chain.joint_names[j], f'the efforts look like a '
                    f'{UNITS_OF_LIMIT[unit]}, here {limits[j]:g}', scales.get(j),
                    effort_remedy(chain, j, gain=_rounded(effort.gain[j] * limits[j] / unit)))
            for j in range(len(chain)) if np.isfinite(limits[j])]
