# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics gains, as a user calls it."""

import numpy as np
import pytest
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.estimation.recordings.files import write_recording
from robot_dynamics_ros.estimation.recordings.recording import Recording

ARM = str(URDF_FOLDER / 'puma_4dof.urdf')
GAINS = np.array([12.0, 11.0, 9.0, 4.0])
#: A point on the axis of the last joint, and a body beside it.
POINT = ('--mass', '4', '--com', '0', '0', '0.1')
BODY = ('--mass', '4', '--com', '0.05', '-0.02', '0.1',
        '--inertia', '0.01', '0', '0', '0.01', '0', '0.01')


@pytest.fixture(scope='module')
def files(tmp_path_factory):
    """Return the folder with joints.yaml, unloaded.npz, point.npz and body.npz: currents."""
    folder = tmp_path_factory.mktemp('gains')
    rng = np.random.default_rng(0)
    chain = chain_from_urdf(ARM).with_joint_physics(random_physics(rng, 4))
    loads = {'unloaded': Inertia.zero(),
             'point': Inertia.from_centre_of_mass(4.0, [0.0, 0.0, 0.1], np.zeros((3, 3))),
             'body': Inertia.from_centre_of_mass(4.0, [0.05, -0.02, 0.1], 0.01 * np.eye(3))}
    for name, load in loads.items():
        data = excitation(rng, chain.with_payload(load), duration=15.0)
        effort = data.tau / GAINS
        effort += 0.02 * np.std(effort, axis=0) * rng.normal(size=effort.shape)
        effort[:, 1] *= -1.0
        write_recording(folder / f'{name}.npz', Recording(data.t, data.q, data.qd, effort,
                                                          chain.joint_names))
    (folder / 'joints.yaml').write_text(
        'joints: {joint_1: {viscous: 3.0}, joint_2: {effort: {sign: -1}}}')
    return folder


def call(files, loaded, *words):
    return main(['gains', str(files / 'unloaded.npz'), str(files / f'{loaded}.npz'), '--urdf', ARM,
                 '--joints', str(files / 'joints.yaml'), *words])


def test_gains_are_printed_and_written_as_a_joints_file(files, tmp_path, capsys):
    output = tmp_path / 'gains.yaml'
    assert call(files, 'body', *BODY, '-o', str(output)) == 0
    printed = capsys.readouterr().out
    assert 'standard deviation' in printed and 'not identifiable' not in printed
    assert output.read_text() in printed
    found = read_joints_file(output).effort_semantics(chain_from_urdf(ARM))
    np.testing.assert_allclose(found.gain, GAINS, rtol=0.05)
    assert np.all((found.gain_deviation > 0.0) & (found.gain_deviation < 0.05))
    assert found.sign.tolist() == [1.0, -1.0, 1.0, 1.0]
    row = next(line for line in printed.splitlines() if line.lstrip().startswith('joint_2'))
    assert 'N m per unit' in row and f'{100 * found.gain_deviation[1]:.2g} %' in row


def test_a_joint_without_a_gain_has_the_reason_and_exit_code_1(files, tmp_path, capsys):
    output = tmp_path / 'gains.yaml'
    assert call(files, 'point', *POINT, '-o', str(output)) == 1
    printed = capsys.readouterr().out
    assert 'not identifiable: the payload exerts no torque on it' in printed
    assert '# joint_4: gain is not identifiable: ' in output.read_text()
    found = read_joints_file(output).effort_semantics(chain_from_urdf(ARM))
    assert found.gain[3] == 1.0 and np.isnan(found.gain_deviation[3])
    np.testing.assert_allclose(found.gain[:3], GAINS[:3], rtol=0.05)


def test_no_gain_at_all_is_one_line_and_exit_code_1(files, tmp_path, capsys):
    output = tmp_path / 'gains.yaml'
    assert call(files, 'unloaded', *BODY, '-o', str(output)) == 1
    captured = capsys.readouterr()
    assert captured.out == '' and len(captured.err.splitlines()) == 1
    assert 'not identifiable: the efforts do not show the payload' in captured.err
    assert not output.exists()


def test_wrong_input_is_one_line_and_exit_code_2(files, capsys):
    for words, message in (
            (('--mass', '0', '--com', '0', '0', '0'), 'a payload of known mass'),
            (('--mass', '-1', '--com', '0', '0', '0'), 'cannot be negative'),
            ((*POINT, '--inertia', '1', '0', '0', '1', '0', '9'), 'no body has the principal'),
            ((*POINT, '-o', str(files / 'joints.yaml')), 'other entries would be lost'),
            ((*BODY, '-o', '/nowhere/joints.yaml'), 'cannot be written')):
        assert call(files, 'body', *words) == 2
        error = capsys.readouterr().err
        assert message in error and len(error.splitlines()) == 1
    assert call(files, 'nothing', *POINT) == 2
    assert 'no such file' in capsys.readouterr().err
    with pytest.raises(SystemExit, match='2'):
        call(files, 'body', '--mass', '4')
    assert '--com' in capsys.readouterr().err
