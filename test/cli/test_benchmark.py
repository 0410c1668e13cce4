# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics benchmark, as a user calls it; times are not judged."""

import json

import numpy as np
import pytest
from support.chains import random_chain
from support.oracle import STANDARD_IN_PINOCCHIO
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.cli import benchmark
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.cli.support.timing import Timed, interleaved
from robot_dynamics_ros.dynamics.recursions.regressor import standard_regressor


def test_figures_come_as_json(capsys):
    assert main(['benchmark', '--quick', '--json', '--repetitions', '1']) == 0
    report = json.loads(capsys.readouterr().out)
    assert report['machine']['processor']
    names = [row['function'] for row in report['functions']]
    assert names == [*benchmark.COMPARED, *benchmark.ALONE]
    for row in report['functions']:
        assert row['robot'] == 'demo_arm' and row['single [ns]'] > 0 and row['batch [ns]'] > 0
        assert row['function'] == 'torque' or row['batch ratio'] > 0


def test_a_table_is_printed(capsys):
    assert main(['benchmark', '--quick', '--repetitions', '1']) == 0
    out = capsys.readouterr().out
    assert 'inverse_dynamics' in out and '293/277' in out


def test_without_pinocchio_our_own_times_are_printed(capsys, monkeypatch):
    monkeypatch.setattr(benchmark, 'find_spec', lambda name: None)
    assert main(['benchmark', '--quick', '--json', '--repetitions', '1']) == 0
    report = json.loads(capsys.readouterr().out)
    rows = [*report['functions'], report['without C entry']]
    assert all(row['single ratio'] is None for row in rows)


def test_the_shortest_time_counts_and_all_take_turns():
    order = []

    class Clock:
        def __init__(self, name, times):
            self.name, self.times = name, list(times)

        def timeit(self, calls):
            order.append(self.name)
            return self.times.pop(0)

    times = interleaved({
        'a': Timed(Clock('a', [3e-6, 1e-6, 2e-6]), 1, 1),
        'b': Timed(Clock('b', [8e-6, 9e-6, 7e-6]), 1, 2)}, 3)
    assert times == pytest.approx({'a': 1000.0, 'b': 3500.0})
    assert order == ['a', 'b'] * 3


def test_growth_and_start_are_measured():
    row = benchmark.measure_growth(3, 1)
    assert row['inverse_dynamics form'] == 'straight line' and row['joints'] == 3
    assert set(benchmark.GROWING) <= set(benchmark.INPUTS)
    ours = np.ones(2**26)  # 512 MB that are not of the new process
    start = benchmark.measure_start()
    assert len(start) == 5 and all(value > 0.0 for value in start.values())
    assert start['peak memory [MB]'] < ours.nbytes / 2**20


def test_threads_are_measured(monkeypatch):
    monkeypatch.setattr(benchmark, 'MANY', 200)
    monkeypatch.setattr(benchmark, 'COMPARED', ('inverse_dynamics',))
    row = benchmark.measure_threads(random_chain(np.random.default_rng(1), 3), 1)
    assert list(row) == ['inverse_dynamics', 'torque'] and all(each > 0.0 for each in row.values())


@pytest.mark.parametrize('name', benchmark.COMPARED)
def test_the_baseline_calculates_the_same_robot(rng, name):
    chain = random_chain(rng, 5)
    model = compile_model(chain)
    states = rng.normal(size=(3, 5))[:len(benchmark.INPUTS[name])]
    ours = getattr(model, name)(*states)
    theirs = np.array(benchmark.baseline(chain)[name](*states))
    if name == 'regressor':  # theirs is that of all link parameters, in another order
        order = np.add.outer(10 * np.arange(5), STANDARD_IN_PINOCCHIO).ravel()
        assert_close(theirs[:, order], standard_regressor(chain, *states), SAME_ALGEBRA)
        theirs = theirs[:, order] @ model.mlc.right_inverse
    elif name == 'mass_matrix':  # they fill the upper triangle only
        ours, theirs = np.triu(ours), np.triu(theirs)
    elif name == 'forward_dynamics_derivatives':  # of the last one, too
        ours[-1], theirs[-1] = np.triu(ours[-1]), np.triu(theirs[-1])
    assert_close(theirs, ours, SAME_ALGEBRA)
