# SPDX-License-Identifier: Apache-2.0
"""What the unknowns of friction laws are multiplied with, at the rows of a regression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.dynamics.joints.presliding import presliding_state
from robot_dynamics_ros.estimation.regression.friction_law import FrictionLaw
from robot_dynamics_ros.estimation.regression.rows import RowFilter, Rows
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms, Unknowns

#: Load of every motor (N, n) at the samples of each stretch [N m, N].
Loads = Sequence[Array]

#: Signals kept; a law that nobody asks for any more makes room.
_KEPT = 400

_Made = TypeVar('_Made')


class FrictionSignals:
    """
    Directions, static excess, load and speed of all motors at the rows.

    They are calculated along the samples of every stretch, since the direction may depend on the
    motion before, and pass the same filter as the other columns.

    :param terms: columns of the regressor.
    :param way: way from samples to rows.
    """

    def __init__(self, terms: TorqueTerms, way: RowFilter) -> None:
        self.terms, self.way = terms, way
        motion = terms.transmission.motor_motion
        self._position = [motion(part.q) for part in way.samples]
        self._velocity = [motion(part.qd) for part in way.samples]
        self.velocity = way.at_rows(self._velocity)
        self.speed = way.at_rows([np.abs(each) for each in self._velocity])
        self._known: dict[bytes, Any] = {}

    def _kept(self, key: bytes, made: Callable[[], _Made]) -> _Made:
        """Return what was made before, or make it."""
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known)))
            self._known[key] = made()
        kept: _Made = self._known[key]
        return kept

    def _directions(self, law: FrictionLaw) -> list[Array]:
        """Return the direction of every motor at the samples of each stretch."""
        states = self._kept(b'z' + law.presliding.tobytes(), lambda: [
            presliding_state(q, law.presliding) if np.any(law.presliding) else np.zeros_like(q)
            for q in self._position])
        return [law.direction(z, qd) for z, qd in zip(states, self._velocity)]

    def direction(self, law: FrictionLaw) -> Array:
        """Return the direction of the dry friction of every motor (rows, n)."""
        key = b'd' + np.append(law.presliding, law.coulomb_velocity).tobytes()
        return self._kept(key, lambda: self.way.at_rows(self._directions(law)))

    def excess(self, law: FrictionLaw) -> Array:
        """Return the part of the direction near standstill (rows, n)."""
        if not np.any(law.stribeck_velocity):
            return np.zeros_like(self.velocity)
        key = b'e' + law.numbers[:1 + 2 * law.presliding.size].tobytes()
        return self._kept(key, lambda: self.way.at_rows([
            law.excess(direction, qd)
            for direction, qd in zip(self._directions(law), self._velocity)]))

    def loads(self, values: Array, unknowns: Unknowns) -> Loads:
        """
        Return the load of every motor at all samples.

        :param values: (u,) values of the unknowns.
        :param unknowns: unknowns of the torque.
        """
        return [self.terms.load(values, unknowns, part.q, part.qd, part.qdd)
                for part in self.way.samples]

    def load(self, loads: Loads) -> Array:
        """Return the size of the load of every motor (rows, n) [N m, N]."""
        return self.way.at_rows([np.abs(each) for each in loads])

    def rows(self, rows: Rows, unknowns: Unknowns, law: FrictionLaw, loads: Loads) -> Rows:
        """
        Return the rows of unknowns with the friction of a law.

        :param rows: rows with the columns of the terms.
        :param unknowns: unknowns with those of the law.
        :param law: friction law.
        :param loads: load of every motor at the samples.
        """
        direction = self.direction(law)
        Y = rows.Y[:, :, list(unknowns.columns)]
        columns = [(k, int(name[2:]) - 1) for k, name in enumerate(unknowns.names)
                   if name.startswith('Fc')]
        motors = np.array([j for _, j in columns], dtype=np.int64)
        Y[:, :, [k for k, _ in columns]] = self.terms.of_motors(direction[:, motors], motors)
        if not law.names:
            return replace(rows, Y=Y)
        loaded = direction
        if np.any(law.loaded):
            loaded = self.way.at_rows([each * np.abs(load) for each, load in zip(
                self._directions(law), loads)])
        extra = law.columns(direction, self.excess(law), loaded, self.speed)
        return replace(rows, Y=np.concatenate([Y, self.terms.of_motors(extra, law.motors)],
                                              axis=2))
