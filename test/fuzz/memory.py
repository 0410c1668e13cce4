# SPDX-License-Identifier: Apache-2.0
"""
Nodes that live long under fire: their memory is bounded.

One case is a number, which chooses the node. Its resident memory after N steps is compared with
that after N/4.
"""

import warnings
from dataclasses import dataclass
from random import Random

from fuzz.messages import Attack
from fuzz.nodes import NODES, context_of_its_own
from fuzz.runner import resident_memory

#: Steps of one node.
STEPS = 4000
#: Growth that caches and the allocator may have between a quarter of the steps and the end [MB].
GROWTH = 8.0


def growth(name, random, context, steps):
    """Attack a node and return by how much its memory grows in the last three quarters [MB]."""
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # of numbers beyond the range
        attack = Attack(name, random, context)
        try:
            for _ in range(steps // 4):
                attack.step()
            early = resident_memory()
            for _ in range(steps - steps // 4):
                attack.step()
                attack.node.stream.seek(0)  # the terminal of live_view is not its memory
                attack.node.stream.truncate()
            return resident_memory() - early
        finally:
            attack.close()


@dataclass
class MemoryTarget:
    """
    One long life per case; the same fields as the targets of files have.

    :param context: context of rclpy; None = one of its own.
    :param weight: share of the time, in those of other targets.
    """

    context: object = None
    name: str = 'memory'
    hang: float = 60.0
    weight: float = 4.0

    def examples(self):
        return [b'0']

    def mutate(self, random, examples):
        return str(random.randrange(2**32)).encode()

    def read(self, case):
        """Attack the node that belongs to this number for long."""
        self.context = self.context or context_of_its_own()
        name = list(NODES)[int(case) % len(NODES)]
        grown = growth(name, Random(case.decode()), self.context, STEPS)
        if grown > GROWTH:  # what is compiled once is no leak: it does not grow again
            grown = growth(name, Random(case.decode()), self.context, STEPS)
        assert grown <= GROWTH, f'{name}: {grown:.1f} MB more after {STEPS} steps than after N/4'


TARGETS = [MemoryTarget()]
