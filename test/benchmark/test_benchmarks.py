# SPDX-License-Identifier: Apache-2.0
"""The scripts of `make bench` still fit the package: each is imported, short ones are run."""

import importlib

import pytest
from support.robots import URDF_FOLDER

SCRIPTS = sorted(path.stem for path in (URDF_FOLDER.parent / 'benchmark').glob('bench_*.py'))


@pytest.mark.parametrize('script', SCRIPTS)
def test_scripts_can_be_imported(script):
    assert callable(importlib.import_module(script).main)


def test_the_triangle_stays_positive_definite(rng, capsys):
    importlib.import_module('bench_identification').bench_many_updates(rng, 200)
    assert '; positive definite' in capsys.readouterr().out
