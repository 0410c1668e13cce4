# SPDX-License-Identifier: Apache-2.0
"""
What slow motion shows about efforts: how far weight and friction explain each of them.

The effort of a joint is explained by ``a g + c sign(qd) + v qd + o``: the weight of the URDF,
friction and an offset. Its own joint is one candidate, every other joint another: where efforts
are swapped, another one explains it better. The terms are linear, so that all follows from least
squares. Errors of the URDF are not noise; they last as long as a posture does. So standard
deviations are those of blocks of time, not of samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.chain.inertia import Inertia, payload_inertia
from robot_dynamics_ros.codegen.runtime.model import compile_model
from robot_dynamics_ros.dynamics.formulations.equations_of_motion import gravity_torque
from robot_dynamics_ros.errors import IdentificationError
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.estimation.settings import IdentificationSettings
from robot_dynamics_ros.estimation.smoothing.preparation import prepare

#: Blocks of time that count as independent.
BLOCKS = 20
#: Fewest samples that say anything.
_FEWEST = 10 * BLOCKS
#: More samples than this, times two at most, say nothing new: they are smoothed.
_MOST = 1000
#: Friction has its sign above this part of a joint's typical velocity.
_SIGN_VELOCITY = 0.05
#: The dynamics beside weight and friction have columns of their own above this part of the weight.
_SLOW = 0.05
#: Columns that are this small beside what the others explain of them are dependent.
_DEPENDENT = 1e-6


@dataclass(frozen=True, eq=False)
class SlowSamples:
    """
    Smoothed samples of slow motion.

    :param t: (N,) time [s].
    :param q: (N, n) positions [rad, m].
    :param qd: (N, n) velocities [rad/s, m/s].
    :param qdd: (N, n) accelerations [rad/s^2, m/s^2].
    :param effort: (N, n) efforts; NaN = none.
    :param block: (N,) number of the block of time, 0 to BLOCKS - 1.
    """

    t: Array
    q: Array
    qd: Array
    qdd: Array
    effort: Array
    block: NDArray[np.intp]


@dataclass(frozen=True)
class Evidence:
    """
    What one effort shows if it is taken for that of a certain joint.

    :param weight: effort per N m or N of the URDF's weight; NaN = the weight does not change.
    :param weight_deviation: its standard deviation.
    :param weight_torque: root mean square of the changing part of the weight [N m, N].
    :param weight_part: part of the effort's variance beside friction that the weight explains.
    :param friction: half the friction band, in the unit of the effort.
    :param friction_deviation: its standard deviation.
    :param offset: reading at zero torque, in the unit of the effort.
    :param offset_deviation: its standard deviation.
    :param explained: part of the effort's variance that all terms explain.
    :param size: root mean square of the effort about its mean.
    """

    weight: float
    weight_deviation: float
    weight_torque: float
    weight_part: float
    friction: float
    friction_deviation: float
    offset: float
    offset_deviation: float
    explained: float
    size: float

    @property
    def friction_seen(self) -> bool:
        """Whether the effort changes with the direction of motion, beyond doubt."""
        return bool(abs(self.friction) > 5.0 * self.friction_deviation)


def slow_samples(chain: Chain, recording: Recording, given: EffortSemantics) -> SlowSamples:
    """
    Return smoothed samples with efforts as the given meaning has them.

    :raises RecordingError: a recording that cannot be used.
    :raises IdentificationError: the robot hardly moves.
    """
    # limits of efforts mean nothing before their unit is known
    free = replace(chain, joints=tuple(replace(joint, effort_limit=np.nan)
                                       for joint in chain.joints))
    prepared = prepare(free, [recording], given, IdentificationSettings())
    parts = [(part, use) for part, use in zip(prepared.samples, prepared.moving) if np.any(use)]
    t = np.concatenate([part.t[use] for part, use in parts])
    q, qd, qdd = (np.concatenate([getattr(part, name)[use] for part, use in parts])
                  for name in ('q', 'qd', 'qdd'))
    effort = np.concatenate([np.where(part.usable, part.tau, np.nan)[use] for part, use in parts])
    if len(t) < _FEWEST:
        raise IdentificationError(f'{recording.source}: {len(t)} samples of motion are too few '
                                  f'to tell what efforts mean; at least {_FEWEST} are needed')
    every = max(1, len(t) // _MOST)
    t, q, qd, qdd, effort = (each[::every] for each in (t, q, qd, qdd, effort))
    return SlowSamples(t, q, qd, qdd, effort, np.arange(len(t)) * BLOCKS // len(t))


class SlowMotion:
    """The terms of every joint on one motion, and what they show."""

    def __init__(self, chain: Chain, samples: SlowSamples) -> None:
        """
        Compute the terms.

        :param chain: the robot; its masses are those of the URDF.
        :param samples: its motion.
        """
        self.chain, self.samples = chain, samples
        self.weight = gravity_torque(chain, samples.q)
        model = compile_model(chain)
        self.dynamics = model.inverse_dynamics(samples.q, samples.qd, samples.qdd) - self.weight
        typical = np.sqrt(np.mean(samples.qd ** 2, axis=0)) + 1e-12
        self.direction = np.tanh(samples.qd / (_SIGN_VELOCITY * typical))

    def others(self, k: int) -> Array:
        """Return the columns (N, m) beside the weight: friction, offset last; dynamics if any."""
        s = self.samples
        columns = [self.direction[:, k], s.qd[:, k], np.ones(len(s.t))]
        changing = np.std(self.weight[:, k])
        if np.std(self.dynamics[:, k]) > _SLOW * changing > 0.0:
            columns[2:2] = [self.dynamics[:, k], s.qdd[:, k]]
        return np.stack(columns, axis=1)

    def evidence(self, j: int, k: int) -> Evidence | None:
        """
        Return what effort j shows if it is that of joint k; None where it has too few samples.

        :param j: number of the effort.
        :param k: number of the joint.
        """
        use = np.isfinite(self.samples.effort[:, j])
        if use.sum() < _FEWEST:
            return None
        e, block = self.samples.effort[use, j], self.samples.block[use]
        others, weight = self.others(k)[use], self.weight[use, k]
        changing = weight - _fitted(others, weight)
        shown = np.linalg.norm(changing) > _DEPENDENT * (
            np.linalg.norm(self.weight) / np.sqrt(self.weight.shape[1]) + 1e-12)
        A = np.column_stack([weight, others]) if shown else others
        x, deviations = _regression(A, e, block)
        rest = e - A @ x
        beside = e - _fitted(others, e)
        size = float(np.std(e))
        first = int(shown)
        last = A.shape[1] - 1
        return Evidence(
            float(x[0]) if shown else np.nan, float(deviations[0]) if shown else np.nan,
            float(np.sqrt(np.mean(changing ** 2))) if shown else 0.0,
            _part(rest, beside) if shown else 0.0,
            float(x[first]), float(deviations[first]), float(x[last]), float(deviations[last]),
            _part(rest, e - np.mean(e)), size)

    def offset_with_free_masses(self, j: int) -> float:
        """
        Return the offset of effort j if the masses of the URDF are not believed.

        Where it differs from that of the URDF's masses, a wrong mass is taken for an offset.

        :param j: number of the effort and its joint.
        """
        use = np.isfinite(self.samples.effort[:, j])
        columns = [gravity_torque(self.chain.with_links(links), self.samples.q[use])[:, j]
                   for links in _unit_moments(self.chain, j)]
        A = np.column_stack([*columns, self.others(j)[use]])
        scale = np.linalg.norm(A, axis=0) + 1e-300
        x, *_ = np.linalg.lstsq(A / scale, self.samples.effort[use, j], rcond=1e-4)
        return float((x / scale)[-1])

    def payload_columns(self, tip: str) -> Array:
        """Return the weight (N, n, 4) of a payload: 1 kg, and 1 kg m along the axes of a tip."""
        q = self.samples.q

        def moved(centre: ArrayLike) -> Array:
            loaded = self.chain.with_payload(payload_inertia(1.0, centre, np.zeros((3, 3))),
                                             tip=tip)
            return gravity_torque(loaded, q) - self.weight

        at_tip = moved([0.0, 0.0, 0.0])
        return np.stack([at_tip, *(moved(axis) - at_tip for axis in np.eye(3))], axis=-1)


def _unit_moments(chain: Chain, first: int) -> list[list[Inertia]]:
    """Return links with one unit of mass or first moment, for the links from `first` outward."""
    result = []
    for i in range(first, len(chain.links)):
        for unit in np.eye(4):
            links = [Inertia.zero()] * len(chain.links)
            links[i] = replace(Inertia.zero(), mass=float(unit[0]), first_moment=unit[1:])
            result.append(links)
    return result


def _fitted(A: Array, y: Array) -> Array:
    x, *_ = np.linalg.lstsq(A, y, rcond=None)
    return np.asarray(A @ x)


def _part(rest: Array, whole: Array) -> float:
    """Return the part of the squares of `whole` that is not left in `rest`."""
    squares = float(whole @ whole)
    return 1.0 - float(rest @ rest) / squares if squares > 0.0 else 0.0


def _regression(A: Array, y: Array, block: NDArray[np.intp]) -> tuple[Array, Array]:
    """Return the solution and its standard deviations, with errors alike within a block."""
    scale = np.linalg.norm(A, axis=0) + 1e-300
    B = A / scale
    inverse = np.linalg.pinv(B.T @ B, rcond=1e-12)
    x = inverse @ (B.T @ y)
    scores = B * (y - B @ x)[:, None]
    sums = np.stack([scores[block == each].sum(axis=0) for each in np.unique(block)])
    count = len(sums)
    inflation = count / max(count - 1, 1) * len(y) / max(len(y) - A.shape[1], 1)
    covariance = inflation * inverse @ (sums.T @ sums) @ inverse
    return x / scale, np.sqrt(np.maximum(np.diag(covariance), 0.0)) / scale
