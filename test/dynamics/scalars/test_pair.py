# SPDX-License-Identifier: Apache-2.0
"""Twists and wrenches."""

import numpy as np
from support.chains import random_pose
from support.tolerances import FINITE_DIFFERENCE, SAME_ALGEBRA, assert_close

from robot_dynamics_ros.chain.inertia import skew
from robot_dynamics_ros.dynamics.scalars.frames import FixedFrame
from robot_dynamics_ros.dynamics.scalars.pair import (
    carried_twist,
    carried_wrench,
    difference,
    moved_twist,
    moved_wrench,
    negated,
    power,
    scaled,
    summed,
)


def random_pair(rng):
    return tuple(rng.normal(size=3)), tuple(rng.normal(size=3))


def test_pairs_form_a_vector_space(rng):
    a, b = random_pair(rng), random_pair(rng)
    assert_close(summed(a, b), np.add(a, b), SAME_ALGEBRA)
    assert_close(difference(a, b), np.subtract(a, b), SAME_ALGEBRA)
    assert_close(scaled(0.3, a), 0.3 * np.array(a), SAME_ALGEBRA)
    assert_close(negated(a), -np.array(a), SAME_ALGEBRA)


def test_power_does_not_depend_on_the_frame(rng):
    frame = FixedFrame.at(random_pose(rng))
    twist, wrench = random_pair(rng), random_pair(rng)
    here = power(moved_twist(frame, twist), wrench)
    assert_close(power(twist, moved_wrench(frame, wrench)), here, SAME_ALGEBRA)


def test_a_force_at_an_arm_has_a_moment():
    frame = FixedFrame(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (2.0, 0.0, 0.0))
    force, moment = moved_wrench(frame, ((0.0, 3.0, 0.0), (0.0, 0.0, 1.0)))
    assert force == (0.0, 3.0, 0.0)
    assert moment == (0.0, 0.0, 7.0)


def test_a_turning_axis_moves_points():
    frame = FixedFrame(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (2.0, 0.0, 0.0))
    velocity, omega = moved_twist(frame, ((0.0, 0.0, 0.0), (0.0, 0.0, 1.5)))
    assert velocity == (0.0, 3.0, 0.0)
    assert omega == (0.0, 0.0, 1.5)


def test_carried_pairs_are_rates_of_a_rigid_motion(rng):
    """Move a frame by a small step along a twist; pairs fixed to it change at that rate."""
    by, pair = random_pair(rng), random_pair(rng)
    step = 1e-6
    turn = np.eye(3) + step * skew(by[1])
    moved = FixedFrame(tuple(map(tuple, turn)), tuple(step * np.array(by[0])))
    wrench_rate = (np.array(moved_wrench(moved, pair)) - pair) / step
    assert_close(carried_wrench(by, pair), wrench_rate, FINITE_DIFFERENCE)
    rate = np.array(carried_twist(by, pair))
    # power along a twist that is carried along as well does not change
    other = random_pair(rng)
    balance = power(tuple(map(tuple, rate)), other) + power(pair, carried_wrench(by, other))
    assert abs(balance) < SAME_ALGEBRA
