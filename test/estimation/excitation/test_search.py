# SPDX-License-Identifier: Apache-2.0
"""The search for a motion: its criterion with barrier, gradients, and descent."""

from dataclasses import replace

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.errors import ExcitationError
from robot_dynamics_ros.estimation.excitation.fourier import FourierBasis
from robot_dynamics_ros.estimation.excitation.information import (
    ExcitationRegressor,
    quality_function,
)
from robot_dynamics_ros.estimation.excitation.limits import HeightPoints, motion_limits
from robot_dynamics_ros.estimation.excitation.search import BARRIERS, MotionProblem, descend


def robot(name):
    return chain_from_urdf(URDF_FOLDER / f'{name}.urdf')


def problem(chain, criterion='condition', **options):
    """Return a small search problem."""
    model = compile_model(chain)
    model.joint_physics = replace(chain.joint_physics, coulomb_velocity=0.3)
    limits = motion_limits(chain, **options)
    basis = FourierBasis(5.0, 3)
    regressor = ExcitationRegressor.of(model, np.linspace(1.0, 2.0, len(chain)))
    size = len(regressor.kept)
    times = (np.arange(30) + 0.5) * 5.0 / 30
    return MotionProblem(basis, limits, model, regressor, HeightPoints.of(chain),
                         quality_function(criterion), np.zeros((size, size)), times)


def test_information_does_not_depend_on_the_sampling_rate():
    trial = problem(robot('planar_2r'))
    z = 0.1 * np.random.default_rng(0).normal(size=(2, trial.basis.size))
    dense = replace(trial, times=(np.arange(300) + 0.5) * 5.0 / 300)
    coarse, fine = (each.information(each.regressor.rows(each.states(z)))
                    for each in (trial, dense))
    np.testing.assert_allclose(coarse, fine, rtol=0.0, atol=0.02 * np.max(fine))


@pytest.mark.parametrize('criterion', ['condition', 'determinant'])
@pytest.mark.parametrize('name, options', [
    ('puma_4dof', {}),
    ('stanford', {'acceleration': 30.0}),
    ('puma_4dof', {'height': -0.6}),
])
def test_slopes_are_those_of_difference_quotients(name, options, criterion, rng):
    trial = problem(robot(name), criterion, **options)
    z = rng.normal(size=(len(trial.limits.start), trial.basis.size))
    while not (trial.feasible(z) and np.isfinite(trial.barrier(z, 0.1))):
        z = 0.8 * z
    slope = trial.barrier_slope(z, 0.1)
    for _ in range(3):
        direction, h = rng.normal(size=z.shape), 1e-6
        expected = (trial.barrier(z + h * direction, 0.1)
                    - trial.barrier(z - h * direction, 0.1)) / (2 * h)
        np.testing.assert_allclose(np.sum(slope * direction), expected,
                                   rtol=1e-4, atol=1e-5 * np.linalg.norm(slope))


def test_a_motion_beyond_its_limits_is_infinitely_bad():
    trial = problem(robot('planar_2r'))
    z = np.full((2, trial.basis.size), 5.0)
    assert not trial.feasible(z) and trial.barrier(z, 0.1) == np.inf
    with pytest.raises(ExcitationError, match='the motion exceeds its limits'):
        trial.barrier_slope(z, 0.1)


def feasible_start(trial, rng):
    z = rng.normal(size=(len(trial.limits.start), trial.basis.size))
    while not (trial.feasible(z) and np.isfinite(trial.barrier(z, BARRIERS[0]))):
        z = 0.8 * z
    return z


def test_descent_improves_the_criterion_inside_the_limits(rng):
    trial = problem(robot('planar_2r'))
    z = feasible_start(trial, rng)
    seen = []
    *_, better = descend(trial, z, 5, seen.append)
    assert trial.feasible(better)
    before, after = (trial.barrier(each, BARRIERS[-1]) for each in (z, better))
    assert after < before - 0.1
    assert seen[-1] == 15 and seen == sorted(seen)


def test_no_step_is_taken_where_none_is_better(rng):
    trial = problem(robot('planar_2r'))
    z = feasible_start(trial, rng)

    class Flat:
        """A criterion that every step makes worse."""

        def barrier(self, other, weight):
            return float(np.sum((other - z)**2))

        def barrier_slope(self, other, weight):
            return np.ones_like(other)

    for motion in descend(Flat(), z, 5, lambda done: None):
        np.testing.assert_array_equal(motion, z)
