# SPDX-License-Identifier: Apache-2.0
"""The calibration node: asks, plays, tells where it is, and stops safely."""

import time

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from rclpy.lifecycle import TransitionCallbackReturn
from std_srvs.srv import Trigger
from support.calibration import two_planar_arms
from support.messages import assert_brakes, joint_state_message, published, publisher

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.calibration.folder import CalibrationFolder, ChainChoice
from robot_dynamics_ros.calibration.stages import Condition, Stage
from robot_dynamics_ros.nodes.calibration import PERIOD, CalibrationNode
from robot_dynamics_ros.nodes.support.conversion import seconds, trajectory_from_message

pytestmark = pytest.mark.ros


class Bench:
    """A node with a controller and joint states, and a clock that the test turns."""

    def __init__(self, node, model, monkeypatch):
        self.node, self.model = node, model
        self.sent = published(node, '/joint_trajectory')
        self.status = published(node, '/status')
        self.progress = published(node, '/progress')
        monkeypatch.setattr(publisher(node, '/joint_trajectory'), 'get_subscription_count',
                            lambda: 1)

    def tick(self, *, states=True, offset=(0.0, 0.0)):
        for _ in range(4):
            self.node.now += PERIOD / 4
            q, qd, qdd = np.array([0.2, -0.3]), np.zeros(2), np.zeros(2)
            if self.sent:
                trajectory = trajectory_from_message(self.sent[-1])
                q, qd, qdd, _ = trajectory.sample(
                    max(0.0, self.node.now - seconds(self.sent[-1].header.stamp)))
            if states:
                effort = self.model.torque(q, qd, qdd) + 0.5 * np.tanh(qd / 0.01)
                self.node.receive(joint_state_message(self.node.now, q + offset, qd, effort))
        self.node.tick(PERIOD)

    def until(self, condition, longest=400.0, **options):
        end, patience = self.node.now + longest, time.monotonic() + 900.0
        while not condition(self.node.calibration):
            assert self.node.now < end and time.monotonic() < patience, self.status[-1:]
            if self.node.working:
                time.sleep(0.01)
                self.node.tick(PERIOD)
            else:
                self.tick(**options)


@pytest.fixture
def bench(make_node, planar, monkeypatch, tmp_path):
    def make(**parameters):
        settings = {'duration': 4.0, 'harmonics': 3, 'share': 0.8, 'unchecked': True,
                    'rehearsal_velocity': 0.5, 'postures': 2,
                    'folder': str(tmp_path / 'calibration'), **parameters}
        node = make_node(CalibrationNode, now=100.0, robot_description=planar, **settings)
        return Bench(node, compile_model(chain_from_urdf(planar)), monkeypatch)
    return make


def moving(stage):
    return lambda run: run.stage is stage and run.condition is Condition.MOVING


def call(cell, word):
    return cell.node.call(Trigger.Request(), f'~/{word}')


def test_nothing_moves_or_is_written_before_next(bench, tmp_path):
    cell = bench()
    for _ in range(10):
        cell.tick()
    assert cell.sent == [] and not (tmp_path / 'calibration').exists()
    assert 'WAITING' in cell.status[-1].data and 'nothing moves' in cell.status[-1].data
    assert call(cell, 'next').success
    assert not call(cell, 'next').success
    cell.until(lambda run: run.stage is Stage.STATIC_TEST)
    assert cell.sent == [] and (tmp_path / 'calibration' / 'log.txt').is_file()


@pytest.mark.slow
def test_a_whole_run(bench, tmp_path):
    cell = bench(auto=True, exit_at_end=True)
    cell.until(lambda run: run.over)
    cell.tick()
    assert cell.node.finished and not cell.node.failure
    assert 'PASSED' in cell.status[-1].data and 'NOT' not in cell.status[-1].data
    assert cell.progress[-1].data == 1.0
    folder = tmp_path / 'calibration'
    assert {each.name for each in folder.iterdir()} == {
        'recording', 'robot.urdf', 'joints.yaml', 'parameters.yaml', 'identified.urdf',
        'report.html', 'log.txt', 'calibration.yaml'}
    assert {each.name for each in (folder / 'recording').iterdir()} == {
        'static_test', 'rehearsal', 'full_motion'}


def test_stop_brakes_and_next_repeats_the_stage(bench):
    cell = bench(auto=True)
    assert not call(cell, 'stop').success
    cell.until(moving(Stage.STATIC_TEST))
    for _ in range(80):
        cell.tick()
    assert call(cell, 'stop').success
    assert_brakes(cell.sent[-1])
    assert cell.node.calibration.condition is Condition.STOPPED
    assert call(cell, 'next').success
    cell.until(moving(Stage.STATIC_TEST))


