# SPDX-License-Identifier: Apache-2.0
"""The excitation node: plays, tells how far it is, and stops safely."""

import re

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from rclpy.lifecycle import TransitionCallbackReturn
from std_msgs.msg import String
from std_srvs.srv import Trigger
from support.messages import (
    assert_brakes,
    diagnostics,
    joint_state_message,
    published,
    publisher,
)

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.nodes.excitation import PERIOD, ExcitationNode
from robot_dynamics_ros.nodes.support.conversion import seconds, trajectory_from_message

pytestmark = pytest.mark.ros


class Bench:
    """A node with a controller and joint states, and a clock that the test turns."""

    def __init__(self, node, monkeypatch):
        self.node = node
        self.sent = published(node, '/joint_trajectory')
        self.progress = published(node, '/progress')
        monkeypatch.setattr(publisher(node, '/joint_trajectory'), 'get_subscription_count',
                            lambda: 1)

    def run(self, duration, *, offset=(0.0, 0.0), states=True):
        """Let the robot follow what was sent, away by an offset."""
        for _ in range(round(duration / 0.05)):
            self.node.now += 0.05
            if states:
                q, qd = np.zeros(2), np.zeros(2)
                if self.sent:
                    trajectory = trajectory_from_message(self.sent[-1])
                    point = trajectory.sample(
                        self.node.now - seconds(self.sent[-1].header.stamp))
                    q, qd = point.q, point.qd
                self.node.receive(joint_state_message(self.node.now, q + offset, qd))
            self.node.tick(PERIOD)


@pytest.fixture
def bench(make_node, planar, monkeypatch):
    def make(**parameters):
        settings = {'duration': 4.0, 'approach_duration': 0.5, 'unchecked': True, **parameters}
        node = make_node(ExcitationNode, now=100.0, robot_description=planar, **settings)
        return Bench(node, monkeypatch)
    return make


def test_a_designed_motion_is_played_inside_the_limits(bench, planar):
    cell = bench()
    cell.run(0.1)
    assert len(cell.sent) == 1, 'the approach'
    cell.run(10.0)
    assert len(cell.sent) == 2
    motion = trajectory_from_message(cell.sent[1])
    chain = chain_from_urdf(planar)
    q = motion.sample(np.linspace(0.0, 4.0, 400))
    lower, upper = chain.position_limits
    assert np.all((q.q >= lower) & (q.q <= upper))
    assert np.all(np.abs(q.qd) <= chain.velocity_limits)
    assert motion.duration == pytest.approx(4.0)
    assert cell.progress[-1].data == 1.0
    assert sorted(each.data for each in cell.progress) == [each.data for each in cell.progress]
    assert not cell.node.finished


def test_it_ends_by_itself_where_that_is_wanted_and_repeats(bench):
    cell = bench(exit_at_end=True, repetitions=2)
    cell.run(14.0)
    assert trajectory_from_message(cell.sent[1]).duration == pytest.approx(8.0)
    assert cell.node.finished


def test_a_given_motion_is_played(bench, tmp_path):
    file = tmp_path / 'motion.yaml'
    file.write_text("""
joint_names: [joint_2, joint_1]
points:
- {positions: [0.1, 0.2], velocities: [0, 0], time_from_start: {sec: 0}}
- {positions: [0.4, 0.3], velocities: [0, 0], time_from_start: {sec: 2}}
""")
    cell = bench(trajectory_file=str(file))
    cell.run(3.0)
    motion = trajectory_from_message(cell.sent[1])
    assert motion.joint_names == ('joint_1', 'joint_2')
    assert motion.positions.tolist() == [[0.2, 0.1], [0.3, 0.4]]


def test_nothing_moves_before_start_is_called_and_stop_brakes(bench):
    cell = bench(start_at_once=False)
    cell.run(1.0)
    assert cell.sent == []
    stop = cell.node.call(Trigger.Request(), '~/stop')
    assert not stop.success
    assert cell.node.call(Trigger.Request(), '~/start').success
    cell.run(3.0)
    again = cell.node.call(Trigger.Request(), '~/start')
    assert again.message == 'a motion is running'
    assert cell.node.call(Trigger.Request(), '~/stop').success
    assert_brakes(cell.sent[-1])
    before = len(cell.sent)
    cell.run(2.0)
    assert len(cell.sent) == before, 'nothing after it'


