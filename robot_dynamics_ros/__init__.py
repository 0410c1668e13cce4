# SPDX-License-Identifier: Apache-2.0
"""URDF in, feedforward torque out, minimal parameters learned while the robot works."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robot_dynamics_ros.chain.chain import Chain
    from robot_dynamics_ros.chain.dh import chain_from_dh
    from robot_dynamics_ros.chain.effort import EffortSemantics
    from robot_dynamics_ros.chain.joint_physics import JointPhysics
    from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf
    from robot_dynamics_ros.codegen.runtime.model import Model, compile_model
    from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet, minimal_parameters
    from robot_dynamics_ros.errors import RobotDynamicsError
    from robot_dynamics_ros.estimation.identification.identify import identify

#: The same as in package.xml.
__version__ = '0.1.0'

_HOME = {
    'Chain': 'chain.chain',
    'EffortSemantics': 'chain.effort',
    'JointPhysics': 'chain.joint_physics',
    'MlcSet': 'dynamics.minimal.mlc',
    'Model': 'codegen.runtime.model',
    'RobotDynamicsError': 'errors',
    'chain_from_dh': 'chain.dh',
    'chain_from_urdf': 'chain.urdf.reader',
    'compile_model': 'codegen.runtime.model',
    'identify': 'estimation.identification.identify',
    'minimal_parameters': 'dynamics.minimal.mlc',
}

__all__ = ['Chain', 'EffortSemantics', 'JointPhysics', 'MlcSet', 'Model', 'RobotDynamicsError',
           'chain_from_dh', 'chain_from_urdf', 'compile_model', 'identify', 'minimal_parameters']


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: importing the package costs nothing."""
    if name not in _HOME:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(import_module(f'{__name__}.{_HOME[name]}'), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
