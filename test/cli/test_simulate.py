# SPDX-License-Identifier: Apache-2.0
"""Controllers compared on the command line."""

from pathlib import Path

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.errors import StateError
from robot_dynamics_ros.estimation.recordings.files import read_description
from robot_dynamics_ros.files.csv_table import write_csv_table

ROBOT = str(URDF_FOLDER / 'planar_2r.urdf')
PNG = b'\x89PNG'


@pytest.fixture
def trajectory(tmp_path):
    """Return a file with a swing of two joints in one second."""
    t = np.linspace(5.0, 6.0, 21)
    swing = 0.2 * np.sin(np.pi * (t - 5.0))**2
    path = tmp_path / 'swing.csv'
    write_csv_table(path, {'t': t, 'q_joint_1': swing, 'q_joint_2': -swing})
    return str(path)


def errors(text):
    """Return the numbers of every controller in the table."""
    rows = [line.split() for line in text.splitlines()[2:] if line]
    return {row[0]: row[1:] for row in rows}


def test_an_adaptive_law_learns_what_one_hand_of_two_carries(tmp_path, capsys):
    t, names = np.linspace(0.0, 1.0, 21), ('left_joint_2', 'right_joint_2')
    path = tmp_path / 'swing.csv'
    write_csv_table(path, {'t': t, **{f'q_{name}': 0.2 * np.sin(np.pi * t)**2 for name in names}})
    locks = [word for lock in ('*finger*', 'torso*', '*joint_[!2]') for word in ('--lock', lock)]
    code = main(['simulate', str(URDF_FOLDER / 'demo_two_arms.urdf'), *locks, '--trajectory',
                 str(path), '--payload', '1@0.3', '--controller', 'pid', '--controller',
                 'slotine_li', '--tips', 'right_hand,left_hand'])
    printed = capsys.readouterr()
    assert code == 0
    assert 'the payload is at right_hand, the first of right_hand, left_hand' in printed.err
    found = errors(printed.out)
    assert float(found['slotine_li'][1]) < 0.3 * float(found['pid'][1])


def test_controllers_are_compared_with_a_load_that_appears(tmp_path, trajectory, capsys):
    picture = tmp_path / 'errors.png'
    code = main(['simulate', ROBOT, '--trajectory', trajectory, '--payload', '1@0.4',
                 '--controller', 'computed_torque', '--controller', 'slotine_li_modified',
                 '--learn', 'load', '--plot', str(picture)])
    printed = capsys.readouterr().out
    assert code == 0
    assert '0-0.4 s' in printed and '0.4-1 s' in printed
    found = errors(printed)
    assert list(found) == ['computed_torque', 'slotine_li_modified']
    assert float(found['slotine_li_modified'][1]) < 0.5 * float(found['computed_torque'][1])
    assert found['computed_torque'][-1] == '-'
    assert float(found['slotine_li_modified'][-1]) > 0.1
    assert picture.read_bytes().startswith(PNG)


def test_the_same_seed_gives_the_same_numbers(trajectory, capsys):
    words = ['simulate', ROBOT, '--trajectory', trajectory, '--controller', 'pid',
             '--velocity-noise', '0.01', '--seed', '7']
    assert main(words) == 0
    first = capsys.readouterr().out
    assert main(words) == 0
    assert capsys.readouterr().out == first
    assert main([*words[:-1], '8']) == 0
    assert capsys.readouterr().out != first


def test_the_default_is_a_motion_and_two_controllers(capsys, monkeypatch):
    from robot_dynamics_ros.cli import simulate
    short = simulate.lively_motion
    monkeypatch.setattr(simulate, 'lively_motion',
                        lambda chain, duration: short(chain, duration=1.0))
    assert main(['simulate', ROBOT, '--parameter-error', '0']) == 0
    assert list(errors(capsys.readouterr().out)) == ['computed_torque', 'slotine_li']


def test_an_unstable_controller_is_named_and_the_others_go_on(trajectory, capsys, monkeypatch):
    from robot_dynamics_ros.cli import simulate
    run_closed_loop = simulate.run_closed_loop

    def failing(*arguments, name, **options):
        if name == 'computed_torque':
            raise StateError('the state is no longer finite')
        return run_closed_loop(*arguments, name=name, **options)

    monkeypatch.setattr(simulate, 'run_closed_loop', failing)
    code = main(['simulate', ROBOT, '--trajectory', trajectory, '--controller',
                 'computed_torque', '--controller', 'pid'])
    printed = capsys.readouterr().out
    assert code == 1
    assert 'computed_torque: unstable: the state is no longer finite' in printed
    assert '\npid ' in printed


