# SPDX-License-Identifier: Apache-2.0
"""
Is anything left? A Gaussian process on what the identified model does not explain.

For every held-out block: fit as `identify` does, then a Gaussian process (squared exponential over
scaled positions, velocities, accelerations and directions of motion) on the residuals of the
training part. Length scale and noise are chosen by blocks of the training part. If the process
lowers the held-out error, the model lacks something that the motion tells.

``PYTHONPATH=.:benchmark .venv/bin/python -m studies.residual_process`` prints the table of
docs/identification.md; the recordings are in ROBOT_DYNAMICS_DATA.
"""

from __future__ import annotations

import numpy as np
from peers.cases import Case, cases
from scipy.linalg import cho_factor, cho_solve
from scipy.spatial.distance import cdist

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.estimation.identification.study import INNER, Study
from robot_dynamics_ros.estimation.regression.friction_signals import FrictionSignals
from robot_dynamics_ros.estimation.regression.rows import RowFilter, regression_rows
from robot_dynamics_ros.estimation.regression.time_blocks import Blocks, block_numbers, folds_of
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms
from robot_dynamics_ros.estimation.settings import IdentificationSettings
from robot_dynamics_ros.estimation.smoothing.preparation import prepare

#: Length scales, over the standard deviation of each input, and noise over signal that are tried.
LENGTHS, NOISES = (2.0, 4.0, 8.0, 16.0), (0.3, 1.0, 3.0, 10.0)
#: Most training samples of the process.
MOST = 700


def predicted(X: Array, y: Array, at: Array, length: float, noise: float) -> Array:
    """Return the mean of the process (M,) at other inputs; zero where it knows nothing."""
    size = float(np.std(y)) ** 2 or 1.0

    def kernel(A: Array, B: Array) -> Array:
        return np.asarray(size * np.exp(-0.5 * cdist(A, B, 'sqeuclidean') / length ** 2))

    factor = cho_factor(kernel(X, X) + noise ** 2 * size * np.eye(len(X)))
    return np.asarray(kernel(at, X) @ cho_solve(factor, y))


def improved(X: Array, y: Array, blocks: Blocks, at: Array) -> Array:
    """Return the prediction (M,) of the process that predicts blocks of its data best; or zero."""
    every = max(1, round(len(X) / MOST))
    X, y, blocks = X[::every], y[::every], blocks[::every]
    best, chosen = float(np.sum(y ** 2)), None
    for length in LENGTHS:
        for noise in NOISES:
            error = 0.0
            for k in np.unique(blocks):
                out = blocks == k
                left = y[out] - predicted(X[~out], y[~out], X[out], length, noise)
                error += float(np.sum(left ** 2))
            if error < best:
                best, chosen = error, (length, noise)
    return np.zeros(len(at)) if chosen is None else predicted(X, y, at, *chosen)


def study_of(case: Case, cutoff: float | None, parallel: float | None) -> tuple[Study, Array]:
    """Return the study of a recording, and the inputs of the process at its rows."""
    settings = IdentificationSettings(cutoff=cutoff, parallel_cutoff=parallel)
    effort = EffortSemantics.torque(len(case.chain))
    prepared = prepare(case.chain, [case.recording], effort, settings)
    terms = TorqueTerms(case.chain)
    way = RowFilter(prepared.samples, prepared.moving, prepared.parallel_cutoff)
    rows = regression_rows(terms, prepared.samples, prepared.moving, prepared.parallel_cutoff)
    blocks, _ = block_numbers(rows.stretch, rows.states[:, :len(case.chain)],
                              INNER * settings.folds)
    study = Study(terms, rows, FrictionSignals(terms, way), np.maximum(prepared.velocity, 0.01),
                  prepared.acceleration, settings, blocks, effort.side)
    samples = prepared.samples
    inputs = np.hstack([way.at_rows([getattr(part, name) for part in samples])
                        for name in ('q', 'qd', 'qdd')]
                       + [way.at_rows([np.tanh(part.qd / 0.03) for part in samples])])
    return study, np.asarray(inputs / np.std(inputs, axis=0))


def errors(study: Study, inputs: Array) -> tuple[Array, Array]:
    """Return held-out errors by joint, then of all: of the model, and with the process."""
    rows = study.rows
    model, process = np.full((2, *rows.tau.shape), np.nan)
    for training, test in folds_of(study.blocks, rows.states, range(5)):
        torque = study.fitted(training).torque
        model[test] = process[test] = torque[test]
        for j in range(rows.tau.shape[1]):
            use: Mask = training & rows.usable[:, j]
            process[test, j] += improved(inputs[use], (rows.tau - torque)[use, j],
                                         study.blocks[use], inputs[test])
    use = rows.usable & np.isfinite(model)
    result = []
    for each in (model, process):
        squares = np.sum(np.where(use, rows.tau - each, 0.0) ** 2, axis=0)
        size = np.sum(np.where(use, rows.tau, 0.0) ** 2, axis=0)
        result.append(np.sqrt(np.append(squares / size, squares.sum() / size.sum())))
    return result[0], result[1]


def main() -> None:
    """Print the table."""
    print('| recording | model, all (by joint) [%] | with the process [%] |\n|---|---|---|')
    for case in cases(['ur10', 'panda', 'tx40']):
        found = errors(*study_of(case, None, None))
        cells = [f'{100 * each[-1]:.2f} ({" ".join(f"{100 * e:.1f}" for e in each[:-1])})'
                 for each in found]
        print(f'| {case.name.partition(",")[0]} | {cells[0]} | {cells[1]} |', flush=True)


if __name__ == '__main__':
    main()
