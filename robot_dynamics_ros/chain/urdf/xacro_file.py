# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions written with xacro, and what they are called with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from robot_dynamics_ros.errors import UrdfError
from robot_dynamics_ros.files.bounds import one_line

#: What is said where ``$(find PACKAGE)`` finds nothing: no package, no workspace, no ROS 2.
_NO_PACKAGE = ('package ', 'AMENT_PREFIX_PATH', 'ament_index_python')


@dataclass(frozen=True)
class XacroFile(os.PathLike[str]):
    """
    A xacro file with arguments, wherever the path of a robot description is taken.

    :param path: path of a file that ends in .xacro.
    :param arguments: value of each ``<xacro:arg>`` that differs from its default.
    """

    path: str | os.PathLike[str]
    arguments: Mapping[str, str] = field(default_factory=dict)

    def __fspath__(self) -> str:
        """Return the path."""
        return os.fspath(self.path)

    def __str__(self) -> str:
        """Return the path."""
        return os.fspath(self.path)


def expand_xacro(source: str | os.PathLike[str]) -> bytes:
    """
    Return the URDF that xacro makes of a file; expressions in the file are evaluated.

    :param source: path, or `XacroFile` with arguments.
    :raises UrdfError: the xacro module is missing, or it fails.
    """
    name = Path(source).name
    try:
        import xacro
    except ImportError:
        raise UrdfError(f'{name}: the xacro module is not installed; `pip install xacro`, '
                        'source ROS 2, or expand the file first') from None
    arguments = dict(source.arguments) if isinstance(source, XacroFile) else {}
    try:
        return bytes(xacro.process_file(os.fspath(source), mappings=arguments).toxml().encode())
    except Exception as error:  # xacro evaluates expressions: anything can come out of it
        # an error of a substitution comes with its class, and twice
        text = one_line(getattr(error, 'exc', error) if '<class' in str(error) else error)
        if 'argument' in text:
            text += '; give arguments as NAME:=VALUE'
        elif any(word in text for word in _NO_PACKAGE):
            text += ('; packages that the file names are found where their workspace is sourced: '
                     'expand it there, xacro FILE > robot.urdf')
        raise UrdfError(f'{name}: xacro failed: {text}') from None