@pytest.mark.parametrize(('words', 'message'), [
    (['--payload', 'heavy'], "'heavy' is not of the form MASS"),
    (['--payload', '1,2'], "'1,2' is not of the form MASS"),
    (['--payload', '-1'], 'cannot be negative'),
    (['--controller', 'magic'], "invalid choice: 'magic'"),
    (['--learn', 'everything', '--controller', 'slotine_li'], "'everything' cannot be learned"),
    (['--bandwidth', '-5', '--controller', 'slotine_li'], 'bandwidth must be finite and positive'),
    (['--trajectory', 'none.csv'], 'none.csv: cannot be read'),
    (['--parameter-error', '3'], 'parameter error must be between'),
])
def test_wrong_arguments_are_one_line_and_exit_code_2(capsys, words, message):
    try:
        code = main(['simulate', ROBOT, *words])
    except SystemExit as end:
        code = end.code
    printed = capsys.readouterr().err
    assert code == 2 and message in printed and printed.count('\n') == 1


def test_a_picture_that_cannot_be_written_is_named(tmp_path, trajectory, capsys):
    nowhere = str(tmp_path / 'no' / 'where.png')
    assert main(['simulate', ROBOT, '--trajectory', trajectory, '--controller', 'pid', '--plot',
                 nowhere]) == 2
    assert 'where.png: the plot cannot be written' in capsys.readouterr().err


def test_the_stiffness_of_the_joints_file_bends_the_arm(tmp_path, trajectory, capsys):
    words = ['simulate', ROBOT, '--trajectory', trajectory, '--controller', 'computed_torque']
    found = []
    for stiffness in ('', ', stiffness: 2000.0'):
        joints = tmp_path / 'joints.yaml'
        joints.write_text('joints: {joint_1: {rotor_inertia: 0.2' + stiffness + '}}\n')
        assert main([*words, '--joints', str(joints)]) == 0
        found.append(float(errors(capsys.readouterr().out)['computed_torque'][0]))
    assert found[1] > 1.2 * found[0]


def test_what_was_simulated_can_be_identified(tmp_path, capsys):
    """From excite to identify on files alone: the arm differs from its URDF by 30 %."""
    motion, recording = str(tmp_path / 'motion'), str(tmp_path / 'recording.csv')
    assert main(['excite', ROBOT, '-o', motion, '--candidates', '20', '--iterations', '20',
                 '--unchecked']) == 0
    assert main(['simulate', ROBOT, '--trajectory', f'{motion}.csv', '--controller', 'pid',
                 '--parameter-error', '0.3', '-o', recording]) == 0
    capsys.readouterr()
    assert main(['identify', recording, '--urdf', ROBOT, '-o', str(tmp_path)]) == 0
    assert 'PASSED' in capsys.readouterr().out


def test_a_bag_holds_the_description_too(tmp_path, trajectory):
    bag = tmp_path / 'bag'
    assert main(['simulate', ROBOT, '--controller', 'pid', '--trajectory', trajectory, '-o',
                 str(bag)]) == 0
    assert read_description(bag) == Path(ROBOT).read_text(encoding='utf-8')


def test_feedforward_with_identified_parameters_is_better_than_with_those_of_the_urdf(
        tmp_path, capsys):
    arm = str(URDF_FOLDER / 'planar_2r.urdf')
    common = ['simulate', arm, '--parameter-error', '0.3', '--rate', '200']
    assert main([*common, '--controller', 'computed_torque', '-o', str(tmp_path / 'run.csv')]) == 0
    assert main(['identify', str(tmp_path / 'run.csv'), '--urdf', arm, '-o', str(tmp_path)]) == 0
    capsys.readouterr()

    def errors(*words):
        assert main([*common, *words]) == 0
        rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
        return {row[0]: float(row[1]) for row in rows}

    before = errors('--controller', 'pid', '--controller', 'feedforward')
    after = errors('--controller', 'feedforward', '--parameters',
                   str(tmp_path / 'parameters.yaml'))
    assert before['feedforward'] < 0.5 * before['pid']
    assert after['feedforward'] < 0.2 * before['feedforward']
