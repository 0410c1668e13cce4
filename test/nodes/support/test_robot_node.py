# SPDX-License-Identifier: Apache-2.0
"""The seam of every node: messages, requests and ticks without DDS and without an executor."""

import pytest
from support.availability import skip_without_ros

skip_without_ros()

from diagnostic_msgs.msg import DiagnosticStatus
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterValue
from rcl_interfaces.srv import SetParameters
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from std_msgs.msg import Float32, String
from std_srvs.srv import SetBool, Trigger
from support.failing_node import FailingNode
from support.messages import payload_message
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.support.robot_node import TOLD_FIRST, RobotNode

pytestmark = pytest.mark.ros


class Ears(RobotNode):
    """Remembers what it hears."""

    def __init__(self, **options):
        super().__init__('ears', **options)
        self.heard = []

    def make_interfaces(self):
        def listen(kind, topic):
            self.create_subscription(
                kind, topic, lambda message: self.heard.append((topic, message.data)), 10)

        def serve(name):
            def answer(request, response):
                response.message = name
                return response
            self.create_service(Trigger, name, answer)

        listen(Float32, 'only')
        listen(String, '~/left')
        listen(String, 'right')
        serve('~/start')
        serve('~/stop')
        self.create_timer(3.0, lambda: self.heard.append('slow'))
        self.resting = self.create_timer(4.0, lambda: self.heard.append('resting'))
        self.resting.cancel()


@pytest.fixture
def node(make_node, planar):
    return make_node(Ears, robot_description=planar)


def test_a_message_reaches_the_subscription_of_its_type_and_topic(node):
    node.receive(Float32(data=1.0))
    node.receive(String(data='a'), '~/left')
    node.receive(String(data='b'), '/right')
    assert node.heard == [('only', 1.0), ('~/left', 'a'), ('right', 'b')]


def test_a_message_without_a_clear_receiver_is_an_error(node):
    with pytest.raises(LookupError, match='subscription to String, found /ears/left, /right'):
        node.receive(String())
    with pytest.raises(LookupError, match='named /middle, found /ears/left, /right'):
        node.receive(String(), 'middle')
    with pytest.raises(LookupError, match='subscription to Trigger_Request, found none'):
        node.receive(Trigger.Request())
    assert node.heard == []


def test_a_request_is_answered_by_the_service_of_its_type_and_name(node):
    assert node.call(Trigger.Request(), '~/stop').message == '~/stop'
    with pytest.raises(LookupError, match='found /ears/start, /ears/stop'):
        node.call(Trigger.Request())
    with pytest.raises(LookupError, match='service for SetBool_Request, found none'):
        node.call(SetBool.Request())


def test_timers_fire_by_their_period_unless_they_are_cancelled(node):
    assert node.tick(3.0) == 1
    assert node.tick(4.0) == 0
    assert node.heard == ['slow']
    node.resting.reset()
    assert node.tick() == 3, 'these two and that of the diagnostics'
    assert node.heard == ['slow', 'slow', 'resting']
    with pytest.raises(LookupError, match='no timer with a period of 5'):
        node.tick(5.0)


def test_no_unforeseen_error_leaves_a_callback(make_node, planar):
    node = make_node(FailingNode, robot_description=planar)
    tip = node.robot.chain.tip
    for _ in range(100):
        node.receive(Float32())
        node.receive(payload_message(1.0, tip))
        answer = node.call(Trigger.Request(), '~/request')
        assert answer.success or 'nobody foresaw this' in answer.message
        node.tick(0.01)
        node.set_parameters([Parameter('use_sim_time', value=True)])
        node.set_parameters([Parameter('use_sim_time', value=False)])
    assert node.successes > 100
    assert node.failures == node.diagnostics.counted('unforeseen errors') > 100
    assert node.stops > 100
    assert node.diagnostics.status().level == DiagnosticStatus.ERROR
    node.diagnostics.publish()
    assert node.diagnostics.status().level == DiagnosticStatus.OK
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert not node.active, 'though it failed to come to rest'


