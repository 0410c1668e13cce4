# SPDX-License-Identifier: Apache-2.0
"""Pose of one frame in another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, freeze
from robot_dynamics_ros.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Pose:
    """
    Pose of a frame B in a frame A: coordinates map as ``v_A = rotation @ v_B + translation``.

    :param rotation: (3, 3) axes of B as columns in A.
    :param translation: (3,) origin of B in A [m].
    """

    rotation: Array
    translation: Array

    def __post_init__(self) -> None:
        """Copy the arrays, make them read-only and check their shapes."""
        freeze(self, 'rotation', 'translation')
        if self.rotation.shape != (3, 3) or self.translation.shape != (3,):
            raise ParameterError(f'pose: rotation and translation have shapes '
                                 f'{self.rotation.shape} and {self.translation.shape}, expected '
                                 '(3, 3) and (3,)')

    @classmethod
    def identity(cls) -> Pose:
        """Return the pose of a frame in itself."""
        return cls(np.eye(3), np.zeros(3))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Pose:
        """Return the pose held by a homogeneous (4, 4) matrix; cos(pi/2) = 6e-17 becomes 0."""
        matrix = np.asarray(matrix, dtype=np.float64)
        rotation = matrix[:3, :3]
        return cls(np.where(np.abs(rotation) < 1e-15, 0.0, rotation), matrix[:3, 3])

    def __matmul__(self, other: Pose) -> Pose:
        """Return the pose of C in A from this pose of B in A and the pose of C in B."""
        return Pose(self.rotation @ other.rotation,
                    self.rotation @ other.translation + self.translation)

    def inverse(self) -> Pose:
        """Return the pose of A in B."""
        return Pose(self.rotation.T, -self.rotation.T @ self.translation)

    def distance_to(self, other: Pose) -> tuple[float, float]:
        """Return the distance of the origins [m] and the angle between the axes [rad]."""
        difference = self.rotation.T @ other.rotation
        skew = difference - difference.T
        sine = 0.5 * np.linalg.norm([skew[2, 1], skew[0, 2], skew[1, 0]])
        cosine = 0.5 * (np.trace(difference) - 1.0)
        return (float(np.linalg.norm(self.translation - other.translation)),
                float(np.arctan2(sine, cosine)))
