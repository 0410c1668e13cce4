# SPDX-License-Identifier: Apache-2.0
"""What was noticed about a robot, without refusing it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """
    One remark about a robot.

    :param kind: short stable key, e.g. ``'negative_mass'``; programs match on it.
    :param where: name of the link or joint, or ``''`` for the robot.
    :param message: one sentence for people.
    :param value: the number the remark is about, where there is one (SI units).
    """

    kind: str
    where: str
    message: str
    value: float | None = None

    def __str__(self) -> str:
        """Return ``where: message``."""
        return f'{self.where}: {self.message}' if self.where else self.message
