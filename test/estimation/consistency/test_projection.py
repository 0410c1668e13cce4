# SPDX-License-Identifier: Apache-2.0
"""Link inertias that bodies can have, from estimated minimal parameters."""

import builtins

import numpy as np
import pytest
from support.chains import random_chain
from support.robots import URDF_FOLDER
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import chain_from_dh, chain_from_urdf, minimal_parameters
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.errors import IdentificationError, ParameterError
from robot_dynamics_ros.estimation.consistency.body_space import pseudo_inertia
from robot_dynamics_ros.estimation.consistency.projection import consistent_inertias
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

pytest.importorskip('clarabel')

#: Robots whose bodies are not on the edge of what can exist (point masses, thin rods).
SOLID = ('demo_arm', 'rx90', 'scara')


def robot(name):
    return chain_from_urdf(URDF_FOLDER / f'{name}.urdf')


def noisy(mlc, truth, relative, rng):
    """Return an estimate with errors of its covariance, and the covariance."""
    w = mlc.of(truth)
    root = rng.normal(size=(len(w), len(w))) / np.sqrt(len(w)) + np.eye(len(w))
    root *= relative * np.maximum(np.abs(w), 0.05 * np.max(np.abs(w)))[:, None]
    return mlc.with_values(w + root @ rng.normal(size=len(w))), root @ root.T


def assert_possible(chain):
    for name, link in zip(chain.link_names, chain.links):
        assert np.linalg.eigvalsh(pseudo_inertia(link))[0] > 0.0, name


@pytest.mark.parametrize('name', SOLID)
def test_noise_free_values_come_back_as_they_are(name):
    chain = robot(name)
    truth = with_parameter_error(chain, 0.3, seed=1)
    mlc = minimal_parameters(chain)
    result = consistent_inertias(chain, mlc.with_values(mlc.of(truth)))
    assert not result.changed and result.distance == 0.0 and result.torque_error < 1e-12
    assert_close(result.mlc.values, mlc.of(truth), 1e-12)
    assert_close(minimal_parameters(result.chain).values, mlc.of(truth), 1e-12)
    assert_possible(result.chain)


@pytest.mark.parametrize('name', ['stanford', 'puma_4dof', 'planar_2r'])
def test_bodies_on_the_edge_are_thickened_by_next_to_nothing(name):
    chain = robot(name)
    mlc = minimal_parameters(chain)
    result = consistent_inertias(chain, mlc)
    assert result.torque_error < 5e-5
    assert_possible(result.chain)


def test_urdf_values_come_back_link_by_link():
    chain = robot('demo_arm')
    result = consistent_inertias(chain, minimal_parameters(chain))
    assert_close(result.chain.standard_parameters, chain.standard_parameters, 1e-8)


@pytest.mark.parametrize('relative', [0.02, 0.3, 3.0])
@pytest.mark.parametrize('name', ['demo_arm', 'stanford', 'angeles_6r'])
def test_bodies_are_possible_under_any_noise(name, relative, rng):
    chain = robot(name)
    mlc = minimal_parameters(chain)
    for seed in range(3):
        truth = with_parameter_error(chain, 0.2, seed=seed)
        estimate, covariance = noisy(mlc, truth, relative, rng)
        result = consistent_inertias(chain, estimate, covariance=covariance)
        assert result.changed and result.distance > 0.0
        assert_possible(result.chain)
        assert_close(mlc.of(result.chain), result.mlc.values, SAME_ALGEBRA)


def test_no_possible_robot_is_nearer_to_the_estimate(rng):
    # at the nearest point of a convex set, the way to any other of its points leads away
    chain = robot('demo_arm')
    mlc = minimal_parameters(chain)
    estimate, covariance = noisy(mlc, chain, 0.1, rng)
    found = consistent_inertias(chain, estimate, covariance=covariance)
    information = np.linalg.inv(covariance)
    back = information @ (found.mlc.values - estimate.values)
    assert found.distance == pytest.approx(
        np.sqrt((found.mlc.values - estimate.values) @ back), rel=1e-6)
    for seed in range(200):
        other = with_parameter_error(found.chain, 0.4, seed=seed)
        away = back @ (mlc.of(other) - found.mlc.values)
        step = np.sqrt((mlc.of(other) - found.mlc.values) @ information
                       @ (mlc.of(other) - found.mlc.values))
        assert away > -1e-3 * found.distance * step


