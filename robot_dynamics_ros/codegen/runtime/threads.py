# SPDX-License-Identifier: Apache-2.0
"""A batch in parts, each in a thread of its own: kernels run without the interpreter's lock."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.codegen.runtime.entry import Call
from robot_dynamics_ros.errors import ParameterError

#: A part has at least this many states: fewer are done before another thread has begun.
SMALLEST_PART = 256


def thread_count(threads: int) -> int:
    """
    Return a number of threads.

    :param threads: number that a user asks for; 0 = one for each processor core.
    :raises ParameterError: it is not a number of threads.
    """
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 0:
        raise ParameterError(f'threads: {threads!r} is not a number of threads; 0 = all cores')
    return threads or len(os.sched_getaffinity(0))


def attempt_in_parts(call: Call, inputs: list[Array], out: Array | None,
                     shape: tuple[int, ...], threads: int) -> Array | None:
    """
    Run a call on parts of a batch at the same time; None if it declines one of them.

    Every state gives the same bits as in one part.

    :param call: kernels with their constants.
    :param inputs: arrays (N, k), C-contiguous.
    :param out: C-contiguous array (N, *shape) for the result; None = a new one.
    :param shape: shape of the result of one state.
    :param threads: largest number of parts.
    """
    count = len(inputs[0])
    parts = min(threads, count // SMALLEST_PART)
    if inputs[0].ndim != 2 or parts < 2:
        return call.attempt(*inputs, out=out)
    if out is not None and any(np.may_share_memory(array, out) for array in inputs):
        return None  # a part would overwrite what another one reads
    result = np.empty((count, *shape)) if out is None else out
    ends = [count * part // parts for part in range(parts + 1)]

    def attempt(part: int) -> bool:
        rows = slice(ends[part], ends[part + 1])
        return call.attempt(*(array[rows] for array in inputs), out=result[rows]) is not None

    others = [_pool(os.getpid()).submit(attempt, part) for part in range(1, parts)]
    own = attempt(0)
    done = [other.result() for other in others]
    return result if own and all(done) else None


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the threads of a process; those of a parent do not exist in a forked child."""
    return ThreadPoolExecutor(thread_name_prefix=f'robot_dynamics_{process}',
                              max_workers=max(4, len(os.sched_getaffinity(0))))
