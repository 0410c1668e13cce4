# SPDX-License-Identifier: Apache-2.0
"""
Mesh files that a URDF names: found below known folders only, and read for their vertices.

STL (binary and text) and OBJ are read. A name that leads out of the folders is not opened.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import UrdfError
from robot_dynamics_ros.files.bounds import LARGEST_NUMBER, read_bounded

#: A larger mesh is not read [bytes].
_LARGEST_FILE = 64 * 2**20

#: Bytes before the triangles of a binary STL, and of one triangle.
_HEADER, _TRIANGLE = 84, 50


def mesh_vertices(name: str, folders: Sequence[Path]) -> Array | None:
    """
    Return the vertices (v, 3) of a mesh, in the unit of its file; None if it cannot be read.

    :param name: name in the URDF: ``package://...``, ``file://...`` or a path.
    :param folders: folders to look in; with ``package://name/rest`` both ``name/rest`` and
        ``rest`` are tried in each, and ``share/name/rest`` below the installed packages.
    """
    path = _found(name, folders)
    if path is None:
        return None
    try:
        data = read_bounded(path, _LARGEST_FILE, UrdfError)
        if path.suffix.lower() == '.stl':
            vertices = _stl(data)
        elif path.suffix.lower() == '.obj':
            vertices = _text(data, b'v')
        else:
            return None
    except (UrdfError, ValueError):
        return None
    usable = vertices.size and np.all(np.abs(vertices) <= LARGEST_NUMBER)  # NaN is not, either
    return vertices if usable else None


def _found(name: str, folders: Sequence[Path]) -> Path | None:
    package, plain = '', name
    if name.startswith('package://'):
        package, _, plain = name.removeprefix('package://').partition('/')
    elif name.startswith('file://'):
        plain = name.removeprefix('file://')
    installed = [Path(prefix) / 'share' for prefix in
                 os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep) if prefix]
    candidates = [(folder, PurePosixPath(package) / plain)
                  for folder in ([*folders, *installed] if package else folders)]
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


def _stl(data: bytes) -> Array:
    count = int.from_bytes(data[_HEADER - 4:_HEADER], 'little')
    if len(data) == _HEADER + _TRIANGLE * count:
        record = np.dtype([('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('rest', '<u2')])
        corners = np.frombuffer(data, record, count, _HEADER)['corners']
        return np.asarray(corners, dtype=np.float64).reshape(-1, 3)
    return _text(data, b'vertex')


def _text(data: bytes, word: bytes) -> Array:
    """Return the three numbers after a word at the start of lines."""
    lines = (line.split() for line in data.splitlines())
    found = [[float(number) for number in line[1:4]] for line in lines if line[:1] == [word]]
    return np.array(found, dtype=np.float64).reshape(-1, 3)