class FailsOnce(RobotNode):
    """Fails in its first transition of a kind."""

    def __init__(self, **options):
        super().__init__('fails_once', **options)
        self.left = {'configure', 'activate'}

    def _fail(self, transition):
        if transition in self.left:
            self.left.remove(transition)
            raise KeyError(transition)

    def make_interfaces(self):
        self.create_subscription(Float32, 'input', print, 10)
        self._fail('configure')

    def on_activate(self, state):
        result = super().on_activate(state)
        self._fail('activate')
        return result


def test_a_transition_that_fails_can_be_tried_again(make_node, planar):
    node = make_node(FailsOnce, start=False, robot_description=planar)
    before = len(list(node.subscriptions))
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert "KeyError: 'configure'" in node.diagnostics.status().message
    assert len(list(node.subscriptions)) == before, 'nothing is left over'
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_activate() == TransitionCallbackReturn.FAILURE
    assert not node.active
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert node.active
    assert node.diagnostics.counted('unforeseen errors') == 2


def test_a_payload_that_no_robot_carries_is_refused_and_the_former_one_stays(make_node, planar):
    node = make_node(FeedforwardNode)
    node.receive(String(data=planar))
    tip = node.robot.chain.tip
    node.receive(payload_message(2.0, tip, (0.1, 0.0, 0.0)))
    weight = node.robot.model.gravity_torque([0.3, 0.4])
    bad = [payload_message(mass, tip) for mass in (1e308, 2e4, -1.0, float('nan'), float('inf'))]
    bad += [payload_message(1.0, tip, (x, 0.0, 0.0)) for x in (1e308, 11.0, float('nan'))]
    for value in (1e308, 101.0, -1.0, float('nan')):
        bad.append(payload_message(1.0, tip))
        bad[-1].inertia.ixx = bad[-1].inertia.iyy = value
    for message in bad:
        node.receive(message)
    assert node.diagnostics.counted('refused payloads') == len(bad)
    assert node.robot.payload.mass == 2.0
    assert list(node.robot.model.gravity_torque([0.3, 0.4])) == list(weight)
    node.receive(String(data=planar))
    assert node.robot.payload.mass == 2.0, 'for the next description, too'


def test_settings_that_contradict_each_other_are_refused_while_running(make_node, planar):
    node = make_node(FeedforwardNode, robot_description=planar, mode='stream',
                     feedback_frequency=10.0)
    result, = node.set_parameters([Parameter('gravity_mode', value='only')])
    assert not result.successful
    assert 'has no computed torque' in result.reason
    assert node.settings.gravity_mode == 'full'
    result, = node.set_parameters([Parameter('resample_rate', value=float('nan'))])
    assert not result.successful
    assert 'nan' in result.reason
    assert node.set_parameters([Parameter('gravity_mode', value='none')])[0].successful


def test_a_request_that_rclpy_cannot_answer_is_refused_and_stops_nothing(make_node, planar):
    node = make_node(FailingNode, robot_description=planar)
    node.fails = False
    assert not node.call(ChangeState.Request(transition=Transition(id=99))).success
    wrong = SetParameters.Request(parameters=[
        ParameterMessage(name='base', value=ParameterValue(type=77))])
    assert node.call(wrong).results == []
    assert node.diagnostics.counted('refused requests') == 2
    assert node.diagnostics.counted('unforeseen errors') == node.stops == 0
    assert node.active


@pytest.mark.parametrize('text', ['x' * 100_000, '/etc/hostname', ''])
def test_a_description_that_is_no_text_of_a_urdf_is_refused(make_node, text):
    node = make_node(FeedforwardNode)
    node.receive(String(data=text))
    assert node.diagnostics.counted('refused descriptions') == 1
    assert 'not URDF text' in node.diagnostics.status().message


def test_a_description_that_is_sent_again_changes_nothing(make_node, planar):
    node = make_node(FeedforwardNode)
    node.receive(String(data=planar))
    robot = node.robot
    node.receive(String(data=planar))
    assert node.robot is robot


