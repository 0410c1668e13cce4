# SPDX-License-Identifier: Apache-2.0
"""
Are standard deviations true? Parameters from two parts of a recording, over their deviations.

Two parts of a recording are two measurements of the same robot: their parameters should differ by
less than two standard deviations of the difference in about 95 % of all cases, more often where
the deviations are too large, less often where they are too small. `python
benchmark/studies/coverage.py` prints the table of docs/identification.md for simulated recordings.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import lfilter

from robot_dynamics_ros import JointPhysics, Recording, chain_from_urdf, compile_model, identify
from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.estimation.identification.result import Identification
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

URDF = Path(__file__).parents[2] / 'urdf'
ROBOTS = ('puma_4dof', 'rx90', 'demo_arm')
NOISES = ('white', 'coloured', 'heavy tails', 'friction')

#: Two sets of parts [begin, end] of a recording, as fractions of it.
SPLITS: dict[str, tuple[tuple[tuple[float, float], ...], tuple[tuple[float, float], ...]]] = {
    'halves': (((0, 1 / 2),), ((1 / 2, 1),)),
    'quarters 1, 3 and 2, 4': (((0, 1 / 4), (1 / 2, 3 / 4)), ((1 / 4, 1 / 2), (3 / 4, 1))),
    'quarters 1, 4 and 2, 3': (((0, 1 / 4), (3 / 4, 1)), ((1 / 4, 3 / 4),)),
    'thirds 1 and 2': (((0, 1 / 3),), ((1 / 3, 2 / 3),)),
    'thirds 2 and 3': (((1 / 3, 2 / 3),), ((2 / 3, 1),)),
    'thirds 1 and 3': (((0, 1 / 3),), ((2 / 3, 1),)),
    'thirds 1 and 2, 3': (((0, 1 / 3),), ((1 / 3, 1),)),
}


def irregular_motion(rng: np.random.Generator, n: int, duration: float,
                     step: float) -> tuple[Array, Array, Array, Array]:
    """Return t, q, qd, qdd of six sines per joint with frequencies that never repeat."""
    t = np.arange(0.0, duration, step)
    frequency = rng.uniform(0.05, 0.5, (n, 6)) * rng.uniform(0.7, 1.6)
    size = rng.normal(size=(n, 6)) * 0.25 / np.sqrt(frequency / frequency.mean())
    omega = 2 * np.pi * frequency
    angle = omega * t[:, None, None] + rng.uniform(0, 2 * np.pi, (n, 6))
    q = np.sum(size * np.sin(angle), axis=-1) + rng.uniform(-0.5, 0.5, n)
    return (t, q, np.sum(size * omega * np.cos(angle), axis=-1),
            np.sum(-size * omega ** 2 * np.sin(angle), axis=-1))


def simulated(robot: str, noise: str, duration: float, seed: int,
              step: float = 0.01) -> tuple[Chain, Chain, Recording]:
    """
    Return the true robot, its URDF (off by 30 %), and a recording.

    :param robot: name of a file in urdf/.
    :param noise: kind of the errors, one of `NOISES`; each is 3 % of the torque. 'friction' is
        dry friction that grows with load, has a hysteresis, a Stribeck effect and a ripple.
    :param duration: length of the recording [s].
    :param seed: seed of the motion, of the joints' friction and of the errors.
    :param step: sampling period [s].
    """
    rng = np.random.default_rng(seed)
    chain = chain_from_urdf(URDF / f'{robot}.urdf')
    n = len(chain)
    t, q, qd, qdd = irregular_motion(rng, n, duration, step)
    size = np.maximum(np.std(compile_model(chain).torque(q, qd, qdd), axis=0), 1e-2)
    physics = JointPhysics(rng.uniform(0.1, 0.5, n) * size / size.max(),
                           rng.uniform(0.05, 0.2, n) * size, rng.uniform(0.05, 0.2, n) * size,
                           rng.uniform(-0.05, 0.05, n) * size, coulomb_velocity=0.03)
    chain = chain.with_joint_physics(physics)
    tau = compile_model(chain).torque(q, qd, qdd)
    size = 0.03 * np.std(tau, axis=0)
    if noise == 'white':
        tau = tau + size * rng.normal(size=tau.shape)
    elif noise == 'friction':
        tau = tau + _unmodelled_friction(rng, physics, tau, q, qd, step)
        tau += 0.3 * size * rng.normal(size=tau.shape)
    else:
        lasting = np.exp(-step / (rng.uniform(0.05, 0.8) if noise == 'coloured' else 0.1))
        shape = (len(t) + 1000, n)
        drive = rng.normal(size=shape) if noise == 'coloured' else rng.standard_t(3, shape) / 1.7
        tau = tau + size * lfilter([np.sqrt(1 - lasting ** 2)], [1, -lasting], drive,
                                   axis=0)[1000:]
    return chain, with_parameter_error(chain, 0.3, seed + 1), Recording(
        t, q, qd, tau, chain.joint_names)


def _unmodelled_friction(rng: np.random.Generator, physics: JointPhysics, tau: Array, q: Array,
                         qd: Array, step: float) -> Array:
    """Return torques (N, n) of friction that the laws of identify do not have."""
    direction = np.tanh(qd / physics.coulomb_velocity)
    load = np.abs(tau - physics.coulomb * direction - physics.viscous * qd)
    lagging = np.zeros_like(q)
    for k in range(1, len(q)):
        change = qd[k] - np.abs(qd[k]) * lagging[k - 1]
        lagging[k] = np.clip(lagging[k - 1] + change * step / 0.02, -1.0, 1.0)
    ripple = np.sin(rng.uniform(5.0, 20.0, q.shape[1]) * q)
    return np.asarray(0.06 * load * direction + physics.coulomb * (
        0.5 * np.exp(-(qd / 0.1) ** 2) * direction + 0.05 * ripple * direction
        + 0.5 * (lagging - direction)))


def part(recording: Recording, begin: float, end: float) -> Recording:
    """Return a part of a recording; begin and end are fractions of it."""
    use = slice(round(begin * len(recording)), round(end * len(recording)))
    qd = None if recording.qd is None else recording.qd[use]
    return Recording(recording.t[use], recording.q[use], qd, recording.tau[use],
                     recording.joint_names)


def differences(chain: Chain, recording: Recording, splits: Sequence[str] = tuple(SPLITS),
                **options: Any) -> dict[str, Array]:
    """
    Return, for each split, the differences of all parameters over their standard deviations.

    :param chain: the robot.
    :param recording: recording to divide.
    :param splits: names in `SPLITS`.
    :param options: options of `identify`.
    """
    found: dict[tuple[tuple[float, float], ...], Identification] = {}

    def identified(parts: tuple[tuple[float, float], ...]) -> Identification:
        if parts not in found:
            found[parts] = identify(chain, [part(recording, *each) for each in parts], folds=2,
                                    **options)
        return found[parts]

    return {name: np.array(list(_scores(*(identified(parts) for parts in SPLITS[name]))))
            for name in splits}


def _scores(one: Identification, other: Identification) -> Iterator[float]:
    """
    Yield differences over standard deviations, of what both recordings determine.

    Terms of friction are the same quantity only where both have chosen the same law of the joint:
    Coulomb friction beside a term under load is another one than Coulomb friction alone.
    """
    laws = [{line.name for line in each.parameters if line.name.startswith('F')}
            for each in (one, other)]
    another = {name[2:] for name in laws[0] ^ laws[1]}
    known = {line.name: line for line in one.parameters if line.state == 'excited'}
    for line in other.parameters:
        if line.name.startswith('F') and line.name[2:] in another:
            continue
        if line.state == 'excited' and line.name in known:
            same = known[line.name]
            yield ((line.value - same.value)
                   / float(np.hypot(line.standard_deviation, same.standard_deviation)))


def within_two(scores: Array) -> float:
    """Return the part of the differences that are within two standard deviations."""
    return float(np.mean(np.abs(scores) < 2.0))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seeds', type=int, default=3)
    arguments = parser.parse_args()
    print('| errors | length | within 2 standard deviations | RMS |')
    print('|---|---|---|---|')
    for noise in NOISES:
        for duration in (12.0, 30.0, 60.0):
            scores = np.concatenate([
                each for robot in ROBOTS for seed in range(1, arguments.seeds + 1)
                for each in differences(*simulated(robot, noise, duration, seed)[1:],
                                        splits=tuple(SPLITS)[:4]).values()])
            print(f'| {noise} | {duration:.0f} s | {100 * within_two(scores):.0f} % | '
                  f'{np.sqrt(np.mean(scores ** 2)):.2f} |', flush=True)


if __name__ == '__main__':
    main()
