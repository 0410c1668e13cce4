# SPDX-License-Identifier: Apache-2.0
"""Motors that move two joints at once, as in many wrists: their friction and rotors tell."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.estimation.hints.trial import Cause, Trial, TrialColumns

#: q_motor = M q of two joints: the second motor carries the first joint too, or the first the
#: second; both, as in a differential.
_BLOCKS = tuple(np.array(block) for block in (
    [[1.0, 0.0], [1.0, 1.0]], [[1.0, 0.0], [-1.0, 1.0]], [[1.0, 1.0], [0.0, 1.0]],
    [[1.0, -1.0], [0.0, 1.0]], [[1.0, -1.0], [1.0, 1.0]], [[1.0, 1.0], [-1.0, 1.0]]))

#: Names of what acts at a motor.
_TERMS = ('Ia', 'Fv', 'Fc', 'Fs', 'Fl', 'Fa')


def coupling_cause(trial: Trial) -> Cause | None:
    """Return the two joints that a motor moves together, if there are such."""
    n = len(trial.chain)
    if trial.chain.joint_physics.coupling is not None or 'motor' in trial.effort.side:
        return None
    tried = []
    for pair in _pairs(trial):
        for k, block in enumerate(_BLOCKS):
            columns = _coupled(trial, pair, block)
            inverse = np.eye(n)
            inverse[np.ix_(pair, pair)] = block
            for side in ('joint', 'motor'):
                tau, usable = trial.rows.tau, trial.rows.usable
                if side == 'motor':  # torque_joint = M^T torque_motor
                    tau = np.where(usable, tau, 0.0) @ inverse
                    usable = usable & ~((~usable).astype(float) @ np.abs(inverse) > 0.0)
                tried.append((trial.score(trial.errors(columns, tau, usable)), pair, k, side))
    best, pair, k, side = min(tried, default=(0.0, (0, 0), 0, ''))
    if best == 0.0:
        return None
    inverse = np.eye(n)
    inverse[np.ix_(pair, pair)] = _BLOCKS[k]
    names = [trial.chain.joint_names[j] for j in pair]
    remedy = f'coupling: {_text(np.asarray(np.linalg.inv(inverse)))}'
    if side == 'motor':
        sides = ', '.join(f'{name}: {{effort: {{side: motor}}}}' for name in names)
        remedy = f'{{{remedy}, joints: {{{sides}}}}}'
    meaning = ('efforts are torques of the motors' if side == 'motor'
               else 'friction and rotors act at the motors')
    return Cause(Finding('coupling', names[1], f'a motor moves {names[0]} and {names[1]} together '
                         f'(a coupled wrist): {meaning}', None, remedy), best)


def _pairs(trial: Trial) -> Iterator[tuple[int, int]]:
    """Yield joints next to each other, at least one of which is not understood."""
    chain = trial.chain
    place = {name: j for j, name in enumerate(chain.joint_names)}
    for joint, parent in zip(chain.moving, chain.parents):
        before = chain.moving[parent - 1].name if parent else ''
        if before in place and joint.name in place:
            pair = place[before], place[joint.name]
            if trial.doubtful[list(pair)].any():
                yield pair


def _coupled(trial: Trial, pair: tuple[int, int], block: Array) -> TrialColumns:
    """Return the unknowns with rotor, viscous and Coulomb friction at the coupled motors."""
    velocity = max(trial.chain.joint_physics.coulomb_velocity, 1e-6)
    n, drop, columns, deviations = len(trial.chain), set(), [], []
    for motor, row in zip(pair, block):
        if np.count_nonzero(row) < 2:
            continue
        drop |= {f'{term}{motor + 1}' for term in _TERMS}
        moves = [(part.qdd[:, list(pair)] @ row, part.qd[:, list(pair)] @ row)
                 for part in trial.way.samples]
        signals = trial.way.at_rows([np.column_stack([qdd, qd, np.tanh(qd / velocity)])
                                     for qdd, qd in moves])
        acting = np.zeros((len(trial.rows), n, 3))
        acting[:, list(pair)] = signals[:, None, :] * row[:, None]
        columns.append(acting)
        deviations += [_room(trial, term, pair) for term in _TERMS[:3]]
    return trial.columns.with_more(drop, np.concatenate(columns, axis=2), np.array(deviations))


def _room(trial: Trial, term: str, pair: tuple[int, int]) -> float:
    """Return the standard deviation of a term of either joint, or of any."""
    known = dict(zip(trial.columns.names, trial.columns.prior.standard_deviations))
    own = [known[name] for j in pair if (name := f'{term}{j + 1}') in known]
    return float(max(own or [value for name, value in known.items() if name.startswith(term)]
                     or [1.0]))


def _text(matrix: Array) -> str:
    """Return a matrix as YAML in one line."""
    return '[' + ', '.join('[' + ', '.join(f'{value:g}' for value in row + 0.0) + ']'
                           for row in matrix) + ']'
