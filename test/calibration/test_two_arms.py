# SPDX-License-Identifier: Apache-2.0
"""The calibration of a robot with two arms, and of what one of them carries."""

import numpy as np
import pytest
from support.calibration import QUICK, Cell, two_planar_arms

from robot_dynamics_ros import chain_from_urdf_text, payload_inertia, read_parameters
from robot_dynamics_ros.calibration.calibration import CalibrationSettings
from robot_dynamics_ros.calibration.folder import CalibrationFolder
from robot_dynamics_ros.calibration.motions import payload_motion
from robot_dynamics_ros.calibration.surroundings import Surroundings
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.errors import ChainError, ParameterError
from robot_dynamics_ros.motion.playing.player import PlayerSettings

TIPS = ('left_load', 'right_load')
MASS, CENTRE = 1.2, np.array([0.05, 0.03, 0.0])


@pytest.fixture(scope='module')
def calibrated(tmp_path_factory):
    cell = Cell(tmp_path_factory.mktemp('two_arms') / 'result', text=two_planar_arms(), tips=TIPS)
    cell.until(lambda run: run.over)
    return cell


def test_a_whole_run_identifies_both_arms(calibrated):
    assert calibrated.run.succeeded, calibrated.lines
    folder = calibrated.analysis.folder
    estimate = read_parameters(folder.parameters, calibrated.chain)
    true = calibrated.cell.robot.model.parameters
    np.testing.assert_allclose(estimate.mlc.values, true, atol=0.05 * np.max(np.abs(true)))
    assert any('to left_load, right_load' in line for line in calibrated.lines)


def test_the_folder_remembers_the_tips(calibrated):
    chain, _ = CalibrationFolder(calibrated.analysis.folder.path).robot()
    assert tuple(tip.link for tip in chain.tips) == TIPS
    assert chain.joint_names == calibrated.chain.joint_names


@pytest.mark.parametrize('tip', TIPS)
def test_a_payload_is_found_on_the_tip_that_is_named(calibrated, tip):
    folder = calibrated.analysis.folder
    cell = Cell(folder.path, text=two_planar_arms(), tips=TIPS, resume=True, payload_tip=tip,
                settings=CalibrationSettings(
                    QUICK, PlayerSettings(deviation=0.3, approach=1.0, settle=0.5), auto=True,
                    payload=True))
    cell.cell.robot.carry(payload_inertia(MASS, CENTRE, np.zeros((3, 3))), tip)
    cell.until(lambda run: run.over)
    load = cell.analysis.load
    assert load.tip == tip and load.mass_known, cell.lines
    assert abs(load.mass - MASS) < 0.05 * MASS
    moved = np.ptp(cell.orders[-1].trajectory.positions, axis=0) > 0.0
    assert moved.tolist() == [name.startswith(tip[:4]) for name in cell.chain.joint_names]


@pytest.mark.parametrize('tip', TIPS)
def test_a_payload_of_a_joints_file_is_on_the_tip_that_it_names(tmp_path, tip):
    chain, path = chain_from_urdf_text(two_planar_arms(), tips=TIPS), tmp_path / 'joints.yaml'
    path.write_text(f'payload: {{tip: {tip}, mass: 1.0}}')
    loaded = read_joints_file(path).applied_to(chain)
    heavier = [after.mass - before.mass for before, after in zip(chain.links, loaded.links)]
    expected = [float(name == f'{tip[:-5]}_link_2') for name in chain.link_names]
    np.testing.assert_allclose(heavier, expected, atol=1e-12)


def test_the_joints_before_the_tip_are_swung_with_leaders_of_followers():
    chain = chain_from_urdf_text(two_planar_arms().replace(
        '</robot>', """<link name="finger"><inertial><mass value="0.1"/><inertia ixx="1e-4"
        iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="finger" type="revolute"><parent link="right_load"/><child link="finger"/>
        <axis xyz="0 0 1"/><mimic joint="left_joint_2"/><limit lower="-1" upper="1" velocity="1"
        effort="1"/></joint></robot>"""), tips=['finger', 'left_load'])
    motion = payload_motion(chain, np.zeros(4), Surroundings())
    assert (np.ptp(motion.positions, axis=0) > 0.0).tolist() == [False, True, True, True]


def test_a_payload_of_a_joints_file_names_one_of_several_tips(tmp_path):
    chain, path = chain_from_urdf_text(two_planar_arms(), tips=TIPS), tmp_path / 'joints.yaml'
    path.write_text('payload: {mass: 1.0}')
    with pytest.raises(ParameterError, match=r'{tip: left_load} or payload: {tip: right_load}'):
        read_joints_file(path).applied_to(chain)
    path.write_text('payload: {mass: 1.0, tip: elbow}')
    with pytest.raises(ParameterError, match="has no tip 'elbow'; tips: left_load, right_load"):
        read_joints_file(path).applied_to(chain)
    path.write_text('payload: {mass: 1.0, tip: [elbow]}')
    with pytest.raises(ParameterError, match='tip must be a name'):
        read_joints_file(path)


def test_a_tip_that_is_none_is_refused(tmp_path):
    with pytest.raises(ChainError, match="no tip 'elbow'"):
        Cell(tmp_path / 'result', text=two_planar_arms(), tips=TIPS, payload_tip='elbow')
