# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics benchmark``: the generated models against Pinocchio, in one run."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf
from robot_dynamics_ros.cli.support.share_folder import share_folder
from robot_dynamics_ros.cli.support.terminal import table
from robot_dynamics_ros.cli.support.timing import (
    batch_in_threads,
    calls,
    interleaved,
    loop,
)
from robot_dynamics_ros.codegen.functions import INPUTS
from robot_dynamics_ros.codegen.runtime import entry
from robot_dynamics_ros.codegen.runtime.model import Model, compile_model

BATCH = 10_000
#: States of a batch that Pinocchio's loop is timed on; its time per state does not depend on it.
LOOP = 500
#: Functions that are timed; those below have no counterpart with friction in Pinocchio.
COMPARED = ('inverse_dynamics', 'forward_dynamics', 'mass_matrix', 'regressor', 'gravity_torque',
            'inverse_dynamics_derivatives', 'forward_dynamics_derivatives', 'coriolis_matrix',
            'jacobian')
ALONE = ('torque',)
#: Functions whose growth with the number of joints is shown, and whose threads.
GROWING = ('inverse_dynamics', 'forward_dynamics', 'inverse_dynamics_derivatives',
           'forward_dynamics_derivatives', 'coriolis_matrix', 'jacobian')
#: States of a batch that is large enough for threads.
MANY = 100_000
#: Numbers of joints for the growth with n.
SIZES = (2, 4, 7, 12, 20, 40, 60)

Row = dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument('--json', action='store_true', help='print the figures as JSON')
    parser.add_argument('--repetitions', metavar='K', type=int, default=40,
                        help='measure K times and take the shortest (default: 40)')
    parser.add_argument('--quick', action='store_true',
                        help='measure one robot only, without growth and start-up')


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    report = measure(arguments.repetitions, quick=arguments.quick)
    print(json.dumps(report, indent=2) if arguments.json else text_report(report))
    return 0


def measure(repetitions: int, *, quick: bool) -> dict[str, Any]:
    """Return all figures as plain data."""
    robots = dict(list(benchmark_robots().items())[:1 if quick else None])
    return {
        'machine': machine(),
        'functions': [row for name, chain in robots.items()
                      for row in measure_functions(name, chain, repetitions)],
        'growth': [] if quick else [measure_growth(n, repetitions) for n in SIZES],
        'threads': {} if quick else measure_threads(robots['demo_arm'], repetitions),
        'start': {} if quick else measure_start(),
        'without C entry': measure_without_entry(repetitions),
    }


def machine() -> dict[str, str]:
    """Return what the figures were measured on."""
    versions = {}
    for package in ('llvmlite', 'numpy', 'pin'):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = 'not installed'
    return {'date': time.strftime('%Y-%m-%d'), 'processor': _processor(),
            'cores': str(os.cpu_count()), 'python': platform.python_version(), **versions}


def _processor() -> str:
    try:
        lines = Path('/proc/cpuinfo').read_text(encoding='utf-8').splitlines()
    except OSError:
        lines = []
    names = [line.split(':', 1)[1].strip() for line in lines if line.startswith('model name')]
    return names[0] if names else platform.machine()


def benchmark_robots() -> dict[str, Chain]:
    """Return the robots to measure; UR5 and Panda where example-robot-data is installed."""
    robots = {name: chain_from_urdf(share_folder() / 'urdf' / f'{name}.urdf')
              for name in ('demo_arm', 'rx90', 'stanford')}
    try:
        files = metadata.files('example-robot-data') or []
    except metadata.PackageNotFoundError:
        files = []
    for name, file_name, locked in (
            ('ur5', 'ur5_robot.urdf', {}),
            ('panda', 'panda.urdf', {'panda_finger_joint1': 0.0, 'panda_finger_joint2': 0.0})):
        for file in files:
            if file.name == file_name:
                robots[name] = chain_from_urdf(str(file.locate()), locked=locked)
                break
    return robots


def baseline(chain: Chain) -> dict[str, Callable[..., object]]:
    """Return Pinocchio's functions of a chain by our names; none where it is not installed."""
    path = share_folder() / 'benchmark' / 'pinocchio_baseline.py'
    if find_spec('pinocchio') is None or not path.is_file():
        return {}
    functions: dict[str, Callable[..., object]]
    functions = run_path(str(path))['pinocchio_functions'](chain)
    return functions


