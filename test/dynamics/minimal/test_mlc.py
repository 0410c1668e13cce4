# SPDX-License-Identifier: Apache-2.0
"""Sets of minimal linear combinations: what must hold for every chain."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from support.chains import random_chain, random_inertia, random_states, reference_chains
from support.oracle import Oracle
from support.rank import rank
from support.tolerances import OTHER_FORMULATION, OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters, payload_parameters
from robot_dynamics_ros.dynamics.minimal.numeric_set import stacked_regressor
from robot_dynamics_ros.dynamics.recursions.regressor import standard_regressor
from robot_dynamics_ros.errors import ParameterError

SETS = ('lin', 'khalil', 'numeric')
CHAINS = reference_chains()


def named(name):
    return next(chain for chain in CHAINS if chain.name == name).chain


@pytest.mark.parametrize('gravity', [None, np.zeros(3)], ids=['gravity', 'no gravity'])
def test_every_set_is_minimal_and_gives_the_torque(rng, gravity):
    for _ in range(60 if gravity is None else 25):
        n = int(rng.integers(1, 8))
        chain = random_chain(rng, n, gravity=gravity)
        q, qd, qdd = random_states(rng, n)
        tau = Oracle(chain).inverse_dynamics(q, qd, qdd)
        Y = standard_regressor(chain, q, qd, qdd)
        number = rank(stacked_regressor(chain))
        for name in SETS:
            mlc = minimal_parameters(chain, name)
            assert len(mlc) == number
            assert_close(Y @ mlc.right_inverse @ mlc.values, tau, OTHER_IMPLEMENTATION)
            if gravity is None:
                assert mlc.set == name and not mlc.findings


def test_equal_mlcs_give_equal_torque(rng):
    for _ in range(40):
        n = int(rng.integers(1, 7))
        chain = random_chain(rng, n)
        mlc = minimal_parameters(chain)
        x = chain.standard_parameters
        hidden = rng.normal(size=10 * n)
        hidden -= mlc.right_inverse @ (mlc.matrix @ hidden)
        assert np.linalg.norm(hidden) > 0.1
        q, qd, qdd = random_states(rng, n)
        Y = standard_regressor(chain, q, qd, qdd)
        assert_close(mlc.of(x + hidden), mlc.values, OTHER_FORMULATION)
        assert_close(Y @ (x + hidden), Y @ x, OTHER_FORMULATION)


def test_sets_follow_from_each_other_through_a_constant_matrix(rng):
    """Lin 1994, Corollary 6."""
    for _ in range(30):
        chain = random_chain(rng, int(rng.integers(1, 8)))
        sets = [minimal_parameters(chain, name) for name in SETS]
        for a in sets:
            for b in sets:
                M = a.conversion_to(b)
                assert M.shape == (len(b), len(a)) and np.linalg.matrix_rank(M) == len(a)
                assert_close(M @ a.matrix, b.matrix, OTHER_FORMULATION)
                assert_close(a.converted_to(b).values, b.values, OTHER_FORMULATION)


def test_massless_links_do_not_change_the_set(rng):
    for _ in range(10):
        chain = random_chain(rng, 5)
        bare = chain.with_links([Inertia.zero()] * 5)
        for name in SETS:
            with_mass, without = minimal_parameters(chain, name), minimal_parameters(bare, name)
            assert with_mass.names == without.names
            assert with_mass.model_hash == without.model_hash
            np.testing.assert_array_equal(with_mass.matrix, without.matrix)
            assert not without.values.any()


@pytest.mark.parametrize('reference', CHAINS, ids=lambda reference: reference.name)
def test_counts_of_all_sets_are_those_of_the_reference_chains(reference):
    counts = {name: len(minimal_parameters(reference.chain, name))
              for name in (*SETS, 'gravity', 'inertia_matrix')}
    full = reference.data['rank_full']
    assert counts == {'lin': full, 'khalil': full, 'numeric': full,
                      'gravity': reference.data['rank_gravity'],
                      'inertia_matrix': reference.data['rank_zero_g']}


def test_the_inertia_matrix_and_gravity_load_together_know_the_torque(rng):
    """Lin 1994, Theorems 2 and 3."""
    for _ in range(30):
        chain = random_chain(rng, int(rng.integers(1, 7)))
        parts = np.vstack([minimal_parameters(chain, 'inertia_matrix').matrix,
                           minimal_parameters(chain, 'gravity').matrix])
        B = minimal_parameters(chain).matrix
        assert np.linalg.matrix_rank(parts) == len(B)
        assert np.linalg.matrix_rank(np.vstack([parts, B])) == len(B)


def test_without_gravity_a_spherical_base_is_reported():
    mlc = minimal_parameters(named('V31'))
    assert mlc.set == 'numeric'
    finding, = mlc.findings
    assert finding.kind == 'numeric_set' and finding.value == 39
    assert '43 elements' in finding.message


@pytest.mark.parametrize('angle', [0.0, 1e-12, 1e-8, 1e-6, 1e-5, 3e-5, 1e-4, 1e-3, 1e-2])
def test_nearly_parallel_axes_never_give_a_wrong_torque(rng, angle):
    chain = chain_from_dh('RRR', beta=[0, angle, np.pi / 2], b=[0, 0.5, 0.3], d=[0, 0.1, 0.2],
                          theta=[0, 0, 0], links=[random_inertia(rng) for _ in range(3)])
    mlc = minimal_parameters(chain)
    q, qd, qdd = random_states(rng, 3, 20)
    Y = standard_regressor(chain, q, qd, qdd)
    assert_close(Y @ mlc.right_inverse @ mlc.values, Y @ chain.standard_parameters,
                 OTHER_IMPLEMENTATION)
    assert bool(mlc.findings) == (1e-8 <= angle <= 3e-5)


def test_sixty_joints_work(rng):
    chain = random_chain(rng, 60)
    mlc = minimal_parameters(chain)
    assert mlc.set == 'lin' and not mlc.findings
    q, qd, qdd = random_states(rng, 60)
    Y = standard_regressor(chain, q, qd, qdd)
    assert_close(Y @ mlc.right_inverse @ mlc.values, Oracle(chain).inverse_dynamics(q, qd, qdd),
                 OTHER_IMPLEMENTATION)


def test_the_fields_of_a_set_fit_together():
    chain = named('V26')
    mlc = minimal_parameters(chain)
    assert len(mlc) == len(mlc.names) == len(mlc.units) == len(mlc.formulas) == mlc.values.size
    assert (mlc.r, mlc.s) == (1, 2)
    assert mlc.joint_names == chain.joint_names
    assert mlc.formulas[mlc.names.index('m3')] == 'M3 + M4 + M5 + M6'
    with pytest.raises(ValueError, match='read-only'):
        mlc.values[0] = 1.0
    with pytest.raises(ValueError, match='read-only'):
        mlc.matrix[0, 0] = 1.0


def test_the_hash_tells_sets_and_geometries_apart(rng):
    chain = named('V26')
    heavier = chain.with_links([random_inertia(rng) for _ in range(6)])
    hung = replace(chain, gravity=np.array([0.0, 0.0, 9.81]))
    assert minimal_parameters(chain).model_hash == minimal_parameters(heavier).model_hash
    hashes = {minimal_parameters(chain, name).model_hash for name in SETS}
    assert len(hashes | {minimal_parameters(hung).model_hash}) == 4


def test_rotor_inertia_and_friction_never_enter():
    chain = named('V29')
    physics = replace(chain.joint_physics, rotor_inertia=np.ones(6), viscous=np.ones(6))
    loaded = minimal_parameters(chain.with_joint_physics(physics))
    np.testing.assert_array_equal(loaded.values, minimal_parameters(chain).values)


def test_a_payload_adds_what_a_heavier_last_link_has_more(rng):
    for _ in range(20):
        chain = random_chain(rng, int(rng.integers(1, 8)))
        payload = random_inertia(rng)
        for name in SETS:
            mlc = minimal_parameters(chain, name)
            more = mlc.of(chain.with_payload(payload)) - mlc.values
            assert_close(payload_parameters(mlc, chain, payload), more, OTHER_FORMULATION)


def test_bad_input_is_refused(rng):
    chain = named('V14')
    mlc = minimal_parameters(chain)
    with pytest.raises(ParameterError, match=r"unknown set 'li'.*lin, khalil"):
        minimal_parameters(chain, 'li')
    with pytest.raises(ParameterError, match='8 elements'):
        mlc.with_values(np.zeros(7))
    with pytest.raises(ParameterError, match='k2_x is not finite'):
        mlc.with_values([1, 1, np.nan, 1, 1, 1, 1, 1])
    with pytest.raises(ParameterError, match='ten per link'):
        mlc.of(np.zeros(39))
    with pytest.raises(ParameterError, match='different chains'):
        mlc.conversion_to(minimal_parameters(named('V26')))
    sideways = minimal_parameters(replace(chain, gravity=np.array([9.81, 0.0, 0.0])))
    with pytest.raises(ParameterError, match='k1_x of the lin set does not follow'):
        mlc.conversion_to(sideways)


def test_a_set_introduces_itself_by_its_first_elements():
    chain = named('V14')
    mlc = minimal_parameters(chain).with_values(np.arange(8.0))
    assert repr(mlc) == ('<MlcSet lin, n = 4, p = 8: U1_33 = 0 kg m^2, '
                         'U2_33 = 1 kg m^2, k2_x = 2 kg m, ...>')
    pendulum = chain_from_dh('R', beta=[0], b=[0], d=[0], theta=[0])
    assert repr(minimal_parameters(pendulum)) == (
        '<MlcSet lin, n = 1, p = 1: U1_33 = 0 kg m^2>')


def test_a_set_refuses_to_be_changed():
    mlc = minimal_parameters(named('V14'))
    with pytest.raises(AttributeError, match=r'MlcSet\.values cannot be changed'):
        mlc.values = np.zeros(8)
    with pytest.raises(AttributeError, match="MlcSet has no field 'value'; its fields are set"):
        mlc.value = np.zeros(8)


@pytest.mark.parametrize('seed', range(60))
def test_the_closed_inertia_matrix_set_holds_where_axes_meet(seed):
    """Axes 1..j in one point, O_j or not: k_x and k_y of j are moments about that point."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    chain = chain_from_dh(
        ''.join(rng.choice(list('RRRRRP'), n)), b=rng.choice([0, 0, 0, 0, 0.3], n),
        beta=rng.choice([0, np.pi, np.pi / 2, -np.pi / 2, 0.7, -0.4], n),
        d=rng.choice([0, 0, 0, 0.2, -0.3], n), theta=rng.choice([0, 0.4, np.pi / 2], n))
    mlc = minimal_parameters(chain, 'inertia_matrix')
    assert mlc.findings == ()
    assert len(mlc) == len(minimal_parameters(replace(chain, gravity=np.zeros(3)), 'numeric'))


def test_an_element_is_found_by_its_name(rng):
    mlc = minimal_parameters(random_chain(rng, 3))
    for name, value in zip(mlc.names, mlc.values):
        assert mlc[name] == value and name in mlc
    assert list(mlc) == list(mlc.names)
    with pytest.raises(ParameterError, match=r"no element 'k9_x' in the lin set; it has U"):
        mlc['k9_x']


def test_a_table_for_pandas(rng, monkeypatch):
    mlc = minimal_parameters(random_chain(rng, 2))
    frames = SimpleNamespace(DataFrame=lambda columns, index: (columns, index))
    monkeypatch.setitem(sys.modules, 'pandas', frames)
    columns, index = mlc.to_dataframe()
    assert index == list(mlc.names) and list(columns) == ['value', 'unit', 'formula']
    assert list(columns['value']) == list(mlc.values)
    monkeypatch.setitem(sys.modules, 'pandas', None)
    with pytest.raises(ParameterError, match='pip install pandas'):
        mlc.to_dataframe()
