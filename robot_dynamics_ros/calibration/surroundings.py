# SPDX-License-Identifier: Apache-2.0
"""What a robot must not touch while it is calibrated: itself, the floor, obstacles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.collision.motion import clearance, first_violation
from robot_dynamics_ros.collision.postures import free_path
from robot_dynamics_ros.collision.scene import CollisionScene
from robot_dynamics_ros.motion.trajectory import Trajectory

#: A motion through waypoints of a designed one may come closer by this [m], or this part.
_ALLOWANCE, _ALLOWANCE_PART = 0.002, 0.1


class Surroundings:
    """Says whether motions are free; without a scene everything is taken to be free."""

    def __init__(self, make: Callable[[], CollisionScene] | None = None) -> None:
        """
        Keep the way to make a scene; it is made when it is needed first.

        :param make: function that returns the scene; None = collisions are not checked.
        """
        self._make = make

    @cached_property
    def scene(self) -> CollisionScene | None:
        """
        Robot and surroundings; None = not checked.

        :raises CollisionError: there is no scene, for want of geometry for example.
        """
        return None if self._make is None else self._make()

    @property
    def lines(self) -> list[str]:
        """What a person should know about the check."""
        if self.scene is None:
            return ['collisions are NOT checked: look at every motion, with a hand at the stop']
        pairs = len(self.scene.pairs)
        return [f'{pairs} pairs of bodies keep a distance of {1000 * self.scene.margin:.0f} mm or '
                'more',
                *(str(finding) for finding in self.scene.findings)]

    def free(self, motion: Trajectory) -> bool:
        """Return whether a motion keeps all distances, between its samples, too."""
        return self.scene is None or first_violation(self.scene, motion) is None

    def nearly_free(self, motion: Trajectory) -> bool:
        """Return the same of the waypoints of a designed motion, which differ from it a little."""
        if self.scene is None:
            return True
        allowed = np.minimum(_ALLOWANCE, _ALLOWANCE_PART * self.scene.margins)
        near = replace(self.scene, margins=self.scene.margins - allowed)
        return first_violation(near, motion) is None

    def described(self, motion: Trajectory) -> str:
        """Return lowest point and smallest distance of a motion, for people."""
        if self.scene is None:
            return 'collisions are NOT checked'
        return str(clearance(self.scene, motion))

    def way(self, first: Array, last: Array) -> Array:
        """
        Return postures (K, n) from one posture to another whose straight connections are free.

        :raises CollisionError: no way was found.
        """
        if self.scene is None:
            return np.array([first, last])
        return free_path(self.scene, first, last)
