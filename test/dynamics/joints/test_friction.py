# SPDX-License-Identifier: Apache-2.0
"""Friction laws."""

import math

import numpy as np

from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.joints.joint_terms import (
    EXACT_SIGN,
    dry_friction,
    dry_friction_level,
    sharpness_of,
    smooth_sign,
)


def physics(**changes):
    return JointPhysics(rotor_inertia=[0.0, 0.0], viscous=[0.0, 0.0], coulomb=[1.0, 2.0],
                        offset=[0.0, 0.0], **changes)


def test_stribeck_friction_falls_from_static_to_coulomb():
    """(9.26) with exponent 2, at multiples of the Stribeck velocity."""
    levels = [dry_friction_level(speed, 2.0, 3.0, 0.1, math.exp)
              for speed in (0.0, 0.05, 0.1, 0.15, -0.15, 10.0)]
    expected = [2.0 + math.exp(-x) for x in (0.0, 0.25, 1.0, 2.25, 2.25)]
    np.testing.assert_allclose(levels, [*expected, 2.0], rtol=1e-14)


def test_smooth_sign_reaches_tanh_1_at_the_coulomb_velocity():
    sharpness = sharpness_of(physics(coulomb_velocity=0.05))
    assert smooth_sign(0.05, sharpness, math.tanh) == math.tanh(1.0)
    assert smooth_sign(-7.0, sharpness, math.tanh) == -1.0


def test_without_smoothing_the_sign_is_exact():
    assert sharpness_of(physics(coulomb_velocity=0.0)) == EXACT_SIGN
    exact = [smooth_sign(speed, EXACT_SIGN, math.tanh) for speed in (-1e9, -1e-9, 0.0, 1e-9)]
    assert exact == [-1.0, -1.0, 0.0, 1.0]


def test_dry_friction_without_static_part_is_coulomb():
    np.testing.assert_array_equal(
        dry_friction(physics(coulomb_velocity=0.0), np.array([[3.0, -3.0], [-0.1, 0.0]])),
        [[1.0, -2.0], [-1.0, 0.0]])


def test_array_and_float_follow_the_same_law(rng):
    joints = physics(coulomb_velocity=0.2, static=[1.5, 3.0], stribeck_velocity=[0.1, 0.4])
    speed = rng.normal(size=(5, 2))
    expected = [[dry_friction_level(v, joints.coulomb[i], joints.static[i],
                                    joints.stribeck_velocity[i], math.exp)
                 * smooth_sign(v, 5.0, math.tanh) for i, v in enumerate(row)]
                for row in speed.tolist()]
    np.testing.assert_allclose(dry_friction(joints, speed), expected, rtol=1e-14)


def test_friction_is_odd_in_the_speed_and_dissipates(rng):
    joints = physics(coulomb_velocity=0.01, static=[1.5, 3.0], stribeck_velocity=[0.1, 0.4])
    speed = rng.normal(size=(50, 2))
    friction = dry_friction(joints, speed)
    np.testing.assert_array_equal(dry_friction(joints, -speed), -friction)
    assert np.all(friction * speed > 0.0)
