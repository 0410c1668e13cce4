# SPDX-License-Identifier: Apache-2.0
"""Messages to test nodes with, and what nodes publish. Needs ROS 2."""

import numpy as np
import pytest
from geometry_msgs.msg import InertiaStamped
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros.nodes.support.conversion import duration, stamp, trajectory_from_message

JOINTS = ('joint_1', 'joint_2')


def publisher(node, part):
    """Return the publisher of a node whose topic ends like this."""
    return next(each for each in node.publishers if each.topic_name.endswith(part))


def published(node, part):
    """Return a list that gets what the node publishes on a topic, instead of publishing it."""
    messages = []
    publisher(node, part).publish = messages.append
    return messages


def diagnostics(node):
    """Return the values that a node shows in its diagnostics."""
    return {each.key: each.value for each in node.diagnostics.status().values}


def dropped(node):
    """Return how many trajectories a node has dropped."""
    return node.diagnostics.counted('dropped trajectories')


def assert_brakes(message):
    """Assert that a trajectory comes to rest within half a second."""
    brake = trajectory_from_message(message)
    assert brake.duration == pytest.approx(0.5)
    np.testing.assert_allclose(brake.velocities[-1], 0.0, atol=1e-12)


def trajectory_message(rows, *, names=JOINTS, start=0.0):
    """
    Return a trajectory.

    :param rows: one dict per point: time and any of positions, velocities, accelerations, effort.
    """
    points = [JointTrajectoryPoint(time_from_start=duration(row['time']),
                                   **{key: value for key, value in row.items() if key != 'time'})
              for row in rows]
    message = JointTrajectory(joint_names=list(names), points=points)
    message.header.stamp = stamp(start)
    return message


def motion_message(*, first=0.0, start=0.0, duration=1.0, goal=(0.5, -0.4), names=JOINTS):
    """Return a motion from zero to a goal, with all fields."""
    rest = [0.0] * len(names)
    return trajectory_message([
        {'time': first, 'positions': rest, 'velocities': rest, 'accelerations': rest},
        {'time': first + duration, 'positions': list(goal), 'velocities': rest,
         'accelerations': rest}], names=names, start=start)


def joint_state_message(time, position=(0.1, 0.2), velocity=(0.0, 0.0), effort=(), names=JOINTS):
    """Return a joint state."""
    message = JointState(name=list(names), position=list(position), velocity=list(velocity),
                         effort=list(effort))
    message.header.stamp = stamp(time)
    return message


def payload_message(mass, frame, centre=(0.0, 0.0, 0.0)):
    """Return a payload that is a point mass."""
    message = InertiaStamped()
    message.header.frame_id = frame
    message.inertia.m = mass
    message.inertia.com.x, message.inertia.com.y, message.inertia.com.z = centre
    return message
