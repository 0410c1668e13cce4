# SPDX-License-Identifier: Apache-2.0
"""The arrangement of the equations with the fewest operations, joint by joint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint import exact_cos_sin
from robot_dynamics_ros.codegen.equations import Arrangement
from robot_dynamics_ros.codegen.program import Operations
from robot_dynamics_ros.dynamics.recursions.customized import ELIMINATIONS

T = TypeVar('T')


def fewest_operations(chain: Chain,
                      operations: Callable[[Arrangement], Operations]) -> Arrangement:
    """
    Return a good arrangement: no change at a single joint makes it better.

    It starts from the rule that is used without a search and takes a second or less for seven
    joints. The gain is a few operations, mostly where many parameters are zero.

    :param chain: the robot.
    :param operations: what an arrangement costs.
    """
    n = len(chain.moving)
    best = Arrangement(tuple(0.0 in exact_cos_sin(joint.beta) for joint in chain.moving),
                       (ELIMINATIONS[0],) * n)
    cost = _cost(operations(best))
    improved = True
    while improved:
        improved = False
        for j in range(1, n):  # joint 1 has nothing to choose
            for candidate in _changed(best, j):
                candidate_cost = _cost(operations(candidate))
                if candidate_cost < cost:
                    best, cost, improved = candidate, candidate_cost, True
    return best


def _cost(operations: Operations) -> tuple[int, int]:
    return sum(operations), operations.additions


def _changed(arrangement: Arrangement, j: int) -> list[Arrangement]:
    """Return the arrangements that differ at joint j + 1."""
    columns, eliminations = arrangement.third_column or (), arrangement.eliminations or ()
    other = replace(arrangement, third_column=_with(columns, j, not columns[j]))
    choices = [replace(arrangement, eliminations=_with(eliminations, j, choice))
               for choice in ELIMINATIONS if choice != eliminations[j]]
    return [other, *choices, *(replace(choice, third_column=other.third_column)
                               for choice in choices)]


def _with(values: tuple[T, ...], place: int, value: T) -> tuple[T, ...]:
    return (*values[:place], value, *values[place + 1:])
