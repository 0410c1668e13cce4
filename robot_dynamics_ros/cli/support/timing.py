# SPDX-License-Identifier: Apache-2.0
"""Times of calls, measured in turns on a machine that does other things as well."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from timeit import Timer
from typing import NamedTuple

from robot_dynamics_ros.arrays import Array


class Timed(NamedTuple):
    """
    Something to be timed.

    :param timer: runs it.
    :param calls: number of calls per measurement.
    :param states: number of states that one call treats.
    """

    timer: Timer
    calls: int
    states: int


def calls(function: Callable[..., object], arrays: Sequence[Array],
           out: Array | None = None) -> Timed:
    """Return calls as a user writes them: ``f(q, qd, qdd, out=out)``."""
    names = [f'a{i}' for i in range(len(arrays))]
    arguments = ', '.join(names if out is None else [*names, 'out=out'])
    timer = Timer(f'f({arguments})',
                  globals={'f': function, 'out': out, **dict(zip(names, arrays))})
    single = arrays[0].ndim == 1
    return Timed(timer, 200 if single else 1, 1 if single else len(arrays[0]))


def batch_in_threads(function: Callable[..., object], states: Sequence[Array], out: Array,
                     threads: int) -> Timed:
    """Return calls of a batch in several threads."""
    timer = Timer(lambda: function(*states, out=out, threads=threads))
    return Timed(timer, 1, len(states[0]))


def loop(function: Callable[..., object], states: Sequence[Array], count: int) -> Timed:
    """Return a Python loop over the first `count` states."""
    names = [f'a{i}' for i in range(len(states))]
    arguments = ', '.join(f'{name}[i]' for name in names)
    timer = Timer(f'for i in range({count}): f({arguments})',
                  globals={'f': function, **dict(zip(names, states))})
    return Timed(timer, 1, count)


def interleaved(contenders: Mapping[str, Timed], repetitions: int) -> dict[str, float]:
    """Return the shortest time of each per state [ns], measured in turns."""
    best = dict.fromkeys(contenders, math.inf)
    for _ in range(repetitions):
        for name, (timer, calls, states) in contenders.items():
            best[name] = min(best[name], 1e9 * timer.timeit(calls) / (calls * states))
    return best
