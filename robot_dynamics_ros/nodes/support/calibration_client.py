# SPDX-License-Identifier: Apache-2.0
"""A client of the calibration node: its status, next and stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import Float32, String
from std_srvs.srv import Trigger

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.nodes.support.robot_node import LATCHED
from robot_dynamics_ros.nodes.support.services import SERVICE

#: Longest wait for an answer [s].
PATIENCE = 10.0


class CalibrationClient:
    """Talks to one calibration node; use it in a `with` block."""

    def __init__(self, name: str) -> None:
        """
        Prepare, without contact yet.

        :param name: name of the node, such as /calibration.
        """
        self.status, self.progress = '', 0.0
        self._name = name.rstrip('/')

    def __enter__(self) -> CalibrationClient:
        """Join the ROS graph."""
        self._context = rclpy.Context()
        rclpy.init(context=self._context, signal_handler_options=SignalHandlerOptions.NO)
        self._node = rclpy.create_node('calibrate', context=self._context)
        self._node.create_subscription(String, f'{self._name}/status', self._on_status, LATCHED)
        self._node.create_subscription(Float32, f'{self._name}/progress', self._on_progress, 10)
        self._calls = {word: self._node.create_client(Trigger, f'{self._name}/{word}',
                                                      qos_profile=SERVICE)
                       for word in ('next', 'stop')}
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Leave the ROS graph."""
        self._executor.shutdown()
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def wait(self, patience: float) -> None:
        """
        Wait until the node is there.

        :param patience: longest time to wait [s].
        :raises RobotDynamicsError: it is not.
        """
        if not self._until(lambda: self._calls['next'].service_is_ready() and bool(self.status),
                           patience):
            raise RobotDynamicsError(
                f'no calibration node {self._name} answers: start it with ros2 launch '
                'robot_dynamics_ros calibrate.launch.py, or name it with --node')

    def call(self, word: str) -> tuple[bool, str]:
        """
        Return whether 'next' or 'stop' was done, and the answer.

        :raises RobotDynamicsError: no answer.
        """
        future = self._calls[word].call_async(Trigger.Request())
        if not self._until(future.done, PATIENCE):
            raise RobotDynamicsError(f'{self._name} does not answer: STOP THE ROBOT BY HAND')
        response = future.result()
        return response.success, response.message

    def spin(self, seconds: float) -> None:
        """Receive for a while [s]."""
        self._executor.spin_once(timeout_sec=seconds)

    def _until(self, condition: Callable[[], bool], patience: float) -> bool:
        end = time.monotonic() + patience
        while not condition():
            if time.monotonic() > end:
                return False
            self.spin(0.05)
        return True

    def _on_status(self, message: String) -> None:
        self.status = message.data

    def _on_progress(self, message: Float32) -> None:
        self.progress = message.data
