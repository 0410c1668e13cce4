# SPDX-License-Identifier: Apache-2.0
"""The unknowns of the torque: which are independent, what they mean, and back to parameters."""


import numpy as np
import pytest
from support.chains import random_chain, random_states
from support.excitation import random_physics
from support.robots import URDF_FOLDER
from support.tolerances import OTHER_FORMULATION, assert_close

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.estimation.regression.friction_law import FrictionLaw
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms

CANDIDATES = np.array([[0.1, 0.2], [0.3, 0.4]])


def planar(rng, **changes):
    chain = chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')
    return chain.with_joint_physics(random_physics(rng, 2, **changes))


@pytest.mark.parametrize('n', [2, 3, 5])
def test_the_unknowns_of_known_parameters_give_the_torque(n, rng):
    chain = random_chain(rng, n).with_joint_physics(random_physics(rng, n))
    terms = TorqueTerms(chain)
    unknowns = terms.choice()
    q, qd, qdd = random_states(rng, n, 40)
    Y = terms.regressor(q, qd, qdd)[:, :, list(unknowns.columns)]
    x = unknowns.values(unknowns.mlc.of(chain), chain.joint_physics)
    assert_close(Y @ x, compile_model(chain).torque(q, qd, qdd), OTHER_FORMULATION)
    W = Y.reshape(-1, len(unknowns))
    assert np.linalg.cond(W / np.linalg.norm(W, axis=0)) < 1e6  # none depends on the others


def test_a_rotor_that_turns_like_its_link_is_part_of_it(rng):
    unknowns = TorqueTerms(planar(rng)).choice()
    assert 'Ia1' not in unknowns.names and 'Ia2' in unknowns.names
    formulas = dict(zip(unknowns.mlc.names, unknowns.formulas))
    assert formulas['U1_33'].endswith('+ Ia1') and 'Ia' not in formulas['U2_33']
    physics = unknowns.physics(np.arange(1.0, len(unknowns) + 1.0), None)
    assert np.isnan(physics.rotor_inertia[0])
    assert physics.rotor_inertia[1] == 1.0 + unknowns.names.index('Ia2')


def test_blocks_are_the_outermost_joint_that_an_unknown_acts_on(rng):
    unknowns = TorqueTerms(planar(rng)).choice()
    blocks = dict(zip(unknowns.names, unknowns.blocks))
    assert blocks['U1_33'] == blocks['Fv1'] == 0
    assert blocks['U2_33'] == blocks['k2_x'] == blocks['Fc2'] == 1


def test_without_friction_there_are_no_friction_unknowns(rng):
    names = TorqueTerms(planar(rng), friction=False).choice().names
    assert {'offset1', 'offset2', 'Ia2', 'U2_33'} <= set(names)
    assert not any(name.startswith('F') for name in names)


@pytest.mark.parametrize('coupled', [False, True])
def test_every_term_of_a_friction_law_comes_back(coupled, rng):
    J = np.array([[1.0, 0.0], [-0.5, 1.2]]) if coupled else None
    physics = random_physics(
        rng, 2, coulomb=np.array([2.0, 3.0]), static=np.array([5.0, 3.5]), coupling=J,
        stribeck_velocity=np.array([0.2, 0.3]), load_friction=np.array([0.1, 0.05]),
        viscous=np.full(2, 2.0), viscous_asymmetry=np.array([0.3, -0.2]))
    chain = planar(rng).with_joint_physics(physics)
    terms, law = TorqueTerms(chain), FrictionLaw.of(physics)
    unknowns = terms.choice().with_law(law)
    assert unknowns.names[-6:] == ('Fs1', 'Fs2', 'Fl1', 'Fl2', 'Fa1', 'Fa2')
    x = unknowns.values(unknowns.mlc.of(chain), physics)
    np.testing.assert_allclose(x[-6:], [3.0, 0.5, 0.1, 0.05, 0.3, -0.2])
    q, qd, qdd = random_states(rng, 2, 30)
    velocity = terms.transmission.motor_motion(qd)
    direction = law.direction(np.zeros_like(qd), velocity)
    extra = law.columns(direction, law.excess(direction, velocity),
                        direction * np.abs(terms.load(x, unknowns, q, qd, qdd)), np.abs(velocity))
    Y = np.concatenate([terms.regressor(q, qd, qdd)[:, :, list(unknowns.columns)],
                        terms.of_motors(extra, law.motors)], axis=2)
    assert_close(Y @ x, compile_model(chain).torque(q, qd, qdd), OTHER_FORMULATION)
    again = unknowns.physics(x, law)
    for name in ('static', 'stribeck_velocity', 'load_friction', 'viscous_asymmetry'):
        np.testing.assert_allclose(getattr(again, name), getattr(physics, name), rtol=1e-12)
    assert unknowns.physics(x, None).static is None


def test_friction_that_cannot_be_is_limited(rng):
    law = FrictionLaw(0.01, np.array([1e-3, 0.0]), np.full(2, 0.2), np.full(2, True),
                      np.full(2, True))
    unknowns = TorqueTerms(planar(rng)).choice().with_law(law)
    x = np.array([{'Fc': 1.0, 'Fv': 0.5, 'Fs': -3.0, 'Fl': 2.0, 'Fa': -7.0}.get(name[:2], 0.1)
                  for name in unknowns.names])
    physics = unknowns.physics(x, law)
    physics.check(('a', 'b'))
    assert physics.static.tolist() == [0.0, 0.0]
    assert physics.viscous_asymmetry.tolist() == [-0.5, -0.5]
    assert np.all(physics.load_friction < 1.0) and physics.presliding.tolist() == [1e-3, 0.0]


def test_without_gravity_in_the_torque_its_parameters_keep_the_urdf_values(rng):
    chain = planar(rng)
    terms = TorqueTerms(chain, gravity_removed=[True, True])
    model = compile_model(chain)
    unknowns = terms.choice()
    q, qd, qdd = random_states(rng, 2, 30)
    x = unknowns.values(unknowns.mlc.of(chain), chain.joint_physics)
    Y = terms.regressor(q, qd, qdd)[:, :, list(unknowns.columns)]
    assert_close(Y @ x, model.torque(q, qd, qdd) - model.gravity_torque(q), OTHER_FORMULATION)
    lost = set(unknowns.mlc.names) - set(unknowns.names)
    assert lost == {'k1_x', 'k1_y'}  # only gravity shows them
    urdf = dict(zip(unknowns.mlc.names, unknowns.mlc.of(chain)))
    found = dict(zip(unknowns.mlc.names, unknowns.minimal(x + 1.0)))
    assert {name: found[name] for name in lost} == {name: urdf[name] for name in lost}
    assert found['k2_x'] == pytest.approx(urdf['k2_x'] + 1.0)


def test_units_follow_the_kind_of_joint(rng):
    chain = random_chain(rng, 2, types='RP').with_joint_physics(random_physics(rng, 2))
    unknowns = TorqueTerms(chain).choice()
    units = dict(zip(unknowns.names, unknowns.units))
    assert (units['Fv1'], units['Fv2']) == ('N m s/rad', 'N s/m')
    assert (units['Fc1'], units['Fc2']) == ('N m', 'N')
