# SPDX-License-Identifier: Apache-2.0
"""Link inertias that bodies can have, from estimated minimal parameters."""

import numpy as np
import pytest
from support.chains import random_chain
from support.robots import URDF_FOLDER
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import chain_from_dh, chain_from_urdf, minimal_parameters
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.consistency.body_space import pseudo_inertia
from robot_dynamics_ros.estimation.consistency.projection import consistent_inertias
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

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


def inside(chain, urdf, hulls):
    """Return whether all bodies fit their hulls, and their mass is near that of the URDF."""
    mass = sum(link.mass for link in chain.links) / sum(link.mass for link in urdf.links)
    return 0.7 <= mass <= 1.3 and all(
        hull.holds(link) and hull.distance_outside(link.centre_of_mass) == 0.0
        for hull, link in zip(hulls, chain.links))


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


def test_no_possible_robot_is_nearer_to_a_precise_estimate(rng):
    # at the nearest point of a convex set, the way to any other of its points leads away
    chain = robot('demo_arm')
    mlc = minimal_parameters(chain)
    estimate, covariance = noisy(mlc, chain, 0.1, rng)
    covariance *= 1e-8  # so precise that the URDF does not matter
    found = consistent_inertias(chain, estimate, covariance=covariance)
    information = np.linalg.inv(covariance)
    back = information @ (found.mlc.values - estimate.values)
    assert found.distance == pytest.approx(
        np.sqrt((found.mlc.values - estimate.values) @ back), rel=1e-6)
    compared = 0
    for seed in range(200):
        other = with_parameter_error(chain, 0.2, seed=seed)
        if not inside(other, chain, found.hulls):
            continue
        compared += 1
        away = back @ (mlc.of(other) - found.mlc.values)
        step = np.sqrt((mlc.of(other) - found.mlc.values) @ information
                       @ (mlc.of(other) - found.mlc.values))
        assert away > -1e-3 * found.distance * step
    assert compared > 10


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
    result = consistent_inertias(pendulum, mlc.with_values(values), covariance=1e-8 * np.eye(3))
    assert result.changed
    assert result.distance == pytest.approx(2000.0, rel=1e-3)  # 0.2 kg m^2 of deviation 1e-4
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


# bounds

@pytest.mark.parametrize('seed', range(8))
def test_values_of_bodies_inside_come_back_on_random_chains(seed):
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, 2 + seed % 4)
    truth = with_parameter_error(chain, 0.1, seed=seed)
    mlc = minimal_parameters(chain)
    hulls = consistent_inertias(chain, mlc).hulls
    if not inside(truth, chain, hulls):
        truth = chain
    result = consistent_inertias(chain, mlc.with_values(mlc.of(truth)))
    assert not result.changed and result.torque_error < 1e-9
    assert inside(result.chain, chain, hulls)


@pytest.mark.parametrize('relative', [0.05, 0.5, 3.0])
@pytest.mark.parametrize('seed', range(6))
def test_noise_leaves_bodies_inside_on_random_chains(seed, relative):
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, 2 + seed % 4)
    estimate, covariance = noisy(minimal_parameters(chain), chain, relative, rng)
    result = consistent_inertias(chain, estimate, covariance=covariance)
    assert_possible(result.chain)
    assert inside(result.chain, chain, result.hulls)


@pytest.mark.parametrize('name', sorted(path.stem for path in URDF_FOLDER.glob('*.urdf')))
def test_noise_leaves_bodies_inside_on_known_robots(name, rng):
    chain = robot(name)
    truth = with_parameter_error(chain, 0.2, seed=2)
    estimate, covariance = noisy(minimal_parameters(chain), truth, 0.3, rng)
    result = consistent_inertias(chain, estimate, covariance=covariance)
    assert_possible(result.chain)
    assert inside(result.chain, chain, result.hulls)


def test_the_same_estimate_gives_the_same_robot(rng):
    chain = robot('rx90')
    estimate, covariance = noisy(minimal_parameters(chain), chain, 0.2, rng)
    first, second = (consistent_inertias(chain, estimate, covariance=covariance) for _ in range(2))
    np.testing.assert_array_equal(first.chain.standard_parameters,
                                  second.chain.standard_parameters)


def test_a_stated_mass_is_kept(rng):
    chain = robot('demo_arm')
    mlc = minimal_parameters(chain)
    result = consistent_inertias(chain, mlc, mass=30.0, mass_tolerance=0.01)
    assert 29.7 <= result.mass <= 30.3
    # link 1 and the split among the others cannot be measured: more mass costs no torque
    assert result.torque_error < 1e-3


def test_a_mass_that_contradicts_the_data_is_a_finding():
    chain = robot('demo_arm')
    result = consistent_inertias(chain, minimal_parameters(chain), mass=4.0, mass_tolerance=0.1)
    assert 3.6 <= result.mass <= 4.4
    finding = next(each for each in result.findings if each.kind == 'costly_bounds')
    assert finding.value == pytest.approx(result.torque_error)
    assert 'state the mass' in finding.message and result.changed


def test_a_robot_without_inertias_gets_solid_bodies(rng):
    truth = robot('rx90')
    empty = truth.with_links([Inertia.zero()] * len(truth))
    mlc = minimal_parameters(truth)
    estimate, covariance = noisy(mlc, truth, 0.02, rng)
    result = consistent_inertias(empty, estimate, covariance=covariance)
    assert_possible(result.chain)
    assert {'assumed_inertia', 'unknown_mass'} <= {each.kind for each in result.findings}
    stated = consistent_inertias(empty, estimate, covariance=covariance,
                                 mass=sum(link.mass for link in truth.links))
    assert 'unknown_mass' not in {each.kind for each in stated.findings}
    assert inside(stated.chain, truth, stated.hulls)


def test_what_does_not_fit_a_link_is_rotor_inertia():
    chain = robot('planar_2r')
    mlc = minimal_parameters(chain)
    index = mlc.names.index(next(name for name in mlc.names if name.startswith('U1_33')))
    values = mlc.values.copy()
    values[index] += 5.0
    result = consistent_inertias(chain, mlc.with_values(values), rotors=['joint_1'])
    assert result.torque_error < 1e-3
    assert 4.0 < result.rotor_inertia[0] <= 5.0 and result.rotor_inertia[1] == 0.0
    assert 'rotor_inertia' in {each.kind for each in result.findings}
    without = consistent_inertias(chain, mlc.with_values(values))
    assert 'costly_bounds' in {each.kind for each in without.findings}


@pytest.mark.parametrize('options, message', [
    ({'mass': -1.0}, 'total mass of -1 kg'),
    ({'mass': np.nan}, 'total mass of nan kg'),
    ({'mass_tolerance': 0.0}, 'mass_tolerance must be between 0 and 1'),
    ({'rotors': ['elbow']}, "joint 'elbow' is not on the chain"),
    ({'hulls': []}, '0 hulls were given'),
])
def test_options_that_make_no_sense_are_refused(options, message):
    chain = robot('planar_2r')
    with pytest.raises(ParameterError, match=message):
        consistent_inertias(chain, minimal_parameters(chain), **options)


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
