# SPDX-License-Identifier: Apache-2.0
from dataclasses import replace

import numpy as np
import pytest
from support.robots import URDF_FOLDER
from support.tolerances import SAME_ALGEBRA

from robot_dynamics_ros import Trajectory, chain_from_urdf, compile_model
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.picture.drawn_robot import drawn_robot
from robot_dynamics_ros.view.panels import bars, facts, intervals, number
from robot_dynamics_ros.view.viewed_robot import ShownMotion, ViewedRobot

DEMO_ARM = URDF_FOLDER / 'demo_arm.urdf'


@pytest.fixture(scope='module')
def robot():
    return ViewedRobot(drawn_robot(DEMO_ARM), chain_from_urdf(DEMO_ARM))


@pytest.fixture
def posture(robot, rng):
    return dict(zip(robot.chain.joint_names, rng.uniform(-1.0, 1.0, len(robot.chain))))


def test_weights_are_those_of_the_model(robot, posture):
    expected = compile_model(robot.chain).gravity_torque(np.array(list(posture.values())))
    np.testing.assert_allclose(robot.gravity_torque(posture), expected, atol=SAME_ALGEBRA)


def test_weights_are_those_of_identified_parameters(robot, posture):
    mlc = compile_model(robot.chain).mlc
    estimate = MlcEstimate.not_estimated(robot.chain, mlc.with_values(2.0 * mlc.values))
    np.testing.assert_allclose(replace(robot, estimate=estimate).gravity_torque(posture),
                               2.0 * robot.gravity_torque(posture), atol=1e-9)


def test_each_axis_is_that_of_its_joint(robot, posture):
    poses = robot.drawn.link_poses(posture)
    for frame, joint, link in zip(robot.axis_frames(posture), robot.chain.joints,
                                  robot.chain.link_names):
        axis = poses[link].rotation @ robot.drawn.tree.joints[joint.name].axis
        np.testing.assert_allclose(np.abs(frame.rotation[:, 2] @ axis), 1.0, atol=1e-9)


def test_every_minimal_parameter_belongs_to_one_body(robot):
    names = [row[0] for body in range(len(robot.chain)) for row in robot.parameters_of(body)]
    assert sorted(names) == sorted(compile_model(robot.chain).mlc.names)


def test_a_fixed_link_belongs_to_the_body_that_carries_it(robot):
    assert robot.body_of(robot.chain.tip) == len(robot.chain) - 1
    assert robot.body_of(robot.chain.base) is None


def test_the_lowest_point_needs_only_the_hulls(robot, posture):
    points = np.concatenate([solid.vertices for solid in robot.drawn.placed(posture)])
    np.testing.assert_allclose(robot.lowest_point(posture)[2], points[:, 2].min(),
                               atol=SAME_ALGEBRA)


def test_what_does_not_move_can_be_left_out_of_the_lowest_point(robot, posture):
    poses = robot.drawn.link_poses(posture)
    points = np.concatenate([solid.moved(poses[link]).vertices for link, parts in
                             robot.drawn.solids.items() for solid in parts
                             if link != 'base_link'])
    np.testing.assert_allclose(robot.lowest_point(posture, moving=True)[2], points[:, 2].min(),
                               atol=SAME_ALGEBRA)
    assert robot.lowest_point(posture)[2] == pytest.approx(0.0)  # the foot


def test_the_lowest_point_of_a_motion(robot):
    name = robot.chain.joint_names[1]
    motion = ShownMotion.of(Trajectory((name,), [0.0, 2.0], [[0.0], [1.9]]))
    when, point = motion.lowest(robot, {}, count=3)
    assert when == 2.0
    assert point[2] == pytest.approx(robot.lowest_point({name: 1.9}, moving=True)[2])
    assert motion.at(0.0) == {name: 0.0} and motion.at(9.0)[name] == pytest.approx(1.9)


def test_identified_bodies_stand_beside_those_of_the_urdf(robot):
    both = replace(robot, identified=robot.chain)
    alone, beside = (len(each.scene({}, ['inertia'])) for each in (robot, both))
    assert beside == 2 * alone
    assert len(both.scene({}, [])) == len(robot.scene({}, []))


def test_a_robot_without_a_chain_is_only_looked_at():
    robot = ViewedRobot(drawn_robot(DEMO_ARM))
    assert robot.axis_frames({}) == [] and robot.parameters_of(0) == []
    assert robot.body_of('link_1') is None and robot.model is None
    assert robot.scene({}, ['axes', 'inertia', 'gravity'])
    assert robot.gravity_torque({}).shape == (0,)


def test_names_from_outside_cannot_become_part_of_the_page():
    evil = '<script>alert(1)</script>'
    for text in (bars([evil], [1.0], [np.nan], ['N m'], evil),
                 intervals([(evil, evil, 1.0, 2.0, 0.1)], evil), facts([(evil, evil)], evil)):
        assert '<script' not in text and '&lt;script' in text


def test_bars_are_red_beyond_the_limit_and_never_wider_than_the_panel():
    text = bars(['a', 'b', 'c'], [30.0, -5.0, np.nan], [10.0, 10.0, 10.0], ['N m'] * 3, 'T')
    assert text.count('#dc2626') == 1 and 'width:50.0%' in text and '30 of 10 N m' in text
    assert number(np.nan) == '–' and number(-2e-17) == '0' and number(-14.63) == '-14.6'


def test_an_interval_is_drawn_only_where_it_is_known():
    text = intervals([('a', 'kg', 1.0, 2.0, 0.25), ('b', 'kg', 1.0, np.nan, np.nan)], 'T')
    assert '2 ± 0.5' in text and text.count('border-radius:3px') == 1
    assert 'learned' in text
    assert 'learned' not in intervals([('b', 'kg', 1.0, np.nan, np.nan)], 'T')
