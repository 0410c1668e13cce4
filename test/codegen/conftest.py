# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of generated models."""

import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model


@pytest.fixture(scope='session')
def demo_arm():
    return chain_from_urdf(URDF_FOLDER / 'demo_arm.urdf')


@pytest.fixture(scope='session')
def arm(demo_arm):
    """Return the model of the demo arm; tests that change its parameters make their own."""
    return compile_model(demo_arm, 'llvm')
