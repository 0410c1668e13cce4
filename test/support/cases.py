# SPDX-License-Identifier: Apache-2.0
"""Random chains with states, and the oracle's answers worked out once for all tests."""

import functools
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from support.chains import random_chain, random_states
from support.oracle import Oracle

#: Number of random chains that every quantity is compared on.
CHAINS = 300
#: States per chain, worked on as one batch.
STATES = 2


@dataclass(frozen=True)
class Case:
    """A chain of 1 to 8 joints with a batch of states: q, qd, qdd, tau (N, n), wrench (N, 6)."""

    chain: Chain
    oracle: Oracle
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    wrench: np.ndarray

    def expected(self, quantity, *names):
        """Return the oracle's answers, state by state: its method, on these arrays."""
        method = getattr(self.oracle, quantity)
        return np.array([method(*state) for state in zip(*(getattr(self, n) for n in names))])

    @property
    def links(self):
        """Ten standard parameters per link, as the recursions take them."""
        return [link.standard_parameters.tolist() for link in self.chain.links]


@functools.cache
def random_cases():
    """Return CHAINS different chains, n = 1..8; every 19th is without gravity."""
    rng = np.random.default_rng(20)
    cases = []
    for k in range(CHAINS):
        n = 1 + k % 8
        chain = random_chain(rng, n, gravity=np.zeros(3) if k % 19 == 0 else None)
        q, qd, qdd = random_states(rng, n, STATES)
        cases.append(Case(chain, Oracle(chain), q, qd, qdd, rng.normal(size=(STATES, n)),
                          rng.normal(size=(STATES, 6))))
    return cases
