# SPDX-License-Identifier: Apache-2.0
"""What was learned over time, in a file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState, MlcEstimate
from robot_dynamics_ros.errors import RecordingError
from robot_dynamics_ros.files.atomic_file import write_atomically


@dataclass(frozen=True, eq=False)
class LearningHistory:
    """
    N estimates, oldest first.

    :param times: (N,) [s].
    :param names: p names of the minimal parameters.
    :param values: (N, p).
    :param deviations: (N, p) standard deviations; NaN = not identified.
    :param residuals: (N, n) unexplained torque [N m, N]; NaN = not known yet.
    :param samples: (N,) number of samples used.
    :param states: N states.
    """

    times: Array
    names: tuple[str, ...]
    values: Array
    deviations: Array
    residuals: Array
    samples: Array
    states: tuple[EstimateState, ...]


def save_history(path: str | Path, estimates: Sequence[tuple[float, MlcEstimate]]) -> None:
    """
    Write estimates with their times [s]; at least one.

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
    Read what `save_history` has written.

    :raises RecordingError: the file does not hold a history.
    """
    try:
        with np.load(path, allow_pickle=False) as content:
            return LearningHistory(
                content['times'], tuple(str(name) for name in content['names']),
                content['values'], content['deviations'], content['residuals'],
                content['samples'], tuple(EstimateState(int(each)) for each in content['states']))
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise RecordingError(f'{path}: does not hold what was learned: {error}') from error
