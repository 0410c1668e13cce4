# SPDX-License-Identifier: Apache-2.0
"""What tests show to an identification node, and what they ask it. Needs ROS 2."""

from std_srvs.srv import Trigger

from robot_dynamics_interfaces.srv import GetMlc
from robot_dynamics_ros import compile_model
from robot_dynamics_ros.nodes.support.conversion import estimate_from_message
from support.messages import joint_state_message
from support.motions import swinging_samples

STATE = (0.3, -0.5), (1.0, -2.0), (3.0, 0.5)
#: What is learned of noiseless data in twenty seconds, relative torque error.
LEARNED = 0.01


def move(node, model, duration=20.0, start=1.0, change=lambda message: None):
    """Show the node a moving robot, every 7th joint state changed; return how many these are."""
    changed = 0
    for k, sample in enumerate(swinging_samples(model, duration, start=start)):
        message = joint_state_message(sample.time, sample.q, sample.qd, sample.effort)
        if k % 7 == 3:
            change(message)
            changed += 1
        node.receive(message)
    return changed


def answer(node, wanted=''):
    response = node.call(GetMlc.Request(set=wanted))
    assert response.success, response.message
    return response.mlc


def torque(node):
    """Return the torque of what was learned."""
    model = compile_model(node.robot.chain)
    estimate = estimate_from_message(answer(node), model.mlc)
    model.swap(estimate.mlc.values, estimate.joint_physics)
    return model.torque(*STATE)


def trigger(node, service):
    return node.call(Trigger.Request(), service)
