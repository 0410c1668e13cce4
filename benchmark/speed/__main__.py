# SPDX-License-Identifier: Apache-2.0
"""``make bench-peers``: the table of docs/benchmarks.md, the median of five runs."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
from importlib import import_module, metadata
from pathlib import Path

import numpy as np
from proof.description import rigid_links

from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf_text
from robot_dynamics_ros.cli.benchmark import machine
from robot_dynamics_ros.cli.support.timing import interleaved
from speed import ours
from speed.contender import BATCHED, FUNCTIONS, ONE, THREADED, Contender, PeerRobot

#: Modules of the peers.
PEERS = ('in_pinocchio', 'in_casadi', 'in_mujoco', 'in_drake', 'in_adam')
#: Results that differ by more, relative to the largest, are not those of the same robot.
SAME = 1e-6
#: What takes longer than this [s] is repeated three times only.
SLOW = 0.05
#: Packages whose versions are named.
VERSIONS = ('pin', 'casadi', 'mujoco', 'drake', 'adam-robotics', 'jax')
_ROOT = Path(__file__).resolve().parent.parent.parent

Times = dict[tuple[str, str, str], list[float]]


def peer_robot(path: Path) -> PeerRobot:
    """Return a robot for all peers from its URDF."""
    urdf = rigid_links(path.read_bytes())
    chain = chain_from_urdf_text(urdf)
    return PeerRobot(chain.with_joint_physics(JointPhysics.zero(len(chain))), urdf)


def all_contenders(robot: PeerRobot, say: Callable[[str], None]) -> list[Contender]:
    """Return everything that can be timed here; what cannot is said."""
    mine = list(ours.contenders(robot))
    expected = {(each.function, each.way): each.result for each in mine}
    result = mine
    for module in PEERS:
        try:
            for each in import_module(f'speed.{module}').contenders(robot):
                if agrees(each, expected):
                    result.append(each)
                else:
                    say(f'{each.peer}, {each.function}: other results than ours, left out')
        except Exception as error:  # a peer that does not work here ends nothing
            say(f'{module.removeprefix("in_")}: left out or incomplete '
                f'({type(error).__name__}: {str(error)[:200]})')
    return result


def agrees(contender: Contender, expected: dict[tuple[str, str], np.ndarray]) -> bool:
    """Return whether a peer has our results."""
    own = expected[contender.function, contender.way][:len(contender.result)]
    if own.shape != contender.result.shape:
        return False
    # accelerations after a step of 1 ms are those of the states within it
    same = 0.02 if 'rollout' in contender.peer else SAME
    return bool(np.max(np.abs(own - contender.result)) <= same * np.max(np.abs(own)))


def measured(contenders: Iterable[Contender], runs: int, repetitions: int,
             say: Callable[[str], None]) -> Times:
    """Return the shortest times per state [ns] of every run: processor time of one thread."""
    timed = {(each.peer, each.function, each.way): each.timed for each in contenders}
    for (_, _, way), each in timed.items():
        if way != THREADED:  # what other programs take is not in it
            each.timer.timer = time.process_time
    times: Times = {key: [] for key in timed}
    for run in range(runs):
        say(f'run {run + 1} of {runs}')
        for function in FUNCTIONS:
            of_function = {key: each for key, each in timed.items() if key[1] == function}
            slow = {key for key, each in of_function.items()
                    if each.timer.timeit(each.calls) > SLOW}
            for some, count in ((of_function.keys() - slow, repetitions),
                                (slow, min(repetitions, 3))):
                for key, best in interleaved({key: of_function[key] for key in sorted(some)},
                                             count).items():
                    times[key].append(best)
    return times


def table(times: Times) -> str:
    """Return the medians as Markdown, for each function the quickest batch first."""
    medians = {key: float(np.median(values)) for key, values in times.items()}
    lines = []
    for function in FUNCTIONS:
        peers = list(dict.fromkeys(peer for peer, name, _ in medians if name == function))
        peers.sort(key=lambda peer: medians.get((peer, function, BATCHED), np.inf))
        lines += ['', f'**{function}**', '',
                  '| | one call | to ours | batch, per state | to ours | 2 threads | to ours |',
                  '|---|---:|---:|---:|---:|---:|---:|']
        for peer in peers:
            cells = [peer]
            for way in (ONE, BATCHED, THREADED):
                own = medians[ours.NAME, function, way]
                value = medians.get((peer, function, way))
                cells += ['-', ''] if value is None else [
                    f'{value:.0f} ns' if value >= 100.0 else f'{value:.1f} ns',
                    '' if peer == ours.NAME else f'{value / own:.1f}x']
            lines.append(f'| {" | ".join(cells)} |')
    return '\n'.join(lines[1:])


def versions() -> str:
    """Return the versions of the peers that are installed."""
    found = []
    for package in VERSIONS:
        try:
            found.append(f'{package} {metadata.version(package)}')
        except metadata.PackageNotFoundError:
            found.append(f'{package} not installed')
    return ', '.join(found)


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog='make bench-peers')
    parser.add_argument('--robot', type=Path, default=_ROOT / 'urdf' / 'demo_arm.urdf')
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--repetitions', type=int, default=20,
                        help='the shortest of so many times counts, in every run')
    parser.add_argument('--json', type=Path, help='write all times to this file, too')
    arguments = parser.parse_args()

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    robot = peer_robot(arguments.robot)
    times = measured(all_contenders(robot, say), arguments.runs, arguments.repetitions, say)
    about = machine()
    print(f'{robot.chain.robot}, {len(robot.chain)} joints. {about["date"]}, '
          f'{about["processor"]}, {about["cores"]} cores, Python {about["python"]}; {versions()}. '
          f'Medians of {arguments.runs} runs.\n')
    print(table(times))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(
            {'machine': about, 'times': {' | '.join(key): values
                                         for key, values in times.items()}}, indent=1))
    return 0


if __name__ == '__main__':
    sys.exit(main())
