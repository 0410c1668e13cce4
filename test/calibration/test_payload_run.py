# SPDX-License-Identifier: Apache-2.0
"""What the payload motion of a calibrated robot tells: values against the truth, and sigmas."""

from pathlib import Path

import numpy as np
import pytest

from robot_dynamics_ros import (
    Recording,
    Trajectory,
    chain_from_urdf,
    collision_scene,
    compile_model,
    design_excitation,
    identify,
    identify_payload,
    payload_inertia,
)
from robot_dynamics_ros.calibration.motions import payload_motion
from robot_dynamics_ros.calibration.surroundings import Surroundings
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

ROOT = Path(__file__).resolve().parents[2]
URDF = ROOT / 'urdf' / 'demo_arm.urdf'
POSTURE = np.array([0.5, 0.3, 0.0, -1.2, 0.6, 0.5, 0.3])
MASS, CENTRE, TENSOR = 2.0, np.array([0.03, -0.02, 0.08]), np.diag([0.008, 0.01, 0.006])


def recorded(chain, motion, rng):
    """Return a motion as a robot with noisy sensors records it, 200 times per second."""
    t = np.arange(0.0, motion.duration, 0.005)
    q, qd, qdd = motion.sample(t)[:3]
    tau = compile_model(chain).torque(q, qd, qdd)
    noisy = [values + sigma * rng.normal(size=values.shape)
             for values, sigma in ((q, 1e-5), (qd, 1e-3), (tau, 0.05))]
    return Recording(t, *noisy, chain.joint_names)


def test_mass_centre_and_inertia_are_right_within_their_confidence(rng):
    pytest.importorskip('coal')
    chain = read_joints_file(ROOT / 'config' / 'demo_arm_joints.yaml').applied_to(
        chain_from_urdf(URDF))
    true = with_parameter_error(chain, 0.25, 1)
    scene = collision_scene(URDF, chain)
    found = design_excitation(chain, scene=scene, share=0.5, candidates=60, iterations=30)
    times = found.trajectory.times(100.0)
    exciting = Trajectory(chain.joint_names, times, *found.trajectory.sample(times))
    arm = identify(chain, [recorded(true, exciting, rng) for _ in range(2)]).estimate
    motion = payload_motion(chain, POSTURE, Surroundings(lambda: scene))
    load = true.with_payload(payload_inertia(MASS, CENTRE, TENSOR))
    told = identify_payload(chain, arm, [recorded(load, motion, rng)])
    assert told.mass_known and np.all(told.centre_known)
    assert abs(told.mass - MASS) < min(0.02, 2.0 * told.mass_standard_deviation)
    assert np.all(np.abs(told.centre - CENTRE) < 3.0 * told.centre_standard_deviations)
    np.testing.assert_allclose(told.centre, CENTRE, atol=0.005)
    assert np.all(np.abs(told.tensor - TENSOR) < 4.0 * told.tensor_standard_deviations)
    # 12 s of gentle motion do not determine the inertia of so small a body, and it says so
    assert not told.tensor_known and any('inertia' in reason for reason in told.reasons)
