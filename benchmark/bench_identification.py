# SPDX-License-Identifier: Apache-2.0
"""
Figures of the identification: a minute of a seven-joint arm, and the recursion of the stream.

Prints time and peak memory of `identify`, the time of one update beside a plain numpy recursion,
the time of a sample of the online estimator, and the triangle after a million updates.
"""

import os

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # small matrices: threads only wait

import argparse
import resource
import time
from pathlib import Path

import numpy as np

from robot_dynamics_ros import JointPhysics, chain_from_urdf, compile_model, identify
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.estimation.recursion.recursive import RecursiveLeastSquares
from robot_dynamics_ros.estimation.regression.prior import Prior, prior_from_chain
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms

URDF = Path(__file__).parents[1] / 'urdf' / 'demo_arm.urdf'


def arm():
    """Return a seven-joint arm with rotors and friction."""
    chain = chain_from_urdf(URDF)
    n = len(chain)
    return chain.with_joint_physics(JointPhysics(
        np.linspace(0.4, 0.1, n), np.linspace(3.0, 0.5, n), np.linspace(4.0, 0.5, n),
        np.zeros(n), coulomb_velocity=0.02))


def motion(rng, n, duration, step):
    """Return t, q, qd, qdd of a sum of five sines per joint."""
    t = np.arange(0.0, duration, step)
    k = np.arange(1, 6)
    omega = 2 * np.pi * 0.1 * k * (1.0 + 0.03 * rng.normal(size=(n, 5)))
    a, phase = 0.8 * rng.normal(size=(n, 5)) / k, rng.uniform(0, 2 * np.pi, (n, 5))
    q, qd, qdd = np.zeros((3, t.size, n))
    for h in range(5):  # one harmonic at a time keeps the memory small
        angle = t[:, None] * omega[:, h] + phase[:, h]
        q += a[:, h] * np.sin(angle)
        qd += a[:, h] * omega[:, h] * np.cos(angle)
        qdd -= a[:, h] * omega[:, h] ** 2 * np.sin(angle)
    return t, q, qd, qdd


def megabytes():
    """Return the largest memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def bench_identify(chain, rng):
    """Time identify on 60 s at 1 kHz."""
    t, q, qd, qdd = motion(rng, len(chain), 60.0, 0.001)
    tau = compile_model(chain).torque(q, qd, qdd)
    tau += 0.02 * np.std(tau, axis=0) * rng.normal(size=tau.shape)
    q = q + 1e-5 * rng.normal(size=q.shape)
    before = megabytes()
    for name in ('first call, with compilation', 'second call'):
        start = time.perf_counter()
        result = identify(chain, t, q, qd, tau)
        took = time.perf_counter() - start
        print(f'identify, 60 s at 1 kHz, 7 joints, {len(result.parameters)} unknowns, {name}: '
              f'{took:.2f} s, held-out error {100 * result.verdict.held_out_error:.2f} %')
    print(f'peak memory: {megabytes():.0f} MB ({before:.0f} MB before: Python, libraries, data)')


def best(function, arguments, repetitions=40):
    """Return the shortest mean time of a call over all arguments [s]."""
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        for each in arguments:
            function(*each)
        times.append((time.perf_counter() - start) / len(arguments))
    return min(times)


def plain_recursion(P, x, Y, tau, variance, forgetting):
    """Update covariance and unknowns as textbooks write it (numpy)."""
    K = P @ Y.T @ np.linalg.inv(Y @ P @ Y.T + np.diag(variance))
    return (P - K @ Y @ P) / forgetting, x + K @ (tau - Y @ x)


def bench_recursion(chain, rng):
    """Time one update of the recursion, ours and a plain one, and one sample of a stream."""
    terms = TorqueTerms(chain)
    unknowns = terms.choice()
    _, q, qd, qdd = motion(rng, len(chain), 2.0, 0.01)
    Y = np.ascontiguousarray(terms.regressor(q, qd, qdd)[:, :, list(unknowns.columns)])
    tau = compile_model(chain).torque(q, qd, qdd)
    size = np.sqrt(np.mean(tau ** 2, axis=0))
    prior = prior_from_chain(unknowns, size, np.ones(len(chain)))
    samples = list(zip(Y, tau))
    print(f'update of the recursion, 7 joints, {len(unknowns)} unknowns:')
    for compiled, name in ((True, 'square root, compiled'), (False, 'square root, numpy')):
        recursion = RecursiveLeastSquares(prior, unknowns.blocks, size, compiled=compiled)
        recursion.update(*samples[0])
        print(f'  {name}: {1e6 * best(recursion.update, samples):.0f} us')
    P, x = np.diag(prior.standard_deviations ** 2), prior.mean
    took = best(lambda Y, tau: plain_recursion(P, x, Y, tau, size ** 2, 0.999), samples)
    print(f'  plain covariance recursion, numpy: {1e6 * took:.0f} us')

    t, q, qd, qdd = motion(rng, len(chain), 8.0, 0.001)
    tau = compile_model(chain).torque(q, qd, qdd)
    estimator = OnlineEstimator(chain)
    stream = list(zip(t, q, qd, tau))
    for sample in stream[:4000]:
        estimator.feed(*sample)
    times, worked = [], []
    for sample in stream[4000:]:
        start, work = time.perf_counter(), time.thread_time()
        estimator.feed(*sample)
        worked.append(time.thread_time() - work)
        times.append(time.perf_counter() - start)
    p50, p99 = 1e6 * np.percentile(worked, [50, 99])
    print('online estimator, one joint state at 1 kHz, processor time (what other programs take '
          f'is not in it): median {p50:.0f} us, 99 % below {p99:.0f} us')
    p50, p99 = 1e6 * np.percentile(times, [50, 99])
    print(f'online estimator, one joint state at 1 kHz: median {p50:.0f} us, 99 % below '
          f'{p99:.0f} us')


def bench_many_updates(rng, updates):
    """Show the triangle after many updates with hardly any excitation."""
    unknowns, joints = 12, 2
    prior = Prior(np.zeros(unknowns), np.ones(unknowns))
    recursion = RecursiveLeastSquares(prior, [0] * 6 + [1] * 6, np.ones(joints), horizon=1000.0,
                                      compiled=True)
    Y = rng.normal(size=(3, joints, unknowns))  # three samples, again and again
    Y[:, 1, :6] = 0.0
    tau = Y @ np.ones(unknowns) + 0.01 * rng.normal(size=(3, joints))
    start = time.perf_counter()
    for k in range(updates):
        recursion.update(Y[k % 3], tau[k % 3])
    singular = np.linalg.svd(recursion.triangle, compute_uv=False)
    print(f'{updates:.0e} updates of {unknowns} unknowns with three samples again and again '
          f'({time.perf_counter() - start:.0f} s): singular values of the triangle '
          f'{singular[-1]:.3g} to {singular[0]:.3g}, the prior alone has 1; '
          f'{"positive definite" if singular[-1] > 0.1 else "NOT POSITIVE DEFINITE"}')


def main():
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--updates', type=int, default=1_000_000)
    arguments = parser.parse_args()
    rng = np.random.default_rng(1)
    chain = arm()
    bench_identify(chain, rng)
    bench_recursion(chain, rng)
    bench_many_updates(rng, arguments.updates)


if __name__ == '__main__':
    main()