@pytest.mark.parametrize(('trouble', 'reason'), [
    ({'offset': (0.8, 0.0)}, 'joint_1 is'),
    ({'states': False}, 'no joint state'),
])
@pytest.mark.parametrize('seed', range(4))
def test_trouble_brakes_the_robot(bench, trouble, reason, seed):
    cell = bench(seed=seed)
    cell.run(3.0)
    before = len(cell.sent)
    cell.run(2.0, **trouble)
    assert len(cell.sent) == before + 1
    assert_brakes(cell.sent[-1])
    assert re.match(f'stopped: .*{reason}', diagnostics(cell.node)['excitation'])
    assert cell.node.diagnostics.counted('excitation stops') == 1


@pytest.mark.parametrize('event', ['trigger_deactivate', 'clock_set_back'])
def test_the_end_of_the_node_and_of_the_clock_brake_the_robot(bench, event):
    cell = bench()
    cell.run(3.0)
    getattr(cell.node, event)()
    assert_brakes(cell.sent[-1])
    before = len(cell.sent)
    cell.run(1.0)
    assert len(cell.sent) == before


def test_it_waits_for_a_controller_and_drops_bad_joint_states(bench, monkeypatch):
    cell = bench()
    monkeypatch.setattr(publisher(cell.node, '/joint_trajectory'), 'get_subscription_count',
                        lambda: 0)
    cell.run(1.0)
    cell.node.receive(joint_state_message(500.0, [np.nan, 0.0]))
    assert cell.sent == []
    assert cell.node.diagnostics.counted('dropped joint states') == 1
    assert ('waiting for joint_states and a controller'
            in diagnostics(cell.node)['excitation'])


@pytest.mark.parametrize(('parameters', 'message'), [
    ({'trajectory_file': 'nowhere.yaml'}, 'cannot be read'),
    ({'locked': ['joint_1', 'joint_2']}, 'no moving joint'),
])
def test_a_motion_that_cannot_be_is_refused_at_start(make_node, planar, parameters, message):
    node = make_node(ExcitationNode, start=False, robot_description=planar, **parameters)
    assert node.trigger_configure() != TransitionCallbackReturn.SUCCESS
    assert message in node.diagnostics.status().message


@pytest.mark.parametrize('value', [1e155, -1e300, 1e5])
def test_a_position_that_cannot_be_raises_no_foreign_error(bench, value):
    cell = bench()
    for _ in range(3):
        cell.node.now += 0.05
        cell.node.receive(joint_state_message(cell.node.now, (0.0, value)))
        cell.node.tick(PERIOD)
    if abs(value) > 1e6:
        assert cell.node.diagnostics.counted('dropped joint states') == 3
        assert cell.sent == []


COLUMN = '<collision><geometry><cylinder radius="0.05" length="0.1"/></geometry></collision>'


def with_geometry(text):
    """Return a URDF whose links have collision geometry."""
    return re.sub(r'(<link name="[^"]*")(/>|>)',
                  lambda found: f'{found[1]}>{COLUMN}' + ('</link>' if found[2] == '/>' else ''),
                  text)


@pytest.fixture
def solid(make_node, planar, monkeypatch):
    pytest.importorskip('coal')

    def make(**parameters):
        settings = {'duration': 4.0, 'approach_duration': 0.5, 'floor': 'none', **parameters}
        node = make_node(ExcitationNode, now=100.0, robot_description=with_geometry(planar),
                         **settings)
        return Bench(node, monkeypatch)
    return make


def test_without_collision_geometry_nothing_is_played_unless_unchecked(make_node, planar):
    node = make_node(ExcitationNode, start=False, robot_description=planar)
    assert node.trigger_configure() != TransitionCallbackReturn.SUCCESS
    message = node.diagnostics.status().message
    assert 'no collision geometry' in message and 'unchecked: true' in message


def test_a_designed_motion_is_checked_and_so_is_the_way_to_it(solid, monkeypatch):
    ways = []
    monkeypatch.setattr('robot_dynamics_ros.nodes.excitation.free_path',
                        lambda scene, first, last, seed: ways.append((first, last)) or
                        np.array([first, [0.1, 0.1], last]))
    cell = solid()
    cell.run(0.1)
    assert len(ways) == 1
    approach = trajectory_from_message(cell.sent[0])
    np.testing.assert_allclose(approach.positions[1], [0.1, 0.1])
    np.testing.assert_allclose(approach.positions[-1], ways[0][1])
    cell.run(10.0)
    assert len(cell.sent) == 2


