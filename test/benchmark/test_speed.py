# SPDX-License-Identifier: Apache-2.0
"""The comparison with peers: same robot, same states, same results; times are not judged."""

from dataclasses import replace
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
import speed.__main__ as command
from speed import ours
from speed.contender import BATCHED, FUNCTIONS, ONE, THREADED
from support.robots import URDF_FOLDER


@pytest.fixture(scope='module')
def robot():
    return command.peer_robot(URDF_FOLDER / 'demo_arm.urdf')


@pytest.fixture(scope='module')
def own(robot):
    return list(ours.contenders(robot))


def test_ours_has_every_function_in_every_way(own):
    assert {(each.function, each.way) for each in own} == {
        (function, way) for function in FUNCTIONS for way in (ONE, BATCHED, THREADED)}


@pytest.mark.parametrize('module', ['in_pinocchio', 'in_mujoco'])
def test_a_peer_calculates_the_same_robot(robot, own, module):
    expected = {(each.function, each.way): each.result for each in own}
    found = list(import_module(f'speed.{module}').contenders(robot))
    assert len(found) > 5
    for each in found:
        assert command.agrees(each, expected), (each.peer, each.function, each.way)
        wrong = replace(each, result=1.1 * each.result)
        assert not command.agrees(wrong, expected)


def test_the_table_has_medians_and_ratios():
    times = {(peer, function, way): [2.0 * scale, 1.0 * scale, 500.0 * scale]
             for function in FUNCTIONS for way in (ONE, BATCHED, THREADED)
             for peer, scale in ((ours.NAME, 100.0), ('other', 350.0))
             if peer == ours.NAME or way != THREADED}
    text = command.table(times)
    assert text.count(f'| {ours.NAME} | 200 ns |  | 200 ns |  | 200 ns |  |') == len(FUNCTIONS)
    assert '| other | 700 ns | 3.5x | 700 ns | 3.5x | - |  |' in text


def test_a_peer_that_is_missing_or_differs_is_said(robot, own, monkeypatch):
    said = []
    wrong = replace(own[0], peer='liar', result=own[0].result + 1.0)

    def imported(name):
        if name == 'speed.in_drake':
            raise ImportError('no wheel')
        return SimpleNamespace(contenders=lambda robot: [wrong, replace(own[1], peer='twin')])

    monkeypatch.setattr(command, 'PEERS', ('in_drake', 'in_adam'))
    monkeypatch.setattr(command, 'import_module', imported)
    result = command.all_contenders(robot, said.append)
    assert said == ['drake: left out or incomplete (ImportError: no wheel)',
                    'liar, inverse_dynamics: other results than ours, left out']
    assert [each.peer for each in result if each.peer != ours.NAME] == ['twin']


def test_every_run_times_every_contender_once(own):
    few = [each for each in own if each.function == 'jacobian']
    times = command.measured(few, 2, 1, lambda text: None)
    assert all(len(values) == 2 and min(values) > 0.0 for values in times.values())
    assert np.all(np.isfinite(list(times.values())))
