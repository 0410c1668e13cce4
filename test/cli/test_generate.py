# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics generate, as a user calls it."""

import shutil
import subprocess

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.cli.main import main

#: A C and a C++ compiler, or nothing.
COMPILERS = [word for word in (shutil.which('cc'), shutil.which('c++')) if word]

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


def test_several_functions_go_into_one_file_that_cpp_can_use(tmp_path, capsys):
    path = tmp_path / 'arm.c'
    assert main(['generate', ROBOT, '--function', 'torque', 'jacobian', 'torque', '-o',
                 str(path)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(f'{path}: torque, jacobian of planar_2r, ')
    assert printed[1] == f'{tmp_path / "arm.h"}: declarations, also for C++'
    (tmp_path / 'main.cpp').write_text(
        '#include "arm.h"\n#include <cstdio>\n'
        'int main()\n{\n    double k[100], q[2] = {0.0, 0.0}, zero[2] = {0.0, 0.0};\n'
        '    double tau[2], J[12];\n'
        '    planar_2r_torque_constants(planar_2r_torque_mlc, planar_2r_torque_rotor,\n'
        '        planar_2r_torque_coulomb, planar_2r_torque_viscous, planar_2r_torque_offset,\n'
        '        planar_2r_torque_sharpness, k);\n'
        '    planar_2r_torque(q, zero, zero, k, tau);\n'
        '    planar_2r_jacobian_constants(k);\n    planar_2r_jacobian(q, k, J);\n'
        '    std::printf("%.12g %.12g", tau[0], J[8]);\n}\n')
    if len(COMPILERS) == 2:
        compiler, cpp = COMPILERS
        for command in ([compiler, '-std=c99', '-Wall', '-Wextra', '-Werror', '-pedantic', '-c',
                         'arm.c'], [cpp, '-Wall', 'main.cpp', 'arm.o', '-lm', '-o', 'main']):
            subprocess.run(command, check=True, cwd=tmp_path)
        found = subprocess.run(['./main'], check=True, cwd=tmp_path, capture_output=True,
                               text=True).stdout.split()
        model, zero = compile_model(chain_from_urdf(ROBOT)), np.zeros(2)
        assert [float(word) for word in found] == pytest.approx(
            [model.torque(zero, zero, zero)[0], model.jacobian(zero)[4, 0]])


def test_the_library_is_announced(tmp_path, capsys):
    assert main(['generate', ROBOT, '--library', str(tmp_path / 'library')]) == 0
    assert 'a CMake project with inverse_dynamics, torque' in capsys.readouterr().out


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