def test_a_way_that_takes_long_to_find_begins_after_it_was_found(solid, monkeypatch):
    cell = solid()

    def look(scene, first, last, seed):
        cell.node.now += 7.0
        return np.array([first, [0.1, 0.1], last])

    monkeypatch.setattr('robot_dynamics_ros.nodes.excitation.free_path', look)
    cell.run(0.2)
    assert seconds(cell.sent[0].header.stamp) > cell.node.now - 0.2
    cell.run(10.0)
    assert len(cell.sent) == 2, 'the motion follows'


def test_a_robot_that_was_moved_while_a_way_was_found_is_not_sent_along_it(solid, monkeypatch):
    ways = []
    monkeypatch.setattr('robot_dynamics_ros.nodes.excitation.free_path',
                        lambda scene, first, last, seed: ways.append(first) or
                        np.array([first, last]))
    cell = solid()
    cell.run(0.05)
    cell.run(0.05, offset=(0.2, 0.0))
    assert not cell.sent and len(ways) == 2
    cell.run(0.05, offset=(0.2, 0.0))
    np.testing.assert_allclose(trajectory_from_message(cell.sent[0]).positions[0], [0.2, 0.0])


def test_a_running_motion_is_braked_before_another_one_is_designed(make_node, planar,
                                                                   monkeypatch):
    cell = Bench(make_node(ExcitationNode, now=100.0, duration=4.0, unchecked=True), monkeypatch)
    cell.node.receive(String(data=planar))
    cell.run(4.0)
    sent = len(cell.sent)
    designed = []
    monkeypatch.setattr('robot_dynamics_ros.nodes.excitation.design_excitation',
                        lambda *_, **__: designed.append(len(cell.sent)) or 1 / 0)
    cell.node.receive(String(data=planar.replace('"2.5"', '"2.6"')))
    assert designed == [sent + 1]
    assert_brakes(cell.sent[-1])


def test_a_given_motion_that_collides_is_refused(make_node, planar, tmp_path):
    pytest.importorskip('coal')
    obstacles, file = tmp_path / 'obstacles.yaml', tmp_path / 'motion.yaml'
    chain = chain_from_urdf(planar)
    there = chain.tip_pose_at([0.5, 0.0]).translation
    obstacles.write_text(
        f'format: 1\nobstacles: {{post: {{sphere: 0.05, xyz: {there.tolist()}}}}}')
    file.write_text("""
joint_names: [joint_1, joint_2]
points:
- {positions: [0.0, 0.0], velocities: [0, 0], time_from_start: {sec: 0}}
- {positions: [1.0, 0.0], velocities: [0, 0], time_from_start: {sec: 2}}
""")
    solid = with_geometry(planar).replace('</robot>', (
        f'<link name="ball">{COLUMN}</link><joint name="held" type="fixed">'
        f'<parent link="{chain.tip}"/><child link="ball"/></joint></robot>'))
    options = {'floor': 'none', 'trajectory_file': str(file), 'tip': chain.tip}
    node = make_node(ExcitationNode, start=False, robot_description=solid,
                     obstacles_file=str(obstacles), **options)
    assert node.trigger_configure() != TransitionCallbackReturn.SUCCESS
    assert 'comes too close' in node.diagnostics.status().message
    free = make_node(ExcitationNode, start=False, robot_description=solid, **options)
    assert free.trigger_configure() == TransitionCallbackReturn.SUCCESS


@pytest.mark.parametrize(('parameters', 'message'), [
    ({'floor': 'low'}, 'parameter floor must be a height'),
    ({'obstacles_file': 'nowhere.yaml'}, 'cannot be read'),
    ({'srdf_file': 'nowhere.srdf'}, 'SRDF cannot be read'),
])
def test_wrong_surroundings_are_refused(make_node, planar, parameters, message):
    pytest.importorskip('coal')
    node = make_node(ExcitationNode, start=False, robot_description=with_geometry(planar),
                     **{'floor': 'none', **parameters})
    assert node.trigger_configure() != TransitionCallbackReturn.SUCCESS
    assert message in node.diagnostics.status().message


@pytest.mark.parametrize('ends', [True, False])
def test_a_robot_far_outside_its_limits_is_not_moved(bench, ends):
    cell = bench(exit_at_end=ends)
    cell.run(0.5, offset=(0.0, 45.0))
    assert cell.sent == []
    assert cell.node.finished is ends
    assert cell.node.diagnostics.counted('excitation') == 1
    assert cell.node.diagnostics.counted('unforeseen errors') == 0
