# SPDX-License-Identifier: Apache-2.0
"""
``make proof``: ask every judge, print what they found, exit code 1 where an aim is missed.

Each judge works in a process of its own: their libraries do not meet, and one that crashes is a
line in the table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np

from proof.engine import JUDGES
from proof.judgement import Finding, misses, torque_table, tracking_table
from proof.parity import disagreements
from proof.tracking import ROOT, exciting_motion, tracking_errors, wrong_robot
from robot_dynamics_ros.motion.trajectory import Trajectory

#: Longest time of one judge [s]; some minutes are usual on a busy machine.
PATIENCE = 1800.0


@dataclass(frozen=True)
class Task:
    """
    What every judge is asked.

    :param motion: .npz file of the motion to learn from.
    :param seed: seed of the difference between the arm and its URDF.
    """

    motion: Path
    seed: int


def main(arguments: list[str] | None = None) -> int:
    """Run the proof, or one judge of it; return the exit code."""
    parser = argparse.ArgumentParser(prog='make proof', description=__doc__)
    parser.add_argument('--judges', nargs='+', choices=JUDGES, default=list(JUDGES),
                        help='software to ask (default: all)')
    parser.add_argument('--seed', type=int, default=1,
                        help='seed of the difference between the arm and its URDF '
                        '(default: %(default)s)')
    parser.add_argument('--answer', type=Path, help=argparse.SUPPRESS)  # one judge's own process
    parser.add_argument('--motion', type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.answer is not None:
        finding = find(options.judges[0], Task(options.motion, options.seed))
        options.answer.write_text(json.dumps(finding.as_data()))
        return 0
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix='robot_dynamics_proof_') as folder:
        task = Task(Path(folder) / 'motion.npz', options.seed)
        print('designing the motion to learn from ...', flush=True)
        save_motion(task.motion, exciting_motion(wrong_robot().chain))
        print(f'asking {", ".join(JUDGES[name].title for name in options.judges)} ...', flush=True)
        findings = ask(options.judges, lambda name: ask_in_process(name, task, Path(folder)))
    return report(findings, time.monotonic() - started)


def report(findings: list[Finding], seconds: float) -> int:
    """Print the tables; return 1 where an aim is missed, 0 elsewhere."""
    print(f'\n{torque_table(findings)}\n\n{tracking_table(findings)}\n')
    for judge in JUDGES.values():
        if judge.joints:
            print(f'{judge.title}: {judge.joints}')
    missed = misses(findings)
    print(f'\n{seconds:.0f} s; ' + ('all aims are reached' if not missed else 'missed:'))
    for miss in missed:
        print(f'  {miss}')
    return 1 if missed else 0


def ask(names: list[str], one: Callable[[str], Finding]) -> list[Finding]:
    """Return the findings of all judges, as many at a time as there are processors."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(one, names))


def ask_in_process(name: str, task: Task, folder: Path) -> Finding:
    """Return what a judge finds in a process of its own, or how that ended."""
    judge, answer = JUDGES[name], folder / f'{name}.json'
    unknown = Finding(judge.title, '', bool(judge.joints))
    try:
        unknown = replace(unknown, version=judge.version)
    except PackageNotFoundError:
        return replace(unknown, problem='not installed')
    command = [sys.executable, '-m', 'proof', '--judges', name, '--seed', str(task.seed),
               '--motion', str(task.motion), '--answer', str(answer)]
    try:
        # one thread each: two judges at a time, and matrices of 7 x 7
        done = subprocess.run(command, capture_output=True, text=True, errors='replace',
                              timeout=PATIENCE, env={**os.environ, 'OMP_NUM_THREADS': '1',
                                                     'OPENBLAS_NUM_THREADS': '1'})
    except subprocess.TimeoutExpired:
        return replace(unknown, problem=f'no answer after {PATIENCE:.0f} s')
    if done.returncode != 0 or not answer.exists():
        last = (done.stderr.strip().splitlines() or [f'exit code {done.returncode}'])[-1]
        return replace(unknown, problem=last[:200])
    print(f'{judge.title} has answered', flush=True)
    return Finding.from_data(json.loads(answer.read_text()))


def find(name: str, task: Task) -> Finding:
    """Return what a judge finds, in this process."""
    judge = JUDGES[name]
    load = judge.loader()
    torques = disagreements(load, sorted((ROOT / 'urdf').glob('*.urdf')))
    tracking = (tracking_errors(load, load_motion(task.motion), task.seed) if judge.joints
                else None)
    return Finding(judge.title, judge.version, bool(judge.joints), '', torques, tracking)


def save_motion(path: Path, motion: Trajectory) -> None:
    """Write a motion for the processes of the judges."""
    np.savez(path, names=np.array(motion.joint_names), times=motion.times, q=motion.positions,
             qd=motion.velocities, qdd=motion.accelerations)


def load_motion(path: Path) -> Trajectory:
    """Read a motion."""
    with np.load(path) as data:
        return Trajectory(tuple(str(name) for name in data['names']),
                          *(data[name] for name in ('times', 'q', 'qd', 'qdd')))


if __name__ == '__main__':
    sys.exit(main())
