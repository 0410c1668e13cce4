# SPDX-License-Identifier: Apache-2.0
"""A short attack on every reader; ``make fuzz`` is the long one."""

import os

import pytest

from fuzz.run import all_targets, guarded
from fuzz.runner import run
from fuzz.target import Target

TARGETS = all_targets()

#: Tries of each target.
TRIES = 150


@pytest.mark.parametrize('name', TARGETS)
def test_nothing_but_our_own_errors_comes_out(name, tmp_path):
    if name.startswith('bag'):
        pytest.importorskip('rosbags')
    result = run(TARGETS[name], tmp_path, seed=1995, tries=TRIES)
    assert result.failures == []
    assert result.tries == TRIES
    assert result.accepted and result.refused, 'examples are read, and damage is seen'


def damage(random, examples):
    return b'damaged'


def test_a_foreign_exception_is_a_failure_that_can_be_repeated(tmp_path):
    def read(case):
        if case != b'valid':
            raise KeyError('foreign')

    result = run(Target('broken', lambda: [b'valid'], read, damage), tmp_path, tries=3)
    assert result.accepted == 1
    assert len(result.failures) == 2
    assert 'foreign' in result.failures[0]
    assert (tmp_path / 'broken-1-1').read_bytes() == b'damaged'


def test_a_hang_is_a_failure(tmp_path, monkeypatch):
    def read(case):
        while case != b'valid':
            pass

    monkeypatch.setattr('fuzz.runner.HANG', 0.05)
    result = run(Target('endless', lambda: [b'valid'], read, damage), tmp_path, tries=2)
    assert 'more than 0.05 s' in result.failures[0]


def test_a_process_that_dies_is_a_failure(tmp_path):
    def read(case):
        if case != b'valid':
            os._exit(3)

    result = guarded(Target('deadly', lambda: [b'valid'], read, damage), tmp_path, 1, 60.0)
    assert 'died with exit code 3' in result.failures[0]
    assert (tmp_path / 'deadly.current').read_bytes() == b'damaged'
