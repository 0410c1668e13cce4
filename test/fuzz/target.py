# SPDX-License-Identifier: Apache-2.0
"""What is attacked: where valid input comes from, and what reads it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from fuzz.mutation import mutated

#: Processor time of a try above which it is a failure [s].
HANG = 10.0


@dataclass(frozen=True)
class Target:
    """
    One reader of something that comes from outside.

    :param name: short name, for the table and for ``--target``.
    :param examples: function that returns valid input.
    :param read: function that reads one input; what it returns is not looked at.
    :param hang: processor time after which a try is a failure [s].
    :param mutate: function that makes damaged input from the random numbers and the examples.
    """

    name: str
    examples: Callable[[], Sequence[bytes]]
    read: Callable[[bytes], object]
    mutate: Callable[[Random, Sequence[bytes]], bytes] = mutated
    hang: float = HANG
