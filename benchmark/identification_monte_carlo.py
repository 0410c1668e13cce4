# SPDX-License-Identifier: Apache-2.0
"""
Monte-Carlo study of the estimators, in the style of the BIRDy benchmark: the table of the docs.

One robot (RX-90 with rotors and friction), trajectories of 10 s at 1 kHz, five levels of noise on
position and torque, 25 start values (URDF parameters off by 15 %). For every method the relative
error of the minimal parameters and of the torque on a second trajectory, medians of the runs.
"""

import os

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')

import argparse
from pathlib import Path

import numpy as np
from bench_identification import motion

from robot_dynamics_ros import JointPhysics, chain_from_urdf, compile_model, identify
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.minimal.rotor_grouping import rotor_grouping
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

URDF = Path(__file__).parents[1] / 'urdf' / 'rx90.urdf'

#: Deviation of the positions [rad] and of the torques, relative to each joint's.
LEVELS = ((1e-6, 0.001), (1e-5, 0.005), (1e-4, 0.01), (5e-4, 0.02), (1e-3, 0.05))

#: Name, and options of identify; None = the online estimator.
METHODS = (
    ('ordinary', {'method': 'ordinary'}),
    ('weighted', {'method': 'weighted'}),
    ('robust', {'method': 'robust'}),
    ('robust, 30 Hz', {'method': 'robust', 'cutoff': 30.0}),
    ('instruments, 30 Hz', {'method': 'robust', 'cutoff': 30.0, 'refinement': 'instruments'}),
    ('online', None),
)


def robot():
    """Return the true robot."""
    chain = chain_from_urdf(URDF)
    n = len(chain)
    return chain.with_joint_physics(JointPhysics(
        np.linspace(0.5, 0.05, n), np.linspace(4.0, 0.4, n), np.linspace(5.0, 0.5, n),
        np.linspace(-0.3, 0.3, n), coulomb_velocity=0.02))


def errors(truth, start, data, noise, rng, options, test):
    """Return relative errors of parameters and torque."""
    t, q, _, _, tau = data
    q = q + noise[0] * rng.normal(size=q.shape)
    tau = tau + noise[1] * np.std(tau, axis=0) * rng.normal(size=tau.shape)
    if options is None:
        estimator = OnlineEstimator(start)
        for k in range(len(t)):
            estimator.feed(t[k], q[k], None, tau[k])
        estimate = estimator.estimate()
    else:
        estimate = identify(start, t, q, None, tau, friction='coulomb', folds=2,
                            **options).estimate
    mlc = minimal_parameters(truth)
    true = mlc.values + rotor_grouping(truth, mlc).matrix @ truth.joint_physics.rotor_inertia
    model = compile_model(start)
    model.swap(estimate.mlc.values, estimate.joint_physics)
    error = model.torque(*test[1:4]) - test[4]
    return (np.linalg.norm(estimate.mlc.values - true) / np.linalg.norm(true),
            np.sqrt(np.sum(error ** 2) / np.sum(test[4] ** 2)))


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--starts', type=int, default=25)
    arguments = parser.parse_args()
    rng = np.random.default_rng(1)
    truth = robot()
    model = compile_model(truth)

    def recorded():
        t, q, qd, qdd = motion(rng, len(truth), 10.0, 0.001)
        return t, q, qd, qdd, model.torque(q, qd, qdd)

    data, test = recorded(), recorded()
    print('| method | ' + ' | '.join(f'{q:g} rad, {100 * tau:g} %' for q, tau in LEVELS) + ' |')
    print('|---|' + '---|' * len(LEVELS))
    for name, options in METHODS:
        cells = []
        for noise in LEVELS:
            found = [errors(truth, with_parameter_error(truth, 0.15, seed), data, noise, rng,
                            options, test) for seed in range(1, arguments.starts + 1)]
            parameter, torque = 100 * np.median(found, axis=0)
            cells.append(f'{parameter:.2g} / {torque:.2g}')
        print(f'| {name} | ' + ' | '.join(cells) + ' |', flush=True)


if __name__ == '__main__':
    main()
