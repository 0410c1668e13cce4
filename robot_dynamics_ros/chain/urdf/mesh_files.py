# SPDX-License-Identifier: Apache-2.0
"""
Mesh files that a URDF names: found below known folders only, and read for their triangles.

STL (binary and text), OBJ and COLLADA (.dae) are read. A name that leads out of the folders is
not opened. As in RViz, COLLADA's unit is applied and its up axis is not.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import UrdfError
from robot_dynamics_ros.files.bounds import LARGEST_NUMBER, read_bounded

#: A larger mesh is not read [bytes].
_LARGEST_FILE = 64 * 2**20

#: Bytes before the triangles of a binary STL, and of one triangle.
_HEADER, _TRIANGLE = 84, 50


class Mesh(NamedTuple):
    """
    Triangles.

    :param vertices: (v, 3) corners, in the unit of the file.
    :param faces: (t, 3) numbers of the corners of each triangle.
    """

    vertices: Array
    faces: NDArray[np.int64]


def read_mesh(name: str, folders: Sequence[Path]) -> Mesh | None:
    """
    Return a mesh, in the unit of its file; None if it cannot be read.

    :param name: name in the URDF: ``package://...``, ``file://...`` or a path.
    :param folders: folders to look in; with ``package://name/rest`` both ``name/rest`` and
        ``rest`` are tried in each, and ``share/name/rest`` below the installed packages.
    """
    path = _found(name, folders)
    reader = None if path is None else {
        '.stl': _stl, '.obj': _obj, '.dae': _collada}.get(path.suffix.lower())
    if path is None or reader is None:
        return None
    try:
        mesh = reader(read_bounded(path, _LARGEST_FILE, UrdfError))
    except (UrdfError, ValueError, IndexError, OverflowError):
        return None
    usable = (mesh.vertices.size and np.all(np.abs(mesh.vertices) <= LARGEST_NUMBER)  # nor NaN
              and np.all((mesh.faces >= 0) & (mesh.faces < len(mesh.vertices))))
    return mesh if usable else None


def _found(name: str, folders: Sequence[Path]) -> Path | None:
    package, plain = '', name
    if name.startswith('package://'):
        package, _, plain = name.removeprefix('package://').partition('/')
    elif name.startswith('file://'):
        plain = name.removeprefix('file://')
    installed = [Path(prefix) / 'share' for prefix in
                 os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if prefix]
    # a package's file may also be named by its full path, as xacro's $(find) does
    everywhere = [*folders, *installed] if package or name.startswith('file://') else folders
    candidates = [(folder, PurePosixPath(package) / plain) for folder in everywhere]
    if package:
        candidates += [(folder, PurePosixPath(plain)) for folder in folders]
    for folder, rest in candidates:
        try:
            path = (folder / rest).resolve()
            if path.is_relative_to(folder.resolve()) and path.is_file():
                return path
        except (OSError, ValueError):  # a name that no file can have
            continue
    return None


def _stl(data: bytes) -> Mesh:
    count = int.from_bytes(data[_HEADER - 4:_HEADER], 'little')
    if len(data) == _HEADER + _TRIANGLE * count:
        record = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('rest', '<u2')])
        corners = np.frombuffer(data, record, count, _HEADER)['corners']
        with np.errstate(invalid='ignore'):  # a signalling NaN
            vertices = np.asarray(corners, dtype=np.float64).reshape(-1, 3)
    else:
        vertices = _numbers_after(data, b'vertex')
    return _joined(vertices, np.arange(len(vertices) // 3 * 3).reshape(-1, 3))


def _obj(data: bytes) -> Mesh:
    faces = []
    for line in data.splitlines():
        words = line.split()
        if words[:1] == [b'f']:
            corners = [int(word.split(b'/')[0]) for word in words[1:]]
            faces += [(corners[0], *corners[k:k + 2]) for k in range(1, len(corners) - 1)]
    vertices = _numbers_after(data, b'v')
    numbers = np.array(faces, dtype=np.int64).reshape(-1, 3)
    return Mesh(vertices, np.where(numbers > 0, numbers - 1, numbers + len(vertices)))


def _numbers_after(data: bytes, word: bytes) -> Array:
    """Return the three numbers after a word at the start of lines."""
    lines = (line.split() for line in data.splitlines())
    found = [[float(number) for number in line[1:4]] for line in lines if line[:1] == [word]]
    return np.array(found, dtype=np.float64).reshape(-1, 3)


def _collada(data: bytes) -> Mesh:
    """Return all triangles of the scene, in metres."""
    if b'<!DOCTYPE' in data or b'<!ENTITY' in data:  # could name other files
        raise ValueError('a mesh with entities')
    from collada import Collada
    from collada.common import DaeError
    from collada.lineset import BoundLineSet
    from collada.triangleset import BoundTriangleSet

    try:
        document = Collada(io.BytesIO(data), ignore=[DaeError])  # materials, mostly
        unit = float(document.assetInfo.unitmeter or 1.0)
        vertices, faces, count = [np.zeros((0, 3))], [np.zeros((0, 3), dtype=np.int64)], 0
        for geometry in document.scene.objects('geometry'):
            for primitive in geometry.primitives():
                if isinstance(primitive, BoundLineSet):
                    continue
                triangles = (primitive if isinstance(primitive, BoundTriangleSet)
                             else primitive.triangleset())
                vertices.append(np.asarray(triangles.vertex, dtype=np.float64) * unit)
                faces.append(np.asarray(triangles.vertex_index, dtype=np.int64) + count)
                count += len(vertices[-1])
    except Exception as error:  # pycollada breaks in many ways on damaged files
        raise ValueError(f'not COLLADA: {error}') from error
    return _joined(np.concatenate(vertices), np.concatenate(faces))


def _joined(vertices: Array, faces: NDArray[np.int64]) -> Mesh:
    """Return the mesh with equal vertices made one, and without vertices of no triangle."""
    unique, place = np.unique(vertices[faces.reshape(-1)], axis=0, return_inverse=True)
    return Mesh(unique, np.asarray(place.reshape(-1, 3), dtype=np.int64))
