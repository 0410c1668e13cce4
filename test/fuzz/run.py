# SPDX-License-Identifier: Apache-2.0
"""
Attack everything that reads input from outside, and print what became of it.

``python test/fuzz/run.py --seconds 300 --seed 1 [--target urdf]``; one saved input again:
``python test/fuzz/run.py --target urdf --case FILE``. Exit code 1 after any failure.
"""

import argparse
import importlib
import multiprocessing
import resource
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz.runner import Result, attempt, run

#: Modules that each have a list TARGETS.
MODULES = ('fuzz.file_targets', 'fuzz.geometry_targets', 'fuzz.tree_targets',
           'fuzz.generated_source',
           'fuzz.start_values', 'fuzz.messages', 'fuzz.goals', 'fuzz.memory', 'fuzz.dds')

#: Memory of the process that reads [bytes]: an input that wants more must be refused.
MEMORY = 4 * 2**30


def all_targets():
    """Return the targets of all modules by name."""
    return {target.name: target for module in MODULES
            for target in importlib.import_module(module).TARGETS}


def guarded(target, folder, seed, seconds):
    """Run a target in a process of its own: an endless loop in C or a crash is a failure too."""
    context = multiprocessing.get_context('fork')
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(sender, target, folder, seed, seconds))
    child.start()
    sender.close()
    try:
        if receiver.poll(seconds + 10.0 * target.hang):
            return receiver.recv()
        reason = 'does not come back'
    except EOFError:
        child.join()
        reason = f'the process died with exit code {child.exitcode}'
    finally:
        child.join(1.0)
        child.kill()  # it has ended, or never will
    return Result(target.name, failures=[
        f'{target.name}: seed {seed}, {Path(folder) / f"{target.name}.current"}\n{reason}'])


def _child(sender, target, folder, seed, seconds):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sender.send(run(target, folder, seed=seed, seconds=seconds))


def share(target):
    """Return the share of a target in the time, in those of others."""
    return getattr(target, 'weight', 1.0)


def table(results):
    """Return one line per target."""
    lines = [f'{"target":30}{"tries":>8}{"accepted":>10}{"refused":>9}{"failures":>10}'
             f'{"slowest":>11}{"growth":>11}']
    lines += [f'{each.name:30}{each.tries:8}{each.accepted:10}{each.refused:9}'
              f'{len(each.failures):10}{each.slowest:9.2f} s{each.growth:8.1f} MB'
              for each in results]
    return '\n'.join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=300.0, help='for all targets together')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--target', help='only this one')
    parser.add_argument('--case', type=Path, help='a saved input to read once more')
    arguments = parser.parse_args()
    targets = all_targets()
    if arguments.target:
        if arguments.target not in targets:
            parser.error(f'unknown target; known are {", ".join(targets)}')
        targets = {arguments.target: targets[arguments.target]}
    if arguments.case:
        if len(targets) > 1:
            parser.error('--case needs --target')
        result = Result(arguments.target)
        failure = attempt(targets[arguments.target], arguments.case.read_bytes(), result)
        print(failure or ('accepted' if result.accepted else 'refused'))
        return 1 if failure else 0
    folder = tempfile.mkdtemp(prefix='fuzz-')
    results, total = [], sum(share(each) for each in targets.values())
    for target in targets.values():
        results.append(guarded(target, folder, arguments.seed,
                               arguments.seconds * share(target) / total))
        for failure in results[-1].failures:
            print(f'FAILED {failure}', flush=True)
    print(table(results))
    if any(each.failures for each in results):
        print('repeat one with: python test/fuzz/run.py --target NAME --case FILE')
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
