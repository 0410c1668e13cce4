# SPDX-License-Identifier: Apache-2.0
"""How long loading a robot takes: URDF to chain, chain to minimal parameters."""

import time
from pathlib import Path

from robot_dynamics_ros import chain_from_urdf, minimal_parameters

ROBOTS = sorted((Path(__file__).parents[1] / 'urdf').glob('*.urdf'))


def best_of(count, function, *arguments):
    """Return the shortest time [ms] and the result."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        result = function(*arguments)
        times.append(time.perf_counter() - start)
    return 1e3 * min(times), result


def main():
    """Print a table."""
    chain_from_urdf(ROBOTS[0])  # imports lxml and urchin
    print(f'{"robot":12} {"joints":>6} {"URDF to chain":>14} {"minimal parameters":>19}')
    for path in ROBOTS:
        load, chain = best_of(10, chain_from_urdf, path)
        minimal, _ = best_of(5, minimal_parameters, chain)
        print(f'{path.stem:12} {len(chain):6} {load:11.1f} ms {minimal:16.1f} ms')


if __name__ == '__main__':
    main()
