# SPDX-License-Identifier: Apache-2.0
"""Errors of the package: one base class, one subclass per stage."""


class RobotDynamicsError(Exception):
    """Base of every error that this package raises on purpose."""


class UrdfError(RobotDynamicsError):
    """The text is not a URDF that can be used."""


class ChainError(RobotDynamicsError):
    """The robot is readable, but not the chain that was asked for."""


class ParameterError(RobotDynamicsError):
    """A dynamic parameter has the wrong size, sign or name."""


class StateError(RobotDynamicsError):
    """A joint state (q, qd, qdd, tau, wrench) has the wrong size or type."""


class TrajectoryError(RobotDynamicsError):
    """A joint trajectory cannot be executed as it is."""


class RecordingError(RobotDynamicsError):
    """A recording cannot be read, or holds nothing that can be used."""


class IdentificationError(RobotDynamicsError):
    """The data do not allow what was asked for."""


class ExcitationError(RobotDynamicsError):
    """No exciting motion can be found within the limits."""


class CollisionError(RobotDynamicsError):
    """Collisions cannot be checked, or cannot be avoided."""


class TableError(RobotDynamicsError):
    """A table of samples cannot be used."""


class ViewError(RobotDynamicsError):
    """A page cannot be shown in a browser."""


class NodeError(RobotDynamicsError):
    """A node could not be started or has ended unexpectedly."""
