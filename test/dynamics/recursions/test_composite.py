# SPDX-License-Identifier: Apache-2.0
"""Composite bodies: constant and varying parts add up to what lumping the links gives."""

import math

import numpy as np
from support.chains import random_chain
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros.dynamics.recursions.composite import (
    inertia_constants,
    mixed_moments,
    varying_parts,
)
from robot_dynamics_ros.dynamics.scalars.frames import joint_frames


def lumped(chain, q, i):
    """Links i..n as one body, seen from E_i: Lin 1995 up to (6), by Inertia alone."""
    total = chain.links[-1]
    for j in range(len(chain) - 1, i - 1, -1):
        total = chain.links[j - 1] + total.seen_from(chain.joints[j].pose(q[j]))
    return total


def test_constant_and_varying_parts_add_up_to_the_lumped_links(rng):
    for _ in range(80):
        chain = random_chain(rng, int(rng.integers(1, 8)))
        q = rng.uniform(-3.0, 3.0, len(chain))
        frames = joint_frames(chain, list(q), math.cos, math.sin)
        constants = inertia_constants(frames, [x.standard_parameters for x in chain.links])
        varying = varying_parts(frames, constants)
        for i in range(1, len(chain) + 1):
            body = lumped(chain, q, i)
            assert_close(constants.m_hat[i], body.mass, SAME_ALGEBRA)
            assert_close(np.add(constants.k[i], varying.l[i]), body.first_moment, SAME_ALGEBRA)
            assert_close(np.add(constants.U[i], varying.V[i]), body.tensor, SAME_ALGEBRA)


def test_constants_do_not_depend_on_the_joint_positions(rng):
    for _ in range(40):
        chain = random_chain(rng, int(rng.integers(2, 8)))
        parameters = [x.standard_parameters for x in chain.links]
        here, there = (inertia_constants(joint_frames(chain, list(q), math.cos, math.sin),
                                         parameters)
                       for q in rng.uniform(-3.0, 3.0, (2, len(chain))))
        for i in range(1, len(chain) + 1):
            assert_close(here.k[i], there.k[i], SAME_ALGEBRA)
            assert_close(here.U[i], there.U[i], SAME_ALGEBRA)


def test_mixed_moments_of_a_vector_with_itself_are_those_of_two_point_masses():
    np.testing.assert_allclose(mixed_moments((1.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
                               np.diag([0.0, 2.0, 2.0]))
