# SPDX-License-Identifier: Apache-2.0
"""What the effort of a robot means: unit, sign, side of the gear, gravity."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from robot_dynamics_ros.arrays import Array, freeze, immutable
from robot_dynamics_ros.chain.joint_physics import check_coupling
from robot_dynamics_ros.errors import ParameterError

#: joint: torque of the drive, on the joint side of the gear; motor: torque of the motors, to be
#: carried through the coupling; link: torque sensor between gear and link, behind the rotor.
EffortSide = Literal['joint', 'motor', 'link']
EFFORT_SIDES: tuple[EffortSide, ...] = get_args(EffortSide)

#: Efforts later or earlier than this are another motion [s].
LONGEST_DELAY = 1.0

#: Relative standard deviation of a gain that is not said: efforts that are torques already (gain
#: 1), and others, mostly currents with the constants of a data sheet.
TORQUE_DEVIATION, CURRENT_DEVIATION = 0.05, 0.1


@immutable
@dataclass(frozen=True, eq=False)
class EffortSemantics:
    """
    How recorded efforts become torques: ``torque = sign gain (effort - offset)``.

    :param sign: (n,) +1 or -1: direction of a positive effort.
    :param gain: (n,) torque per unit of effort [N m, N per unit], positive; a motor constant
        times the gear ratio where the effort is a current.
    :param offset: (n,) reading at zero torque, in the unit of the effort.
    :param side: n words, 'joint', 'motor' or 'link'. Rotor and friction of the drive are not part
        of what a sensor on the link side measures; what of a link lies before its sensor, the
        other joints feel and the sensor does not, so that its rotor inertia may be negative.
    :param coupling: (n, n) constant matrix J with ``q = J q_motor`` where `side` is 'motor', so
        that ``torque_motor = J^T torque_joint``; None = no coupling.
    :param gravity_removed: n flags: the robot reports the effort of this joint without the weight
        of the arm.
    :param gain_deviation: (n,) relative standard deviations of the gains, 0.03 = 3 %; NaN = not
        known; empty = none is known.
    :param delay: time by which efforts are reported later than the positions that belong to them
        [s]; negative = earlier.
    """

    sign: Array
    gain: Array
    offset: Array
    side: tuple[EffortSide, ...]
    coupling: Array | None
    gravity_removed: tuple[bool, ...]
    gain_deviation: Array = field(default_factory=lambda: np.empty(0))
    delay: float = 0.0

    def __post_init__(self) -> None:
        """Copy the arrays, make them read-only and check them."""
        if np.size(self.gain_deviation) == 0:
            object.__setattr__(self, 'gain_deviation', np.full(np.shape(self.gain), np.nan))
        freeze(self, 'sign', 'gain', 'gain_deviation', 'offset')
        object.__setattr__(self, 'side', tuple(self.side))
        object.__setattr__(self, 'gravity_removed', tuple(self.gravity_removed))
        n = self.sign.size
        shapes = {self.sign.shape, self.gain.shape, self.gain_deviation.shape, self.offset.shape}
        if shapes != {(n,)} or not len(self.side) == len(self.gravity_removed) == n:
            raise ParameterError(f'effort: every field needs one value per joint ({n})')
        if not np.all(np.abs(self.sign) == 1.0):
            raise ParameterError(f'effort: sign must be 1 or -1, got {self.sign}')
        if not np.all(np.isfinite(self.gain) & (self.gain > 0.0)):
            raise ParameterError(f'effort: gain must be positive and finite, got {self.gain}; '
                                 'use sign for the direction')
        if not np.all(np.isfinite(self.offset)):
            raise ParameterError(f'effort: offset must be finite, got {self.offset}')
        if np.any(np.isinf(self.gain_deviation) | (self.gain_deviation < 0.0)):
            raise ParameterError('effort: gain_deviation must be finite and not negative, got '
                                 f'{self.gain_deviation}')
        if set(self.side) - set(EFFORT_SIDES):
            raise ParameterError(f'effort: side must be one of {", ".join(EFFORT_SIDES)}, '
                                 f'got {", ".join(self.side)}')
        if not abs(self.delay) <= LONGEST_DELAY:
            raise ParameterError(f'effort: the delay must be between -{LONGEST_DELAY:g} and '
                                 f'{LONGEST_DELAY:g} s, got {self.delay}')
        if self.coupling is not None:
            freeze(self, 'coupling')
            if np.shape(self.coupling) != (n, n):
                raise ParameterError(f'effort: coupling has shape {np.shape(self.coupling)}, '
                                     f'expected ({n}, {n})')
            check_coupling(self.coupling, [f'number {i}' for i in range(1, n + 1)])

    @property
    def assumed_gain_deviation(self) -> Array:
        """Relative standard deviations of the gains (n,), with a default where not known."""
        default = np.where(self.gain == 1.0, TORQUE_DEVIATION, CURRENT_DEVIATION)
        return np.where(np.isnan(self.gain_deviation), default, self.gain_deviation)

    @classmethod
    def torque(cls, n: int) -> EffortSemantics:
        """Return the plain meaning for n joints: effort is the torque of the joint [N m, N]."""
        joint: EffortSide = 'joint'
        return cls(np.ones(n), np.ones(n), np.zeros(n), (joint,) * n, None, (False,) * n)
