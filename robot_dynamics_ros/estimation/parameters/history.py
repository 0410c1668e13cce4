# SPDX-License-Identifier: Apache-2.0
"""
Files of online estimation: histories and checkpoints.

A history holds every estimate, for plots; a checkpoint holds the state of an estimator, so that it
can continue after a crash.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState, MlcEstimate
from robot_dynamics_ros.errors import ParameterError, RecordingError
from robot_dynamics_ros.files.atomic_file import write_atomically
from robot_dynamics_ros.files.bounds import one_line
from robot_dynamics_ros.files.checked_npz import read_npz

#: A larger file is refused [bytes].
MAXIMUM_SIZE = 256 * 2**20


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
    verdict = 'is not a history of estimates'
    content = read_npz(path, MAXIMUM_SIZE, RecordingError, verdict)
    try:
        return _history(content)
    except (KeyError, ValueError, TypeError, OverflowError, IndexError) as error:
        raise RecordingError(f'{path}: {verdict}: {one_line(error)}') from error


def _history(content: Mapping[str, Array]) -> LearningHistory:
    times, names = content['times'], tuple(str(name) for name in content['names'])
    shapes = {'times': (times.size,), 'values': (times.size, len(names)),
              'deviations': (times.size, len(names)), 'samples': (times.size,),
              'residuals': (times.size, content['residuals'].shape[-1]), 'states': (times.size,)}
    for name, shape in shapes.items():
        if content[name].shape != shape or content[name].dtype.kind not in 'iuf':
            raise ValueError(f'{name} is not numbers of shape {shape}')
    return LearningHistory(
        times, names, content['values'], content['deviations'], content['residuals'],
        content['samples'], tuple(EstimateState(int(each)) for each in content['states']))


FORMAT = 2

#: Format before friction laws: a state without `law`, of Coulomb and viscous friction.
_FORMER = 1
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
    state = read_npz(path, MAXIMUM_SIZE, ParameterError, 'is not a checkpoint')
    if state.pop(_FORMAT, np.array(-1)).tolist() not in (FORMAT, _FORMER):
        raise ParameterError(f'{path}: is not a checkpoint of format {FORMAT} or {_FORMER}')
    if str(state.pop(_HASH, np.array(''))) != model_hash:
        raise ParameterError(f'{path}: belongs to another robot, gravity or minimal set; it is '
                             'not used')
    for name, values in state.items():
        if values.dtype.kind not in 'iuf' or not np.all(np.isfinite(values)):
            raise ParameterError(f'{path}: is not a checkpoint: {one_line(name)} is not finite '
                                 'numbers')
    return state