@pytest.mark.parametrize(('options', 'reason'), [
    ({'states': False}, 'no joint state'), ({'offset': (0.5, 0.0)}, 'away from the motion')])
def test_trouble_stops_the_robot_and_says_why(bench, options, reason):
    cell = bench(auto=True)
    cell.until(moving(Stage.STATIC_TEST))
    for _ in range(60):
        cell.tick()
    cell.until(lambda run: run.condition is Condition.STOPPED, 5.0, **options)
    assert reason in cell.status[-1].data
    assert_brakes(cell.sent[-1])


def test_work_that_ends_while_the_node_comes_to_rest_is_done_once(bench):
    cell = bench()
    assert call(cell, 'next').success
    cell.node.tick(PERIOD)  # the work begins
    assert cell.node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert cell.node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    cell.tick()
    cell.until(lambda run: not cell.node.working)
    assert cell.node.calibration.condition is Condition.WAITING
    assert cell.node.calibration.stage is Stage.STATIC_TEST
    assert cell.node.calibration.analysis.folder.done() == {Stage.DESCRIPTION.value}


def test_what_was_recorded_is_written_when_the_node_ends(bench, tmp_path):
    cell = bench(auto=True)
    cell.until(moving(Stage.STATIC_TEST))
    for _ in range(60):
        cell.tick()
    cell.node.rest()
    assert (tmp_path / 'calibration' / 'recording' / 'static_test_stopped').is_dir()


def test_the_robot_is_braked_when_the_node_ends_or_fails(bench):
    cell = bench(auto=True)
    cell.until(moving(Stage.STATIC_TEST))
    for _ in range(60):
        cell.tick()
    cell.node.rest()
    assert_brakes(cell.sent[-1])


def test_a_description_that_is_sent_again_does_not_disturb(bench):
    cell = bench()
    run = cell.node.calibration
    cell.node.use_robot(cell.node.robot)
    assert cell.node.calibration is run


def test_without_collision_geometry_it_asks_for_unchecked(bench):
    cell = bench(auto=True, unchecked=False)
    cell.until(lambda run: run.condition is Condition.STOPPED)
    assert 'collision' in cell.status[-1].data
    assert cell.sent == []


@pytest.mark.parametrize(('parameters', 'text'), [
    ({'floor': 'low'}, 'floor'),
    ({'payload': True}, 'calibrate the arm')])
def test_bad_parameters_are_one_line(make_node, planar, tmp_path, capfd, parameters, text):
    node = make_node(CalibrationNode, start=False, robot_description=planar,
                     folder=str(tmp_path / 'none'), **parameters)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert text in capfd.readouterr().err


@pytest.mark.parametrize(('payload_tip', 'text'), [
    ('', 'name it: payload_tip:=left_load or payload_tip:=right_load'),
    ('elbow', "no tip 'elbow'; tips: left_load, right_load"), ('right_load', '')])
def test_a_payload_of_several_tips_names_its_tip(make_node, tmp_path, capfd, payload_tip, text):
    folder, description = CalibrationFolder(tmp_path / 'two'), two_planar_arms()
    tips = ('left_load', 'right_load')
    folder.begin(description, 'format: 1\n', 'two_planar_arms', ChainChoice(tips=tips))
    folder.parameters.write_text('')
    node = make_node(CalibrationNode, start=False, robot_description=description, tips=list(tips),
                     folder=str(folder.path), payload=True, payload_tip=payload_tip,
                     unchecked=True)
    failed = node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert failed == bool(text) and text in capfd.readouterr().err
    if not failed:
        assert node.calibration.analysis.chain.tip == 'right_load'


def test_a_calibration_takes_several_tips(make_node, tmp_path):
    node = make_node(CalibrationNode, robot_description=two_planar_arms(), unchecked=True,
                     tips=['left_load', 'right_load'], folder=str(tmp_path / 'two'))
    chain = node.calibration.analysis.chain
    assert chain.tip_names == 'left_load, right_load' and len(chain) == 4


def test_a_folder_with_a_calibration_is_not_overwritten(make_node, planar, tmp_path, capfd):
    (tmp_path / 'calibration.yaml').write_text('format: 1\nstages: []\n')
    node = make_node(CalibrationNode, start=False, robot_description=planar,
                     folder=str(tmp_path))
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert 'resume' in capfd.readouterr().err
