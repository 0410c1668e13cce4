# SPDX-License-Identifier: Apache-2.0
"""The table of `make coverage`."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / 'environment' / 'coverage_table.py'


@pytest.fixture
def table():
    spec = importlib.util.spec_from_file_location('coverage_table', SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def modules(table, **missed):
    """Return modules of 1000 lines, one in a sub-folder of every named folder."""
    return [table.Measured(Path(name, 'inner', 'module.py'), 1000, count, f'1-{count}')
            for name, count in missed.items()]


@pytest.mark.parametrize(('folder', 'missed', 'code'), [
    ('chain', 50, 0), ('chain', 51, 1), ('a_new_folder', 51, 1), ('nodes', 900, 0)])
def test_a_folder_of_the_core_needs_95_percent(table, folder, missed, code, capsys):
    assert table.report(modules(table, dynamics=0, **{folder: missed})) == code
    assert (f'{folder} has 94.9 %, needs 95 %' in capsys.readouterr().out) == bool(code)


def test_a_folder_counts_everything_below_it(table):
    found = table.by_folder([*modules(table, chain=40),
                             table.Measured(Path('chain/a.py'), 500, 20)])
    assert [(str(each.path), each.lines, each.missed, each.percent) for each in found] == [
        ('.', 1500, 60, 96.0), ('chain', 1500, 60, 96.0), ('chain/inner', 1000, 40, 96.0)]


def test_modules_below_90_percent_are_named_with_their_lines(table, capsys):
    table.report(modules(table, chain=101, control=100))
    output = capsys.readouterr().out
    assert 'chain/inner/module.py: 89.9 %, no test runs 1-101' in output
    assert 'control/inner/module.py' not in output


def test_the_percentage_is_rounded_down(table):
    assert table.Measured(Path(), 10_000, 504).percent == 94.9
    assert table.Measured(Path(), 0, 0).percent == 100.0
