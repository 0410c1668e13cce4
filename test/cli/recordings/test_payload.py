# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics payload, as a user calls it."""

import json
import re

import numpy as np
import pytest
import yaml
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model, minimal_parameters
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.estimation.excitation.design import design_excitation
from robot_dynamics_ros.estimation.parameters.parameters_file import write_parameters
from robot_dynamics_ros.estimation.recordings.files import write_recording
from robot_dynamics_ros.estimation.recordings.recording import Recording

ARM = str(URDF_FOLDER / 'rx90.urdf')
LOAD = Inertia.from_centre_of_mass(4.0, [0.05, -0.02, 0.1], np.diag([0.04, 0.05, 0.03]))


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """Return the folder with parameters.yaml, joints.yaml, loaded.npz and empty.npz."""
    folder = tmp_path_factory.mktemp('payload')
    chain = chain_from_urdf(ARM)
    mlc = minimal_parameters(chain)
    write_parameters(folder / 'parameters.yaml', MlcEstimate(
        chain.robot, chain.base, chain.tip, mlc, chain.joint_physics, (True,) * len(mlc),
        mlc.names, np.diag((1e-3 * mlc.values)**2), 1000, 10.0, np.full(len(chain), 0.5)))
    (folder / 'joints.yaml').write_text(yaml.safe_dump({'joints': {  # simulated: exact efforts
        name: {'effort': {'gain_deviation': 0}} for name in chain.joint_names}}))
    trajectory = design_excitation(chain, unchecked=True, candidates=10, iterations=0).trajectory
    times = trajectory.times(100.0)
    motion = trajectory.sample(times)
    rng = np.random.default_rng(0)
    for name, load in (('loaded', LOAD), ('empty', Inertia.zero())):
        tau = compile_model(chain.with_payload(load)).torque(*motion)
        tau = tau + 0.01 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
        write_recording(folder / f'{name}.npz', Recording(times, motion.q, motion.qd, tau,
                                                          chain.joint_names))
    return folder


def call(files, recording, *words):
    return main(['payload', str(files / recording), '--parameters',
                 str(files / 'parameters.yaml'), '--urdf', ARM, *words])


def test_the_load_is_printed_and_written(files, tmp_path, capsys):
    output = tmp_path / 'load.yaml'
    assert call(files, 'loaded.npz', '-o', str(output), '--joints',
                str(files / 'joints.yaml')) == 0
    printed = capsys.readouterr().out
    assert 'Payload at link_6' in printed and 'not determined' not in printed
    assert 'Assumed' not in printed
    chain = chain_from_urdf(ARM)
    loaded = read_joints_file(output).applied_to(chain)  # the file is a joints file
    assert loaded.links[-1].mass - chain.links[-1].mass == pytest.approx(LOAD.mass, rel=0.02)


def test_the_service_call_carries_the_load(files, capsys):
    assert call(files, 'loaded.npz') == 0
    text = re.search(r'SetPayload "(.*)"', capsys.readouterr().out).group(1)
    payload = yaml.safe_load(text)['payload']
    assert payload['header']['frame_id'] == 'link_6'
    body = payload['inertia']
    assert body['m'] == pytest.approx(LOAD.mass, rel=0.02)
    np.testing.assert_allclose([body['com'][axis] for axis in 'xyz'], LOAD.centre_of_mass,
                               atol=0.005)
    assert set(body) == {'m', 'com', 'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'}


def test_json_has_values_and_deviations(files, capsys):
    assert call(files, 'loaded.npz', '--json') == 0
    report = json.loads(capsys.readouterr().out)
    assert report['identified'] and report['mass']['identified']
    assert abs(report['mass']['value'] - 4.0) < 5 * report['mass']['standard_deviation']
    assert report['torque_error']['with_load'] < report['torque_error']['without_load']


def test_what_is_assumed_about_the_gains_is_said_and_counts(files, capsys):
    reports = []
    for words in ((), ('--joints', str(files / 'joints.yaml'))):
        call(files, 'loaded.npz', '--json', *words)
        reports.append(json.loads(capsys.readouterr().out))
    unknown, exact = reports
    assert exact['assumptions'] == [] and len(unknown['assumptions']) == 1
    assert unknown['assumptions'][0].startswith('5 % standard deviation of the drive gains of '
                                                'joint_1, joint_2')
    assert unknown['mass']['standard_deviation'] > 3 * exact['mass']['standard_deviation']
    call(files, 'loaded.npz')
    assert 'Assumed: 5 % standard deviation' in capsys.readouterr().out


def test_no_load_is_exit_code_1_and_writes_nothing(files, tmp_path, capsys):
    output = tmp_path / 'load.yaml'
    assert call(files, 'empty.npz', '-o', str(output)) == 1
    printed = capsys.readouterr().out
    assert 'Not identifiable: mass' in printed and 'ros2 service call' not in printed
    assert not output.exists()


def test_wrong_input_is_one_line_and_exit_code_2(files, capsys):
    assert call(files, 'nothing.npz') == 2
    assert 'no such file' in capsys.readouterr().err
    other = str(URDF_FOLDER / 'stanford.urdf')
    assert main(['payload', str(files / 'loaded.npz'), '--parameters',
                 str(files / 'parameters.yaml'), '--urdf', other]) == 2
    assert 'parameters of rx90' in capsys.readouterr().err
    assert call(files, 'loaded.npz', '-o', '/nowhere/load.yaml') == 2
    assert 'cannot be written' in capsys.readouterr().err
