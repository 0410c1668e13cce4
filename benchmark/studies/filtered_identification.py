# SPDX-License-Identifier: Apache-2.0
"""
Identification by the filtered regressor against smoothing forward and backward.

The same least squares (minimal parameters, rotors, viscous and Coulomb friction, offsets; joints
weighted by their residuals) on the first 70 % of a motion, with rows of both kinds, and the torque
error on the last 30 %, whose rows are those of `identify` for both. The cut-off frequency of the
filter is chosen on the first 70 % alone: learned from their beginning, judged by their end.

    PYTHONPATH=benchmark python -m studies.filtered_identification FOLDER

writes the results on recordings of real robots, which are not part of the package, into
benchmark/papers/filtered_identification.json.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from robot_dynamics_ros import JointPhysics, chain_from_urdf
from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.dynamics.formulations.filtered_regressor import (
    FilteredMomentum,
    filter_weights,
)
from robot_dynamics_ros.estimation.recordings.files import read_recording
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.estimation.regression.rows import regression_rows
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms
from robot_dynamics_ros.estimation.settings import IdentificationSettings
from robot_dynamics_ros.estimation.smoothing.preparation import prepare
from robot_dynamics_ros.estimation.smoothing.zero_phase import SmoothedSamples

RESULTS = Path(__file__).parents[1] / 'papers' / 'filtered_identification.json'
#: Cut-off frequencies that are tried [rad/s].
CUTOFFS = (5.0, 10.0, 20.0, 50.0)
#: Part of the time that is learned from.
TRAINING = 0.7
#: Passes of weighting the joints by their residuals.
_PASSES = 3
#: Time constants of the filter until its start has faded out.
_FADED = 5.0


@dataclass(frozen=True)
class Comparison:
    """
    Held-out torque errors, relative to the torque.

    :param smoothed: result of the rows of `identify`.
    :param filtered: result of the filtered regressor, by its cut-off frequency [rad/s].
    :param chosen: the cut-off frequency that is best within the part that is learned from [rad/s].
    """

    smoothed: float
    filtered: dict[float, float]
    chosen: float


def compare(chain: Chain, recording: Recording, cutoffs: tuple[float, ...],
            truth: Array | None = None) -> Comparison:
    """
    Return the errors of both ways on one recording.

    :param chain: the robot.
    :param recording: recording of one stretch or more.
    :param cutoffs: cut-off frequencies of the filter to try [rad/s].
    :param truth: (N, n) torque without noise at the samples, if it is known [N m, N].
    """
    terms = TorqueTerms(chain)
    effort = EffortSemantics.torque(len(chain))
    prepared = prepare(chain, [recording], effort, IdentificationSettings())
    rows = regression_rows(terms, prepared.samples, prepared.moving, prepared.parallel_cutoff)
    duration = rows.t[-1] - rows.t[0]
    middle, end = (rows.t[0] + part * duration for part in (TRAINING**2, TRAINING))
    first, last = rows.t <= end, rows.t > end
    judge = rows.tau if truth is None else np.stack(
        [np.interp(rows.t, recording.t, column) for column in truth.T], axis=1)

    def error(x: Array, part: Mask, tau: Array) -> float:
        use = rows.usable[part]
        wrong = np.where(use, tau[part] - rows.Y[part] @ x, 0.0)
        return float(np.linalg.norm(wrong) / np.linalg.norm(np.where(use, tau[part], 0.0)))

    smoothed = _fit(rows.Y[first], rows.tau[first], rows.usable[first])
    raw = prepare(chain, [recording], effort, IdentificationSettings(
        cutoff=np.inf, parallel_cutoff=np.inf)).samples
    found, within = {}, {}
    for cutoff in cutoffs:
        parts = [_filtered_rows(terms, part, cutoff) for part in raw]
        t = np.concatenate([part.t for part in raw])
        Y, tau, usable = (np.concatenate(each) for each in zip(*parts))
        x, early = (_fit(Y[t <= until], tau[t <= until], usable[t <= until])
                    for until in (end, middle))
        found[cutoff] = error(x, last, judge)
        # the truth is not known where one has to choose
        within[cutoff] = error(early, first & (rows.t > middle), rows.tau)
    return Comparison(error(smoothed, last, judge), found,
                      min(within, key=lambda cutoff: within[cutoff]))


def _filtered_rows(terms: TorqueTerms, part: SmoothedSamples,
                   cutoff: float) -> tuple[Array, Array, Mask]:
    """Return Y_f, tau_f and which of them may be used, of one stretch as it was recorded."""
    p, rest = len(terms.mlc), np.zeros_like(part.qd)
    W, Z = np.zeros((2, *part.q.shape, len(terms.columns)))
    split = terms.model.momentum_split(part.q, part.qd)
    W[:, :, :p], Z[:, :, :p] = split[:, 0], split[:, 1]
    for columns, motion in ((Z, (part.qd, rest)), (W, (rest, part.qd))):
        columns[:, :, p:] = terms.regressor(part.q, *motion)[:, :, p:]
    W[:, :, p:] -= terms.regressor(part.q, rest, rest)[:, :, p:]
    momentum = FilteredMomentum(cutoff)
    keep, before, now = filter_weights(cutoff, part.step)
    Y, tau = np.empty_like(W), np.zeros_like(part.tau)
    torque = np.where(part.usable, part.tau, 0.0)
    wait = np.zeros(part.tau.shape[1])
    usable = np.zeros(part.tau.shape, dtype=np.bool_)
    for k in range(len(part)):
        Y[k] = momentum.update(W[k], Z[k], part.step)
        if k:
            tau[k] = keep * tau[k - 1] + before * torque[k - 1] + now * torque[k]
        wait = np.where(part.usable[k], wait + cutoff * part.step, 0.0)
        usable[k] = wait > _FADED
    return Y, tau, usable


def _fit(Y: Array, tau: Array, usable: Mask) -> Array:
    """Return the values (P,) of all columns: the shortest of those that fit best."""
    weights = np.ones(tau.shape[1])
    x = np.zeros(Y.shape[2])
    for _ in range(_PASSES):
        w = np.where(usable, weights, 0.0)
        A, b = (Y * w[:, :, None]).reshape(-1, Y.shape[2]), (tau * w).ravel()
        scale = np.linalg.norm(A, axis=0)
        scale[scale == 0.0] = 1.0
        x = np.linalg.lstsq(A / scale, b, rcond=1e-6)[0] / scale
        residual = np.where(usable, tau - Y @ x, 0.0)
        square = np.sum(residual**2, axis=0) / np.maximum(usable.sum(axis=0), 1)
        weights = 1.0 / np.sqrt(np.maximum(square, 1e-300))
    return x


def recorded_robots(folder: Path) -> dict[str, tuple[Chain, Recording]]:
    """
    Return the recordings of real robots that the identification is judged by.

    :param folder: folder of the recordings, which are not part of the package.
    """
    def robot(name: str, file: str, velocity: float, recording: str,
              rename: Sequence[tuple[str, str]] = (),
              coupling: Array | None = None) -> tuple[Chain, Recording]:
        chain = chain_from_urdf(folder / name / file)
        chain = chain.with_joint_physics(replace(
            JointPhysics.zero(len(chain)), coulomb_velocity=velocity, coupling=coupling))
        return chain, read_recording(folder / name / recording, chain, rename=rename)

    wrist = np.eye(6)
    wrist[5, 4] = -1.0  # motor 6 also carries joint 5
    bag = 'exciting_trajectory.db3'
    return {'UR10': robot('ur10_unisa', 'ur10.urdf', 0.03, bag),
            'Panda': robot('panda_unisa', 'panda.urdf', 0.01, bag, [('fer_', 'panda_')]),
            'TX40': robot('tx40', 'tx40.urdf', 0.05, 'tx40.npz', coupling=wrist)}


if __name__ == '__main__':
    results = {name: asdict(compare(*robot, CUTOFFS))
               for name, robot in recorded_robots(Path(sys.argv[1])).items()}
    RESULTS.write_text(json.dumps(results, indent=1) + '\n', encoding='utf-8')
