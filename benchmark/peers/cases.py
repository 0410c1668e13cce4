# SPDX-License-Identifier: Apache-2.0
"""
Recordings for a comparison: smoothed rows of a training part and of a held-out part.

Everybody gets the same q, qd, qdd and torque, filtered alike (forward and backward, order 4), and
is judged on the same rows of the last 30 % of the time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros import Chain, JointPhysics, chain_from_urdf, compile_model, identify
from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.estimation.recordings.files import read_recording
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.estimation.regression.rows import RowFilter
from robot_dynamics_ros.estimation.regression.time_blocks import last_part
from robot_dynamics_ros.estimation.settings import IdentificationSettings
from robot_dynamics_ros.estimation.smoothing.preparation import prepare
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get('ROBOT_DYNAMICS_DATA', ROOT.parent / 'shared' / 'data'))

#: Part of the time that is held out.
HELD_OUT = 0.3
#: Most rows that a peer gets; every k-th is taken.
MOST = 1500


@dataclass(frozen=True, eq=False)
class Case:
    """
    One comparison.

    :param name: name for the table.
    :param chain: the robot, with what joints.yaml would say.
    :param urdf: its URDF file.
    :param recording: recording, for ours.
    :param cutoff: cut-off frequency of the filter [Hz].
    """

    name: str
    chain: Chain
    urdf: Path
    recording: Recording
    cutoff: float

    def rows(self) -> tuple[Array, Array, Array, Array, Mask]:
        """Return q, qd, qdd, tau (N, n) and the mask (N,) of the held-out rows."""
        effort = EffortSemantics.torque(len(self.chain))
        settings = IdentificationSettings(cutoff=self.cutoff, parallel_cutoff=np.inf)
        prepared = prepare(self.chain, [self.recording], effort, settings)
        way = RowFilter(prepared.samples, prepared.moving, None)
        q, qd, qdd, tau = (way.at_rows([getattr(part, name) for part in prepared.samples])
                           for name in ('q', 'qd', 'qdd', 'tau'))
        tested = last_part(len(q), HELD_OUT) == 1
        every = max(1, round(len(q) / MOST))
        return q[::every], qd[::every], qdd[::every], tau[::every], tested[::every]

    def ours(self) -> Array:
        """Return the held-out relative errors by joint (n,) of `identify`, then of all joints."""
        result = identify(self.chain, self.recording, cutoff=self.cutoff, parallel_cutoff=np.inf,
                          last_part=HELD_OUT)
        verdict = result.verdict
        return np.append(verdict.held_out_by_joint, verdict.held_out_error)


def relative_errors(tau: Array, predicted: Array) -> Array:
    """Return RMS error over RMS torque by joint (n,), then of all joints."""
    squares, size = np.sum((tau - predicted) ** 2, axis=0), np.sum(tau ** 2, axis=0)
    return np.asarray(np.sqrt(np.append(squares / size, squares.sum() / size.sum())))


def cases(wanted: list[str]) -> Iterator[Case]:
    """Yield the cases; recordings that are not here are left out."""
    for name, make in {'simulated': _simulated, 'ur10': _ur10, 'panda': _panda,
                       'tx40': _tx40}.items():
        if (not wanted or name in wanted) and (name == 'simulated' or DATA.is_dir()):
            yield make()


def _simulated() -> Case:
    """Return an RX-90 with rotors and friction, 2 % noise, a URDF that is off by 15 %."""
    rng = np.random.default_rng(3)
    urdf = ROOT / 'urdf' / 'rx90.urdf'
    chain = chain_from_urdf(urdf)
    n = len(chain)
    physics = JointPhysics(rng.uniform(0.1, 0.5, n), rng.uniform(0.5, 3, n),
                           rng.uniform(0.5, 4, n), rng.uniform(-1, 1, n), 0.05)
    seed: Any = rng  # numpy takes a generator for a seed
    true = with_parameter_error(chain.with_joint_physics(physics), 0.15, seed)
    t = np.arange(0.0, 20.0, 0.01)
    angle = 2 * np.pi * 0.1 * np.arange(1, 6) * t[:, None, None] + rng.uniform(0, 6.28, (n, 5))
    size = rng.normal(size=(n, 5)) / np.arange(1, 6)
    omega = 2 * np.pi * 0.1 * np.arange(1, 6)
    q, qd, qdd = (np.sum(size * each, axis=-1) for each in (
        np.sin(angle), omega * np.cos(angle), -omega ** 2 * np.sin(angle)))
    tau = compile_model(true).torque(q, qd, qdd)
    tau = tau + 0.02 * np.sqrt(np.mean(tau ** 2, axis=0)) * rng.normal(size=tau.shape)
    known = chain.with_joint_physics(replace(JointPhysics.zero(n), coulomb_velocity=0.05))
    return Case('simulated RX-90, 2 % noise', known, urdf,
                Recording(t, q, qd, tau, chain.joint_names), 5.0)


def _recorded(name: str, folder: str, urdf: str, file: str, velocity: float, cutoff: float,
              coupling: Array | None = None, rename: tuple[tuple[str, str], ...] = ()) -> Case:
    path = DATA / folder / urdf
    chain = chain_from_urdf(path)
    chain = chain.with_joint_physics(replace(JointPhysics.zero(len(chain)),
                                             coulomb_velocity=velocity, coupling=coupling))
    return Case(name, chain, path, read_recording(DATA / folder / file, chain, rename=rename),
                cutoff)


def _ur10() -> Case:
    return _recorded('UR10, 10 Hz', 'ur10_unisa', 'ur10.urdf', 'exciting_trajectory.db3', 0.03,
                     10.0)


def _panda() -> Case:
    return _recorded('Panda, 3 Hz', 'panda_unisa', 'panda.urdf', 'exciting_trajectory.db3', 0.01,
                     3.0, rename=(('fer_', 'panda_'),))


def _tx40() -> Case:
    coupling = np.eye(6)
    coupling[5, 4] = -1.0
    return _recorded('TX40, 30 Hz, coupling given', 'tx40', 'tx40.urdf', 'tx40.npz', 0.05, 30.0,
                     coupling)
