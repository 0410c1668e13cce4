# SPDX-License-Identifier: Apache-2.0
"""Pinocchio from Python: its functions one state at a time, and its own parallel batches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio
from pinocchio_baseline import pinocchio_functions, pinocchio_model

from speed.contender import BATCHED, FUNCTIONS, THREADED, Contender, PeerRobot, batched, looped

NAME = 'Pinocchio'
PARALLEL = 'Pinocchio, rneaInParallel / abaInParallel'


def _full(function: str, result: object) -> object:
    """Return a result as ours is: symmetric matrices are filled above the diagonal only."""
    if function == 'mass_matrix':
        return _symmetric(np.array(result))
    if function == 'forward_dynamics_derivatives':
        by_q, by_qd, inverse = result
        return np.array([by_q, by_qd, _symmetric(np.array(inverse))])
    return np.array(result)


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    upper = np.triu(matrix)
    return upper + np.triu(matrix, 1).T


def contenders(robot: PeerRobot) -> Iterator[Contender]:
    """Yield what is timed."""
    for function, call in pinocchio_functions(robot.chain).items():
        if function not in FUNCTIONS:
            continue
        yield from looped(NAME, function, call, robot,
                          lambda result, function=function: _full(function, result))
    model = pinocchio_model(robot.chain)
    for function, parallel in (('inverse_dynamics', pinocchio.rneaInParallel),
                               ('forward_dynamics', pinocchio.abaInParallel)):
        columns = [array.T for array in robot.batch(function)]  # (n, N), no copy
        out = np.zeros_like(columns[0])
        for threads, way in ((1, BATCHED), (2, THREADED)):
            pool = pinocchio.ModelPool(model, threads)

            def call(parallel=parallel, threads=threads, pool=pool, columns=columns, out=out):
                parallel(threads, pool, *columns, out)

            call()
            yield batched(PARALLEL, function, way, call, out.T.copy())
