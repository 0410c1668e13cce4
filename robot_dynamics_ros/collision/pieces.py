# SPDX-License-Identifier: Apache-2.0
"""
Convex pieces of a mesh: hulls of the parts it is cut into, which together hold all of it.

Where the hull of a whole link is too coarse, the pieces mostly are not, and their distances take
a hundredth of the time that those of triangles take.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.urdf.mesh_files import Mesh

#: Pieces at most, and part of the volume that a cut must save.
_PIECES, _SAVED = 8, 0.01

#: Directions in which the extent of a piece is measured, and corners that are measured at most,
#: to estimate its volume.
_DIRECTIONS, _MEASURED = 80, 2000


class _Piece(NamedTuple):
    """Triangles (t, 3, 3), and about the volume of their hull [m^3]."""

    triangles: Array
    volume: float


class _Cut(NamedTuple):
    """Both sides of a cut, and the volume that it saves [m^3]."""

    saved: float
    sides: tuple[_Piece, _Piece]


def convex_pieces(mesh: Mesh) -> list[Array]:
    """
    Return points (k, 3) whose hulls together hold all triangles of a mesh.

    Again and again the piece is halved, across the axis, for which that saves the most volume.

    :param mesh: triangles [m].
    """
    triangles = mesh.vertices[mesh.faces]
    off_centre = mesh.vertices - mesh.vertices.mean(axis=0)
    axes = np.linalg.eigh(off_centre.T @ off_centre)[1].T
    whole = _piece(triangles)
    pieces, cuts = [whole], [_best_cut(whole, axes)]
    while len(pieces) < _PIECES:
        best = max(range(len(pieces)), key=lambda k: cuts[k].saved)
        if not cuts[best].saved > _SAVED * whole.volume:
            break
        halves = cuts.pop(best).sides
        pieces.pop(best)
        pieces += halves
        cuts += [_best_cut(half, axes) for half in halves]
    return [np.unique(piece.triangles.reshape(-1, 3), axis=0) for piece in pieces]


def _piece(triangles: Array) -> _Piece:
    from scipy.spatial import ConvexHull, QhullError

    points = triangles.reshape(-1, 3)
    points = points[::1 + len(points) // _MEASURED]
    outer = points[np.unique(np.argmax(points @ _directions().T, axis=0))]
    try:
        return _Piece(triangles, float(ConvexHull(outer).volume))
    except (QhullError, ValueError):  # flat
        return _Piece(triangles, 0.0)


def _directions() -> Array:
    """Return unit vectors (k, 3), evenly spread (Fibonacci)."""
    k = np.arange(_DIRECTIONS) + 0.5
    z, angle = 1.0 - 2.0 * k / _DIRECTIONS, np.pi * (1.0 + 5.0**0.5) * k
    across = np.sqrt(1.0 - z**2)
    return np.column_stack([across * np.cos(angle), across * np.sin(angle), z])


def _best_cut(piece: _Piece, axes: Array) -> _Cut:
    best = _Cut(-np.inf, (piece, piece))
    for axis in axes:
        along = piece.triangles @ axis
        middle = 0.5 * (float(along.min()) + float(along.max()))
        sides = [clipped(piece.triangles, sign * axis, sign * middle) for sign in (1.0, -1.0)]
        if min(map(len, sides)):
            first, second = map(_piece, sides)
            saved = piece.volume - first.volume - second.volume
            if saved > best.saved:
                best = _Cut(saved, (first, second))
    return best


def clipped(triangles: Array, normal: Array, offset: float) -> Array:
    """
    Return what of triangles (t, 3, 3) is on the side of a plane to which its normal points.

    :param triangles: (t, 3, 3) corners [m].
    :param normal: (3,) normal of the plane.
    :param offset: value of ``normal @ point`` on the plane [m].
    """
    height = triangles @ normal - offset
    inside = height >= 0.0
    count = inside.sum(axis=1)
    result = [triangles[count == 3]]
    for wanted in (1, 2):
        some = count == wanted
        odd = inside[some] if wanted == 1 else ~inside[some]  # the corner that is alone
        first = np.argmax(odd, axis=1)
        turn = (first[:, None] + np.arange(3)) % 3
        corner = np.take_along_axis(triangles[some], turn[:, :, None], 1)
        h = np.take_along_axis(height[some], turn, 1)
        alone, b, c = corner.transpose(1, 0, 2)
        to_b, to_c = (alone + (h[:, 0] / (h[:, 0] - h[:, k]))[:, None] * (other - alone)
                      for k, other in ((1, b), (2, c)))
        if wanted == 1:
            result.append(np.stack([alone, to_b, to_c], axis=1))
        else:
            result += [np.stack([to_b, b, c], axis=1), np.stack([to_b, c, to_c], axis=1)]
    return np.concatenate(result)
