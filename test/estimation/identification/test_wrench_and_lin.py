# SPDX-License-Identifier: Apache-2.0
"""A force sensor at the tip as known input (Lin 1995 (113)), and Lin's procedure as a method."""

from dataclasses import replace

import numpy as np
import pytest
from support.chains import random_states
from support.excitation import excitation
from support.oracle import Oracle
from support.robots import URDF_FOLDER

from robot_dynamics_ros import (
    OnlineEstimator,
    Recording,
    chain_from_urdf,
    compile_model,
    identify,
    minimal_parameters,
    read_recording,
    write_recording,
)
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.errors import RecordingError
from robot_dynamics_ros.estimation.recordings.files import JOINT_STATE, WRENCH_STAMPED
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

UNFILTERED = {'cutoff': np.inf, 'parallel_cutoff': np.inf, 'friction': 'none'}


@pytest.fixture(scope='module')
def truth():
    return chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf')


@pytest.fixture(scope='module')
def pushed(truth):
    """Return a recording with the torques of Pinocchio while something pushes the tip."""
    rng = np.random.default_rng(4)
    data = excitation(rng, truth, duration=6.0, step=0.01)
    phases = rng.uniform(0.0, 6.0, 6)
    angles = np.outer(data.t, [1, 2, 3, 1, 2, 3]) + phases
    wrench = np.array([20, 15, 30, 2, 3, 1]) * np.sin(angles)
    oracle = Oracle(truth)
    tau = np.array([oracle.inverse_dynamics(*state, wrench=w) for *state, w in zip(
        data.q, data.qd, data.qdd, wrench)])
    return data, tau, wrench


def error_of(chain, result):
    expected = minimal_parameters(chain).values
    return np.max(np.abs(result.estimate.mlc.values - expected)) / np.max(np.abs(expected))


def test_a_known_wrench_is_taken_off_the_torque(truth, pushed):
    data, tau, wrench = pushed
    wrong = with_parameter_error(truth, 0.3, seed=2)
    told = identify(wrong, data.t, data.q, data.qd, tau, wrench=wrench, **UNFILTERED)
    untold = identify(wrong, data.t, data.q, data.qd, tau, **UNFILTERED)
    assert error_of(truth, told) < 1e-4
    assert error_of(truth, untold) > 0.01


def test_the_procedure_of_lin_finds_the_parameters_of_another_library(truth, pushed):
    data, tau, wrench = pushed
    wrong = with_parameter_error(truth, 0.3, seed=2)
    result = identify(wrong, data.t, data.q, data.qd, tau, wrench=wrench, method='lin',
                      **UNFILTERED)
    assert error_of(truth, result) < 1e-4
    assert np.all(np.isfinite(result.estimate.covariance))


def test_with_noise_one_least_squares_over_all_joints_is_better(truth, pushed):
    data, tau, wrench = pushed
    expected = minimal_parameters(truth).values
    Y = compile_model(truth).regressor(*random_states(np.random.default_rng(3), 4, 200))
    errors = {'lin': 0.0, 'weighted': 0.0}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        noisy = tau + 0.02 * np.std(tau, axis=0) * rng.normal(size=tau.shape)
        for method in errors:
            result = identify(truth, data.t, data.q, data.qd, noisy, wrench=wrench,
                              method=method, prior_strength=0.01, **UNFILTERED)
            change = result.estimate.mlc.values - expected
            errors[method] += float(np.linalg.norm(Y @ change) / np.linalg.norm(Y @ expected))
    assert errors['weighted'] < errors['lin'] < 0.1


