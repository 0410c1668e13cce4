# SPDX-License-Identifier: Apache-2.0
"""The shadow of solids on the floor: without it, nobody sees how high a robot is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.picture.solids import Solid

#: Colour and opacity of a shadow.
_DARK, _OPACITY = (0.35, 0.38, 0.42), 0.22

#: Direction that the light goes, down to the floor.
_LIGHT = (-0.35, 0.25, -1.0)


def shadow(solids: Sequence[Solid], floor: float) -> list[Solid]:
    """
    Return what opaque solids leave dark on the floor.

    :param solids: solids in a frame whose z axis points up.
    :param floor: height of the floor [m].
    """
    flat = []
    for solid in solids:
        if solid.opacity >= 1.0 and len(solid.vertices):
            height = np.maximum(solid.vertices[:, 2] - floor, 0.0)
            points = solid.vertices + height[:, None] * np.array(_LIGHT)
            points[:, 2] = floor
            flat.append(replace(solid, vertices=points, colour=_DARK, opacity=_OPACITY))
    return flat
