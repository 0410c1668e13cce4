# SPDX-License-Identifier: Apache-2.0
"""Settings of an identification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from robot_dynamics_ros.errors import ParameterError

#: Least squares: as it is, joints weighted by their residuals, or single samples limited too.
Method = Literal['ordinary', 'weighted', 'robust']
METHODS: tuple[Method, ...] = get_args(Method)

#: stribeck: with static friction if the data ask for it; coulomb: without; none: no friction.
FrictionLaw = Literal['stribeck', 'coulomb', 'none']
FRICTION_LAWS: tuple[FrictionLaw, ...] = get_args(FrictionLaw)

#: none: least squares; instruments: split-sample instrumental variables against noise in q.
Refinement = Literal['none', 'instruments']
REFINEMENTS: tuple[Refinement, ...] = get_args(Refinement)


@dataclass(frozen=True)
class IdentificationSettings:
    """
    How to identify. Every default suits an ordinary recording.

    :param cutoff: of the zero-phase low-pass on positions, speeds and torques [Hz]; None = ten
        times the bandwidth of the motion; inf = no filter.
    :param parallel_cutoff: of the filter on regressor and torque [Hz]; None = half of `cutoff`;
        inf = no such filter.
    :param method: 'ordinary', 'weighted' or 'robust' least squares.
    :param friction: 'stribeck', 'coulomb' or 'none'.
    :param refinement: 'none' or 'instruments'.
    :param prior_strength: of the belief in the URDF; 1 = errors as large as the links.
    :param folds: number of time blocks of the held-out test.
    :param last_part: hold out this last part of the time only, instead of every block once;
        0.3 = 30 %; None = blocks.
    :param error_limit: largest held-out error that passes; 0.1 = 10 %.
    """

    cutoff: float | None = None
    parallel_cutoff: float | None = None
    method: Method = 'robust'
    friction: FrictionLaw = 'stribeck'
    refinement: Refinement = 'none'
    prior_strength: float = 1.0
    folds: int = 5
    last_part: float | None = None
    error_limit: float = 0.1

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name in ('cutoff', 'parallel_cutoff', 'prior_strength', 'error_limit'):
            value = getattr(self, name)
            if value is not None and not value > 0.0:
                raise ParameterError(f'identify: {name} must be positive, got {value}')
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
