# SPDX-License-Identifier: Apache-2.0
"""
Arrays from an .npz file, checked before memory is taken for them.

numpy believes the size that a file announces. Here every announced size must be that of the data,
so that a damaged or made-up file costs nothing.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Container
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.files.bounds import one_line, read_bounded

#: Numbers and text; no objects, which are programs.
_KINDS = 'biufU'
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_MOST_ARRAYS = 10_000


def read_npz(path: str | Path, largest: int, error: type[RobotDynamicsError], verdict: str,
             wanted: Container[str] | None = None) -> dict[str, np.ndarray[Any, Any]]:
    """
    Return the arrays of a file by name.

    :param path: path of the file.
    :param largest: largest size of the file, and of all its arrays together [bytes].
    :param error: class of the error to raise.
    :param verdict: words for a file that is damaged, e.g. 'is not a checkpoint'.
    :param wanted: names of the arrays to read; None = all.
    :raises RobotDynamicsError: an `error` that names the file and says what is wrong with it.
    """
    content = read_bounded(path, largest, error)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {each.filename.removesuffix('.npy'): each for each in archive.infolist()}
            if not len(members) == len(archive.infolist()) <= _MOST_ARRAYS:
                raise ValueError('it holds an array twice, or too many')
            chosen = {name: each for name, each in members.items()
                      if wanted is None or name in wanted}
            if sum(each.file_size for each in chosen.values()) > largest:
                raise ValueError(f'its arrays are larger than the limit of {largest} bytes')
            return {name: _array(archive, each) for name, each in chosen.items()}
    except Exception as reason:  # a broken file may break its reader in any way
        raise error(f'{one_line(path)}: {verdict}: '
                    f'{one_line(reason) or type(reason).__name__}') from reason


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray[Any, Any]:
    """Return one array; its header must announce what is there."""
    if member.compress_type not in _COMPRESSIONS:
        raise ValueError(f'unknown compression {member.compress_type}')
    with archive.open(member) as file:
        headers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        version = npy.read_magic(file)
        if version not in headers:
            raise ValueError(f'unknown version {version} of an array')
        shape, fortran_order, dtype = headers[version](file)
        if dtype.kind not in _KINDS or dtype.hasobject:
            raise ValueError(f'{dtype} is neither numbers nor text')
        data = file.read(member.file_size)
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(data):
        raise ValueError(f'an array of shape {shape} is announced, with {len(data)} bytes')
    if not data:
        return np.zeros(shape, dtype)
    return np.frombuffer(data, dtype).reshape(shape, order='F' if fortran_order else 'C').copy()
