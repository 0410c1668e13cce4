# SPDX-License-Identifier: Apache-2.0
"""
The base of every node: parameters, lifecycle, robot description, payload, diagnostics.

Lifecycle: *configure* reads the description and creates publishers and subscriptions, *activate*
lets the node act, *deactivate* brings it to rest. With `autostart` the node is configured and
activated at start. It is so without a robot description, too: then it waits for the topic, and
its diagnostics say so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

from geometry_msgs.msg import InertiaStamped
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import ClockChange, JumpThreshold, TimeJump
from rclpy.duration import Duration
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.nodes.support.conversion import payload_from_message
from robot_dynamics_ros.nodes.support.diagnostics import Diagnostics
from robot_dynamics_ros.nodes.support.settings import RobotNodeSettings, declare, judge, read
from robot_dynamics_ros.robot import Robot, load_robot

#: Latched: a subscriber that joins late gets the last message.
LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE,
                     durability=DurabilityPolicy.TRANSIENT_LOCAL)
#: Matches reliable and best-effort publishers.
SENSOR = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)


class RobotNode(LifecycleNode):
    """A lifecycle node that has a robot."""

    settings_type: ClassVar[type[RobotNodeSettings]] = RobotNodeSettings
    #: True = the payload comes from the topic.
    follows_payload: ClassVar[bool] = True

    def __init__(self, name: str, **options: Any) -> None:
        """
        Declare the parameters.

        :param name: name of the node.
        :param options: keyword arguments of rclpy's Node.
        :raises ParameterError: a parameter of the wrong type or outside its range.
        """
        super().__init__(name, **options)
        self.settings: Any = declare(self, self.settings_type)
        self.diagnostics = Diagnostics(self)
        self.robot: Robot | None = None
        self.active = False
        self.finished = False  # True ends the process
        self.failure = ''  # why it ends; the exit code is 1 then
        self._payload: InertiaStamped | None = None
        self.add_on_set_parameters_callback(self._judge_parameters)
        self.add_post_set_parameters_callback(self._take_parameters)
        backwards = JumpThreshold(min_forward=None, min_backward=Duration(nanoseconds=-1),
                                  on_clock_change=True)
        self._jump = self.get_clock().create_jump_callback(
            backwards, post_callback=self._on_jump)
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

    def payload_changed(self, robot: Robot) -> None:
        """Take into account that the robot in use has another payload."""

    def come_to_rest(self) -> None:
        """Leave the robot in a safe state: the node is about to stop acting."""

    def clock_set_back(self) -> None:
        """Forget what depends on earlier times."""

    def settings_changed(self) -> None:
        """Use parameters that were changed while running; may raise RobotDynamicsError."""

    # Time

    @property
    def now(self) -> float:
        """Time of the node's clock [s]."""
        return float(self.get_clock().now().nanoseconds) * 1e-9

    def _on_jump(self, jump: TimeJump) -> None:
        if jump.clock_change == ClockChange.ROS_TIME_NO_CHANGE and jump.delta.nanoseconds >= 0:
            return
        self.diagnostics.warn('clock jumps', f'the clock was set back or changed '
                              f'({jump.delta.nanoseconds * 1e-9:.3f} s); starting over')
        self.clock_set_back()

    # Lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read the description if it is a parameter, and create the interfaces."""
        try:
            if self.settings.robot_description:
                self._load(self.settings.robot_description)
            self.make_interfaces()
        except RobotDynamicsError as error:
            self.get_logger().error(str(error))
            self.diagnostics.state(str(error), error=True)
            return TransitionCallbackReturn.FAILURE
        if not self.settings.robot_description:
            self.create_subscription(String, 'robot_description', self._on_description, LATCHED)
        if self.follows_payload:
            self.create_subscription(InertiaStamped, 'payload', self._on_payload, LATCHED)
        return super().on_configure(state)

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
        self.robot = None
        self.remove_interfaces()
        for made, destroy in self._entities():
            if made not in self._permanent:
                destroy(made)
        return super().on_cleanup(state)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Come to rest."""
        self.rest()
        return super().on_shutdown(state)

    def rest(self) -> None:
        """Come to rest and stop acting."""
        if self.active:
            self.come_to_rest()
        self.active = False

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

    # What DDS and the executor would do: for tests, and for a node inside another program

    def receive(self, message: Any, topic: str | None = None) -> None:
        """
        Handle a message as if it had come over DDS.

        :param message: message of the type of a subscription.
        :param topic: name of the topic; None = the only one with messages of this type.
        :raises LookupError: no such subscription, or several.
        """
        found = {each.topic_name: each for each in self.subscriptions
                 if each.msg_type is type(message)}
        name = None if topic is None else self.resolve_topic_name(topic)
        self._only(found, name, f'subscription to {type(message).__name__}').callback(message)

    def call(self, request: Any, service: str | None = None) -> Any:
        """
        Return the response to a request as if it had come over DDS.

        :param request: request of the type of a service.
        :param service: name of the service; None = the only one with requests of this type.
        :raises LookupError: no such service, or several.
        """
        found = {each.service_name: each for each in self.services
                 if each.srv_type.Request is type(request)}
        name = None if service is None else self.resolve_service_name(service)
        server = self._only(found, name, f'service for {type(request).__name__}')
        return server.callback(request, server.srv_type.Response())

    def tick(self, period: float | None = None) -> int:
        """
        Let timers fire once, whatever their clocks say, and return how many did.

        :param period: period of these timers [s]; None = all timers. Cancelled ones do not fire.
        :raises LookupError: no timer has this period.
        """
        timers = [each for each in self.timers if period is None
                  or math.isclose(each.timer_period_ns * 1e-9, period, rel_tol=1e-6)]
        if not timers:
            raise LookupError(f'{self.get_name()}: no timer with a period of {period} s')
        running = [each for each in timers if not each.is_canceled()]
        for each in running:
            each.callback()
        return len(running)

    def _only(self, found: dict[str, Any], name: str | None, what: str) -> Any:
        chosen = list(found.values()) if name is None else [found[name]] if name in found else []
        if len(chosen) != 1:
            raise LookupError(f'{self.get_name()}: expected one {what}'
                              f'{"" if name is None else f" named {name}"}, '
                              f'found {", ".join(found) or "none"}')
        return chosen[0]

    # Robot and payload

    def _load(self, description: str) -> None:
        s = self.settings
        robot = load_robot(description, base=s.base or None, tip=s.tip or None,
                           gravity=s.gravity or None, locked=s.locked or None,
                           joints_file=s.joints_file or None)
        if self._payload is not None:
            self._carry(robot, self._payload)
        self.use_robot(robot)
        self.robot = robot
        for finding in robot.chain.findings:
            self.get_logger().info(str(finding))
        self.get_logger().info(f'robot {robot.chain.robot}: {len(robot.chain)} joints from '
                               f'{robot.chain.base} to {robot.chain.tip}')
        self.diagnostics.state('running')
        self.diagnostics.value('robot', robot.chain.robot)
        self.diagnostics.value('model hash', robot.model.mlc.model_hash)

    def _on_description(self, message: String) -> None:
        try:
            self._load(message.data)
        except RobotDynamicsError as error:
            self.diagnostics.warn('refused descriptions', f'robot_description refused: {error}')
            if self.robot is None:
                self.diagnostics.state(f'robot_description refused: {error}', error=True)

    def _on_payload(self, message: InertiaStamped) -> None:
        self._payload = message
        if self.robot is not None:
            self._carry(self.robot, message)
            self.payload_changed(self.robot)

    def _carry(self, robot: Robot, message: InertiaStamped) -> None:
        try:
            robot.carry(payload_from_message(message, robot.chain.tip))
            self.diagnostics.value('payload [kg]', robot.payload.mass)
        except RobotDynamicsError as error:
            self.diagnostics.warn('refused payloads', str(error))

    # Parameters

    def _judge_parameters(self, changes: list[Parameter]) -> SetParametersResult:
        return judge(self.settings_type, changes)

    def _take_parameters(self, changes: list[Parameter]) -> None:
        self.settings = read(self, self.settings_type)
        self.settings_changed()
