# SPDX-License-Identifier: Apache-2.0
"""What is timed: one function of one peer, one call or a batch, and the robot and states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from threading import Thread
from timeit import Timer

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.cli.support.timing import Timed, calls

#: Functions that are compared, with their inputs.
FUNCTIONS = {
    'inverse_dynamics': ('q', 'qd', 'qdd'),
    'forward_dynamics': ('q', 'qd', 'tau'),
    'mass_matrix': ('q',),
    'inverse_dynamics_derivatives': ('q', 'qd', 'qdd'),
    'forward_dynamics_derivatives': ('q', 'qd', 'tau'),
    'jacobian': ('q',),
}

BATCH = 2_000
#: States of a batch that a loop in Python is timed on.
LOOP = 500

#: Results as arrays of the shapes that ours have.
Function = Callable[..., object]


@dataclass(frozen=True)
class PeerRobot:
    """
    A robot for all peers.

    :param chain: the robot, without rotors and friction.
    :param urdf: the same as text, with nothing but links, inertias and joints.
    """

    chain: Chain
    urdf: str

    @cached_property
    def states(self) -> dict[str, Array]:
        """BATCH states, always the same: q, qd, qdd and tau."""
        rng = np.random.default_rng(1)
        return {name: rng.uniform(-1.0, 1.0, (BATCH, len(self.chain)))
                for name in ('q', 'qd', 'qdd', 'tau')}

    def batch(self, function: str) -> list[Array]:
        """Return the inputs of a function, (N, n) each."""
        return [self.states[name] for name in FUNCTIONS[function]]

    def one(self, function: str) -> list[Array]:
        """Return the inputs of a function at the first state."""
        return [array[0].copy() for array in self.batch(function)]


@dataclass(frozen=True)
class Contender:
    """
    One thing to be timed.

    :param peer: name of the software, and of the way it is used.
    :param function: one of FUNCTIONS.
    :param way: 'one call', 'batch' (one thread) or 'batch, 2 threads'.
    :param timed: runs it.
    :param result: results of the first states, in our order, to be compared with ours.
    """

    peer: str
    function: str
    way: str
    timed: Timed
    result: Array


ONE, BATCHED, THREADED = 'one call', 'batch', 'batch, 2 threads'


def single(peer: str, function: str, timer: Timer, result: object) -> Contender:
    """
    Return single calls at the first state.

    :param timer: one call with everything in place, as a control loop does it.
    :param result: its result.
    """
    return Contender(peer, function, ONE, Timed(timer, 200, 1),
                     np.array(result, dtype=np.float64)[None])


def looped(peer: str, function: str, call: Function, robot: PeerRobot,
           result: Callable[[object], object] = lambda value: value) -> list[Contender]:
    """
    Return single calls, and a Python loop over the states of a batch.

    :param call: function of the inputs of one state.
    :param result: what of its result is compared with ours.
    """
    one, batch = robot.one(function), robot.batch(function)
    some = [np.array(result(call(*state)), dtype=np.float64)
            for state in zip(*(array[:5] for array in batch))]
    loop = Timer(lambda: [call(*state) for state in zip(*(array[:LOOP] for array in batch))])
    return [single(peer, function, calls(call, one).timer, some[0]),
            Contender(peer, function, BATCHED, Timed(loop, 1, LOOP), np.array(some))]


def batched(peer: str, function: str, way: str, call: Callable[[], object],
            result: Array) -> Contender:
    """Return a call that treats all states of a batch."""
    return Contender(peer, function, way, Timed(Timer(call), 1, BATCH), result[:5])


def in_two_threads(call: Callable[[int, int], object]) -> Callable[[], None]:
    """Return a call on both halves of a batch at once; `call` takes the first and last state."""
    def run() -> None:
        half = Thread(target=call, args=(BATCH // 2, BATCH))
        half.start()
        call(0, BATCH // 2)
        half.join()

    return run
