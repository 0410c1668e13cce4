# SPDX-License-Identifier: Apache-2.0
"""
Small slips put into dynamics/, one at a time, and which of them no test sees.

    python benchmark/mutation.py --per-module 3

A copy of the repository is changed, not the repository. The results go into papers/mutation.json,
with the commit they were found at; docs/papers.md shows them, and says of every survivor why it
may live.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = Path('robot_dynamics_ros') / 'dynamics'
RESULTS = Path(__file__).with_name('papers') / 'mutation.json'
#: What of the repository the tests need.
COPIED = ('robot_dynamics_ros', 'robot_dynamics_interfaces', 'test', 'benchmark', 'urdf', 'docs',
          'config', 'pyproject.toml')

_SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And, ast.In: ast.NotIn, ast.NotIn: ast.In}


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield what can be changed, and how."""
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.JoinedStr, ast.AnnAssign, ast.Raise, ast.Import)):
            skipped.update(ast.walk(node) if isinstance(node, (ast.JoinedStr, ast.Raise)) else ())
        if isinstance(node, ast.FunctionDef):
            for part in (*node.args.args, *node.args.kwonlyargs, node):
                note = getattr(part, 'annotation', None) or getattr(part, 'returns', None)
                skipped.update(ast.walk(note) if note is not None else ())
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, (ast.BinOp, ast.BoolOp)) and type(node.op) in _SWAPPED:
            yield node, 'operator'
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPPED:
            yield node, 'comparison'
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.Not)):
            yield node, 'sign'
        elif (isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
              and not isinstance(node.value, bool)):
            yield node, 'number'


def mutated(source: str, index: int) -> tuple[str, int, str] | None:
    """Return the source with one change, its line, and the change in words."""
    tree = ast.parse(source)
    found = list(places(tree))
    if index >= len(found):
        return None
    node, kind = found[index]
    line = getattr(node, 'lineno', 0)
    before = ast.unparse(node)
    if kind == 'operator' and isinstance(node, (ast.BinOp, ast.BoolOp)):
        node.op = _SWAPPED[type(node.op)]()  # type: ignore[assignment]
    elif kind == 'comparison' and isinstance(node, ast.Compare):
        node.ops[0] = _SWAPPED[type(node.ops[0])]()  # type: ignore[assignment]
    elif kind == 'sign' and isinstance(node, ast.UnaryOp):
        node.op = ast.UAdd()
        if before.startswith('not'):
            node.operand = ast.Call(ast.Name('bool', ast.Load()), [node.operand], [])
    elif isinstance(node, ast.Constant):
        node.value = node.value + 1 if node.value < 1e-3 or node.value >= 1 else 2 * node.value
    ast.fix_missing_locations(tree)
    return ast.unparse(tree), line, f'{before} -> {ast.unparse(node)}'


def tests_of(copy: Path, module: Path) -> list[str]:
    """Return the tests to run, those of the module first."""
    own = sorted(copy.glob(f'test/dynamics/**/test_{module.stem}*.py'))
    return [*map(str, own), str(copy / 'test' / 'dynamics')]


def survives(copy: Path, tests: list[str], limit: float | None = None) -> bool:
    """
    Return whether all tests pass.

    :param limit: time after which a slip counts as an endless loop [s]; None = none.
    """
    environment = {**os.environ, 'PYTHONPATH': str(copy), 'PYTHONDONTWRITEBYTECODE': '1'}
    for test in tests:
        try:
            run = subprocess.run(
                [sys.executable, '-m', 'pytest', '-x', '-q', '-p', 'no:cacheprovider',
                 '-p', 'no:xdist', test], cwd=copy, env=environment, capture_output=True,
                check=False, timeout=limit)
        except subprocess.TimeoutExpired:
            return False
        if run.returncode:
            return False
    return True


def recorded(results: Path, run: dict[str, Any], module: str, tried: int,
             survivors: list[dict[str, object]]) -> None:
    """
    Write the results of one module into the file of all runs.

    :param run: commit, seed and slips per module: what tells one run from another.
    """
    runs = json.loads(results.read_text()) if results.is_file() else []
    same = [each for each in runs if run.items() <= each.items()]
    if not same:
        same = [{**run, 'modules': {}, 'survivors': []}]
        runs += same
    same[0]['modules'][module] = tried
    same[0]['survivors'] = [*(each for each in same[0]['survivors'] if each['module'] != module),
                            *survivors]
    results.write_text(json.dumps(runs, indent=1) + '\n')


def main() -> int:
    """Change, test, print, record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('--per-module', type=int, default=3, help='slips per module')
    parser.add_argument('--seed', type=int, default=1, help='which slips are tried')
    parser.add_argument('--only', default=[''], nargs='*',
                        help='parts of the paths of the modules to try')
    parser.add_argument('--results', type=Path, default=RESULTS, help='file for the results')
    arguments = parser.parse_args()
    commit = subprocess.run(['git', 'rev-parse', '--short', 'HEAD'], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.strip()
    run = {'commit': commit, 'seed': arguments.seed, 'per_module': arguments.per_module}
    survived, tried, start = 0, 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / 'repository'
        copy.mkdir()
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, copy / name)
            else:
                shutil.copy(source, copy / name)
        if not survives(copy, [str(copy / 'test' / 'dynamics')]):
            print('the tests fail without any slip', file=sys.stderr)
            return 1
        limit = max(600.0, 10.0 * (time.monotonic() - start))
        for module in sorted(path.relative_to(ROOT) for path in (ROOT / PACKAGE).rglob('*.py')):
            name = str(module.relative_to(PACKAGE))
            if module.name == '__init__.py' or not any(
                    part in name for part in arguments.only):
                continue
            original = (ROOT / module).read_text()
            count = len(list(places(ast.parse(original))))
            rng = random.Random(f'{arguments.seed} {name}')
            chosen = sorted(rng.sample(range(count), min(arguments.per_module, count)))
            survivors: list[dict[str, object]] = []
            for index in chosen:
                change = mutated(original, index)
                assert change is not None
                text, line, words = change
                (copy / module).write_text(text)
                if survives(copy, tests_of(copy, module), limit):
                    survivors.append({'module': name, 'line': line, 'slip': words})
                    print(f'survives {name}:{line}: {words}', flush=True)
            (copy / module).write_text(original)
            tried, survived = tried + len(chosen), survived + len(survivors)
            recorded(arguments.results, run, name, len(chosen), survivors)
    print(f'{tried} slips, {tried - survived} seen, {survived} not seen, '
          f'{time.monotonic() - start:.0f} s')
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
