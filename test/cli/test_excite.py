# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics excite, as a user calls it."""

import io
import re
from pathlib import Path

import numpy as np
import pytest
import yaml
from support.robots import URDF_FOLDER

from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.cli.support.terminal import Progress
from robot_dynamics_ros.files.csv_table import read_csv_table

ARM = str(URDF_FOLDER / 'planar_2r.urdf')
JOINTS = ('joint_1', 'joint_2')
QUICK = ['--candidates', '10', '--iterations', '3', '--duration', '4', '--unchecked']


def test_files_and_summary(tmp_path, capsys):
    name = tmp_path / 'motion'
    assert main(['excite', ARM, *QUICK, '--start=0.5,-0.3', '-o', str(name)]) == 0
    printed = capsys.readouterr()
    assert 'Condition number' in printed.out and '10 random motions: median' in printed.out
    assert '100 %' in printed.err and '\r' not in printed.err

    csv = read_csv_table(tmp_path / 'motion.csv')
    t = csv.time()
    q, qd, qdd = (csv.required_joints(prefix, JOINTS) for prefix in ('q', 'qd', 'qdd'))
    assert t[-1] == 4.0 and len(t) == 401
    np.testing.assert_allclose(q[[0, -1]], [[0.5, -0.3]] * 2, atol=1e-12)
    np.testing.assert_allclose(qd[1:-1], (q[2:] - q[:-2]) / 0.02, atol=0.02 * np.max(np.abs(qd)))

    message = yaml.safe_load((tmp_path / 'motion.yaml').read_text())
    assert tuple(message['joint_names']) == JOINTS and len(message['points']) == 401
    point = message['points'][123]
    assert point['time_from_start'] == {'sec': 1, 'nanosec': 230000000}
    np.testing.assert_allclose(point['positions'], q[123], atol=1e-11)
    np.testing.assert_allclose(point['velocities'], qd[123], atol=1e-11)
    np.testing.assert_allclose(point['accelerations'], qdd[123], atol=1e-11)
    assert (tmp_path / 'motion.png').read_bytes().startswith(b'\x89PNG')


@pytest.mark.parametrize('robot, words, good', [
    ('planar_2r', ['--candidates', '10', '--iterations', '3'], True),
    ('stanford', ['--candidates', '1', '--iterations', '1', '--duration', '3'], False)])
def test_a_poor_motion_says_what_to_try(robot, words, good, tmp_path, capsys):
    assert main(['excite', str(URDF_FOLDER / f'{robot}.urdf'), *words, '--unchecked',
                 '-o', str(tmp_path / 'motion')]) == 0
    out = capsys.readouterr().out
    number = float(re.search(r'Condition number ([\d.]+)', out)[1])
    assert (number < 20.0) == good
    assert ('Below 20 is good: try a longer --duration' in out) == (not good)


def test_a_joint_that_cannot_overcome_its_friction_is_named(tmp_path, capsys):
    """The gripper of TALOS: friction 1 N m, effort limit 1 N m; the arm then hardly moves."""
    robot = tmp_path / 'stiff.urdf'
    limit = re.search(r'<joint name="joint_2".*?effort="([^"]*)"', Path(ARM).read_text(),
                      re.S).group(1)
    robot.write_text(re.sub(r'(<joint name="joint_2".*?)(</joint>)',
                            rf'\1<dynamics damping="1" friction="{limit}"/>\2',
                            Path(ARM).read_text(), flags=re.S))
    assert main(['excite', str(robot), *QUICK, '-o', str(tmp_path / 'motion')]) == 0
    assert 'joint_2: its friction takes' in capsys.readouterr().out
    assert main(['excite', ARM, *QUICK, '-o', str(tmp_path / 'motion')]) == 0
    assert 'its friction' not in capsys.readouterr().out


def test_the_same_seed_writes_the_same_file(tmp_path):
    for name, seed in (('a', '1'), ('b', '1'), ('c', '2')):
        assert main(['excite', ARM, *QUICK, '--seed', seed, '-o', str(tmp_path / name)]) == 0
    a, b, c = ((tmp_path / f'{name}.csv').read_bytes() for name in 'abc')
    assert a == b and a != c


def test_a_recorded_motion_is_taken_into_account(tmp_path, capsys):
    first, second = str(tmp_path / 'first'), str(tmp_path / 'second')
    assert main(['excite', ARM, *QUICK, '-o', first]) == 0
    assert main(['excite', ARM, *QUICK, '--after', f'{first}.csv', '-o', second]) == 0
    assert (tmp_path / 'first.csv').read_bytes() != (tmp_path / 'second.csv').read_bytes()


def test_limits_can_come_from_a_joints_file(tmp_path):
    joints = tmp_path / 'joints.yaml'
    joints.write_text('joints: {joint_2: {limits: {velocity: 0.5}}}')
    assert main(['excite', ARM, *QUICK, '--joints', str(joints), '-o', str(tmp_path / 'm')]) == 0
    speeds = read_csv_table(tmp_path / 'm.csv').required_joints('qd', JOINTS)
    assert np.max(np.abs(speeds[:, 1])) < 0.4 < np.max(np.abs(speeds[:, 0]))


