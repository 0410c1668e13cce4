# SPDX-License-Identifier: Apache-2.0
"""A picture of solids from the triangles alone: no window, no graphics card, no browser."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.picture.solids import Colour, Solid

#: (H, W, 3) bytes.
Pixels = NDArray[np.uint8]

#: Pixels are drawn this many times finer in both directions, and averaged.
_FINER = 2

#: Directions towards the lights, in the camera's frame (right, up, towards the camera), and their
#: brightness; the rest comes from everywhere.
_LIGHTS = (((-0.45, 0.75, 0.6), 0.62), ((0.8, 0.1, 0.55), 0.18))
_EVERYWHERE = 0.34

#: Triangles no larger than this many pixels are drawn together.
_TOGETHER = 64
#: Pixels of triangles that are looked at together.
_CHUNK = 2_000_000

#: Largest width and height of a picture [pixels].
_LARGEST = 8000

#: What is nearer to the camera than this is not drawn [m].
_NEAR = 1e-3


@dataclass(frozen=True, eq=False)
class Camera:
    """
    Where a picture is taken from.

    :param eye: (3,) place of the camera [m].
    :param target: (3,) point in the middle of the picture [m].
    :param field_of_view: angle between top and bottom of the picture [rad].
    """

    eye: Array
    target: Array
    field_of_view: float = math.radians(30.0)

    @property
    def axes(self) -> Array:
        """Rows (3, 3): right, up, and from the target towards the eye."""
        back = np.asarray(self.eye - self.target, dtype=np.float64)
        back /= np.linalg.norm(back)
        right = np.cross([0.0, 0.0, 1.0], back)
        if np.linalg.norm(right) < 1e-9:  # from straight above
            right = np.array([1.0, 0.0, 0.0])
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(back, right), back])


def camera_for(solids: Sequence[Solid], aspect: float = 1.0,
               direction: tuple[float, float, float] = (1.0, -1.35, 0.62)) -> Camera:
    """
    Return a camera that sees all solids.

    :param solids: what must be in the picture.
    :param aspect: width over height of the picture.
    :param direction: direction from the solids towards the camera.
    """
    points = np.concatenate([solid.vertices for solid in solids if len(solid.vertices)]
                            or [np.array([[-0.5] * 3, [0.5] * 3])])
    unit = np.array(direction) / np.linalg.norm(direction)
    axes = Camera(unit, np.zeros(3)).axes
    seen = points @ axes.T
    middle = 0.5 * (seen.min(axis=0) + seen.max(axis=0))
    seen -= middle
    reach = np.maximum(np.abs(seen[:, 1]), np.abs(seen[:, 0]) / aspect)
    distance = float(np.max(seen[:, 2] + 1.08 * reach / math.tan(0.5 * Camera.field_of_view)))
    target = middle @ axes
    return Camera(target + max(distance, 1e-2) * unit, target)


def render(solids: Sequence[Solid], camera: Camera, width: int, height: int,
           background: Colour = (1.0, 1.0, 1.0)) -> Pixels:
    """
    Return a picture (height, width, 3).

    :param solids: what to draw, all in one frame whose z axis points up.
    :param camera: place of the camera.
    :param width: width [pixels].
    :param height: height [pixels].
    :param background: colour where there is nothing.
    :raises ParameterError: a size that no picture has.
    """
    if not (1 <= width <= _LARGEST and 1 <= height <= _LARGEST):
        raise ParameterError(f'a picture of {width} x {height} pixels; each must be between 1 '
                             f'and {_LARGEST}')
    columns, rows = _FINER * width, _FINER * height
    colour = np.tile(np.array(background), (columns * rows, 1))
    depth = np.zeros(columns * rows)  # one over the distance: 0 = infinitely far away
    axes = camera.axes
    for opaque in (True, False):
        chosen = [solid for solid in solids if (solid.opacity >= 1.0) == opaque
                  and len(solid.faces)]
        if not chosen:
            continue
        corners = np.concatenate([solid.vertices[solid.faces] for solid in chosen])
        paint = np.repeat([[*solid.colour, solid.opacity] for solid in chosen],
                          [len(solid.faces) for solid in chosen], axis=0)
        seen = (corners - camera.eye) @ axes.T
        visible = np.all(seen[..., 2] < -_NEAR, axis=1)
        seen, paint = seen[visible], paint[visible]
        scale = 0.5 * rows / math.tan(0.5 * camera.field_of_view)
        w = -1.0 / seen[..., 2]
        x = 0.5 * columns + scale * seen[..., 0] * w
        y = 0.5 * rows - scale * seen[..., 1] * w
        # a layer of its own: of what shines through, the nearest is seen
        nearest = depth.copy()
        triangle = _drawn(x, y, w, nearest, columns, rows)
        hit = triangle >= 0
        shade = _shades(seen)[triangle[hit], None]
        new, opacity = paint[triangle[hit], :3] * shade, paint[triangle[hit], 3:]
        colour[hit] = opacity * np.minimum(new, 1.0) + (1.0 - opacity) * colour[hit]
        if opaque:
            depth = nearest
    fine = colour.reshape(height, _FINER, width, _FINER, 3).mean(axis=(1, 3))
    return np.asarray(np.rint(255.0 * np.clip(fine, 0.0, 1.0)), dtype=np.uint8)


def _shades(seen: Array) -> Array:
    """Return the brightness of triangles (t, 3, 3) in the camera's frame (t,)."""
    normal = np.cross(seen[:, 1] - seen[:, 0], seen[:, 2] - seen[:, 0])
    length = np.linalg.norm(normal, axis=1)
    normal /= np.where(length > 0.0, length, 1.0)[:, None]
    # both sides are seen: a mesh may be inside out
    facing = np.where(np.einsum('ki,ki->k', normal, seen[:, 0]) > 0.0, -1.0, 1.0)
    shade = np.full(len(seen), _EVERYWHERE)
    for direction, brightness in _LIGHTS:
        light = np.array(direction) / np.linalg.norm(direction)
        shade += brightness * np.maximum(facing * (normal @ light), 0.0)
    return np.asarray(shade)


