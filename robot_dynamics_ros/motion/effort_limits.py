# SPDX-License-Identifier: Apache-2.0
"""The last gate before a torque leaves: finite, and inside the limits of every joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array, freeze
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.errors import ParameterError, StateError


class LimitedEffort(NamedTuple):
    """
    Efforts inside the limits.

    :param effort: (n,) or (N, n) [N m, N].
    :param clamped: (n,) number of values of each joint that were clipped.
    """

    effort: Array
    clamped: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class EffortLimits:
    """
    The largest effort of every joint.

    :param joint_names: n names.
    :param values: (n,) largest magnitude [N m, N], positive and finite.
    :raises ParameterError: a joint without a positive finite limit.
    """

    joint_names: tuple[str, ...]
    values: Array

    def __post_init__(self) -> None:
        """Copy the limits, make them read-only and check them."""
        freeze(self, 'values')
        bad = [name for name, limit in zip(self.joint_names, self.values)
               if not (np.isfinite(limit) and limit > 0.0)]
        if bad:
            raise ParameterError(
                f'no positive effort limit is known for joint {", ".join(bad)}: give it in the '
                'URDF (<limit effort=...>), in joints.yaml (limits: effort), with --effort-limit, '
                'or as the parameter effort_limits.<joint>')

    @classmethod
    def of_chain(cls, chain: Chain, given: Mapping[str, float] | None = None) -> EffortLimits:
        """
        Return the limits of a chain.

        :param chain: robot with the limits of the URDF and of the joints file.
        :param given: limits by joint name [N m, N] that go before those of the chain.
        :raises ParameterError: a joint without a limit, or a name that is not on the chain.
        """
        given = dict(given or {})
        unknown = [name for name in given if name not in chain.joint_names]
        if unknown:
            raise ParameterError(f'effort limit for unknown joint {", ".join(unknown)}; the '
                                 f'chain has {", ".join(chain.joint_names)}')
        return cls(chain.joint_names, np.array([given.get(joint.name, joint.effort_limit)
                                                for joint in chain.joints]))

    def limit(self, effort: Array) -> LimitedEffort:
        """
        Clip efforts at the limits.

        :param effort: (n,) or (N, n) [N m, N].
        :raises StateError: an effort is not finite; such a value is never clipped.
        """
        finite = np.isfinite(effort)
        if not np.logical_and.reduce(finite, axis=None):
            bad = np.any(np.atleast_2d(~finite), axis=0)
            names = [name for name, is_bad in zip(self.joint_names, bad) if is_bad]
            raise StateError(f'joint {", ".join(names)}: the effort is not finite; check the '
                             'state and the parameters of the model')
        # a controller calls this at every step: clip and sum take several times as long
        clipped = np.minimum(np.maximum(effort, -self.values), self.values)
        clamped = (clipped != effort).astype(np.int64)
        return LimitedEffort(clipped, clamped if clamped.ndim == 1 else np.sum(clamped, axis=0))
