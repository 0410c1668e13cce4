# SPDX-License-Identifier: Apache-2.0
"""The staged run: confirmed, watched, recorded, stopped and continued."""

import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from support.calibration import QUICK, TICK, Cell

from robot_dynamics_ros import read_parameters, read_recording
from robot_dynamics_ros.calibration.calibration import Calibration, CalibrationSettings
from robot_dynamics_ros.calibration.folder import CalibrationFolder
from robot_dynamics_ros.calibration.stages import CALIBRATION, Condition, Stage
from robot_dynamics_ros.calibration.surroundings import Surroundings
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.motion.playing.player import PlayerSettings

PLAYER = PlayerSettings(deviation=0.3, approach=1.0, settle=0.5)
ASKING = CalibrationSettings(motions=QUICK, player=PLAYER)


def moving(stage):
    return lambda run: run.stage is stage and run.condition is Condition.MOVING


def stopped(run):
    return run.condition is Condition.STOPPED


@pytest.fixture(scope='module')
def calibrated(tmp_path_factory):
    cell = Cell(tmp_path_factory.mktemp('calibration') / 'result')
    progress = []
    cell.until(lambda run: progress.append(run.status(cell.now).progress) or run.over)
    return cell, progress


def test_a_whole_run_identifies_the_robot(calibrated):
    cell, _ = calibrated
    assert cell.run.succeeded, cell.lines
    folder = cell.analysis.folder
    for path in (folder.parameters, folder.urdf, folder.report, folder.joints,
                 folder.description):
        assert path.is_file(), path
    assert folder.done() == {stage.value for stage in CALIBRATION}
    estimate = read_parameters(folder.parameters, cell.chain)
    true = cell.cell.robot.model
    np.testing.assert_allclose(estimate.mlc.values, true.parameters,
                               atol=0.05 * np.max(np.abs(true.parameters)))
    assert 'torque (sure)' in folder.joints.read_text()
    assert 'use it: ros2 launch' in (folder.path / 'log.txt').read_text()


def test_progress_rises_to_one(calibrated):
    _, progress = calibrated
    assert progress[0] == 0.0 and progress[-1] == 1.0
    assert all(later >= earlier - 0.05 for earlier, later in pairwise(progress))


def test_the_folder_can_be_read_again(calibrated):
    cell, _ = calibrated
    folder = CalibrationFolder(cell.analysis.folder.path)
    chain, file = folder.robot()
    assert chain.joint_names == cell.chain.joint_names
    recording, = folder.recordings(Stage.MOTION.value, chain)
    assert recording.t[-1] - recording.t[0] > 2 * QUICK.duration
    assert file.effort_semantics(chain).gain.tolist() == [1.0, 1.0]


def test_nothing_moves_before_it_is_confirmed(tmp_path):
    cell = Cell(tmp_path / 'result', settings=ASKING)
    for _ in range(20):
        cell.tick()
    assert cell.orders == [] and cell.run.condition is Condition.WAITING
    assert cell.run.confirm() == ''
    assert cell.run.confirm() != ''  # once is enough
    cell.until(lambda run: run.condition is Condition.WAITING)
    assert cell.run.stage is Stage.STATIC_TEST and cell.orders == []
    assert 'next:' in cell.run.status(cell.now).text


def test_a_stop_brakes_along_the_path_and_the_stage_can_be_repeated(tmp_path):
    cell = Cell(tmp_path / 'result')
    cell.until(moving(Stage.STATIC_TEST))
    for _ in range(80):
        cell.tick()
    order = cell.run.stop(cell.now, 'asked to stop')
    cell.send(order)
    path = cell.orders[-2]
    elapsed = cell.now - path.start
    close = min(np.abs(path.trajectory.sample(elapsed + late).q
                       - order.trajectory.positions[-1]).max()
                for late in np.linspace(0.0, 0.5, 100))
    assert close < 1e-2
    for _ in range(40):
        cell.tick()
    assert stopped(cell.run) and np.all(np.abs(cell.cell.robot.qd) < 1e-2)
    assert not cell.analysis.folder.done() - {Stage.DESCRIPTION.value}
    assert cell.run.confirm() == ''
    cell.until(lambda run: run.stage is Stage.REHEARSAL)


