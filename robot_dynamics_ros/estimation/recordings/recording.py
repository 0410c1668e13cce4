# SPDX-License-Identifier: Apache-2.0
"""A recording: the joint states of a robot over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.errors import RecordingError

#: What of a recording may be in degrees.
Degrees = Literal['all', 'positions', 'velocities']
DEGREES: tuple[Degrees, ...] = get_args(Degrees)


def renamed(names: Sequence[str], replacements: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """
    Return joint names with parts of them replaced, to match those of the URDF.

    :param replacements: pairs of a text in the names and the text to write instead.
    """
    for old, new in replacements:
        names = [name.replace(old, new) for name in names]
    return tuple(names)


@dataclass(frozen=True, eq=False)
class Recording:
    """
    Joint states over time, as they were recorded: jittered, with gaps, perhaps with NaN.

    :param t: (N,) time [s].
    :param q: (N, n) positions [rad, m].
    :param qd: (N, n) velocities [rad/s, m/s], or None.
    :param tau: (N, n) efforts in the robot's own unit; NaN where there is none.
    :param joint_names: n names, the order of the columns.
    :param source: file or topic, for messages.
    :param wrench: (N, 6) force and moment exerted by the environment on the tip link, at its
        origin, in its frame [N, N m], as a sensor at the tip measures; None = nothing touches it.
    """

    t: Array
    q: Array
    qd: Array | None
    tau: Array
    joint_names: tuple[str, ...]
    source: str = 'recording'
    wrench: Array | None = None

    def __post_init__(self) -> None:
        """Copy the arrays, make them read-only and check that they fit together."""
        object.__setattr__(self, 'joint_names', tuple(self.joint_names))
        for name in ('t', 'q', 'qd', 'tau', 'wrench'):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, read_only(getattr(self, name)))
        if self.t.ndim != 1 or self.t.size == 0:
            raise RecordingError(f'{self.source}: the recording is empty')
        shape = (self.t.size, len(self.joint_names))
        for name in ('q', 'qd', 'tau'):
            values = getattr(self, name)
            if values is not None and values.shape != shape:
                raise RecordingError(f'{self.source}: {name} has shape {values.shape}, expected '
                                     f'{shape}: {shape[0]} samples of '
                                     f'{", ".join(self.joint_names)}')
        if self.wrench is not None and self.wrench.shape != (self.t.size, 6):
            raise RecordingError(f'{self.source}: wrench has shape {self.wrench.shape}, expected '
                                 f'({self.t.size}, 6): fx, fy, fz, tx, ty, tz')
        if len(set(self.joint_names)) != len(self.joint_names):
            raise RecordingError(f'{self.source}: a joint is named twice: '
                                 f'{", ".join(self.joint_names)}')

    def __len__(self) -> int:
        """Return the number of samples N."""
        return self.t.size

    def renamed(self, replacements: Sequence[tuple[str, str]]) -> Recording:
        """
        Return the recording with other joint names.

        :param replacements: pairs of a text in the names and the text to write instead.
        """
        return replace(self, joint_names=renamed(self.joint_names, replacements))

    def in_radians(self, chain: Chain, degrees: Degrees = 'all') -> Recording:
        """
        Return a recording in degrees as one in radians; joints that slide are left alone.

        :param chain: the robot.
        :param degrees: what is in degrees: 'positions', 'velocities' or 'all'.
        """
        turning = {joint.name for joint in chain.joints if joint.revolute}
        unit = np.where([name in turning for name in self.joint_names], np.pi / 180.0, 1.0)
        qd = self.qd
        if qd is not None and degrees != 'positions':
            qd = qd * unit
        return replace(self, q=self.q * unit if degrees != 'velocities' else self.q, qd=qd)

    def for_chain(self, chain: Chain) -> Recording:
        """
        Return the joints of a chain, in its order; other joints are left out.

        :raises RecordingError: a joint of the chain was not recorded.
        """
        missing = [name for name in chain.joint_names if name not in self.joint_names]
        if missing:
            raise RecordingError(
                f'{self.source}: joint {", ".join(missing)} of {chain.robot} was not recorded; '
                f'recorded are {", ".join(self.joint_names)}. Rename them, or choose another base '
                'or tip')
        order = [self.joint_names.index(name) for name in chain.joint_names]
        return Recording(self.t, self.q[:, order],
                         None if self.qd is None else self.qd[:, order], self.tau[:, order],
                         chain.joint_names, self.source, self.wrench)
