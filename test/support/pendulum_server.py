# SPDX-License-Identifier: Apache-2.0
"""A node that answers GetDynamics for the pendulums of pendulum.py; runs as a process."""

import signal
import threading

import numpy as np
import rclpy

from robot_dynamics_interfaces.srv import GetDynamics
from support.pendulum import Pendulums


def answer(request, response):
    """Fill the response for any number of joints."""
    pendulums = Pendulums()
    q, qd, qdd = map(np.array, (request.position, request.velocity, request.acceleration))
    if not len(request.joint_names) == q.size == qd.size == qdd.size:
        response.message = f'{len(request.joint_names)} joints, but {q.size} positions'
        return response
    response.success = True
    response.joint_names = request.joint_names
    response.torque = pendulums.torque(q, qd, qdd).tolist()
    response.gravity = pendulums.gravity_torque(q).tolist()
    response.coriolis = np.zeros(q.size).tolist()
    response.friction = pendulums.friction_torque(qd).tolist()
    response.mass_matrix = (pendulums.inertia * np.eye(q.size)).ravel().tolist()
    return response


def main():
    ended = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: ended.set())
    rclpy.init(signal_handler_options=rclpy.SignalHandlerOptions.NO)
    node = rclpy.create_node('pendulum_server')
    node.create_service(GetDynamics, 'get_dynamics', answer)
    while not ended.is_set():
        rclpy.spin_once(node, timeout_sec=0.1)
    node.destroy_node()
    rclpy.shutdown()


if __name__ == '__main__':
    main()