def test_the_online_estimator_takes_it_too(truth, pushed):
    data, tau, wrench = pushed
    wrong = with_parameter_error(truth, 0.3, seed=2)
    errors = []
    for force in (wrench, None):
        estimator = OnlineEstimator(wrong, cutoff=20.0)
        estimator.feed_many(data.t, data.q, data.qd, tau, force)
        errors.append(float(np.nanmax(estimator.relative_error)))
    assert errors[0] < 0.2 * errors[1]
    single = OnlineEstimator(wrong, cutoff=20.0)
    for k in range(300):
        single.feed(data.t[k], data.q[k], data.qd[k], tau[k], wrench[k])
    many = OnlineEstimator(wrong, cutoff=20.0)
    many.feed_many(data.t[:300], data.q[:300], data.qd[:300], tau[:300], wrench[:300])
    np.testing.assert_allclose(single.estimate().mlc.values, many.estimate().mlc.values)


@pytest.mark.parametrize('ending', ['.csv', '.npz'])
def test_files_keep_the_wrench(truth, pushed, tmp_path, ending):
    data, tau, wrench = pushed
    recording = Recording(data.t, data.q, data.qd, tau, truth.joint_names, wrench=wrench)
    path = tmp_path / f'pushed{ending}'
    write_recording(path, recording)
    np.testing.assert_allclose(read_recording(path, truth).wrench, wrench, rtol=1e-9, atol=1e-9)
    with pytest.raises(RecordingError, match='cannot hold the wrench'):
        write_recording(tmp_path / 'bag', recording)
    with pytest.raises(RecordingError, match=r'wrench has shape .*fx, fy'):
        replace(recording, wrench=wrench[:, :3])


def test_a_bag_with_a_force_sensor(truth, pushed, tmp_path):
    """The sensor has its own stamps; its wrench is taken at those of the joint states."""
    from rosbags.rosbag2 import Reader, StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    data, tau, wrench = pushed
    write_recording(tmp_path / 'joints', Recording(data.t, data.q, data.qd, tau,
                                                   truth.joint_names))
    types = get_typestore(Stores.ROS2_JAZZY)
    kinds = types.types
    with (Reader(tmp_path / 'joints') as reader,
          Writer(tmp_path / 'both', version=9, storage_plugin=StoragePlugin.MCAP) as writer):
        joints = writer.add_connection('/joint_states', JOINT_STATE, typestore=types)
        sensor = writer.add_connection('/force', WRENCH_STAMPED, typestore=types)
        vector = kinds['geometry_msgs/msg/Vector3']
        stamps = [stamp for _, stamp, _ in reader.messages()]
        for _, stamp, raw in reader.messages():
            writer.write(joints, stamp, raw)
        for stamp, (fx, fy, fz, tx, ty, tz) in zip(stamps, wrench):
            header = kinds['std_msgs/msg/Header'](stamp=kinds['builtin_interfaces/msg/Time'](
                sec=stamp // 10**9, nanosec=stamp % 10**9), frame_id='link_4')
            message = kinds[WRENCH_STAMPED](header=header, wrench=kinds[
                'geometry_msgs/msg/Wrench'](force=vector(x=fx, y=fy, z=fz),
                                            torque=vector(x=tx, y=ty, z=tz)))
            writer.write(sensor, stamp, types.serialize_cdr(message, WRENCH_STAMPED))
    found = read_recording(tmp_path / 'both', truth, wrench_topic='/force')
    np.testing.assert_allclose(found.wrench[1:-1], wrench[1:-1], atol=1e-6)
    assert read_recording(tmp_path / 'both', truth).wrench is None
    with pytest.raises(RecordingError, match='no topic /nose of type geometry_msgs'):
        read_recording(tmp_path / 'both', truth, wrench_topic='/nose')


def test_the_command_knows_the_method(truth, pushed, tmp_path, capsys):
    data, tau, wrench = pushed
    path = tmp_path / 'pushed.csv'
    write_recording(path, Recording(data.t, data.q, data.qd, tau, truth.joint_names,
                                    wrench=wrench))
    code = main(['identify', str(path), '--urdf', str(URDF_FOLDER / 'puma_4dof.urdf'), '--method',
                 'lin', '--friction', 'none', '-o', str(tmp_path / 'out')])
    assert code == 0, capsys.readouterr().err
