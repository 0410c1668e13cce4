# SPDX-License-Identifier: Apache-2.0
import argparse
import re
import signal
import subprocess
import sys

import numpy as np
import pytest
from matplotlib.image import imread
from support.robots import URDF_FOLDER

from robot_dynamics_ros import Trajectory, chain_from_urdf, compile_model, identify
from robot_dynamics_ros.cli.excite import trajectory_yaml
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.cli.view import add_arguments, shown_motion, viewed_robot
from robot_dynamics_ros.errors import ChainError
from robot_dynamics_ros.estimation.parameters.parameters_file import write_parameters
from robot_dynamics_ros.files.csv_table import write_csv_table

DEMO_ARM = URDF_FOLDER / 'demo_arm.urdf'
SMALL = ['--size', '64x48']


def test_a_picture_is_written_without_a_window(tmp_path, capsys):
    plain, axes = tmp_path / 'plain.png', tmp_path / 'axes.png'
    assert main(['view', str(DEMO_ARM), '--screenshot', str(plain), *SMALL]) == 0
    assert main(['view', str(DEMO_ARM), '--screenshot', str(axes), '--show', 'axes,inertia',
                 '--at', 'joint_2=1.0', *SMALL]) == 0
    assert capsys.readouterr().out == f'{plain}\n{axes}\n'
    first, second = imread(plain), imread(axes)
    assert first.shape == second.shape == (48, 64, 3)
    assert np.any(first < 0.9) and np.any(first != second)


@pytest.mark.parametrize(('words', 'text'), [
    (['--at', 'elbow=1'], 'no joint of that name can be moved; there are joint_1'),
    (['--at', 'joint_1'], 'not of the form JOINT=VALUE'),
    (['--screenshot', 'robot.jpg'], "'robot.jpg' does not end in .png"),
    (['--show', 'axes,x'], "'x' is none of axes, gravity, inertia"),
    (['--size', '12'], 'not of the form WIDTHxHEIGHT'),
    (['--size', '0x9'], 'a picture of 0 x 9 pixels'),
    (['--motion', 'missing.yaml'], 'missing.yaml'),
    (['--parameters', 'missing.yaml'], 'missing.yaml'),
    (['--tip', 'nowhere'], 'nowhere'),
])
def test_wrong_input_is_one_line(words, text, tmp_path, capsys):
    picture = tmp_path / 'x.png'
    try:
        code = main(['view', str(DEMO_ARM), '--screenshot', str(picture), *words])
    except SystemExit as exit:
        code = exit.code
    error = capsys.readouterr().err
    assert code == 2 and text in error and error.count('\n') == 1
    assert not picture.exists()


def test_a_motion_is_shown_from_a_table_or_a_trajectory(tmp_path):
    chain = chain_from_urdf(DEMO_ARM)
    t, names = np.linspace(3.0, 5.0, 21), chain.joint_names
    q = np.sin(t)[:, None] * np.linspace(0.1, 0.7, 7)
    table, trajectory = tmp_path / 'motion.csv', tmp_path / 'motion.yaml'
    write_csv_table(table, {'t': t, **{f'q_{name}': q[:, i] for i, name in enumerate(names)}})
    motion = Trajectory(names, t - 3.0, q).sample(t - 3.0)
    trajectory.write_text(trajectory_yaml(chain, t - 3.0, motion))
    for path in (table, trajectory):
        shown = shown_motion(path, chain)
        assert shown.joint_names == names and shown.times[0] == 0.0
        assert shown.times[-1] == pytest.approx(2.0)
        np.testing.assert_allclose(shown.positions[[0, -1]], q[[0, -1]], atol=1e-6)
    with pytest.raises(ChainError, match='needs a chain; name --base and --tip'):
        shown_motion(table, None)


def test_identified_parameters_are_shown_beside_those_of_the_urdf(tmp_path):
    arm = URDF_FOLDER / 'planar_2r.urdf'
    chain = chain_from_urdf(arm)
    t = np.linspace(0.0, 4.0, 801)
    q, qd, qdd = (np.stack([f * np.sin(k * t + p) for f, k in ((1.0, 2.0), (0.7, 3.0))], axis=1)
                  * scale for p, scale in ((0.0, 1.0), (np.pi / 2, [2.0, 3.0]),
                                           (np.pi, [4.0, 9.0])))
    estimate = identify(chain, t, q, qd, compile_model(chain).torque(q, qd, qdd)).estimate
    write_parameters(tmp_path / 'parameters.yaml', estimate)
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    robot = viewed_robot(parser.parse_args([
        str(arm), '--parameters', str(tmp_path / 'parameters.yaml')]))
    np.testing.assert_allclose(robot.estimate.mlc.values, estimate.mlc.values)
    assert robot.identified is not None
    assert viewed_robot(parser.parse_args([str(arm)])).identified is None


def test_a_tree_is_shown_and_missing_meshes_are_told(tmp_path, capsys):
    links = ''.join(
        f'<link name="{name}"><visual><geometry><mesh filename="{name}.stl"/></geometry></visual>'
        f'</link><joint name="{name}_joint" type="revolute"><parent link="base"/><child '
        f'link="{name}"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
        for name in 'abcde')
    urdf = tmp_path / 'tree.urdf'
    urdf.write_text(f'<robot name="tree"><link name="base"/>{links}</robot>')
    assert main(['view', str(urdf), '--screenshot', str(tmp_path / 'x.png'), *SMALL]) == 0
    error = capsys.readouterr().err
    assert 'a stick is drawn instead of a.stl' in error and 'and 2 more links' in error


def test_the_command_prints_its_address_once_and_ends_on_ctrl_c():
    pytest.importorskip('viser', reason='viser is not installed')
    process = subprocess.Popen(
        [sys.executable, '-m', 'robot_dynamics_ros.cli.main', 'view', str(DEMO_ARM),
         '--no-browser', '--port', '0'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=240)
    finally:
        process.kill()
    assert re.fullmatch(r'http://127\.0\.0\.1:\d+/[0-9a-f]{32}/', address), errors
    assert 'http' not in rest and errors == '' and process.returncode == 0
