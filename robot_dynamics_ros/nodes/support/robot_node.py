# SPDX-License-Identifier: Apache-2.0
"""
The base of every node: parameters, lifecycle, robot description, payload, diagnostics.

Lifecycle: *configure* reads the description and creates publishers and subscriptions, *activate*
lets the node act, *deactivate* brings it to rest. With `autostart` the node is configured and
activated at start. It is so without a robot description, too: then it waits for the topic, and
its diagnostics say so.

Every callback is guarded: see `guarded_node`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, ClassVar

from geometry_msgs.msg import InertiaStamped
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockChange, ClockType, JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from robot_dynamics_ros.chain.urdf.document import read_text
from robot_dynamics_ros.errors import RobotDynamicsError, UrdfError
from robot_dynamics_ros.nodes.support.conversion import named_tip, payload_from_message
from robot_dynamics_ros.nodes.support.diagnostics import described
from robot_dynamics_ros.nodes.support.guarded_node import GuardedNode
from robot_dynamics_ros.nodes.support.joint_naming import JointNaming
from robot_dynamics_ros.nodes.support.settings import (
    RobotNodeSettings,
    changeable,
    declare,
    judge,
    read,
)
from robot_dynamics_ros.robot import Robot, read_robot

#: Time without a robot description after which a node says so first, and again [s].
TOLD_FIRST, TOLD_AGAIN = 2.0, 10.0
#: Latched: a subscriber that joins late gets the last message.
LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                     durability=DurabilityPolicy.TRANSIENT_LOCAL)
#: Matches reliable and best-effort publishers.
SENSOR = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)
#: Callbacks of the lifecycle.
_TRANSITIONS = ('on_configure', 'on_cleanup', 'on_shutdown', 'on_activate', 'on_deactivate',
                'on_error')


class RobotNode(GuardedNode):
    """A lifecycle node that has a robot."""

    settings_type: ClassVar[type[RobotNodeSettings]] = RobotNodeSettings
    #: True = the payload comes from the topic.
    follows_payload: ClassVar[bool] = True
    configured = False

    def __init__(self, name: str, **options: Any) -> None:
        """
        Declare the parameters.

        :param name: name of the node.
        :param options: keyword arguments of rclpy's Node.
        :raises ParameterError: a parameter of the wrong type or outside its range.
        """
        for transition in _TRANSITIONS:  # rclpy says nothing about their errors
            setattr(self, transition, self.guarded(
                getattr(self, transition), lambda error, state: self._not_done()))
        super().__init__(name, **options)
        self.settings: Any = declare(self, self.settings_type)
        self.robot: Robot | None = None
        self.description = ''  # URDF text of the robot that is used, or about to be
        self.finished = False  # True ends the process
        self.failure = ''  # why it ends; the exit code is 1 then
        self.naming = JointNaming(self)
        self._payload: InertiaStamped | None = None
        self._latest = -math.inf  # time of the last look at the clock [s]
        self.add_on_set_parameters_callback(self.guarded(
            self._judge_parameters, lambda error, changes: SetParametersResult(
                successful=False, reason=described(error))))
        self.add_post_set_parameters_callback(self.guarded(self._take_parameters))
        backwards = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1),
                                  on_clock_change=True)
        self._jump = self.get_clock().create_jump_callback(
            backwards, post_callback=self.guarded(self._on_jump))
        self._permanent = [entity for entity, _ in self._entities()]

    # For a node to override

    def make_interfaces(self) -> None:
        """Create publishers, subscriptions, services and timers."""

    def remove_interfaces(self) -> None:
        """Remove what `make_interfaces` created besides topics, services and timers."""

    def use_robot(self, robot: Robot) -> None:
        """
        Prepare for a new robot, before it is taken over.

        :raises RobotDynamicsError: this robot cannot be used; the present one stays.
        """

    def forget_robot(self) -> None:
        """Forget what `use_robot` has made: the node is cleaned up, and may get another robot."""

    @property
    def may_freeze(self) -> bool:
        """True where joints that nobody names may be left out: not of commands without names."""
        return True

    def payload_changed(self, robot: Robot) -> None:
        """Take into account that the robot in use has another payload."""

    def come_to_rest(self) -> None:
        """Leave the robot in a safe state: the node is about to stop acting."""

    def pause(self) -> None:
        """Leave the robot in a safe state: the node is busy, for seconds perhaps."""
        self.stop_commanding()

    def clock_set_back(self) -> None:
        """Forget what depends on earlier times."""

    def check_settings(self, settings: Any) -> None:
        """
        Refuse settings that contradict each other, before they are taken over.

        :raises RobotDynamicsError: these settings cannot be used; the present ones stay.
        """

    def settings_changed(self) -> None:
        """Use parameters that were changed while running."""

    # Time

    @property
    def now(self) -> float:
        """Time of the node's clock [s]."""
        return float(self.get_clock().now().nanoseconds) * 1e-9

    def _on_jump(self, jump: TimeJump) -> None:
        if jump.clock_change == ClockChange.ROS_TIME_NO_CHANGE and jump.delta.nanoseconds >= 0:
            return
        self._start_over(jump.delta.nanoseconds * 1e-9)

    def _start_over(self, change: float) -> None:
        self._latest = self.now
        self.diagnostics.warn('clock jumps', f'the clock was set back or changed '
                              f'({change:.3f} s); starting over')
        self.clock_set_back()

    def call_due_timers(self) -> None:
        """
        Call the timers that are due.

        ROS tells of simulated clocks that are set back, and not of the machine's: its timers would
        wait until the time at which they were due comes once more.
        """
        now, before = self.now, self._latest
        self._latest = now
        if now < before:
            for timer in self.timers:
                if timer.clock is self.get_clock() and not timer.is_canceled():
                    timer.reset()
            self.guarded(self._start_over)(now - before)
        super().call_due_timers()

    # Lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the description if it is a parameter, and create the interfaces."""
        try:
            given = self._given_description()
            if given:
                self.load(given)
            self.make_interfaces()
        except RobotDynamicsError as error:
            self.get_logger().error(str(error))
            self.diagnostics.state(str(error), error=True)
            self._forget()
            return TransitionCallbackReturn.FAILURE
        except Exception as error:
            self.diagnostics.state(f'unforeseen error: {described(error)}', error=True)
            self._forget()
            raise
        if not given:
            self._wait_for_description()
        if self.follows_payload:
            self.create_subscription(InertiaStamped, 'payload', self._on_payload, LATCHED)
        self.configured = True
        return super().on_configure(state)

    def _given_description(self) -> str:
        """Return the URDF text of the parameters; empty = none is given."""
        file = self.settings.description_file
        if self.settings.robot_description or not file:
            return str(self.settings.robot_description)
        return read_text(Path(file))[0].decode(errors='replace')

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begin to act."""
        self.active = True
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Come to rest and stop acting."""
        self.rest()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Forget the robot and remove what configure created."""
        self.rest()
        self._forget()
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Come to rest."""
        self.rest()
        return super().on_shutdown(state)

    def rest(self) -> None:
        """Come to rest and stop acting."""
        if self.active:
            self.guarded(self.come_to_rest)()
        self.active = False

    def _not_done(self) -> TransitionCallbackReturn:
        """Stop acting after a transition that failed."""
        self.rest()
        return TransitionCallbackReturn.FAILURE

    def _forget(self) -> None:
        """Forget the robot and remove what configure created."""
        self.robot, self.configured = None, False
        self.guarded(self.remove_interfaces)()
        self.guarded(self.forget_robot)()
        for made, destroy in self._entities():
            if made not in self._permanent:
                destroy(made)

    def fail(self, reason: str) -> None:
        """End the process with an error."""
        self.failure, self.finished = reason, True
        self.diagnostics.state(reason, error=True)
        self.get_logger().error(reason)

    def _entities(self) -> list[tuple[Any, Callable[[Any], bool]]]:
        """Return all topics, services and timers, each with the function that removes it."""
        return [*((each, self.destroy_subscription) for each in self.subscriptions),
                *((each, self.destroy_publisher) for each in self.publishers),
                *((each, self.destroy_service) for each in self.services),
                *((each, self.destroy_timer) for each in self.timers)]

    # Robot and payload

    def _wait_for_description(self) -> None:
        """Subscribe to the description, and say from time to time that it has not come."""
        topic = self.create_subscription(String, 'robot_description', self._on_description,
                                         LATCHED).topic_name
        waited = 0.0

        def tell() -> None:
            nonlocal waited
            if self.robot is not None:
                timer.cancel()
                return
            if waited % TOLD_AGAIN == 0.0:
                heard = self.count_publishers(topic)
                self.get_logger().warning(
                    f'still waiting for a robot description on {topic}: ' + (
                        'it has a publisher, but no usable description has come (it must be '
                        'latched: reliable, transient local)' if heard else
                        'nobody publishes it. Start robot_state_publisher, or give the '
                        'parameter description_file'))
            waited += TOLD_FIRST

        # the machine's clock: that of a simulation may not have begun
        timer = self.create_timer(TOLD_FIRST, tell, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def load(self, description: str, frozen: Mapping[str, float] | None = None) -> None:
        """
        Use a robot from now on.

        :param description: URDF text.
        :param frozen: joints that do not move, with their positions [rad, m].
        :raises RobotDynamicsError: it cannot be used; the present one stays.
        """
        s = self.settings
        chain, joints_file = read_robot(
            description, base=s.base or None, tip=s.tip or None, tips=s.tips or None,
            gravity=s.gravity or None, locked={**dict.fromkeys(s.locked, 0.0), **(frozen or {})},
            joints_file=s.joints_file or None)
        if self.active and self.robot is not None:
            self.guarded(self.pause)()
        robot = Robot(chain, joints_file)
        if self.robot is not None:
            robot.carry_as(self.robot)
        elif self._payload is not None:
            self._carry(robot, self._payload)
        self.get_logger().info(
            f'robot {chain.robot}: {chain.joint_count} from {chain.base} to {chain.tip_names} '
            f'({", ".join(chain.joint_names)}); leave joints out with the parameters tip, tips or '
            'locked')
        before, self.description = self.description, description
        try:
            self.use_robot(robot)
        except BaseException:
            self.description = before
            raise
        self.robot = robot
        self.naming.use_robot(chain, frozen)
        for finding in chain.findings:
            self.get_logger().info(str(finding))
        self.diagnostics.state('running')
        self.diagnostics.value('robot', robot.chain.robot)
        self.diagnostics.value('model hash', robot.model.mlc.model_hash)

    def _on_description(self, message: String) -> None:
        try:
            if '<' not in message.data:  # the name of a file comes as a parameter only
                raise UrdfError('the message is not URDF text')
            if self.robot is None or message.data != self.description:
                self.load(message.data)  # else sent again, by a restarted publisher for example
        except RobotDynamicsError as error:
            self.diagnostics.warn('refused descriptions', f'robot_description refused: {error}')
            if self.robot is None:
                self.diagnostics.state(f'robot_description refused: {error}', error=True)

    def _on_payload(self, message: InertiaStamped) -> None:
        if self.robot is None:
            self._payload = message
        elif self._carry(self.robot, message):
            self._payload = message
            self.payload_changed(self.robot)

    def _carry(self, robot: Robot, message: InertiaStamped) -> bool:
        """Return whether a robot can carry this payload from now on."""
        try:
            tip = named_tip(message, robot.chain)
            robot.carry(payload_from_message(message, tip), tip)
        except RobotDynamicsError as error:
            self.diagnostics.warn('refused payloads', str(error))
            return False
        self.diagnostics.value('payload [kg]', robot.payload.mass)
        return True

    # Parameters

    def _judge_parameters(self, changes: list[Parameter]) -> SetParametersResult:
        fixed = [each.name for each in changes if self.configured and self.has_parameter(each.name)
                 and not changeable(self.settings_type, each.name)
                 and each.value != self.get_parameter_or(each.name).value]
        if fixed:
            return SetParametersResult(successful=False, reason=(
                f'parameter {", ".join(fixed)} can be changed while the node is unconfigured '
                'only: clean up, set and configure again'))
        result = judge(self.settings_type, changes)
        known = {each.name for each in fields(self.settings_type)}
        new = {each.name: each.value for each in changes if each.name in known}
        if result.successful and new:
            try:
                self.check_settings(replace(self.settings, **new))
            except RobotDynamicsError as error:
                return SetParametersResult(successful=False, reason=str(error))
        return result

    def _take_parameters(self, changes: list[Parameter]) -> None:
        self.settings = read(self, self.settings_type)
        self.settings_changed()