def _drawn(x: Array, y: Array, w: Array, depth: Array, columns: int, rows: int
           ) -> NDArray[np.int64]:
    """Return the number of the nearest triangle of every pixel, -1 for none; change `depth`."""
    triangle = np.full(columns * rows, -1, dtype=np.int64)
    left, top = (np.floor(v.min(axis=1)).clip(0.0, limit).astype(np.int64)
                 for v, limit in ((x, columns), (y, rows)))
    right, bottom = (np.ceil(v.max(axis=1)).clip(0.0, limit).astype(np.int64)
                     for v, limit in ((x, columns), (y, rows)))
    wide = np.maximum(right - left, bottom - top)
    wide[(right <= left) | (bottom <= top)] = 0
    side = 1
    while side <= _TOGETHER:
        members = np.flatnonzero((wide <= side) & (wide > side // 2))
        for part in np.array_split(members, max(1, math.ceil(len(members) * side**2 / _CHUNK))):
            _fill(part, left, top, side, side, x, y, w, depth, triangle, columns, rows)
        side *= 2
    for member in np.flatnonzero(wide > _TOGETHER):
        _fill(np.array([member]), left, top, int(right[member] - left[member]),
              int(bottom[member] - top[member]), x, y, w, depth, triangle, columns, rows)
    return triangle


def _fill(members: NDArray[np.int64], left: NDArray[np.int64], top: NDArray[np.int64],
          across: int, down: int, x: Array, y: Array, w: Array, depth: Array,
          triangle: NDArray[np.int64], columns: int, rows: int) -> None:
    """Fill triangles that lie in boxes of equal size from (left, top) on."""
    if not len(members):
        return
    px = left[members, None] + np.tile(np.arange(across), down)
    py = top[members, None] + np.repeat(np.arange(down), across)
    (x0, x1, x2), (y0, y1, y2) = (v[members].T[..., None] for v in (x, y))
    area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
    with np.errstate(divide='ignore', invalid='ignore'):
        a = ((px + 0.5 - x0) * (y2 - y0) - (x2 - x0) * (py + 0.5 - y0)) / area
        b = ((x1 - x0) * (py + 0.5 - y0) - (px + 0.5 - x0) * (y1 - y0)) / area
        inside = (a >= 0.0) & (b >= 0.0) & (a + b <= 1.0) & (px < columns) & (py < rows)
        w0, w1, w2 = w[members].T[..., None]
        near = w0 + a * (w1 - w0) + b * (w2 - w0)
    pixel, value = (py * columns + px)[inside], near[inside]
    number = np.broadcast_to(members[:, None], px.shape)[inside]
    better = value > depth[pixel]
    pixel, value, number = pixel[better], value[better], number[better]
    order = np.argsort(value, kind='stable')  # the nearest is written last and stays
    depth[pixel[order]] = value[order]
    triangle[pixel[order]] = number[order]


def png(pixels: Pixels) -> bytes:
    """Return a picture (H, W, 3) as the bytes of a PNG file."""
    height, width, _ = pixels.shape
    raw = np.concatenate([np.zeros((height, 1), dtype=np.uint8),
                          pixels.reshape(height, 3 * width)], axis=1)
    parts = ((b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)),
             (b'IDAT', zlib.compress(raw.tobytes(), 9)), (b'IEND', b''))
    return b'\x89PNG\r\n\x1a\n' + b''.join(
        struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
        for kind, data in parts)
