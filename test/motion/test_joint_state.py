# SPDX-License-Identifier: Apache-2.0
"""Joint states of real robots: shuffled, incomplete, late."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import StateError
from robot_dynamics_ros.motion.joint_state import JointStateReader


def read(reader, time=1.0, names=('finger', 'b', 'a'), position=(9.0, 2.0, 1.0),
         velocity=(0.0, 0.2, 0.1), effort=(0.0, 20.0, 10.0)):
    return reader.read(time, time, list(names), position, velocity, effort)


def test_joints_are_mapped_by_name_and_others_ignored():
    sample = read(JointStateReader(['a', 'b']))
    assert sample.q.tolist() == [1.0, 2.0]
    assert sample.qd.tolist() == [0.1, 0.2]
    assert sample.effort.tolist() == [10.0, 20.0]


def test_an_order_that_changes_is_followed():
    reader = JointStateReader(['a', 'b'])
    read(reader)
    assert read(reader, 2.0, ('b', 'a'), (5.0, 6.0), (), ()).q.tolist() == [6.0, 5.0]


def test_missing_interfaces_are_nan_whether_empty_or_nan():
    sample = read(JointStateReader(['a', 'b']), velocity=(), effort=(0.0, np.nan, np.inf))
    assert np.isnan(sample.qd).all()
    assert np.isnan(sample.effort).all()
    assert sample.qd_or_rest.tolist() == [0.0, 0.0]


def test_what_no_joint_can_measure_counts_as_not_measured():
    sample = read(JointStateReader(['a', 'b']), velocity=(0.0, 1e155, -1e155),
                  effort=(0.0, 1e155, -1e10))
    assert np.isnan(sample.qd).all()
    assert np.isnan(sample.effort).all()


@pytest.mark.parametrize(('changes', 'message'), [
    ({'names': ('finger', 'b', 'c')}, 'joint a: not in the joint state'),
    ({'position': (0.0, np.nan, 1.0)}, 'joint b: the joint state has no finite position'),
    ({'position': ()}, 'joint a: the joint state has no finite position'),
    ({'position': (0.0, 1e155, 1.0)}, 'joint b: the joint state has the impossible position 1e'),
    ({'position': (0.0, 1.0)}, '3 names and 2 values of position'),
    ({'effort': (0.0,)}, '3 names and 1 values of effort'),
    ({'time': 0.5}, 'stamp 0.5'),
    ({'time': 0.9}, 'already seen'),
    ({'time': np.nan}, 'stamp nan'),
])
def test_an_unusable_message_is_refused_and_the_next_one_read(changes, message):
    reader = JointStateReader(['a', 'b'])
    read(reader, time=0.9)
    with pytest.raises(StateError, match=message):
        read(reader, **changes)
    assert read(reader, time=1.1).q.tolist() == [1.0, 2.0]


def test_a_message_without_stamp_has_the_time_of_receipt():
    reader = JointStateReader(['a'])
    assert reader.read(0.0, 5.0, ['a'], [1.0], [], []).time == 5.0
    assert reader.read(0.0, 6.0, ['a'], [1.0], [], []).time == 6.0


def test_after_a_restart_an_earlier_stamp_is_accepted():
    reader = JointStateReader(['a', 'b'])
    read(reader, time=100.0)
    reader.restart()
    assert read(reader, time=1.0).time == 1.0


def test_a_clock_set_back_costs_one_message():
    reader = JointStateReader(['a', 'b'])
    read(reader, time=100.0)
    with pytest.raises(StateError, match='already seen'):
        read(reader, time=2.0)
    assert read(reader, time=2.01).time == 2.01


def alike(reader, times, **changes):
    """Return many messages read at once, and one after the other."""
    names = [['b', 'a', 'other']] * len(times)
    columns = {field: [[k + 0.1 * i for i in range(3)] for k in range(len(times))]
               for field in ('positions', 'velocities', 'efforts')}
    columns |= changes
    one = JointStateReader(reader.joint_names)
    single = []
    for k, time in enumerate(times):
        try:
            single.append(one.read(time, 9.0, names[k], *(columns[field][k] for field in (
                'positions', 'velocities', 'efforts'))))
        except StateError:
            continue
    return reader.read_many(times, 9.0, names, **columns), single


@pytest.mark.parametrize(('times', 'changes', 'dropped'), [
    ([1.0, 1.1, 1.2], {}, 0),
    ([1.0, 1.1, 1.1], {}, 1),
    ([1.0, 0.9, 1.2], {}, 1),
    ([0.0, 1.1, 9.5], {}, 1),
    ([1.0, 1.1, 1.2], {'velocities': [[], [], []]}, 0),
    ([1.0, 1.1, 1.2], {'velocities': [[1.0, 2.0, 3.0], [], [1.0, np.inf, 3.0]]}, 0),
    ([1.0, 1.1, 1.2], {'efforts': [[np.nan] * 3, [1.0, 2.0, 3.0], [1.0, np.inf, 3.0]]}, 0),
    ([1.0, 1.1, 1.2], {'positions': [[np.nan] * 3, [1.0, 2.0, 3.0], [1.0, 2.0, np.nan]]}, 1),
    ([1.0, 1.1, 1.2], {'positions': [[1e155] * 3, [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]}, 1),
    ([1.0, 1.1, 1.2], {'velocities': [[1e155] * 3, [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]}, 0),
    ([1.0, 1.1, 1.2], {'efforts': [[1.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]}, 1),
])
def test_many_messages_at_once_are_read_like_one_after_the_other(times, changes, dropped):
    many, single = alike(JointStateReader(['a', 'b']), times, **changes)
    assert len(many.objections) == dropped
    np.testing.assert_array_equal(many.times, [sample.time for sample in single])
    for field in ('q', 'qd', 'effort'):
        np.testing.assert_array_equal(getattr(many, field),
                                      [getattr(sample, field) for sample in single])


def test_many_messages_without_a_joint_are_all_dropped():
    many, single = alike(JointStateReader(['a', 'c']), [1.0, 1.1])
    assert single == []
    assert len(many.objections) == 2
    assert many.q.shape == (0, 2)


def test_what_was_read_at_once_is_not_read_again():
    reader = JointStateReader(['a', 'b'])
    assert len(alike(reader, [1.0, 1.1])[0].times) == 2
    assert len(alike(reader, [1.05, 1.1])[0].objections) == 2
    reader.restart()
    assert len(alike(reader, [1.0, 1.1])[0].times) == 2


@pytest.mark.parametrize('value', [1e155, -1e308, 1e10])
def test_values_that_no_joint_has_are_none(value):
    reader = JointStateReader(['a', 'b'])
    with pytest.raises(StateError, match='joint b: the joint state has the impossible position'):
        reader.read(1.0, 1.0, ['a', 'b'], [0.0, value], [], [])
    sample = reader.read(2.0, 2.0, ['a', 'b'], [0.0, 1.0], [value, 3.0], [4.0, value])
    np.testing.assert_array_equal(sample.qd, [np.nan, 3.0])
    np.testing.assert_array_equal(sample.effort, [4.0, np.nan])
    many = reader.read_many([3.0, 4.0], 4.0, [['a', 'b']] * 2, [[0.0, 1.0], [value, 1.0]],
                            [[], []], [[], []])
    assert many.times.tolist() == [3.0]
    assert len(many.objections) == 1
