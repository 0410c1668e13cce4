# SPDX-License-Identifier: Apache-2.0
"""The friction law that the data call for, of every motor, and nothing that they do not."""

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import JointPhysics, chain_from_urdf
from robot_dynamics_ros.dynamics.joints.presliding import friction_along
from robot_dynamics_ros.estimation.regression.friction_choice import (
    STRIBECK_PARTS,
    FrictionCandidates,
    FrictionData,
    chosen_law,
    simplest_law,
)
from robot_dynamics_ros.estimation.regression.friction_signals import FrictionSignals
from robot_dynamics_ros.estimation.regression.rows import RowFilter
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms
from robot_dynamics_ros.estimation.smoothing.zero_phase import SmoothedSamples

STEP, COUNT = 0.005, 4000


def motion(rng, slow=0.0):
    """
    Return q, qd of two motors, and the torques that they carry.

    :param slow: part of the time, at the begin, in which they creep with 3 to 9 mrad/s.
    """
    t = np.arange(COUNT)[:, None, None] * STEP
    omega = 2 * np.pi * np.array([0.13, 0.31, 0.57]) * rng.uniform(0.9, 1.1, (2, 3))
    a, phase = rng.uniform(0.3, 0.6, (2, 3)), rng.uniform(0.0, 6.0, (2, 3))
    q = np.sum(a * np.sin(omega * t + phase), axis=-1)
    qd = np.sum(a * omega * np.cos(omega * t + phase), axis=-1)
    begin = round(slow * COUNT)
    creep = np.cumsum(np.full((begin, 2), 0.006 * STEP), axis=0)
    wave = 0.003 / omega[:, 2] * np.sin(omega[:, 2] * t[:begin, 0])
    q[:begin], qd[:begin] = creep + wave, 0.006 + 0.003 * np.cos(omega[:, 2] * t[:begin, 0])
    return q, qd, 40.0 * np.sin(q + 0.7) + 5.0 * rng.normal(size=2)


def law_of(rng, noise=0.05, candidates=None, slow=0.0, **physics):
    """Return the law chosen from the friction of motors along a motion."""
    q, qd, load = motion(rng, slow)
    true = JointPhysics(np.zeros(2), np.full(2, 2.0), np.full(2, 3.0), np.full(2, 0.3), **physics)
    torque = friction_along(true, q, qd, load) + noise * rng.normal(size=q.shape)
    usable = np.ones(q.shape, dtype=bool)
    samples = SmoothedSamples(np.arange(COUNT) * STEP, STEP, q, qd, 0.0 * q, torque, usable)
    chain = chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf').with_joint_physics(true)
    plain = chain.with_joint_physics(JointPhysics.zero(2))
    signals = FrictionSignals(TorqueTerms(plain), RowFilter([samples], [usable[:, 0]], None))
    data = FrictionData(signals, usable[:, 0], torque, np.abs(load), usable * 1.0,
                        np.arange(COUNT) * 20 // COUNT, np.ones(2))
    velocity = np.sqrt(np.mean(qd**2, axis=0))
    return velocity, chosen_law(data, candidates or FrictionCandidates.of(
        plain.joint_physics, velocity))


def test_plain_friction_stays_plain(rng):
    _, law = law_of(rng)
    assert law.names == () and not np.any(law.presliding)
    assert law.coulomb_velocity == 0.01


@pytest.mark.parametrize('velocity', [0.003, 0.1])
def test_the_smoothness_of_the_sign_is_found(velocity, rng):
    assert law_of(rng, noise=0.01, coulomb_velocity=velocity)[1].coulomb_velocity == velocity


def test_a_smoothness_that_is_given_is_kept(rng):
    given = FrictionCandidates.of(JointPhysics.zero(2), np.ones(2), coulomb_velocity=0.02)
    assert law_of(rng, candidates=given, coulomb_velocity=0.1)[1].coulomb_velocity == 0.02


def test_static_friction_is_found(rng):
    velocity = np.array([0.2, 0.2])
    typical, law = law_of(rng, static=np.array([6.0, 3.0]), stribeck_velocity=velocity)
    assert law.names == ('Fs1',), 'the second motor has no static friction'
    assert law.stribeck_velocity[0] in np.outer(STRIBECK_PARTS, typical)
    assert 0.5 < law.stribeck_velocity[0] / 0.2 < 2.0


@pytest.mark.parametrize('sharp, found', [(0.001, 0.003), (0.006, 0.01)])
def test_a_sign_that_is_sharper_than_those_tried_is_not_static_friction(sharp, found):
    law = law_of(np.random.default_rng(0), noise=0.2, slow=0.05, coulomb_velocity=sharp)[1]
    assert law.names == () and not np.any(law.presliding)
    assert law.coulomb_velocity == found, 'the nearest one'


def test_a_gain_that_one_block_makes_is_no_law():
    paid, terms = np.array([0.0, -0.3]), np.array([0, 1])
    event = np.array([[0.5, 0.1, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.1, 0.1]])
    everywhere = np.array([[0.2, 0.25, 0.2, 0.15, 0.2], [0.1, 0.1, 0.1, 0.1, 0.1]])
    assert simplest_law(paid, terms, event) == 0
    assert simplest_law(paid, terms, everywhere) == 1
    assert simplest_law(np.array([0.0, 0.1]), terms, everywhere) == 0, 'its price is too high'
    assert simplest_law(np.array([np.inf, -0.3]), terms, event) == 1, 'the other is impossible'


def test_friction_under_load_is_found_where_it_is(rng):
    assert law_of(rng, load_friction=np.array([0.08, 0.0]))[1].names == ('Fl1',)


def test_asymmetry_is_found_where_it_is(rng):
    assert law_of(rng, viscous_asymmetry=np.array([0.0, -0.6]))[1].names == ('Fa2',)


@pytest.mark.parametrize('distance', [0.002, 0.017])
def test_the_distance_of_presliding_is_found(distance, rng):
    _, law = law_of(rng, presliding=np.array([distance, 0.0]), load_friction=np.full(2, 0.05))
    assert law.presliding[1] == 0.0 and law.names == ('Fl1', 'Fl2')
    assert law.presliding[0] == pytest.approx(distance, rel=0.1)


def test_without_any_data_the_law_is_plain(rng):
    q, qd, _ = motion(rng)
    usable = np.zeros(q.shape, dtype=bool)
    samples = SmoothedSamples(np.arange(COUNT) * STEP, STEP, q, qd, 0.0 * q, 0.0 * q, usable)
    chain = chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')
    signals = FrictionSignals(TorqueTerms(chain), RowFilter([samples], [~usable[:, 0]], None))
    empty = np.zeros((0, 2))
    data = FrictionData(signals, np.zeros(0, dtype=bool), empty, empty, empty,
                        np.zeros(0, dtype=np.int64), np.ones(2))
    assert chosen_law(data, FrictionCandidates.of(chain.joint_physics, np.ones(2))).names == ()
