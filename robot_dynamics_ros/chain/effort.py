# SPDX-License-Identifier: Apache-2.0
"""What the effort of a robot means: unit, sign, side of the gear, gravity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from robot_dynamics_ros.arrays import Array, freeze, immutable
from robot_dynamics_ros.chain.joint_physics import check_coupling
from robot_dynamics_ros.errors import ParameterError

#: joint: torque after the gear; motor: torque of the motors, to be carried through the coupling.
EffortSide = Literal['joint', 'motor']
EFFORT_SIDES: tuple[EffortSide, ...] = get_args(EffortSide)


@immutable
@dataclass(frozen=True, eq=False)
class EffortSemantics:
    """
    How recorded efforts become torques: ``torque = sign gain (effort - offset)``.

    :param sign: (n,) +1 or -1: direction of a positive effort.
    :param gain: (n,) torque per unit of effort [N m, N per unit], positive; a motor constant
        times the gear ratio where the effort is a current.
    :param offset: (n,) reading at zero torque, in the unit of the effort.
    :param side: n words, 'joint' or 'motor'.
    :param coupling: (n, n) constant matrix J with ``q = J q_motor`` where `side` is 'motor', so
        that ``torque_motor = J^T torque_joint``; None = no coupling.
    :param gravity_removed: n flags: the robot reports the effort of this joint without the weight
        of the arm.
    """

    sign: Array
    gain: Array
    offset: Array
    side: tuple[EffortSide, ...]
    coupling: Array | None
    gravity_removed: tuple[bool, ...]

    def __post_init__(self) -> None:
        """Copy the arrays, make them read-only and check them."""
        freeze(self, 'sign', 'gain', 'offset')
        object.__setattr__(self, 'side', tuple(self.side))
        object.__setattr__(self, 'gravity_removed', tuple(self.gravity_removed))
        n = self.sign.size
        shapes = {self.sign.shape, self.gain.shape, self.offset.shape}
        if shapes != {(n,)} or not len(self.side) == len(self.gravity_removed) == n:
            raise ParameterError(f'effort: every field needs one value per joint ({n})')
        if not np.all(np.abs(self.sign) == 1.0):
            raise ParameterError(f'effort: sign must be 1 or -1, got {self.sign}')
        if not np.all(np.isfinite(self.gain) & (self.gain > 0.0)):
            raise ParameterError(f'effort: gain must be positive and finite, got {self.gain}; '
                                 'use sign for the direction')
        if not np.all(np.isfinite(self.offset)):
            raise ParameterError(f'effort: offset must be finite, got {self.offset}')
        if set(self.side) - set(EFFORT_SIDES):
            raise ParameterError(f'effort: side must be one of {", ".join(EFFORT_SIDES)}, '
                                 f'got {", ".join(self.side)}')
        if self.coupling is not None:
            freeze(self, 'coupling')
            if np.shape(self.coupling) != (n, n):
                raise ParameterError(f'effort: coupling has shape {np.shape(self.coupling)}, '
                                     f'expected ({n}, {n})')
            check_coupling(self.coupling, [f'number {i}' for i in range(1, n + 1)])

    @classmethod
    def torque(cls, n: int) -> EffortSemantics:
        """Return the plain meaning for n joints: effort is the torque of the joint [N m, N]."""
        joint: EffortSide = 'joint'
        return cls(np.ones(n), np.ones(n), np.zeros(n), (joint,) * n, None, (False,) * n)
