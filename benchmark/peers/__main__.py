# SPDX-License-Identifier: Apache-2.0
"""``make bench-identification-peers``: the table of docs/identification.md."""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import time

import numpy as np

from peers import with_figaroh, with_mujoco
from peers.cases import Case, cases
from robot_dynamics_ros.arrays import Array


def main(arguments: list[str] | None = None) -> int:
    """Print the table; return the exit code."""
    parser = argparse.ArgumentParser(prog='make bench-identification-peers', description=__doc__)
    parser.add_argument('cases', nargs='*', help='simulated, ur10, panda, tx40 (default: all)')
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)
    print('| recording | method | all [%] | by joint [%] | time [s] |\n|---|---|---|---|---|')
    for case in cases(options.cases):
        start = time.process_time()
        _show(case, 'robot_dynamics_ros', case.ours(), time.process_time() - start)
        rows = case.rows()
        for peer in (with_figaroh, with_mujoco):
            start = time.process_time()
            try:
                with contextlib.redirect_stdout(io.StringIO()):
                    found = peer.errors(case, *rows)
            except Exception as error:  # the table says so
                print(f'| {case.name} | {peer.__name__} | {type(error).__name__}: '
                      f'{" ".join(str(error).split())[:200]} | | |', flush=True)
                continue
            for method, errors in found.items():
                _show(case, method, errors, time.process_time() - start)
    return 0


def _show(case: Case, method: str, errors: Array, seconds: float) -> None:
    by_joint = ' '.join(f'{100 * error:.1f}' for error in np.asarray(errors)[:-1])
    print(f'| {case.name} | {method} | {100 * errors[-1]:.2f} | {by_joint} | {seconds:.1f} |',
          flush=True)


if __name__ == '__main__':
    raise SystemExit(main())
