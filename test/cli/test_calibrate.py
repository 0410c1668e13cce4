# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics calibrate, and what other commands do with the folder of a calibration."""

import io

import pytest
from support.calibration import Cell

from robot_dynamics_ros.calibration.stages import Stage
from robot_dynamics_ros.cli.calibrate import drive
from robot_dynamics_ros.cli.main import main


class Client:
    """Stands for a calibration node."""

    def __init__(self, *statuses):
        self.waiting, self.status, self.said = list(statuses), 'WAITING', []

    def call(self, word):
        self.said.append(word)
        return word == 'next', 'no motion is running' if word == 'stop' else ''

    def spin(self, seconds):
        self.status = self.waiting.pop(0) if self.waiting else self.status
        if self.status == 'Ctrl-C':
            raise KeyboardInterrupt


@pytest.mark.parametrize(('end', 'code'), [
    ('DONE [100 %] result: PASSED: held-out torque error 2 %', 0),
    ('DONE [100 %] result: NOT PASSED: held-out', 1)])
def test_lines_confirm_and_stop_and_the_verdict_is_the_exit_code(capsys, end, code):
    client = Client('WAITING a', 'MOVING b', 'STOPPED c', end)
    assert drive(client, io.StringIO('\ns\n')) == code
    assert client.said == ['next', 'stop']
    printed = capsys.readouterr().out
    assert 'stop refused: no motion is running' in printed and end in printed


def test_leaving_does_not_stop_but_ctrl_c_does():
    client = Client('WAITING a')
    assert drive(client, io.StringIO('q\n')) == 1
    assert client.said == []
    client = Client('MOVING a', 'Ctrl-C')
    with pytest.raises(KeyboardInterrupt):
        drive(client, io.StringIO(''))
    assert client.said == ['stop']


@pytest.fixture(scope='module')
def folders(tmp_path_factory):
    """Return folders of two calibrations, the second with another friction and payload."""
    paths = []
    for number, changes in enumerate(({}, {'coulomb': 3.0})):
        path = tmp_path_factory.mktemp('calibrations') / f'run_{number}'
        cell = Cell(path, friction=changes)
        cell.until(lambda run: run.over)
        assert cell.run.succeeded
        paths.append(path)
    return paths


def test_compare_shows_what_has_changed(folders, capsys):
    assert main(['compare', *map(str, folders)]) == 0
    printed = capsys.readouterr().out
    assert 'verdict' in printed
    row, = (line for line in printed.splitlines() if line.startswith('coulomb_friction joint_2'))
    assert row.split()[-1] == 'changed'
    assert 'joint_2: coulomb friction' in printed and 'grease' in printed
    assert main(['compare', str(folders[0]), str(folders[0])]) == 0
    assert 'no change beyond the uncertainty' in capsys.readouterr().out


def test_identify_takes_the_folder_of_a_calibration(folders, tmp_path, capsys):
    assert main(['identify', str(folders[0]), '-o', str(tmp_path), '--write-urdf']) == 0
    assert Stage.MOTION.value in capsys.readouterr().out
    assert (tmp_path / 'parameters.yaml').is_file() and (tmp_path / 'identified.urdf').is_file()


def test_identify_says_where_an_interrupted_run_has_recorded_nothing(tmp_path, capsys):
    cell = Cell(tmp_path / 'run')
    cell.until(lambda run: run.stage is Stage.STATIC_TEST)
    assert main(['identify', str(tmp_path / 'run')]) == 2
    assert 'nothing to identify from yet' in capsys.readouterr().err


def test_identify_of_a_folder_that_is_no_calibration_takes_it_for_a_bag(tmp_path, capsys):
    assert main(['identify', str(tmp_path)]) == 2
    assert 'cannot be read as a bag' in capsys.readouterr().err