def test_the_projection_is_nearer_to_the_truth_than_the_estimate(rng):
    chain = robot('demo_arm')
    mlc = minimal_parameters(chain)
    for seed in range(5):
        truth = with_parameter_error(chain, 0.2, seed=seed)
        estimate, covariance = noisy(mlc, truth, 0.1, rng)
        result = consistent_inertias(chain, estimate, covariance=covariance)
        before, after = (np.sqrt(error @ np.linalg.solve(covariance, error))
                         for error in (estimate.values - mlc.of(truth),
                                       result.mlc.values - mlc.of(truth)))
        assert after < before  # the truth is possible, and the set of possible robots is convex


def test_a_pendulum_on_paper():
    # ZZ, MX, MY matter; hung in its mass centre, a wheel of ZZ = 0 is the nearest to ZZ < 0
    pendulum = chain_from_dh('R', beta=[0.0], b=[0.0], d=[0.0], theta=[0.0],
                             gravity=[0.0, -9.81, 0.0],
                             links=[Inertia.from_centre_of_mass(2.0, np.zeros(3),
                                                                0.1 * np.eye(3))])
    mlc = minimal_parameters(pendulum)
    index = next(i for i, unit in enumerate(mlc.units) if unit == 'kg m^2')
    values = mlc.values.copy()
    values[index] = -0.2
    result = consistent_inertias(pendulum, mlc.with_values(values), covariance=0.01 * np.eye(3))
    assert result.changed
    assert result.distance == pytest.approx(2.0, rel=1e-3)  # 0.2 kg m^2 of deviation 0.1
    assert 0.0 < result.mlc.values[index] < 1e-4


def test_what_was_not_estimated_stays_near_the_urdf(rng):
    chain = robot('demo_arm')
    mlc = minimal_parameters(chain)
    estimate, covariance = noisy(mlc, chain, 0.01, rng)
    unknown = [mlc.names.index(name) for name in ('U7_12', 'k7_x')]
    values = estimate.values.copy()
    values[unknown] = 1e3
    covariance = covariance.copy()
    covariance[unknown, :] = covariance[:, unknown] = np.nan
    result = consistent_inertias(chain, mlc.with_values(values), covariance=covariance)
    scale = np.max(np.abs(mlc.values))
    np.testing.assert_allclose(result.mlc.values[unknown], mlc.values[unknown], atol=0.01 * scale)


def test_known_parts_leave_a_possible_rest(rng):
    chain = random_chain(rng, 3, types='RRR')
    part = Inertia.from_standard_parameters(0.9 * chain.links[2].standard_parameters)
    mlc = minimal_parameters(chain)
    estimate, covariance = noisy(mlc, chain, 0.2, rng)
    carried = [Inertia.zero(), Inertia.zero(), part]
    result = consistent_inertias(chain, estimate, covariance=covariance, carried=carried)
    rest = Inertia.from_standard_parameters(
        result.chain.links[2].standard_parameters - part.standard_parameters)
    assert np.linalg.eigvalsh(pseudo_inertia(rest))[0] > 0.0


def test_khalil_parameters_give_the_same_robot():
    chain = robot('rx90')
    truth = with_parameter_error(chain, 0.2, seed=3)
    results = []
    for name in ('lin', 'khalil'):
        mlc = minimal_parameters(chain, name)
        results.append(consistent_inertias(chain, mlc.with_values(mlc.of(truth))))
    assert_close(*(result.chain.standard_parameters for result in results), 1e-6)


def test_an_estimate_of_another_robot_is_refused():
    with pytest.raises(ParameterError, match='the estimate is for joint_1'):
        consistent_inertias(robot('scara'), minimal_parameters(robot('planar_2r')))


@pytest.mark.parametrize('covariance, message', [
    (np.eye(3), r'covariance has shape \(3, 3\), expected'),
    ('nan', 'finite variances'),
    ('negative', 'finite variances that are not negative'),
])
def test_a_covariance_that_is_none_is_refused(covariance, message):
    chain = robot('planar_2r')
    mlc = minimal_parameters(chain)
    matrices = {'nan': np.full((len(mlc), len(mlc)), np.nan), 'negative': -np.eye(len(mlc))}
    if isinstance(covariance, str):
        covariance = matrices[covariance]
    with pytest.raises(ParameterError, match=message):
        consistent_inertias(chain, mlc, covariance=covariance)


def test_a_missing_solver_is_named(monkeypatch):
    import_ = builtins.__import__

    def without_clarabel(name, *rest, **options):
        if name == 'clarabel':
            raise ImportError(name)
        return import_(name, *rest, **options)

    monkeypatch.setattr(builtins, '__import__', without_clarabel)
    chain = robot('planar_2r')
    with pytest.raises(IdentificationError, match='pip install clarabel'):
        consistent_inertias(chain, minimal_parameters(chain))
