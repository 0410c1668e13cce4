# SPDX-License-Identifier: Apache-2.0
"""
Choice of the friction law of every motor: the data decide, nothing is imposed.

What a law has beside Coulomb and viscous friction enters the torque nonlinearly: the smoothness of
the sign, the distance over which friction turns after a reversal, the Stribeck velocity; or it
multiplies the load, which is known from the last fit. Candidates are compared on the torque that
links and rotors leave over, motor by motor, by how well blocks of time are predicted that a law
was not fitted to. A further term must lower that error by more than chance would: by what
Schwarz's criterion asks for, and by a standard error, taken from how much the gain differs from
block to block. A gain that a single block makes is an event and not a law.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.estimation.regression.friction_law import FrictionLaw
from robot_dynamics_ros.estimation.regression.friction_signals import FrictionSignals
from robot_dynamics_ros.estimation.regression.time_blocks import Blocks

#: Stribeck velocities, as fractions of the root mean square velocity of a joint.
STRIBECK_PARTS = (0.06, 0.12, 0.25, 0.5, 1.0)

#: Velocities of the smooth sign [rad/s, m/s].
COULOMB_VELOCITIES = (0.003, 0.01, 0.03, 0.1)

#: Distances over which friction turns after a reversal [rad, m].
PRESLIDING = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)

#: Errors that differ by less than this part are equally good.
_EQUAL = 0.01

#: A richer law must be better than a simpler one by so many standard errors of the difference.
_SURE = 1.0

#: Errors below this part of the friction torque are good enough: no friction repeats better.
_FLOOR = 3e-3

#: A term that adds less than this part of the friction torque is not worth having.
_SMALL = 0.02

#: How often the distances and the other terms of the law are found in turn.
_ROUNDS = 2

#: Places of the torque and of the column of zeros among the columns of all laws.
_TORQUE, _NONE = 0, 1

#: Steps of the last search for the distance, as factors.
_STEPS = (1.7, 1.3, 1.1)


@dataclass(frozen=True, eq=False)
class FrictionCandidates:
    """
    Friction laws to choose from.

    :param coulomb_velocities: velocities of the smooth sign [rad/s, m/s], the preferred one first.
    :param presliding: (n,) distances each [rad, m]; the first is 0.
    :param stribeck: (n,) Stribeck velocities each [rad/s, m/s]; the first is 0.
    :param loaded: friction may grow with the load.
    :param asymmetric: viscous friction may depend on the direction.
    """

    coulomb_velocities: tuple[float, ...]
    presliding: tuple[Array, ...]
    stribeck: tuple[Array, ...]
    loaded: bool
    asymmetric: bool

    @classmethod
    def of(cls, physics: JointPhysics, velocity: Array, *, stribeck: bool = True,
           others: bool = True, coulomb_velocity: float | None = None) -> FrictionCandidates:
        """
        Return the laws that are tried for a robot, those that it is said to have first.

        :param physics: joint physics of the chain.
        :param velocity: (n,) typical velocities [rad/s, m/s].
        :param stribeck: try static friction.
        :param others: try load, direction and presliding.
        :param coulomb_velocity: velocity of the smooth sign [rad/s, m/s]; None = found.
        """
        n = len(physics)
        own = physics.coulomb_velocity if coulomb_velocity is None else coulomb_velocity
        signs = (own, *(each for each in COULOMB_VELOCITIES
                        if coulomb_velocity is None and each != own))
        distances, velocities = [np.zeros(n)], [np.zeros(n)]
        if others:
            distances += [np.full(n, each) for each in PRESLIDING]
            if physics.presliding is not None:
                distances.insert(1, physics.presliding)
        if stribeck:
            velocities += [part * velocity for part in STRIBECK_PARTS]
            if physics.stribeck_velocity is not None:
                velocities.insert(1, physics.stribeck_velocity)
        return cls(signs, tuple(distances), tuple(velocities), others, others)


@dataclass(frozen=True, eq=False)
class FrictionData:
    """
    What friction laws are compared on.

    :param signals: signals of the motors at all rows.
    :param chosen: (rows,) rows that the law may be chosen by.
    :param torque: (rows, n) torque of every motor beside that of links and rotors [N m, N].
    :param load: (rows, n) size of the load of every motor [N m, N].
    :param weights: (rows, n) weights of the squared errors; 0 = not usable.
    :param blocks: (rows,) blocks of time.
    :param correlation: (n,) number of rows that carry the information of one independent one.
    """

    signals: FrictionSignals
    chosen: Mask
    torque: Array
    load: Array
    weights: Array
    blocks: Blocks
    correlation: Array

    @property
    def price(self) -> Array:
        """
        By how much a further term must lower the logarithm of the error of a motor (n,).

        Schwarz's criterion, and what is not worth a term even in the longest recording.
        """
        count = np.maximum(np.sum(self.weights[self.chosen] > 0.0, axis=0) / self.correlation, 3.0)
        return np.asarray(_EQUAL + 0.5 * np.log(count) / count)

    def squares(self, laws: Sequence[FrictionLaw], motors: Sequence[int],
                exact: bool = False) -> Array:
        """
        Return the squared errors of held-out blocks (motors, laws, blocks), over those of no law.

        Infinite for a law with impossible values: friction that falls with the load, a static
        part below zero, viscous friction that drives; or with a term that adds next to nothing.

        :param exact: leave the errors of such laws as they are.
        """
        columns = [(law, self.signals.direction(law), self.signals.excess(law)) for law in laws]
        plain = [not (law.names or np.any(law.presliding)) for law in laws]
        return np.array([self._squares(j, columns, np.array(plain), exact) for j in motors])

    def _squares(self, motor: int, laws: Sequence[tuple[FrictionLaw, Array, Array]],
                 plain: Mask, exact: bool) -> Array:
        use = self.chosen & (self.weights[:, motor] > 0.0)
        numbers = np.unique(self.blocks[self.chosen])
        if not np.any(use):  # nothing speaks for any law
            return np.ones((len(laws), numbers.size)) / max(numbers.size, 1)
        rows = np.flatnonzero(use)
        rows = rows[np.argsort(self.blocks[rows], kind='stable')]
        columns, places = self._columns(motor, rows, laws)
        weighted = columns * np.sqrt(self.weights[rows, motor])[:, None]
        ends = np.searchsorted(self.blocks[rows], numbers, side='right')
        gram = np.stack([part.T @ part for part in np.split(weighted, ends[:-1])])
        x, squares = _held_out(gram, places)
        viscous, _, coulomb, static, loaded, asymmetry = x.T
        odd = (loaded < 0.0) | (np.abs(asymmetry) > np.maximum(viscous, 0.0)) | (
            (static != 0.0) & (coulomb + static < 0.0))
        sizes = np.linalg.norm(columns, axis=0)
        adds = sizes[places[:, 3:]] * np.abs(x[:, 3:])
        odd |= np.any((x[:, 3:] != 0.0) & (adds < _SMALL * sizes[_TORQUE]), axis=1)
        return squares if exact else np.where((odd & ~plain)[:, None], np.inf, squares)

    def _columns(self, motor: int, rows: NDArray[np.int64],
                 laws: Sequence[tuple[FrictionLaw, Array, Array]]) -> tuple[
                     Array, NDArray[np.int64]]:
        """
        Return the columns (rows, K) of all laws, and the places (D, 6) of the columns of each.

        Laws differ in a term or two: a column that several have is there only once. The order of a
        law is Fv, offset, Fc, Fs, Fl, Fa; a term that it does not have has the column of zeros.
        """
        load = self.load[rows, motor]
        columns = [self.torque[rows, motor], np.zeros(rows.size),
                   self.signals.velocity[rows, motor], np.ones(rows.size),
                   self.signals.speed[rows, motor]]
        places = np.tile([2, 3, _NONE, _NONE, _NONE, _NONE], (len(laws), 1))
        known: dict[int, int] = {}

        def place(signal: Array, *, loaded: bool = False) -> int:
            """Return the place of a signal (all rows, n), which is added where it is new."""
            if (key := 2 * id(signal) + loaded) not in known:
                known[key] = len(columns)
                column = signal[rows, motor]
                columns.append(column * load if loaded else column)
            return known[key]

        for own, (law, direction, excess) in zip(places, laws):
            own[2] = place(direction)
            if law.stribeck_velocity[motor] > 0.0:
                own[3] = place(excess)
            if law.loaded[motor]:
                own[4] = place(direction, loaded=True)
            if law.asymmetric[motor]:
                own[5] = 4
        return np.column_stack(columns), places


def _held_out(gram: Array, places: NDArray[np.int64]) -> tuple[Array, Array]:
    """
    Return the solutions (D, k) and the squared errors of held-out blocks (D, B), over those of 0.

    :param gram: (B, K, K) Gram matrices of all columns in each of the B blocks of time.
    :param places: (D, k) columns of each of the D designs; that of zeros has the value 0.
    """
    G = np.swapaxes(gram[:, places[:, :, None], places[:, None, :]], 0, 1)
    c = np.swapaxes(gram[:, places, _TORQUE], 0, 1)
    whole, sums = G.sum(axis=1, keepdims=True), c.sum(axis=1, keepdims=True)
    scale = np.sqrt(np.einsum('dbii->dbi', whole))
    scale[scale == 0.0] = np.inf
    identity = np.eye(places.shape[1])
    ridge = 1e-10 * identity + np.isinf(scale)[..., None] * identity

    def solved(gram: Array, right: Array) -> Array:
        scaled = gram / (scale[..., None] * scale[..., None, :]) + ridge
        return np.asarray(np.linalg.solve(scaled, (right / scale)[..., None])[..., 0] / scale)

    x = solved(whole, sums)[:, 0]
    others = solved(whole - G, sums - c) if len(gram) > 1 else x[:, None]
    squares = gram[:, _TORQUE, _TORQUE]
    errors = squares + np.einsum('dbi,dbi->db', others, (G @ others[..., None])[..., 0] - 2.0 * c)
    return x, np.maximum(errors, 0.0) / (np.sum(squares) + 1e-300)


def chosen_law(data: FrictionData, candidates: FrictionCandidates) -> FrictionLaw:
    """
    Return the friction law of every motor.

    For every smoothness of the sign, first the distance of presliding of each motor, then its
    static friction, load and direction; the smoothness that suits all motors; then the distance
    once more, now exactly.

    :param data: rows of the training data.
    :param candidates: laws to choose from.
    """
    laws = [_for_velocity(data, candidates, velocity)
            for velocity in candidates.coulomb_velocities]
    # with its terms paid for: a sign that is too smooth looks like static friction
    totals = np.array([np.mean(errors) for _, errors in laws])
    best = int(np.argmin(totals))
    law = laws[0 if totals[0] <= totals[best] + _EQUAL else best][0]
    if not candidates.loaded:
        return law
    for _ in range(_ROUNDS):  # a distance that is off the grid looks like other terms
        law, _ = _each_motor(data, [replace(law, presliding=distance)
                                    for distance in (*candidates.presliding, law.presliding)])
        law = _searched(data, law)
        law, _ = _with_terms(data, candidates, law)
    return law


def _for_velocity(data: FrictionData, candidates: FrictionCandidates,
                  velocity: float) -> tuple[FrictionLaw, Array]:
    """Return the best law with a given velocity of the smooth sign, and its errors (n,)."""
    plain = FrictionLaw.plain(data.torque.shape[1], velocity)
    law, _ = _each_motor(data, [
        replace(plain, presliding=distance, loaded=loaded)
        for distance, loaded in product(candidates.presliding, _with(plain, candidates.loaded))])
    return _with_terms(data, candidates, law)


def _with_terms(data: FrictionData, candidates: FrictionCandidates,
                law: FrictionLaw) -> tuple[FrictionLaw, Array]:
    """Return the law with the static friction, load and asymmetry that the data call for."""
    return _each_motor(data, [
        replace(law, stribeck_velocity=stribeck, loaded=loaded, asymmetric=asymmetric)
        for stribeck, loaded, asymmetric in product(
            candidates.stribeck, _with(law, candidates.loaded),
            _with(law, candidates.asymmetric))])


def _with(law: FrictionLaw, allowed: bool) -> list[Mask]:
    """Return flags (n,) of a term: of no motor and, if it is allowed, of all."""
    return [np.full(law.presliding.size, has) for has in ((False, True) if allowed else (False,))]


def _each_motor(data: FrictionData,
                laws: Sequence[FrictionLaw]) -> tuple[FrictionLaw, Array]:
    """
    Return for every motor the simplest law that is good, put together.

    :returns: the law, and the logarithms of its errors with the price of its terms (n,).
    """
    squares = data.squares(laws, range(data.torque.shape[1]))
    terms = np.array([(law.presliding > 0.0) * 1 + (law.stribeck_velocity > 0.0) + law.loaded
                      + law.asymmetric for law in laws])
    errors = 0.5 * np.log(np.maximum(np.sum(squares, axis=2), _FLOOR ** 2))
    paid = errors + data.price[:, None] * terms.T
    places = [simplest_law(*each) for each in zip(paid, terms.T, squares)]
    chosen = [laws[k] for k in places]
    parts = {name: np.array([getattr(law, name)[j] for j, law in enumerate(chosen)])
             for name in ('presliding', 'stribeck_velocity', 'loaded', 'asymmetric')}
    return (FrictionLaw(laws[0].coulomb_velocity, **parts),
            np.array([paid[j, k] for j, k in enumerate(places)]))


def simplest_law(paid: Array, terms: Array, squares: Array) -> int:
    """
    Return the number of the simplest law that is not surely worse than the best one.

    :param paid: (D,) logarithms of the errors, with the price of the terms.
    :param terms: (D,) numbers of terms.
    :param squares: (D, B) squared errors of held-out blocks.
    """
    best = int(np.argmin(paid))
    for count in range(int(terms[best])):
        like = np.flatnonzero((terms == count) & np.isfinite(paid))
        if like.size:
            simple = int(like[np.argmin(paid[like])])
            gain = squares[simple] - squares[best]
            error = np.sqrt(gain.size * np.var(gain, ddof=1)) if gain.size > 1 else np.inf
            if not np.sum(gain) > _SURE * error:
                return simple
    return best


def _searched(data: FrictionData, law: FrictionLaw) -> FrictionLaw:
    """Return the law with distances of presliding at the vertex of a parabola, not on a grid."""
    turning = np.flatnonzero(law.presliding > 0.0)
    for step in _STEPS if turning.size else ():
        around = [replace(law, presliding=law.presliding * factor)
                  for factor in (1.0 / step, 1.0, step)]
        distance = law.presliding.copy()
        errors = np.sum(data.squares(around, turning.tolist(), exact=True), axis=2)
        for j, (left, middle, right) in zip(turning, errors):
            bend = left - 2.0 * middle + right
            if np.isfinite(bend):
                move = 0.5 * (left - right) / bend if bend > 0.0 else np.sign(left - right)
                distance[j] *= step ** np.clip(move, -1.0, 1.0)
        law = replace(law, presliding=distance)
    return law
