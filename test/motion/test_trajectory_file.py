# SPDX-License-Identifier: Apache-2.0
"""Trajectories in YAML files."""

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.cli.excite import trajectory_yaml
from robot_dynamics_ros.errors import TrajectoryError
from robot_dynamics_ros.estimation.excitation.fourier import JointMotion
from robot_dynamics_ros.motion.trajectory_file import read_trajectory

GOOD = """
joint_names: [a, b]
points:
- positions: [0.0, 1.0]
  velocities: [0.0, 0.0]
  time_from_start: {sec: 0, nanosec: 0}
- positions: [2, 3]
  velocities: [0.0, 0.0]
  time_from_start: {sec: 1, nanosec: 500000000}
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / 'motion.yaml'
        path.write_text(text, encoding='utf-8')
        return path
    return write


def test_a_trajectory_is_read(write):
    trajectory = read_trajectory(write(GOOD))
    assert trajectory.joint_names == ('a', 'b')
    assert trajectory.times.tolist() == [0.0, 1.5]
    assert trajectory.positions.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    assert np.isnan(trajectory.accelerations).all()


def test_what_excite_writes_is_read(rng, write):
    chain = chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')
    motion = JointMotion(*rng.normal(size=(3, 4, 2)))
    trajectory = read_trajectory(write(trajectory_yaml(chain, np.arange(4) / 10, motion)))
    assert trajectory.joint_names == chain.joint_names
    np.testing.assert_allclose(trajectory.accelerations, motion.qdd, atol=1e-11)


@pytest.mark.parametrize(('change', 'message'), [
    (lambda text: text.replace('joint_names: [a, b]', ''), 'needs lists joint_names and points'),
    (lambda text: text.replace('[2, 3]', '[2, .nan]'), 'point 1: positions must be a finite'),
    (lambda text: text.replace('[2, 3]', '[2]'), 'motion.yaml: point 1 has 1 positions'),
    (lambda text: text.replace('sec: 1', 'sec: -3'), 'must increase strictly'),
    (lambda text: text.replace('[a, b]', '[a, a]'), 'different names'),
    (lambda text: '- 1', 'expected names with values'),
    (lambda text: ': [', 'is not YAML'),
])
def test_what_is_no_trajectory_is_refused_with_its_place(write, change, message):
    with pytest.raises(TrajectoryError, match=message):
        read_trajectory(write(change(GOOD)))


def test_a_missing_file_is_named():
    with pytest.raises(TrajectoryError, match=r'nowhere\.yaml: cannot be read'):
        read_trajectory('nowhere.yaml')
