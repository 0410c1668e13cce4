# SPDX-License-Identifier: Apache-2.0
"""Readers of files and of text."""

import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from fuzz.mutation import mutated_npz
from fuzz.target import Target
from robot_dynamics_ros import chain_from_urdf, minimal_parameters
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf_text
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.estimation.parameters.history import (
    load_checkpoint,
    load_history,
    save_checkpoint,
    save_history,
)
from robot_dynamics_ros.estimation.parameters.parameters_file import (
    read_parameters,
    write_parameters,
)
from robot_dynamics_ros.estimation.recordings.files import read_recording, write_recording
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.files.csv_table import read_csv_table
from robot_dynamics_ros.motion.trajectory_file import read_trajectory

URDF_FOLDER = Path(__file__).resolve().parent.parent.parent / 'urdf'

SMALL_URDF = b"""<?xml version="1.0"?>
<robot name="small">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0.1 0 0.02" rpy="0 0.1 0"/><mass value="2.5"/>
      <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial>
    <visual><geometry><box size="1 1 1"/></geometry></visual>
  </link>
  <link name="slide"><inertial><mass value="1"/>
    <inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>
  <link name="finger"/><link name="tool"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><origin xyz="0 0 0.3" rpy="1.5708 0 0"/>
    <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="50" velocity="2"/>
    <dynamics damping="0.5" friction="0.1"/></joint>
  <joint name="push" type="prismatic">
    <parent link="upper"/><child link="slide"/><origin xyz="0.4 0 0"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.5" effort="100" velocity="1"/></joint>
  <joint name="grip" type="revolute"><parent link="slide"/><child link="finger"/>
    <limit effort="1" velocity="1"/><mimic joint="push" multiplier="2"/></joint>
  <joint name="flange" type="fixed"><parent link="slide"/><child link="tool"/></joint>
  <transmission name="gear"><joint name="shoulder"/><actuator name="m">
    <mechanicalReduction>100</mechanicalReduction></actuator></transmission>
  <gazebo reference="tool"/>
</robot>
"""
JOINTS = b"""format: 1
coulomb_velocity: 0.01
coupling: [[1, 0], [-1, 1]]
payload:
  mass: 1.5
  centre_of_mass: [0, 0, 0.1]
  inertia: [0.01, 0, 0, 0.01, 0, 0.005]
joints:
  joint_1:
    rotor_inertia: 0.3
    viscous: 2.0
    coulomb: 1.5
    static: 2.0
    stribeck_velocity: 0.1
    stiffness: 8000.0
    limits: {effort: 80.0, velocity: 2.0, lower: -3.0, upper: 3.0}
    effort: {sign: -1, gain: 11.9, offset: 0.02, side: joint, gravity_removed: false}
  joint_2:
    offset: 0.1
    effort: {side: motor}
"""
TRAJECTORY = b"""joint_names: [joint_1, joint_2]
points:
- positions: [0.0, 1.0]
  velocities: [0.0, 0.0]
  accelerations: [0.0, 0.0]
  time_from_start: {sec: 0, nanosec: 0}
- positions: [2, 3]
  velocities: [0.5, 0.0]
  accelerations: [0.0, 1.5]
  time_from_start: {sec: 1, nanosec: 500000000}
- positions: [2.5, 3]
  time_from_start: {sec: 2}
"""
METADATA = 'metadata.yaml'


@cache
def chain():
    """Return the robot that the files belong to."""
    return chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')


@cache
def folder():
    """Return a folder for the files, which goes with the process."""
    return tempfile.TemporaryDirectory(prefix='fuzz-files-')


def saved(case, name):
    """Return the path of a file with this content."""
    path = Path(folder().name) / name
    path.write_bytes(case)
    return path


def written(write, *names):
    """Return what a writer of ours writes."""
    with tempfile.TemporaryDirectory() as place:
        for name in names:
            write(Path(place) / name)
        return [(Path(place) / name).read_bytes() for name in names]