def test_a_description_that_is_refused_is_not_that_of_the_robot(make_node, planar):
    node = make_node(FeedforwardNode)
    node.receive(String(data=planar))
    unlimited = planar.replace('effort="60"', 'effort="0"')
    assert unlimited != planar
    for _ in range(2):
        node.receive(String(data=unlimited))
    assert node.diagnostics.counted('refused descriptions') == 2
    assert node.description == planar


def test_timers_begin_anew_where_the_clock_of_the_machine_was_set_back(make_node, planar):
    """They would wait for as long as the clock was set back: an hour without a command."""
    node = make_node(Ears, now=100.0, robot_description=planar)
    anew, told = [], []
    for timer in node.timers:
        timer.reset = lambda timer=timer: anew.append(timer.timer_period_ns * 1e-9)
    node.clock_set_back = lambda: told.append(node.now)
    node.call_due_timers()
    node.now = 101.0
    node.call_due_timers()
    assert anew == told == []
    node.now = 100.5
    node.call_due_timers()
    assert anew == [3.0], 'neither those of another clock nor those that were cancelled'
    assert told == [100.5]
    node.call_due_timers()
    assert told == [100.5]
    assert node.diagnostics.counted('clock jumps') == 1


def test_a_stop_before_there_is_a_robot_is_no_error(make_node):
    node = make_node(FeedforwardNode, mode='stream')
    node.receive(JointTrajectory())
    assert node.diagnostics.counted('unforeseen errors') == 0


def told(capfd):
    return capfd.readouterr().err.count('still waiting for a robot description on')


def test_a_node_without_a_robot_says_after_2_s_and_every_10_s_what_it_waits_for(
        make_node, planar, capfd):
    node = make_node(Ears)
    assert told(capfd) == 0
    heard = []
    for _ in range(12):  # 24 s
        assert node.tick(TOLD_FIRST) == 1
        heard.append(told(capfd))
    assert [2 * (k + 1) for k, count in enumerate(heard) if count] == [2, 12, 22]
    node.receive(String(data=planar), 'robot_description')
    for _ in range(6):
        node.tick(TOLD_FIRST)
    assert told(capfd) == 0
    assert node.tick(TOLD_FIRST) == 0  # the timer has ended


def test_what_a_waiting_node_says_tells_a_missing_publisher_from_a_wrong_one(
        make_node, ros, capfd):
    node = make_node(Ears)
    node.tick(TOLD_FIRST)
    assert 'nobody publishes it. Start robot_state_publisher' in capfd.readouterr().err
    ros.node.create_publisher(String, 'robot_description', 10)
    ros.spin_until(lambda: node.count_publishers('robot_description'), 'the publisher is seen')
    for _ in range(5):
        node.tick(TOLD_FIRST)
    assert 'it must be latched: reliable, transient local' in capfd.readouterr().err


def test_whoever_starts_a_node_may_name_a_file(make_node, planar, tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_text(planar, encoding='utf-8')
    node = make_node(FeedforwardNode, description_file=str(path))
    assert node.robot.chain.robot == 'planar_2r' and node.description == planar
    idle = make_node(FeedforwardNode, start=False, description_file=str(tmp_path / 'none.urdf'))
    assert idle.trigger_configure() == TransitionCallbackReturn.FAILURE


def test_a_participant_cannot_make_a_node_open_a_file(make_node, planar, tmp_path, monkeypatch):
    from robot_dynamics_ros.nodes.support import robot_node
    path, opened = tmp_path / 'robot.urdf', []
    path.write_text(planar, encoding='utf-8')
    monkeypatch.setattr(robot_node, 'read_text', opened.append)
    node = make_node(FeedforwardNode, start=False)
    [result] = node.set_parameters([Parameter('description_file', value=str(path))])
    assert not result.successful
    node.set_parameters([Parameter('robot_description', value=str(path))])
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    other = make_node(FeedforwardNode, start=False, robot_description=str(path))
    assert other.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert not opened and node.robot is None

