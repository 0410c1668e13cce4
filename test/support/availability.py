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


def launch_missing():
    """Return why launch files cannot be started, or '' when they can."""
    if reason := ros_missing():
        return reason
    try:
        import_module('launch_ros.actions')
        # our folder of that name can be imported as launch too, but holds no classes
        _ = import_module('launch').LaunchDescription
    except (ImportError, AttributeError) as error:
        return (f'launch and launch_ros are not here ({error}; only a ROS 2 installation has them)'
                ': no launch file was started. What they say was checked with a stand-in, in '
                'test_launch_content.py')
    return ''


def skip_without_ros():
    """Skip the test, or the whole module when called at its top, where ROS 2 is missing."""
    if reason := ros_missing():
        pytest.skip(reason, allow_module_level=True)
