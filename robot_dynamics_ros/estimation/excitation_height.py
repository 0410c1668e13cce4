# SPDX-License-Identifier: Apache-2.0
"""Heights of a robot's tip and links, to keep a motion above a plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.urdf.reader import sample_positions
from robot_dynamics_ros.dynamics.scalars.samples import Samples
from robot_dynamics_ros.dynamics.scalars.vector import Vector, add, dot, vector

#: A point whose height varies less than this cannot be raised or lowered [m].
_STILL = 1e-6


@dataclass(frozen=True, eq=False)
class HeightPoints:
    """
    The tip and the mass centres of the links, as far as joints can raise or lower them.

    Mass centres, because frame origins may lie far outside of a link. Heights are against gravity
    (without gravity: along z) over the origin of the base link.

    :param chain: the robot.
    :param names: of the points, for messages.
    :param links: number of the link each point belongs to, 1..n.
    :param points: their places in E_i [m].
    """

    chain: Chain
    names: tuple[str, ...]
    links: tuple[int, ...]
    points: tuple[Vector, ...]

    @classmethod
    def of(cls, chain: Chain) -> HeightPoints:
        """Return the points of a chain."""
        candidates = [(f'the mass centre of {name}', i, vector(link.centre_of_mass))
                      for i, (name, link) in enumerate(zip(chain.link_names, chain.links), 1)
                      if link.mass > 0.0]
        tip = vector(chain.tip_pose.translation)
        candidates.append((f'the tip {chain.tip}', len(chain), tip))
        everything = cls(chain, *zip(*candidates))
        moving = np.ptp(everything.heights(sample_positions(chain)), axis=0) > _STILL
        kept = [each for each, moves in zip(candidates, moving) if moves]
        return cls(chain, *zip(*kept)) if kept else cls(chain, (), (), ())

    def heights(self, q: Array) -> Array:
        """
        Return the height of every point (N, points) [m].

        :param q: (N, n) joint positions [rad, m].
        """
        gravity = self.chain.gravity
        size = float(np.linalg.norm(gravity))
        up = -gravity / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
        up_in_0 = vector(self.chain.base_pose.rotation.T @ up)
        base = float(up @ self.chain.base_pose.translation)
        frames = Samples.of(self.chain, q=q).frames
        result = np.empty((len(q), len(self.points)))
        for k, (link, point) in enumerate(zip(self.links, self.points)):
            for frame in frames[link:0:-1]:
                point = add(frame.to_parent(point), frame.origin)
            result[:, k] = dot(up_in_0, point) + base
        return result
