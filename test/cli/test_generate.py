# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics generate, as a user calls it."""

import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros.cli.main import main

ROBOT = str(URDF_FOLDER / 'planar_2r.urdf')


def test_c_is_printed(capsys):
    assert main(['generate', ROBOT, '--function', 'gravity_torque']) == 0
    assert 'void planar_2r_gravity_torque(const double q[2], ' in capsys.readouterr().out


def test_python_is_written_and_runs(tmp_path):
    path = tmp_path / 'model.py'
    assert main(['generate', ROBOT, '--language', 'python', '-o', str(path)]) == 0
    namespace = {}
    exec(path.read_text(), namespace)
    k = namespace['planar_2r_inverse_dynamics_constants'](
        namespace['planar_2r_inverse_dynamics_mlc'])
    zero = [0.0, 0.0]
    assert namespace['planar_2r_inverse_dynamics'](zero, zero, zero, k)[1] == pytest.approx(
        9.81 * 0.72)


def test_joint_physics_come_from_a_file(tmp_path, capsys):
    joints = tmp_path / 'joints.yaml'
    joints.write_text('joints:\n  joint_1: {viscous: 12.5}\n')
    assert main(['generate', ROBOT, '--function', 'torque', '--joints', str(joints)]) == 0
    assert '12.5' in capsys.readouterr().out


@pytest.mark.parametrize('words', [
    ['--function', 'hessian'], ['--language', 'ada'], ['-o', '/nonexistent/model.c']])
def test_what_cannot_be_done_is_one_line_and_code_2(words, capsys):
    try:
        code = main(['generate', ROBOT, *words])
    except SystemExit as exit:
        code = exit.code
    assert code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_stiffness_that_is_not_used_is_not_passed_over_in_silence(tmp_path, capsys):
    joints = tmp_path / 'joints.yaml'
    joints.write_text('joints: {joint_1: {stiffness: 900.0}}\n')
    assert main(['generate', str(URDF_FOLDER / 'planar_2r.urdf'), '--joints', str(joints)]) == 0
    assert 'the stiffness of joint_1 is not used' in capsys.readouterr().err
