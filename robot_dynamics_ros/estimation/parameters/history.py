# SPDX-License-Identifier: Apache-2.0
"""
Files of online estimation: histories and checkpoints.

A history holds every estimate, for plots; a checkpoint holds the state of an estimator, so that it
can continue after a crash.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState, MlcEstimate
from robot_dynamics_ros.errors import ParameterError, RecordingError
from robot_dynamics_ros.files.atomic_file import write_atomically


@dataclass(frozen=True, eq=False)
class LearningHistory:
    """
    N estimates, oldest first.

    :param times: (N,) time of each estimate [s].
    :param names: names of the p minimal parameters.
    :param values: (N, p) minimal parameters.
    :param standard_deviations: (N, p) standard deviations; NaN = not identified.
    :param residuals: (N, n) RMS of the unexplained torque [N m, N]; NaN = not known yet.
    :param samples: (N,) number of samples used.
    :param states: state of each estimate.
    """

    times: Array
    names: tuple[str, ...]
    values: Array
    standard_deviations: Array
    residuals: Array
    samples: Array
    states: tuple[EstimateState, ...]


def save_history(path: str | Path, estimates: Sequence[tuple[float, MlcEstimate]]) -> None:
    """
    Write a history.

    :param path: path of the file (.npz).
    :param estimates: pairs of time [s] and estimate, at least one.
    :raises ParameterError: the file cannot be written.
    """
    buffer = io.BytesIO()
    np.savez(buffer, times=np.array([time for time, _ in estimates]),
             names=np.array(estimates[0][1].mlc.names),
             values=np.array([each.mlc.values for _, each in estimates]),
             deviations=np.array([each.standard_deviations for _, each in estimates]),
             residuals=np.array([each.residual_rms for _, each in estimates]),
             samples=np.array([each.samples for _, each in estimates]),
             states=np.array([int(each.state) for _, each in estimates]))
    write_atomically(path, buffer.getvalue())


def load_history(path: str | Path) -> LearningHistory:
    """
    Read a history written by `save_history`.

    :raises RecordingError: the file does not hold a history.
    """
    try:
        with np.load(path, allow_pickle=False) as content:
            return LearningHistory(
                content['times'], tuple(str(name) for name in content['names']),
                content['values'], content['deviations'], content['residuals'],
                content['samples'], tuple(EstimateState(int(each)) for each in content['states']))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise RecordingError(f'{path}: is not a history of estimates: {error}') from error


FORMAT = 1
_FORMAT, _HASH = 'checkpoint_format', 'model_hash'


def save_checkpoint(path: str | Path, state: Mapping[str, Array], model_hash: str) -> None:
    """
    Write the state of an estimator; after a crash the last complete file remains.

    :param path: path of the file (.npz).
    :param state: arrays by name.
    :param model_hash: hash of the robot and the minimal set that the state belongs to.
    :raises ParameterError: the file cannot be written.
    """
    buffer = io.BytesIO()
    content = {**state, _FORMAT: np.array(FORMAT), _HASH: np.array(model_hash)}
    np.savez(buffer, **content)  # type: ignore[arg-type]
    write_atomically(path, buffer.getvalue())


def load_checkpoint(path: str | Path, model_hash: str) -> dict[str, Array]:
    """
    Read the state of an estimator.

    :param path: path of the file.
    :param model_hash: hash of the robot and the minimal set that the state is used for.
    :raises ParameterError: not readable, not a checkpoint, or for another robot.
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
        raise ParameterError(f'{path}: belongs to another robot, gravity or minimal set; it is '
                             'not used')
    return state
