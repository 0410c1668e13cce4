# SPDX-License-Identifier: Apache-2.0
"""Learning across processes: a simulated robot moves, the identification node learns."""

import pytest
from support.availability import skip_without_ros

skip_without_ros()

from rclpy.qos import DurabilityPolicy, QoSProfile
from std_srvs.srv import Trigger

from robot_dynamics_interfaces.msg import MlcSet
from robot_dynamics_interfaces.srv import GetMlc

pytestmark = pytest.mark.ros

NODES = 'robot_dynamics_ros.nodes.'
#: Simulated time may be slower than real time by far [s].
LONG = 200.0
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def moving(ros, parameter_file, planar):
    """Start a robot that moves without end; it is the clock, so a slow machine does not matter."""
    ros.start(f'{NODES}simulated_robot', *parameter_file(
        robot_description=planar, simulation_rate=200.0, publish_rate=100.0, publish_clock=True,
        parameter_error=0.3, effort_noise=0.02))
    robot = {'robot_description': planar, 'use_sim_time': True}
    ros.start(f'{NODES}excitation', *parameter_file(
        **robot, duration=5.0, repetitions=50, approach_duration=0.5, largest_deviation=2.0,
        unchecked=True), '-r',
        '~/joint_trajectory:=simulated_robot/joint_trajectory')
    return robot


def ask(ros, wanted=''):
    answer = ros.call(GetMlc, 'identification/get_mlc', GetMlc.Request(set=wanted))
    assert answer.success, answer.message
    return answer.mlc


def test_it_can_be_asked_while_it_learns_until_it_has_converged(ros, parameter_file, moving):
    ros.start(f'{NODES}identification', *parameter_file(**moving, publish_period=0.2))
    first = ros.spin_until(
        lambda: (mlc := ask(ros)).samples > 0 and mlc, 'first samples', LONG)
    assert [deviation > 0.0 for deviation in first.standard_deviations] == first.identified
    told = []
    ros.node.create_subscription(MlcSet, 'identification/mlc', told.append, LATCHED)
    ros.spin_until(lambda: told and told[-1].state == MlcSet.CONVERGED, 'convergence',
                   LONG)
    last = ask(ros)
    assert last.samples >= first.samples
    assert all(last.identified)
    assert ask(ros, 'khalil').set == 'khalil'


def test_a_killed_node_goes_on_where_it_was(ros, parameter_file, moving, tmp_path):
    checkpoint = tmp_path / 'state.npz'
    arguments = parameter_file(**moving, checkpoint_file=str(checkpoint), checkpoint_period=0.3)
    process = ros.start(f'{NODES}identification', *arguments)
    ros.spin_until(checkpoint.exists, 'the first checkpoint', LONG)
    before = ask(ros).samples
    ros.spin_until(lambda: ask(ros).samples > before + 40, 'more samples')
    ros.kill(process)
    again = ros.start(f'{NODES}identification', *arguments)
    ros.spin_until(lambda: 'resumed from' in again.output, 'the resumed node')
    resumed = ask(ros)
    assert resumed.samples >= before
    ros.spin_until(lambda: ask(ros).samples > resumed.samples, 'more samples')
    assert ros.call(Trigger, 'identification/reset', Trigger.Request()).success
