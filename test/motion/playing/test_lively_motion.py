# SPDX-License-Identifier: Apache-2.0
"""The motion of the demo, and how tracking is measured and kept."""

from dataclasses import replace

import numpy as np
import pytest
from support.chains import random_chain

from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.motion.playing.lively_motion import approach, lively_motion
from robot_dynamics_ros.motion.playing.tracked_motion import (
    TrackedMotion,
    load_tracked_motions,
    save_tracked_motions,
)
from robot_dynamics_ros.motion.playing.tracking import Tracking
from robot_dynamics_ros.motion.trajectory import Trajectory


@pytest.fixture
def chain(rng):
    chain = random_chain(rng, 4)
    limits = [{'lower': -1.0, 'upper': 2.0, 'velocity_limit': 0.7}, {},
              {'lower': 0.5, 'upper': 1.0}, {'velocity_limit': 3.0}]
    return replace(chain, joints=tuple(replace(joint, **each)
                                       for joint, each in zip(chain.joints, limits)))


def test_the_motion_stays_inside_the_limits_and_rests_at_both_ends(chain):
    motion = lively_motion(chain)
    dense = motion.sample(np.linspace(0.0, motion.duration, 2000))
    lower, upper = chain.position_limits
    assert np.all((dense.q >= lower) & (dense.q <= upper))
    assert np.abs(dense.qd[:, 0]).max() < 0.7
    assert not motion.velocities[[0, -1]].any()
    np.testing.assert_array_equal(motion.positions[0], motion.positions[-1])
    assert np.ptp(dense.q, axis=0).min() > 0.05, 'every joint moves'


def test_velocities_and_accelerations_belong_to_the_positions(chain):
    motion = lively_motion(chain, rate=1000.0)
    for lower, upper in (('positions', 'velocities'), ('velocities', 'accelerations')):
        slope = np.gradient(getattr(motion, lower), motion.times, axis=0)[2:-2]
        np.testing.assert_allclose(slope, getattr(motion, upper)[2:-2], atol=1e-3)


def test_an_approach_goes_from_here_to_there():
    path = approach(('a',), [[0.2], [1.0], [0.0]], 2.0)
    assert path.sample(0.0).q[0] == 0.2
    assert path.sample(1.0).q[0] == pytest.approx(0.6)
    assert path.sample(2.0).q[0] == 1.0
    assert not path.sample([0.0, 2.0, 4.0]).qd.any()
    assert path.sample(4.0).q[0] == 0.0


def test_tracking_on_paper():
    line = Trajectory(('a', 'b'), [0.0, 1.0], [[0.0, 0.0], [1.0, 2.0]])
    times = [-0.5, 0.0, 0.5, 1.0, 1.5]
    measured = [[9.0, 9.0], [0.0, 0.0], [0.2, 1.0], [1.0, 2.0], [9.0, 9.0]]
    tracking = Tracking.of(line, times, measured)
    assert tracking.times.tolist() == [0.0, 0.5, 1.0]
    np.testing.assert_allclose(tracking.rms, [0.3 / np.sqrt(3), 0.0])
    np.testing.assert_allclose(tracking.largest, [0.3, 0.0])
    assert tracking.total_rms == pytest.approx(0.3 / np.sqrt(6))
    with pytest.raises(TrajectoryError, match='no joint state'):
        Tracking.of(line, [5.0], [[0.0, 0.0]])


def test_recordings_survive_the_way_through_a_file(tmp_path, chain, rng):
    motion = lively_motion(chain)
    data = rng.normal(size=(2, 10, 4))
    path = tmp_path / 'motion.npz'
    save_tracked_motions(path, [TrackedMotion(name, motion, np.arange(10.0), *data)
                           for name in ('one', 'two')])
    one, two = load_tracked_motions(path)
    assert (one.name, two.name) == ('one', 'two')
    assert one.trajectory.joint_names == motion.joint_names
    np.testing.assert_array_equal(one.trajectory.positions, motion.positions)
    np.testing.assert_array_equal(two.efforts, data[1])


def test_another_file_is_refused(tmp_path):
    path = tmp_path / 'other.npz'
    path.write_text('something')
    with pytest.raises(TrajectoryError, match=r'other\.npz: does not hold tracked motions'):
        load_tracked_motions(path)
