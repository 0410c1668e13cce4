# SPDX-License-Identifier: Apache-2.0
"""The state of an estimator on disk, to go on after a crash where it was."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.files.atomic_file import write_atomically

FORMAT = 1
_FORMAT, _HASH = 'checkpoint_format', 'model_hash'


def save_checkpoint(path: str | Path, state: Mapping[str, Array], model_hash: str) -> None:
    """
    Write the state of an estimator; a crash leaves the last whole one.

    :param path: of the file (.npz).
    :param state: arrays by name.
    :param model_hash: of the robot and the minimal set that the state belongs to.
    :raises ParameterError: the file cannot be written.
    """
    buffer = io.BytesIO()
    content = {**state, _FORMAT: np.array(FORMAT), _HASH: np.array(model_hash)}
    np.savez(buffer, **content)  # type: ignore[arg-type]
    write_atomically(path, buffer.getvalue())


def load_checkpoint(path: str | Path, model_hash: str) -> dict[str, Array]:
    """
    Read the state of an estimator.

    :param path: of the file.
    :param model_hash: of the robot and the minimal set it is to be used for.
    :raises ParameterError: not readable, not a checkpoint, or of another robot.
    """
    try:
        with np.load(path, allow_pickle=False) as content:
            state = {name: content[name] for name in content.files}
    except OSError as error:
        raise ParameterError(f'{path}: cannot be read: {error.strerror or error}') from error
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise ParameterError(f'{path}: is not a checkpoint: {error}') from error
    if int(state.pop(_FORMAT, np.array(-1))) != FORMAT:
        raise ParameterError(f'{path}: is not a checkpoint of format {FORMAT}')
    if str(state.pop(_HASH, np.array(''))) != model_hash:
        raise ParameterError(f'{path}: is of another robot, gravity or minimal set; it is not '
                             'used')
    return state