@pytest.mark.parametrize('words, message', [
    (['--start=0,much'], 'is not of the form Q1,Q2,...'),
    (['--start', '-1,0'], 'a value that begins with a minus is written --start=-1,...'),
    (['--start=9,0'], 'joint joint_1: the start 9 is not inside'),
    (['--duration', '0'], 'duration must be positive'),
    (['--harmonics', '1'], '1 harmonics cannot begin and end at rest'),
    (['--height', '9'], 'starts at height'),
    (['--share', '2'], 'share of the limits must be between 0 and 1'),
    (['--rate', '0'], '--rate must be positive'),
    (['--after', 'nothing.csv'], 'nothing.csv: cannot be read'),
    (['--criterion', 'beauty'], 'invalid choice'),
    (['--candidates', '3', '--iterations', '0', '-o', '/nowhere/at/all'], 'cannot be written'),
])
def test_wrong_input_is_one_line_and_exit_code_2(words, message, capsys):
    try:
        code = main(['excite', ARM, '--unchecked', *words])
    except SystemExit as error:
        code = error.code
    error = capsys.readouterr().err
    assert code == 2 and message in error


SOLID = str(URDF_FOLDER / 'demo_arm.urdf')
SHORT = ['--candidates', '10', '--iterations', '2', '--duration', '5']


def test_a_checked_motion_tells_its_distances_and_plans_the_way(tmp_path, capsys):
    pytest.importorskip('coal')
    name = tmp_path / 'motion'
    home = '0,0.3,0,-1.3,0,0.4,0'
    assert main(['excite', SOLID, *SHORT, f'--from={home}', '-o', str(name)]) == 0
    out = capsys.readouterr().out
    assert 'NOT CHECKED' not in out
    assert 'Lowest point ' in out and 'smallest distance ' in out
    assert 'A distance of 20 mm is kept (less in the narrow gaps below), which is proved' in out
    assert 'Not checked (connected by a joint): link_1 - link_2, ' in out
    there, back = (yaml.safe_load((tmp_path / f'motion_{word}.yaml').read_text())['points']
                   for word in ('approach', 'return'))
    start = read_csv_table(tmp_path / 'motion.csv').required_joints('q', [
        f'joint_{k}' for k in range(1, 8)])[0]
    np.testing.assert_allclose(there[0]['positions'], [float(x) for x in home.split(',')])
    np.testing.assert_allclose(there[-1]['positions'], start, atol=1e-9)
    np.testing.assert_allclose(back[-1]['positions'], there[0]['positions'])


def test_an_unchecked_motion_says_so_first(tmp_path, capsys):
    assert main(['excite', ARM, *QUICK, '-o', str(tmp_path / 'm')]) == 0
    out = capsys.readouterr().out
    assert out.startswith('NOT CHECKED for collisions: planar_2r has no collision geometry')
    assert 'Lowest point ' in out and 'smallest distance not known' in out
    pytest.importorskip('coal')
    assert main(['excite', SOLID, *SHORT, '--unchecked', '-o', str(tmp_path / 'm')]) == 0
    out = capsys.readouterr().out
    assert out.startswith('NOT CHECKED for collisions (--unchecked)')
    assert 'smallest distance ' in out and ' mm (' in out


@pytest.mark.parametrize('arm, words, message', [
    (ARM, [], 'no collision geometry between'),
    (ARM, [], '--unchecked designs a motion that nothing has checked'),
    (SOLID, ['--gravity=9.81,0,0'], '--no-floor'),
    (SOLID, ['--floor', 'deep'], 'is not a height in metres'),
    (SOLID, ['--floor', '0', '--no-floor'], 'not allowed with argument'),
    (SOLID, ['--obstacles', 'nothing.yaml'], 'nothing.yaml: cannot be read'),
    (SOLID, ['--srdf', 'nothing.srdf'], 'SRDF cannot be read'),
    (SOLID, ['--margin', '-1'], 'margin must be'),
    (SOLID, ['--start=0,1.9,0,-0.1,0,0,0'], 'a free one near it is --start='),
    (SOLID, ['--from=0,1.9,0,-0.1,0,0,0', *SHORT], 'touch in this posture'),
])
def test_surroundings_that_cannot_be_are_one_line(arm, words, message, capsys):
    pytest.importorskip('coal')
    try:
        code = main(['excite', arm, *words])
    except SystemExit as error:
        code = error.code
    error = capsys.readouterr().err
    assert code == 2 and message in error


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_a_bar_on_a_terminal():
    stream = Terminal()
    with Progress(stream) as progress:
        progress(0.5, 'half')
        progress(1.0, 'done')
    assert stream.getvalue().count('\r') == 2 and stream.getvalue().endswith('\n')
    assert '[################................]  50 %  half' in stream.getvalue()


def test_progress_is_a_few_lines_elsewhere():
    stream = io.StringIO()
    with Progress(stream) as progress:
        for k in range(101):
            progress(k / 100, 'working')
    assert stream.getvalue().splitlines() == [f'{k:3d} %  working' for k in (25, 50, 75, 100)]
