# SPDX-License-Identifier: Apache-2.0
"""Settings of an identification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from robot_dynamics_ros.errors import ParameterError

#: Least squares: unweighted, joints weighted by their residuals, or robust against outliers too;
#: lin: joint by joint from the tip (Lin 1995), without weights and prior.
Method = Literal['ordinary', 'weighted', 'robust', 'lin']
METHODS: tuple[Method, ...] = get_args(Method)

#: auto: whatever the data call for; stribeck: with static friction if they do; coulomb: without;
#: none: no friction.
FrictionChoice = Literal['auto', 'stribeck', 'coulomb', 'none']
FRICTION_LAWS: tuple[FrictionChoice, ...] = get_args(FrictionChoice)

#: none: least squares only; instruments: split-sample instrumental variables, for noise in q.
Refinement = Literal['none', 'instruments']
REFINEMENTS: tuple[Refinement, ...] = get_args(Refinement)


@dataclass(frozen=True)
class IdentificationSettings:
    """
    User settings of an identification; the defaults suit an ordinary recording.

    :param cutoff: cut-off frequency of the zero-phase low-pass on positions, velocities and
        torques [Hz]; None = ten times the bandwidth of the motion; inf = no filter.
    :param parallel_cutoff: cut-off frequency of the filter on regressor and torque [Hz];
        None = half of `cutoff`; inf = no such filter.
    :param method: kind of least squares: 'ordinary', 'weighted', 'robust' or 'lin'.
    :param friction: friction laws to choose from: 'auto' (static friction, load, direction,
        presliding), 'stribeck', 'coulomb' or 'none'.
    :param coulomb_velocity: velocity of the smooth sign [rad/s, m/s]; None = found.
    :param refinement: step after the least squares: 'none' or 'instruments'.
    :param prior_strength: confidence in the URDF; 1 = its errors may be as large as the links.
    :param folds: number of time blocks of the held-out test.
    :param last_part: last part of the time, held out instead of every block in turn; 0.3 = 30 %;
        None = blocks.
    :param error_limit: largest held-out error that passes; 0.1 = 10 %.
    """

    cutoff: float | None = None
    parallel_cutoff: float | None = None
    method: Method = 'robust'
    friction: FrictionChoice = 'auto'
    coulomb_velocity: float | None = None
    refinement: Refinement = 'none'
    prior_strength: float = 1.0
    folds: int = 5
    last_part: float | None = None
    error_limit: float = 0.1

    def __post_init__(self) -> None:
        """Check the values."""
        for name in ('cutoff', 'parallel_cutoff', 'prior_strength', 'error_limit'):
            value = getattr(self, name)
            if value is not None and not value > 0.0:
                raise ParameterError(f'identify: {name} must be positive, got {value}')
        velocity = self.coulomb_velocity
        if velocity is not None and not (np.isfinite(velocity) and velocity >= 0.0):
            raise ParameterError('identify: coulomb_velocity must be finite and >= 0, got '
                                 f'{velocity}')
        if not np.isfinite(self.prior_strength):
            raise ParameterError('identify: prior_strength must be finite')
        if not (isinstance(self.folds, int) and self.folds >= 2):
            raise ParameterError(f'identify: folds must be at least 2, got {self.folds}')
        if self.last_part is not None and not 0.0 < self.last_part < 1.0:
            raise ParameterError(f'identify: last_part must be between 0 and 1, got '
                                 f'{self.last_part}')
        for name, known in (('method', METHODS), ('friction', FRICTION_LAWS),
                            ('refinement', REFINEMENTS)):
            if getattr(self, name) not in known:
                raise ParameterError(f"identify: {name} '{getattr(self, name)}' is not known; "
                                     f'known are {", ".join(known)}')
