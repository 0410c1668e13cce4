# SPDX-License-Identifier: Apache-2.0
"""C code that CasADi has generated, compiled and timed: one call, and a loop in C over a batch."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from timeit import Timer

import casadi
import numpy as np

from robot_dynamics_ros.arrays import Array
from speed.contender import (
    BATCH,
    BATCHED,
    FUNCTIONS,
    THREADED,
    Contender,
    PeerRobot,
    batched,
    in_two_threads,
    single,
)

#: As CasADi's users compile: everything that this processor can do.
FLAGS = ('-O3', '-march=native', '-fno-math-errno', '-shared', '-fPIC')

#: Functions and buffers that CasADi's calls refer to, without keeping them in memory.
_KEPT: list[object] = []

_DRIVER = """
void batch_{name}(long count, {arguments}, double *out)
{{
    casadi_int arguments, results, integers, reals;
    {name}_work(&arguments, &results, &integers, &reals);
    const casadi_real *arg[arguments];
    casadi_real *res[results];
    casadi_int iw[integers + 1];
    casadi_real w[reals + 1];
    for (long i = 0; i < count; i++) {{
        {states}
        {results}
        {name}(arg, res, iw, w, 0);
    }}
}}
"""


def compiled(source: str, functions: Mapping[str, tuple[int, int]], n: int, folder: Path) -> Path:
    """
    Return the shared library of generated code and a loop over states for each function.

    :param source: C code from CasADi.
    :param functions: number of inputs and size of each result by name of the function.
    :param n: number of joints.
    :param folder: where it is written.
    """
    text = [source]
    for name, (inputs, results) in functions.items():
        arguments = ', '.join(f'const double *a{k}' for k in range(inputs))
        states = ' '.join(f'arg[{k}] = a{k} + {n} * i;' for k in range(inputs))
        size = n * n if results > 1 or name == 'mass_matrix' else n
        places = ' '.join(f'res[{k}] = out + {size} * ({results} * i + {k});'
                          for k in range(results))
        text.append(_DRIVER.format(name=name, arguments=arguments, states=states, results=places))
    path = folder / 'generated.c'
    path.write_text('\n'.join(text))
    library = path.with_suffix('.so')
    subprocess.run(['cc', *FLAGS, str(path), '-o', str(library), '-lm'], check=True,
                   capture_output=True)
    return library


def contenders(peer: str, library: Path, functions: Mapping[str, tuple[int, int]],
               robot: PeerRobot) -> Iterator[Contender]:
    """
    Yield what is timed: CasADi's own call on buffers that are in place, and the loop in C.

    :param peer: name for the table.
    :param library: path of what `compiled` has made.
    :param functions: functions as for `compiled`.
    :param robot: the robot.
    """
    code = ctypes.CDLL(str(library))
    n = len(robot.chain)
    for name, (inputs, results) in functions.items():
        shape = {1: (n,)}.get(results, (results, n, n))
        shape = (n, n) if name == 'mass_matrix' else shape
        external = casadi.external(name, str(library))
        buffer, evaluate = external.buffer()
        one = robot.one(name)
        parts = [np.zeros(np.prod(shape) // results) for _ in range(results)]
        for k in range(inputs):
            buffer.set_arg(k, memoryview(one[k]))
        for k in range(results):
            buffer.set_res(k, memoryview(parts[k]))
        _KEPT.append((external, buffer, one, parts))
        evaluate()
        yield single(peer, name, Timer(evaluate), _ours(np.concatenate(parts).reshape(shape)))
        batch, out = robot.batch(name), np.zeros((BATCH, *shape))
        loop = getattr(code, f'batch_{name}')
        loop.restype = None

        def call(first: int, last: int, loop=loop, batch=batch, out=out) -> None:
            loop(ctypes.c_long(last - first), *(ctypes.c_void_p(array[first:].ctypes.data)
                                                for array in batch),
                 ctypes.c_void_p(out[first:].ctypes.data))

        call(0, BATCH)
        yield batched(peer, name, BATCHED, lambda call=call: call(0, BATCH),
                      np.array([_ours(each) for each in out[:5]]))
        yield batched(peer, name, THREADED, in_two_threads(call),
                      np.array([_ours(each) for each in out[:5]]))


def _ours(result: Array) -> Array:
    """Return a result, whose matrices are stored column by column, as ours is."""
    return result if result.ndim == 1 else np.swapaxes(result, -1, -2)


def sizes(names: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Return number of inputs and of results of functions, from the number of results."""
    return {name: (len(FUNCTIONS[name]), results) for name, results in names.items()}