def test_a_way_that_takes_long_to_find_begins_after_it_was_found(tmp_path):
    cell = Cell(tmp_path / 'result')

    class Maze(Surroundings):
        def way(self, first, last):
            cell.now += 30.0
            return np.array([first, last])

    cell.run = Calibration(cell.analysis, cell.settings, Maze())
    cell.until(moving(Stage.STATIC_TEST))
    assert cell.orders[-1].start > cell.now - TICK
    cell.until(lambda run: run.stage is Stage.REHEARSAL)


@pytest.mark.parametrize('full', ['add_recording', 'add_stage', 'log'])
def test_a_full_disk_keeps_no_robot_from_being_braked(tmp_path, monkeypatch, full):
    cell = Cell(tmp_path / 'result')
    cell.until(moving(Stage.STATIC_TEST))
    for _ in range(80):
        cell.tick()

    def fail(*arguments):
        raise ParameterError('No space left on device')

    monkeypatch.setattr(cell.analysis.folder, full, fail)
    order = cell.run.stop(cell.now, 'asked to stop')
    assert order is not None and np.all(order.trajectory.velocities[-1] == 0.0)
    assert stopped(cell.run)
    cell.tick()
    assert any('No space left' in line for line in cell.lines)
    monkeypatch.undo()
    cell.tick()
    assert stopped(cell.run) and cell.run.work is None
    assert cell.run.confirm() == ''
    cell.until(moving(Stage.STATIC_TEST))


def test_a_stop_writes_nothing_before_the_brake_is_sent(tmp_path):
    cell = Cell(tmp_path / 'result')
    cell.until(moving(Stage.STATIC_TEST))
    for _ in range(80):
        cell.tick()
    folder = cell.analysis.folder
    before = folder.read(), folder.log_file.read_text(), list(tmp_path.rglob('*'))
    assert cell.run.stop(cell.now, 'asked to stop') is not None
    assert (folder.read(), folder.log_file.read_text(), list(tmp_path.rglob('*'))) == before
    assert 'still being written' in cell.run.confirm()
    cell.tick()
    assert folder.read()['stages'][-1]['result'] == 'stopped: asked to stop'
    assert list(tmp_path.rglob('static_test_stopped'))


def test_joint_states_that_stay_away_stop_the_robot(tmp_path):
    cell = Cell(tmp_path / 'result')
    cell.until(moving(Stage.STATIC_TEST))
    cell.hidden = True
    cell.until(stopped, 5.0)
    assert 'no joint state' in cell.run.status(cell.now).text


def test_a_torque_that_nobody_expects_stops_the_robot(tmp_path):
    cell = Cell(tmp_path / 'result')
    cell.until(moving(Stage.MOTION))
    for _ in range(60):
        cell.tick()
    wide = cell.run.watch.band
    cell.push = np.array([0.0, 12.0])
    cell.until(stopped, 3.0)
    assert 'touch something' in cell.run.status(cell.now).text
    assert np.all(np.isfinite(wide))


def test_the_band_around_the_expected_torque_shrinks(tmp_path):
    cell = Cell(tmp_path / 'result')
    cell.until(moving(Stage.REHEARSAL))
    cell.until(lambda run: np.all(np.isfinite(run.watch.deviation)))
    first = cell.run.watch.deviation.copy()
    cell.until(moving(Stage.MOTION))
    assert np.all(cell.run.watch.deviation < first)


def test_a_robot_that_leaves_the_motion_is_stopped(tmp_path):
    cell = Cell(tmp_path / 'result')
    cell.until(moving(Stage.STATIC_TEST))
    cell.cell.hold()  # the controller ignores us
    cell.until(stopped, 60.0)
    assert 'away from the motion' in cell.run.status(cell.now).text


def test_efforts_that_are_not_clear_end_the_run_before_anything_fast(tmp_path):
    cell = Cell(tmp_path / 'result', meaning=lambda torque: torque[::-1])
    cell.until(stopped)
    assert cell.run.stage is Stage.STATIC_TEST
    assert any(line.startswith('CHECK') for line in cell.lines)


