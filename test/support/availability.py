# SPDX-License-Identifier: Apache-2.0
"""Whether ROS 2 is here, with the messages of this repository."""

from importlib import import_module

import pytest


def ros_missing():
    """Return why tests with ROS 2 cannot run, or '' when they can."""
    try:
        import_module('rclpy')
        import_module('domain_coordinator')
        # the source folder of the message package can be imported too, but holds no classes
        _ = import_module('robot_dynamics_interfaces.msg').MlcSet
    except (ImportError, AttributeError) as error:
        return (f'ROS 2 with robot_dynamics_interfaces is not here ({error}): run `make test`, '
                'or source the workspace that colcon has built')
    return ''


def skip_without_ros():
    """Skip the test, or the whole module when called at its top, where ROS 2 is missing."""
    if reason := ros_missing():
        pytest.skip(reason, allow_module_level=True)