def measure_functions(robot: str, chain: Chain, repetitions: int) -> list[Row]:
    """Return times [ns] and ratios of one robot: single calls, and per state of a batch."""
    model = compile_model(chain)
    others = baseline(chain)
    rng = np.random.default_rng(1)
    rows = []
    for name in (*COMPARED, *ALONE):
        states = [rng.uniform(-2.0, 2.0, (BATCH, len(chain))) for _ in INPUTS[name]]
        one = [state[0].copy() for state in states]
        ours = getattr(model, name)
        out, outs = ours(*one), ours(*states)  # compiles
        ours = getattr(model, name)
        contenders = {'single': calls(ours, one, out), 'batch': calls(ours, states, outs)}
        if name in others:
            contenders |= {'pinocchio single': calls(others[name], one),
                           'pinocchio loop': loop(others[name], states, LOOP)}
        rows.append(_row({'robot': robot, 'function': name},
                         interleaved(contenders, repetitions), model, name))
    return rows


def _row(row: Row, times: dict[str, float], model: Model, name: str) -> Row:
    row |= {f'{key} [ns]': round(value, 1) for key, value in times.items()}
    for key, other in (('single', 'pinocchio single'), ('batch', 'pinocchio loop')):
        row[f'{key} ratio'] = round(times[other] / times[key], 2) if other in times else None
    row['operations'] = list(model.operations[name])
    return row


def measure_without_entry(repetitions: int) -> Row:
    """Return single calls of inverse dynamics of the demo arm where no C entry has been built."""
    chain = benchmark_robots()['demo_arm']
    one = [np.full(len(chain), 0.5) for _ in range(3)]
    built, entry.C_ENTRY = entry.C_ENTRY, None
    try:
        model = compile_model(chain)
        out = model.inverse_dynamics(*one)
        contenders = {'ours': calls(model.inverse_dynamics, one, out)}
    finally:
        entry.C_ENTRY = built
    if others := baseline(chain):
        contenders['pinocchio'] = calls(others['inverse_dynamics'], one)
    times = interleaved(contenders, repetitions)
    return {'single [ns]': round(times['ours'], 1), 'single ratio': round(
        times['pinocchio'] / times['ours'], 2) if others else None}


