# SPDX-License-Identifier: Apache-2.0
"""A picture of a robot in one call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.picture.drawn_robot import drawn_robot
from robot_dynamics_ros.picture.renderer import camera_for, png, render
from robot_dynamics_ros.picture.shadow import shadow
from robot_dynamics_ros.picture.solids import Solid, bounds


def robot_picture(source: str | os.PathLike[str], positions: Mapping[str, float] | None = None, *,
                  width: int = 640, height: int = 480,
                  folders: Sequence[str | os.PathLike[str]] = ()) -> bytes:
    """
    Return a picture of a robot as the bytes of a PNG file; needs neither window nor browser.

    :param source: path or text of a URDF; trees, hands and robots without meshes are drawn, too.
    :param positions: positions by joint name [rad, m]; joints without one are at zero, or at the
        nearest position inside their limits.
    :param width: width [pixels].
    :param height: height [pixels].
    :param folders: folders with mesh files, beside the folder of the URDF itself and the
        packages that are installed.
    :raises UrdfError: the text is not a usable URDF.
    :raises ParameterError: a size that no picture has.
    """
    robot = drawn_robot(source, folders=folders)
    links = robot.placed({**robot.rest(), **(positions or {})})
    return picture_of(links, links, width, height)


def picture_if_possible(source: str | os.PathLike[str], joint_names: Sequence[str], q: ArrayLike,
                        folders: Sequence[str | os.PathLike[str]] = (), height: int = 400
                        ) -> bytes | None:
    """
    Return a small picture for a report; None where the robot cannot be drawn.

    :param source: path or text of a URDF.
    :param joint_names: names of n joints.
    :param q: (n,) their positions [rad, m].
    :param folders: folders with mesh files.
    :param height: height [pixels].
    """
    positions = dict(zip(joint_names, np.asarray(q, dtype=np.float64).tolist()))
    try:
        return robot_picture(source, positions, width=440, height=height, folders=folders)
    except RobotDynamicsError:
        return None


def picture_of(solids: Sequence[Solid], standing: Sequence[Solid], width: int, height: int,
               floor: float | None = None) -> bytes:
    """
    Return a picture of solids on a floor as the bytes of a PNG file.

    :param solids: all that is drawn, in a frame whose z axis points up.
    :param standing: what throws a shadow.
    :param width: width [pixels].
    :param height: height [pixels].
    :param floor: height of the floor [m]; None = lowest point of what throws a shadow.
    :raises ParameterError: a size that no picture has.
    """
    level = float(bounds(standing)[0][2]) if floor is None else floor
    seen = [*solids, *shadow(standing, level)]
    return png(render(seen, camera_for(seen, max(width, 1) / max(height, 1)), width, height))
