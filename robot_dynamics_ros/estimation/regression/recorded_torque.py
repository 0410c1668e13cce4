# SPDX-License-Identifier: Apache-2.0
"""The torque error of other minimal parameters on a recording, without keeping its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array, Mask, freeze


@dataclass(frozen=True, eq=False)
class RecordedTorque:
    """
    Rows of a recording, condensed joint by joint.

    :param factors: (n, p + 2, p + 2) triangular factors of the usable rows of p minimal
        parameters, of the torque that the identified parameters leave unexplained, and of the
        measured torque.
    """

    factors: Array

    def __post_init__(self) -> None:
        """Copy the array and make it read-only."""
        freeze(self, 'factors')

    @classmethod
    def of_rows(cls, Y: Array, tau: Array, predicted: Array, usable: Mask) -> RecordedTorque:
        """
        Condense rows.

        :param Y: (N, n, p) regressor of the minimal parameters.
        :param tau: (N, n) measured torques.
        :param predicted: (N, n) torques of the identified parameters.
        :param usable: (N, n) mask of the rows that count.
        """
        size = Y.shape[2] + 2
        factors = np.zeros((Y.shape[1], size, size))
        for j, use in enumerate(usable.T):
            rows = np.column_stack([Y[use, j], (tau - predicted)[use, j], tau[use, j]])
            R = np.linalg.qr(rows, mode='r')
            factors[j, :len(R)] = R
        return cls(factors)

    @property
    def regressor(self) -> Array:
        """Factor (n (p + 2), p) with the same squared torque as all rows."""
        return self.factors[:, :, :-2].reshape(-1, self.factors.shape[2] - 2)

    def relative_error(self, change: Array) -> float:
        """
        Return the RMS torque error over the RMS torque, all joints.

        :param change: (p,) difference of the minimal parameters from the identified ones.
        """
        error = self.factors @ np.concatenate([-change, [1.0, 0.0]])
        size = float(np.linalg.norm(self.factors[:, :, -1]))
        return float(np.linalg.norm(error)) / size if size else 0.0

    def relative_change(self, change: Array) -> float:
        """Return the RMS change of the torque over the RMS torque, all joints; see above."""
        size = float(np.linalg.norm(self.factors[:, :, -1]))
        return float(np.linalg.norm(self.regressor @ change)) / size if size else 0.0
