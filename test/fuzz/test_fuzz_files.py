# SPDX-License-Identifier: Apache-2.0
"""A short attack on every reader; ``make fuzz`` is the long one."""

import os
import signal

import pytest

from fuzz import file_targets, generated_source, geometry_targets, tree_targets
from fuzz.run import guarded
from fuzz.runner import run
from fuzz.target import Target

TARGETS = {each.name: each for module in (file_targets, geometry_targets, tree_targets)
           for each in module.TARGETS}

#: Tries of each target.
TRIES = 60


@pytest.mark.parametrize('name', TARGETS)
def test_nothing_but_our_own_errors_comes_out(name, tmp_path):
    if name.startswith('bag'):
        pytest.importorskip('rosbags')
    if name == 'scene':
        pytest.importorskip('coal')
    result = run(TARGETS[name], tmp_path, seed=1995, tries=TRIES)
    assert result.failures == []
    assert result.tries == TRIES
    assert result.accepted and result.refused, 'examples are read, and damage is seen'


def test_no_name_changes_generated_source(tmp_path):
    target, = generated_source.TARGETS
    result = run(target, tmp_path, seed=1995, tries=TRIES)
    assert result.failures == [] and result.accepted == TRIES


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


def test_memory_that_grows_is_a_failure(tmp_path):
    kept = []
    target = Target('greedy', lambda: [b'valid'], lambda case: kept.append(b'x' * (40 * 2**20)),
                    damage)
    result = run(target, tmp_path, tries=8)
    assert 'the memory has grown by' in result.failures[0]


def test_a_hang_is_a_failure(tmp_path):
    def read(case):
        while case != b'valid':
            pass

    result = run(Target('endless', lambda: [b'valid'], read, damage, hang=0.05), tmp_path,
                 tries=2)
    assert 'more than 0.05 s' in result.failures[0]


def test_the_time_limit_of_a_test_goes_on_after_a_try(tmp_path):
    before, _ = signal.getitimer(signal.ITIMER_REAL)
    handler = signal.getsignal(signal.SIGALRM)
    if not before:
        pytest.skip('tests have no time limit here')
    run(Target('calm', lambda: [b'valid'], len, damage), tmp_path, tries=3)
    rest, _ = signal.getitimer(signal.ITIMER_REAL)
    assert 0.0 < rest < before
    assert signal.getsignal(signal.SIGALRM) is handler


def test_a_process_that_dies_is_a_failure(tmp_path):
    def read(case):
        if case != b'valid':
            os._exit(3)

    result = guarded(Target('deadly', lambda: [b'valid'], read, damage), tmp_path, 1, 60.0)
    assert 'died with exit code 3' in result.failures[0]
    assert (tmp_path / 'deadly.current').read_bytes() == b'damaged'
