# SPDX-License-Identifier: Apache-2.0
"""Nodes inside the test's process, without spinning, and as processes."""

from pathlib import Path

import pytest

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def description():
    return (ROOT / 'urdf' / 'demo_arm.urdf').read_text(encoding='utf-8')


@pytest.fixture
def planar():
    """Return the description of an arm with two joints: quick to load."""
    return (ROOT / 'urdf' / 'planar_2r.urdf').read_text(encoding='utf-8')


@pytest.fixture
def model(planar):
    return compile_model(chain_from_urdf(planar))


@pytest.fixture
def true_model(planar):
    """Return the robot that the description is wrong about."""
    return compile_model(with_parameter_error(chain_from_urdf(planar), 0.3, seed=3))


@pytest.fixture
def make_node(ros):
    """Return a function that makes a configured, active node in this process."""
    from rclpy.lifecycle import TransitionCallbackReturn
    from rclpy.parameter import Parameter

    nodes = []

    def make(kind, *, start=True, now=None, cli_args=None, **parameters):
        """
        Make a node.

        :param start: False = leave it unconfigured.
        :param now: first time of a clock that the test turns by ``node.now = ...`` [s]; None =
            the clock of the machine.
        :param cli_args: command line with ROS arguments, such as remappings.
        :param parameters: ROS parameters by name, with __ for a dot.
        """
        if now is not None:
            kind = type(kind.__name__, (kind,), {'now': now})
        overrides = [Parameter(name.replace('__', '.'), value=value)
                     for name, value in parameters.items()]
        node = kind(context=ros.node.context, parameter_overrides=overrides, cli_args=cli_args)
        nodes.append(node)
        if start:
            assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
            assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
        return node

    yield make
    while nodes:
        nodes.pop(0).destroy_node()


@pytest.fixture
def parameter_file(tmp_path):
    """Return a function that writes parameters for a node process and returns its arguments."""
    import yaml

    def write(**parameters):
        path = tmp_path / f'parameters_{len(list(tmp_path.iterdir()))}.yaml'
        path.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}),
                        encoding='utf-8')
        return ['--ros-args', '--params-file', str(path)]

    return write