def read_urdf(case):
    tip = 'tool' if b'"tool"' in case else None
    for robot in (chain_from_urdf(saved(case, 'arm.urdf'), tip=tip),
                  chain_from_urdf_text(case.decode('utf-8', 'surrogateescape'), tip=tip)):
        if len(robot) < 4:
            assert np.all(np.isfinite(minimal_parameters(robot).values))


def read_joints(case):
    file = read_joints_file(saved(case, 'joints.yaml'))
    file.applied_to(chain())
    file.effort_semantics(chain())
    file.stiffness(chain())


def parameters():
    first = MlcEstimate.not_estimated(chain(), minimal_parameters(chain()))
    names = (*first.mlc.names, 'Fv1')
    known = replace(first, identified=(True,) * len(first.mlc), unknowns=names, samples=5,
                    covariance=1e-4 * np.eye(len(names)), residual_rms=np.array([0.3, 0.2]),
                    condition_number=12.0)
    return first, known


def recording():
    rng = np.random.default_rng(1)
    return Recording(np.arange(20) / 100, *rng.normal(size=(3, 20, 2)), chain().joint_names)


@cache
def bag():
    """Return the files of a bag by name."""
    with tempfile.TemporaryDirectory() as place:
        write_recording(Path(place) / 'bag', recording())
        return {path.name: path.read_bytes() for path in (Path(place) / 'bag').iterdir()}


def read_bag_with_metadata(case):
    place = Path(folder().name) / 'bag'
    place.mkdir(exist_ok=True)
    for name, content in bag().items():
        (place / name).write_bytes(case if name == METADATA else content)
    read_recording(place, chain())


def estimator():
    return OnlineEstimator(chain())


def checkpoint_examples():
    first = estimator()
    rng = np.random.default_rng(1)
    for k in range(60):
        first.feed(k / 100, *rng.normal(size=(3, 2)))
    model_hash = first.unknowns.mlc.model_hash
    return written(lambda path: save_checkpoint(path, first.state(), model_hash), 'state.npz')


def read_checkpoint(case):
    load_checkpoint(saved(case, 'state.npz'), model_hash())


@cache
def model_hash():
    return estimator().unknowns.mlc.model_hash


def read_csv(case):
    read_csv_table(saved(case, 'motion.csv')).time()


TARGETS = [
    Target('urdf', lambda: [SMALL_URDF, (URDF_FOLDER / 'planar_2r.urdf').read_bytes(),
                            (URDF_FOLDER / 'scara.urdf').read_bytes()], read_urdf),
    Target('joints', lambda: [JOINTS], read_joints),
    Target('parameters', lambda: [written(lambda path, each=each: write_parameters(path, each),
                                          'p.yaml')[0] for each in parameters()],
           lambda case: read_parameters(saved(case, 'p.yaml'), chain()).standard_deviations),
    Target('trajectory', lambda: [TRAJECTORY],
           lambda case: read_trajectory(saved(case, 'motion.yaml')).duration),
    Target('csv', lambda: written(lambda path: write_recording(path, recording()), 'a.csv'),
           read_csv),
    Target('recording_csv', lambda: written(lambda path: write_recording(path, recording()),
                                            'a.csv'),
           lambda case: read_recording(saved(case, 'motion.csv'), chain())),
    Target('recording_npz', lambda: written(lambda path: write_recording(path, recording()),
                                            'a.npz'),
           lambda case: read_recording(saved(case, 'motion.npz'), chain()), mutated_npz),
    Target('bag', lambda: [content for name, content in bag().items() if name != METADATA],
           lambda case: read_recording(saved(case, 'motion.mcap'), chain())),
    Target('bag_metadata', lambda: [bag()[METADATA]], read_bag_with_metadata),
    Target('checkpoint', checkpoint_examples, read_checkpoint, mutated_npz),
    Target('history', lambda: written(lambda path: save_history(
        path, [(float(i), each) for i, each in enumerate(parameters())]), 'h.npz'),
           lambda case: load_history(saved(case, 'h.npz')), mutated_npz),
]
