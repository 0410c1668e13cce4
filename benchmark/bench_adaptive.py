# SPDX-License-Identifier: Apache-2.0
"""How long one step of adaptive control takes: torque, gradient, limits, learning; 7 joints."""

import os

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # small matrices: threads only wait

import time
from pathlib import Path

import numpy as np

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.control.adaptive.choice import (
    LAW_NAMES,
    AdaptiveSettings,
    make_adaptive_controller,
)
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.playing.lively_motion import lively_motion
from robot_dynamics_ros.motion.trajectory import TrajectorySample

ROOT = Path(__file__).parents[1]
AIM = 30.0  # [microseconds]
LEARNED = {'weight': ('weight',), 'weight and friction': AdaptiveSettings.learn,
           'everything': ('minimal', 'Ia', 'Fv', 'Fc', 'offset')}


def step_time(controller, motion, samples=200, repetitions=100):
    """Return the time of one step [microseconds]: best of several runs along a motion."""
    curve = motion.sample(np.linspace(0.0, motion.duration, samples))
    rows = [TrajectorySample(*(field[k] for field in curve)) for k in range(samples)]
    off = 1e-4 * np.random.default_rng(1).normal(size=(samples, curve.q.shape[1]))
    q, qd = curve.q + off, curve.qd + off
    times = []
    for _ in range(repetitions):
        controller.reset()
        start = time.perf_counter()
        for desired, position, speed in zip(rows, q, qd):
            controller.command(desired, position, speed, 0.002)
        times.append(time.perf_counter() - start)
    return 1e6 * min(times) / samples


def main():
    """Print a table."""
    joints = read_joints_file(ROOT / 'config' / 'demo_arm_joints.yaml')
    chain = joints.applied_to(chain_from_urdf(ROOT / 'urdf' / 'demo_arm.urdf'))
    model, limits = compile_model(chain), EffortLimits.of_chain(chain)
    motion = lively_motion(chain)
    print(f'one control step, {len(chain)} joints, backend {model.backend}; aim {AIM:g} us')
    print(f'{"learned":20} {"unknowns":>8} ' + ' '.join(f'{law:>20}' for law in LAW_NAMES))
    for name, words in LEARNED.items():
        row = []
        for law in LAW_NAMES:
            controller = make_adaptive_controller(model, limits, AdaptiveSettings(
                law=law, learn=words))
            row.append(f'{step_time(controller, motion):17.1f} us')
        print(f'{name:20} {len(controller.adaptation.unknowns):8} ' + ' '.join(row))


if __name__ == '__main__':
    main()