def measure_threads(chain: Chain, repetitions: int) -> Row:
    """Return how many times quicker a large batch is with two threads than with one."""
    model, rng = compile_model(chain), np.random.default_rng(1)
    row: Row = {}
    for name in (*COMPARED, *ALONE):
        states = [rng.uniform(-2.0, 2.0, (MANY, len(chain))) for _ in INPUTS[name]]
        function, outs = getattr(model, name), getattr(model, name)(*states)
        times = interleaved({str(threads): batch_in_threads(function, states, outs, threads)
                             for threads in (1, 2)}, max(repetitions // 4, 1))
        row[name] = round(times['1'] / times['2'], 2)
    return row


def measure_growth(n: int, repetitions: int) -> Row:
    """Return single calls of some functions for a general arm of n joints."""
    rng = np.random.default_rng(n)
    links = [Inertia.from_centre_of_mass(1.0, rng.uniform(-0.1, 0.1, 3), 0.01 * np.eye(3))
             for _ in range(n)]
    chain = chain_from_dh('R' * n, beta=rng.choice([0.0, np.pi / 2, -np.pi / 2], n),
                          b=rng.uniform(0.0, 0.2, n), d=rng.uniform(0.0, 0.2, n),
                          theta=np.zeros(n), links=links)
    model = compile_model(chain)
    others = baseline(chain)
    row: Row = {'joints': n}
    for name in GROWING:
        one = [rng.uniform(-1.0, 1.0, n) for _ in INPUTS[name]]
        start = time.perf_counter()
        out = getattr(model, name)(*one)  # compiles
        row[f'{name} first call [s]'] = round(time.perf_counter() - start, 2)
        ours = getattr(model, name)
        contenders = {'ours': calls(ours, one, out)}
        if name in others:
            contenders['pinocchio'] = calls(others[name], one)
        slow = model.forms[name] == 'loop'
        if slow:
            contenders = {key: each._replace(calls=2) for key, each in contenders.items()}
        times = interleaved(contenders, 2 if slow else repetitions)
        row |= {f'{name} [ns]': round(times['ours']), f'{name} form': model.forms[name]}
        if 'pinocchio' in times:
            row[f'{name} ratio'] = round(times['pinocchio'] / times['ours'], 2)
    return row


def measure_start() -> dict[str, float]:
    """Return processor times [s] of imports and first results, the best of three processes."""
    program = ('import time\n'
               'start = time.process_time()\n'
               'import sys\n'
               'import numpy as np\n'
               'from robot_dynamics_ros import chain_from_urdf, compile_model\n'
               'chain = chain_from_urdf(sys.argv[1])\n'
               'print(time.process_time() - start)\n'
               'state = np.zeros(7)\n'
               'for _ in range(2):\n'
               '    start = time.process_time()\n'
               '    model = compile_model(chain)\n'
               '    model.torque(state, state, state)\n'
               '    print(time.process_time() - start)\n'
               'start = time.process_time()\n'
               'for name, inputs in zip(sys.argv[2::2], sys.argv[3::2]):\n'
               '    for states in (state, np.zeros((100, 7))):\n'
               '        getattr(model, name)(*[states] * int(inputs))\n'
               'print(time.process_time() - start)\n'
               # not ru_maxrss, in which the memory of the parent counts
               'status = open("/proc/self/status").read().split()\n'
               'print(int(status[status.index("VmHWM:") + 1]) / 1024)\n')
    functions = [word for name in (*COMPARED, *ALONE) for word in (name, str(len(INPUTS[name])))]
    command = [sys.executable, '-c', program, str(share_folder() / 'urdf' / 'demo_arm.urdf'),
               *functions]
    printed = [subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
               for _ in range(3)]
    names = ('imports and reading the URDF [s]', 'first torque [s]',
             'first torque of a second model [s]', 'every function, one state and batch [s]',
             'peak memory [MB]')
    return {name: round(min(float(value) for value in values), 3)
            for name, values in zip(names, zip(*printed))}


def text_report(report: dict[str, Any]) -> str:
    """Return the figures as text for a terminal."""
    about = ', '.join(f'{key} {value}' for key, value in report['machine'].items())
    parts = [f'{about}\nTimes per state; ratio = time of Pinocchio (one call, or a Python loop) '
             '/ ours', _functions_table(report['functions'])]
    if report['growth']:
        parts.append('Growth with the number of joints, single calls\n'
                     + _growth_table(report['growth']))
    if report['start']:
        parts.append('Demo arm, a new process, processor time, compiling included: ' + ', '.join(
            f'{key} {value}' for key, value in report['start'].items()))
    if report['threads']:
        parts.append(f'Two threads instead of one, {MANY} states: ' + ', '.join(
            f'{name} {_times(ratio)}' for name, ratio in report['threads'].items()))
    row = report['without C entry']
    parts.append(f'Demo arm, inverse_dynamics without the C entry: {row["single [ns]"]:.0f} ns, '
                 f'{_times(row["single ratio"])}')
    return '\n\n'.join(parts)


def _functions_table(rows: list[Row]) -> str:
    return table(
        ['robot', 'function', 'mult/add', 'single', 'ratio', f'batch of {BATCH}', 'ratio'],
        [[row['robot'], row['function'], '/'.join(str(count) for count in row['operations']),
          f'{row["single [ns]"]:.0f} ns', _times(row['single ratio']),
          f'{row["batch [ns]"]:.1f} ns', _times(row['batch ratio'])] for row in rows], left=2)


def _growth_table(rows: list[Row]) -> str:
    return table(
        ['joints', 'function', 'one call', 'ratio', 'form', 'first call'],
        [[str(row['joints']), name, f'{row[f"{name} [ns]"]} ns', _times(row.get(f'{name} ratio')),
          row[f'{name} form'], f'{row[f"{name} first call [s]"]} s']
         for name in GROWING for row in rows], left=2)


def _times(ratio: float | None) -> str:
    return '-' if ratio is None else f'{ratio:.1f}x'
