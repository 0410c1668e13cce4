# SPDX-License-Identifier: Apache-2.0
"""The generated models of this package, as a Python user calls them."""

from __future__ import annotations

from collections.abc import Iterator

from robot_dynamics_ros.cli.support.timing import calls
from robot_dynamics_ros.codegen.runtime.model import compile_model
from speed.contender import BATCHED, FUNCTIONS, THREADED, Contender, PeerRobot, batched, single

NAME = 'robot_dynamics_ros'


def contenders(robot: PeerRobot) -> Iterator[Contender]:
    """Yield what is timed."""
    model = compile_model(robot.chain)
    for name in FUNCTIONS:
        one, batch = robot.one(name), robot.batch(name)
        out, outs = getattr(model, name)(*one), getattr(model, name)(*batch)  # compiles
        call = getattr(model, name)
        yield single(NAME, name, calls(call, one, out).timer, out)
        yield batched(NAME, name, BATCHED,
                      lambda call=call, batch=batch, outs=outs: call(*batch, out=outs), outs)
        yield batched(NAME, name, THREADED, lambda call=call, batch=batch, outs=outs: call(
            *batch, out=outs, threads=2), outs)
