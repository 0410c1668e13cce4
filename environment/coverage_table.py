# SPDX-License-Identifier: Apache-2.0
"""
Print the line coverage of every folder of the package; exit code 1 where the core falls short.

Run by `make coverage` after the tests. A folder counts everything below it.
"""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parent.parent / 'robot_dynamics_ros'

#: Least coverage of every folder of the core [%].
LEAST = 95.0
#: Modules below this are named [%].
NAMED = 90.0
#: Folders of which less may be tested; every other one, a new one too, is core.
OUTSIDE_CORE = {'simulation', 'nodes', 'cli', 'demo'}


class Measured(NamedTuple):
    """
    What the tests run of a module or folder.

    :param path: path in the package.
    :param lines: number of lines with code.
    :param missed: number of those that no test runs.
    :param text: the missed lines, for people.
    """

    path: Path
    lines: int
    missed: int
    text: str = ''

    @property
    def percent(self) -> float:
        """Coverage [%], rounded down: 94.96 is not 95."""
        return (1000 * (self.lines - self.missed) // self.lines) / 10 if self.lines else 100.0


def measured_modules() -> list[Measured]:
    """Return what `coverage run` has measured."""
    from coverage import Coverage

    coverage = Coverage()
    coverage.load()
    analyses = map(coverage.analysis2, coverage.get_data().measured_files())
    return [Measured(Path(file).relative_to(PACKAGE), len(lines), len(missed), text)
            for file, lines, _, missed, text in analyses]


def by_folder(modules: Iterable[Measured]) -> list[Measured]:
    """Return the sums of all folders, sorted by path; the package itself comes first."""
    folders: dict[Path, Measured] = {}
    for module in modules:
        for path in module.path.parents:
            _, lines, missed, _ = folders.get(path, Measured(path, 0, 0))
            folders[path] = Measured(path, lines + module.lines, missed + module.missed)
    return sorted(folders.values())


def report(modules: Iterable[Measured]) -> int:
    """Print the table, the least tested modules and the verdict; return the exit code."""
    modules = sorted(modules)
    print(f'{"folder":<28}{"lines":>7}{"missed":>8}{"%":>7}')
    for folder in by_folder(modules):
        name = '  ' * len(folder.path.parts) + (folder.path.name or PACKAGE.name)
        print(f'{name:<28}{folder.lines:>7}{folder.missed:>8}{folder.percent:>7.1f}')
    for module in modules:
        if module.percent < NAMED:
            print(f'{module.path}: {module.percent:.1f} %, no test runs {module.text}')
    low = [folder for folder in by_folder(modules) if len(folder.path.parts) == 1
           and folder.path.name not in OUTSIDE_CORE and folder.percent < LEAST]
    for folder in low:
        print(f'coverage: {folder.path} has {folder.percent:.1f} %, needs {LEAST:g} %')
    return 1 if low else 0


if __name__ == '__main__':
    sys.exit(report(measured_modules()))