def test_a_proposal_waits_for_a_person_whatever_auto_says(tmp_path):
    cell = Cell(tmp_path / 'result', meaning=lambda torque: torque / 11.0)
    cell.until(lambda run: run.stage is Stage.REHEARSAL)
    for _ in range(20):
        cell.tick()
    assert cell.run.condition is Condition.WAITING
    assert 'CONFIRM' in cell.run.status(cell.now).text
    gain = cell.analysis.folder.robot()[1].effort_semantics(cell.chain).gain
    np.testing.assert_allclose(gain, 11.0, rtol=0.4)
    assert cell.run.confirm() == ''
    cell.until(lambda run: run.over)
    assert cell.run.succeeded


#: A calibration that is killed in the middle of its full motion.
KILLED = """
import os, signal, sys
from support.calibration import Cell
from robot_dynamics_ros.calibration.stages import Condition, Stage
cell = Cell(sys.argv[1])
cell.until(lambda run: run.stage is Stage.MOTION and run.condition is Condition.MOVING)
for _ in range(180):
    cell.tick()
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_run_that_was_killed_leaves_a_recording_and_is_continued(tmp_path, capsys):
    path = tmp_path / 'result'
    code = subprocess.run([sys.executable, '-c', KILLED, path], env={
        **os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}).returncode
    assert code == -signal.SIGKILL
    journal = path / 'recording' / 'full_motion.part.csv'
    with journal.open('a') as file:
        file.write('12.5,0.3')  # a line that did not come to its end
    # it can be analysed
    assert main(['identify', str(path), '-o', str(tmp_path / 'part')]) in (0, 1)
    assert 'full motion, interrupted after' in capsys.readouterr().out
    # and continued: the stage is repeated, and what was recorded is kept as a bag
    again = Cell(path, resume=True)
    again.until(lambda run: run.over)
    assert again.run.succeeded and not journal.exists()
    for text in ('rehearsal: done in an earlier run', 'full motion: was interrupted'):
        assert any(text in line for line in again.lines)
    part = read_recording(path / 'recording' / 'full_motion_interrupted', again.chain)
    assert part.t[-1] - part.t[0] > 5.0 and np.all(np.isfinite(part.tau))
    assert {each['result'] for each in again.analysis.folder.read()['stages']
            if each['name'] == 'full motion'} == {'interrupted: the program was ended', 'done'}


def test_a_journal_that_cannot_be_written_does_not_disturb_the_motion(tmp_path, monkeypatch):
    cell = Cell(tmp_path / 'result')
    cell.until(lambda run: run.condition is Condition.MOVING)

    def full(*rows):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(cell.analysis._journal, '_file', SimpleNamespace(writelines=full))
    cell.until(lambda run: run.stage is Stage.REHEARSAL)
    assert sum('No space left on device; the recording is in memory' in line
               for line in cell.lines) == 1


def test_a_payload_is_found_in_a_calibrated_folder(calibrated):
    first, _ = calibrated
    from robot_dynamics_ros.chain.inertia import payload_inertia

    cell = Cell(first.analysis.folder.path, resume=True)
    cell.cell.robot.carry(payload_inertia(1.2, [0.05, 0.0, 0.0], np.zeros((3, 3))))
    cell.with_settings(payload=True)
    cell.until(lambda run: run.over or stopped(run))
    assert cell.run.over, cell.lines
    text = '\n'.join(cell.lines)
    assert 'mass' in cell.analysis.summary or 'NOT KNOWN' in cell.analysis.summary
    assert 'not identifiable' in text or 'set_payload' in text


def test_a_robot_without_limits_is_refused_before_it_moves(tmp_path):
    cell = Cell(tmp_path / 'result')
    cell.analysis.chain = replace(cell.chain, joints=tuple(
        replace(joint, velocity_limit=np.nan) for joint in cell.chain.joints))
    cell.until(stopped)
    assert 'velocity limit of joint_1, joint_2' in cell.run.status(cell.now).text
    assert cell.orders == []
