# SPDX-License-Identifier: Apache-2.0
"""Nodes under attack are silent; those of later tests in the same process must not be."""

from pathlib import Path

import pytest

import robot_dynamics_ros

NODES = [path.stem for path in (Path(robot_dynamics_ros.__file__).parent / 'nodes').glob('*.py')]


@pytest.fixture(autouse=True)
def logging_again():
    yield
    try:
        from rclpy.logging import LoggingSeverity, set_logger_level
    except ImportError:
        return
    for name in NODES:
        set_logger_level(name, LoggingSeverity.INFO)
