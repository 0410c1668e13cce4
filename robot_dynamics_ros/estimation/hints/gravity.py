# SPDX-License-Identifier: Apache-2.0
"""The direction of gravity that torques show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.dynamics.formulations.equations_of_motion import gravity_torque
from robot_dynamics_ros.estimation.regression.rows import Rows

#: Gravity is doubted if the direction that explains the torques best is this far off [rad]...
_DIRECTION = np.radians(40.0)
#: ...has a size within this factor of that on earth...
_SIZE_FACTOR = 2.0
#: ...and leaves less than this part of the squared error...
_LEFT = 0.25
#: ...where the error is at least this part of the squared torque.
_WRONG = 0.05


def gravity_findings(rows: Rows, rigid: Array, terms: Array, chain: Chain) -> list[Finding]:
    """
    Compare the gravity that the torques show, by the URDF's masses, with that of the chain.

    Torque is linear in the vector of gravity, so one least squares finds it.

    :param rows: rows with the measured torques.
    :param rigid: (N, n) torque of the URDF's links on the same samples.
    :param terms: (N, n, k) columns of rotors, friction and offsets.
    :param chain: the robot.
    """
    q, given = rows.states[:, :len(chain)], np.asarray(chain.gravity)
    size = np.linalg.norm(given)
    # (N, n, 3): torque of the weight per unit of gravity along each axis of the base
    weight = np.stack([gravity_torque(replace(chain, gravity=axis), q) for axis in np.eye(3)],
                      axis=-1)
    A, b = [], []
    for j in range(len(chain)):
        use = rows.usable[:, j]
        if use.sum() < 10:
            continue
        columns = np.column_stack([weight[use, j], rows.tau[use, j]
                                   - (rigid[use, j] - weight[use, j] @ given)])
        others, *_ = np.linalg.lstsq(terms[use, j], columns, rcond=None)
        left = columns - terms[use, j] @ others  # what friction, rotor and offset cannot explain
        scale = np.sqrt(np.mean(rows.tau[use, j] ** 2)) + 1e-300
        A.append(left[:, :3] / scale)
        b.append(left[:, 3] / scale)
    if not A or size == 0.0:
        return []
    W, y = np.concatenate(A), np.concatenate(b)
    found, _, rank, _ = np.linalg.lstsq(W, y, rcond=1e-6)
    before, after = (float(np.sum((y - W @ g) ** 2)) for g in (given, found))
    length = float(np.linalg.norm(found))
    if rank < 3 or not size / _SIZE_FACTOR < length < _SIZE_FACTOR * size:
        return []
    angle = float(np.arccos(np.clip(found @ given / (size * length), -1.0, 1.0)))
    if angle < _DIRECTION or after > _LEFT * before or before < _WRONG * y.size:
        return []
    direction = found / length
    axis = int(np.argmax(np.abs(direction)))
    if abs(direction[axis]) > np.cos(_DIRECTION):  # a robot is mounted square, mostly
        direction = np.sign(direction[axis]) * np.eye(3)[axis]
    vector = ','.join(f'{size * x + 0.0:.4g}' for x in direction)
    return [Finding('gravity_direction', '', 'by the masses of the URDF the torques show gravity '
                    f'along ({vector}) m/s^2 in the axes of {chain.base}, '
                    f'{np.degrees(angle):.0f} degrees from the one in use', angle,
                    f'--gravity={vector}')]
