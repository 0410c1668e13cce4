# SPDX-License-Identifier: Apache-2.0
"""Postures in which an exciting motion may start: held by the motors, and with room around."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.collision.postures import find_free_posture, posture_clearance
from robot_dynamics_ros.collision.scene import CollisionScene
from robot_dynamics_ros.errors import CollisionError, ExcitationError
from robot_dynamics_ros.estimation.excitation.limits import ExcitationLimits

#: Part of its room that the closest pair of a start must have: every small motion stays near it.
_ROOM, _ROOM_OF_DEFAULT, _ROOM_OF_PROPOSAL = 0.05, 0.25, 0.8

#: Part of the effort that may be used which holding a proposed start takes, if there is such a
#: posture: every motion begins and ends there.
_RESERVES = (0.8, 1.0)

#: Postures that are tried where the default start is not feasible.
_PROPOSALS = 4

#: Neighbourhoods of the default start, and postures that are tried in each.
_NEIGHBOURHOODS, _TRIES = 8, 50


@dataclass(frozen=True, eq=False)
class Starts:
    """
    Postures to start from.

    :param limits: limits of the motion from each posture.
    :param note: why the default start is not among them; empty = it is.
    """

    limits: tuple[ExcitationLimits, ...]
    note: str = ''


def feasible_starts(scene: CollisionScene, start: ArrayLike | None, seed: int,
                    limits_from: Callable[[ArrayLike | None], ExcitationLimits],
                    check: Callable[[ExcitationLimits], None]) -> Starts:
    """
    Return the start that was asked for; where none was and the default is not feasible, others.

    :param scene: robot and surroundings.
    :param start: (n,) posture that was asked for [rad, m]; None = any.
    :param seed: seed of the proposals.
    :param limits_from: function that returns the limits of a motion from a posture.
    :param check: function that raises an ExcitationError where the robot cannot hold a start.
    :raises CollisionError: the start that was asked for is too close to something; the message
        proposes another one.
    :raises ExcitationError: the robot cannot hold the start that was asked for.
    """
    limits = limits_from(start)
    found = posture_clearance(scene, limits.start)
    reason = ''
    if found.room <= (_ROOM_OF_DEFAULT if start is None else _ROOM):
        reason = (f'{found.pair[0]} and {found.pair[1]} ' + (
            'touch' if found.distance <= 0.0 else f'are {1000 * found.distance:.0f} mm apart'))
    else:
        try:
            check(limits)
        except ExcitationError as error:
            if start is not None:
                raise
            reason = str(error)
    if not reason:
        return Starts((limits,))

    count, room = (_PROPOSALS, _ROOM_OF_PROPOSAL) if start is None else (1, _ROOM_OF_DEFAULT)
    proposals = [_held_posture(scene, limits.start, seed + k, room, limits_from, check)
                 for k in range(count)]
    if start is not None:
        raise CollisionError(f'the start is not free: {reason}; a free one near it is '
                             f'--start={posture_text(proposals[0])}')
    return Starts(tuple(limits_from(q) for q in proposals),
                  f'the default start is not feasible ({reason})')


def held_starts(start: ArrayLike | None, seed: int,
                limits_from: Callable[[ArrayLike | None], ExcitationLimits],
                check: Callable[[ExcitationLimits], None]) -> Starts:
    """
    Return the start that was asked for; where none was and the default cannot be held, others.

    Nothing is known about collisions. Random postures come from an ever larger neighbourhood of
    the default.

    :param start: (n,) posture that was asked for [rad, m]; None = any.
    :param seed: seed of the proposals.
    :param limits_from: function that returns the limits of a motion from a posture.
    :param check: function that raises an ExcitationError where the robot cannot hold a start.
    :raises ExcitationError: the robot cannot hold the start, or none that was tried.
    """
    limits = limits_from(start)
    try:
        check(limits)
        return Starts((limits,))
    except ExcitationError as error:
        if start is not None:
            raise
        reason = error
    rng = np.random.default_rng(seed)
    found: list[ExcitationLimits] = []
    for part in np.geomspace(0.1, 1.0, _NEIGHBOURHOODS):
        reach = part * (limits.upper - limits.lower)
        low, high = (np.clip(limits.start + side * reach, limits.lower, limits.upper)
                     for side in (-1.0, 1.0))
        for q in rng.uniform(low, high, (_TRIES, len(reach))):
            proposal = limits_from(q)
            with suppress(ExcitationError):
                check(proposal)
                found.append(proposal)
            if len(found) == _PROPOSALS:
                return Starts(tuple(found), f'the default start is not feasible ({reason})')
    if found:
        return Starts(tuple(found), f'the default start is not feasible ({reason})')
    raise ExcitationError(f'{reason}; none of {_NEIGHBOURHOODS * _TRIES} random postures can be '
                          'held either: check masses and effort limits')


def _held_posture(scene: CollisionScene, near: Array, seed: int, room: float,
                  limits_from: Callable[[ArrayLike | None], ExcitationLimits],
                  check: Callable[[ExcitationLimits], None]) -> Array:
    """Return a free posture that the robot can hold, with a reserve where that is possible."""
    for reserve in _RESERVES:
        def held(q: Array, reserve: float = reserve) -> bool:
            limits = limits_from(q)
            try:
                check(replace(limits, effort=reserve * limits.effort))
            except ExcitationError:
                return False
            return True

        try:
            return find_free_posture(scene, near=near, seed=seed, accept=held, room=room)
        except CollisionError:
            if reserve == _RESERVES[-1]:
                raise
    raise AssertionError('unreachable')


def posture_text(q: Array) -> str:
    """Return a posture as the command line takes it."""
    return ','.join(f'{x + 0.0:.4g}' for x in np.round(q, 4))
