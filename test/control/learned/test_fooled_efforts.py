# SPDX-License-Identifier: Apache-2.0
"""Efforts that are not what they seem: learned from, and then refused by the gate."""

import re

import numpy as np
import pytest
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.control.learned.gate import DynamicParameters, GateSettings, ParameterGate
from robot_dynamics_ros.control.learned.live_parameters import LiveParameters
from robot_dynamics_ros.control.learned.recent_motion import RecentMotion
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

STEP = 0.01
ROBOTS = ('planar_2r', 'demo_arm')
#: Robots and base frequencies of their motions [Hz].
MOTIONS = (('planar_2r', 0.05), ('planar_2r', 0.13), ('planar_2r', 0.3), ('puma_4dof', 0.13),
           ('demo_arm', 0.13))


def robot(name):
    chain = chain_from_urdf(URDF_FOLDER / f'{name}.urdf')
    return chain.with_joint_physics(random_physics(np.random.default_rng(7), len(chain)))


@pytest.fixture(scope='module')
def recorded():
    """Return a function: the robot and 40 s of its motion."""
    known = {}

    def record(name, base):
        if (name, base) not in known:
            chain = robot(name)
            size = 0.4 if name == 'demo_arm' else 1.0
            known[name, base] = chain, excitation(
                np.random.default_rng(8), chain, duration=40.0, step=STEP, base=base, size=size)
        return known[name, base]

    return record


def urdf_parameters(chain):
    model = compile_model(chain)
    return DynamicParameters(model.parameters, model.joint_physics)


def judged(recorded, name, spoil, base=0.13, **settings):
    """Learn from spoiled efforts, and let the gate judge the result by the same efforts."""
    chain, data = recorded(name, base)
    gate = ParameterGate(chain, GateSettings(**settings))
    tau = spoil(data.tau)
    noise = 0.01 * np.sqrt(np.mean(tau**2, axis=0))
    tau = tau + noise * np.random.default_rng(1).normal(size=tau.shape)
    estimator = OnlineEstimator(chain)
    estimator.feed_many(data.t, data.q, data.qd, tau)
    estimate = estimator.estimate()
    urdf, motion = urdf_parameters(chain), RecentMotion(4.0)
    for k in range(len(data.t) - 500, len(data.t)):
        motion.add(JointSample(data.t[k], data.t[k], data.q[k], data.qd[k], tau[k]))
    return gate.judge(DynamicParameters.of(estimate), urdf, motion, np.zeros_like(urdf.minimal),
                      trusted=urdf, converged=estimate.state == EstimateState.CONVERGED)


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('factor', [0.01, 0.1, 0.2, 0.3])
def test_efforts_in_another_unit_do_not_take_the_weight_away(recorded, name, factor):
    judgement = judged(recorded, name, lambda tau: factor * tau)
    assert not judgement.accepted
    assert judgement.asks
    assert f'would be {factor:.2g} times the trusted one' in judgement.reason
    assert '\n' not in judgement.reason


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('factor', [5.0, 100.0])
def test_efforts_in_another_unit_do_not_add_weight(recorded, name, factor):
    assert not judged(recorded, name, lambda tau: factor * tau).accepted


@pytest.mark.parametrize('name', ROBOTS)
@pytest.mark.parametrize('factor', [0.7, 0.85, 1.2, 1.4])
def test_a_robot_that_is_lighter_or_heavier_than_its_urdf_is_believed(recorded, name, factor):
    assert judged(recorded, name, lambda tau: factor * tau).accepted


@pytest.mark.parametrize('name', ROBOTS)
def test_efforts_of_the_other_sign_are_refused(recorded, name):
    assert not judged(recorded, name, lambda tau: -tau).accepted


@pytest.mark.parametrize('name', ROBOTS)
def test_efforts_of_two_joints_swapped_are_refused(recorded, name):
    def swapped(tau):
        return np.concatenate([tau[:, [1, 0]], tau[:, 2:]], axis=1)

    assert not judged(recorded, name, swapped).accepted


@pytest.mark.parametrize(('name', 'base'), MOTIONS)
@pytest.mark.parametrize('lag', [0.05, -0.05])
def test_efforts_that_are_late_or_early_by_50_ms_are_refused(recorded, name, base, lag):
    judgement = judged(recorded, name, lambda tau: np.roll(tau, round(lag / STEP), axis=0), base)
    assert not judgement.accepted


def test_a_lag_is_named(recorded):
    def late(tau):
        return np.roll(tau, round(0.05 / STEP), axis=0)

    judgement = judged(recorded, 'planar_2r', late)
    assert re.search(r'the efforts come at least \d+ ms late', judgement.reason)
    assert not judgement.asks
    assert judged(recorded, 'planar_2r', late, largest_lag=np.inf).accepted


@pytest.mark.parametrize(('name', 'base'), MOTIONS)
def test_efforts_in_time_are_believed_on_slow_and_quick_motions(recorded, name, base):
    assert judged(recorded, name, lambda tau: 1.2 * tau, base).accepted


# The weight alone

def weighed(chain, candidate, **settings):
    gate, urdf = ParameterGate(chain, GateSettings(**settings)), urdf_parameters(chain)
    return gate.weight_objection(urdf_parameters(candidate), urdf)


@pytest.mark.parametrize('name', ['planar_2r', 'puma_4dof', 'demo_arm', 'scara', 'stanford'])
@pytest.mark.parametrize('error', [0.25, 0.4])
def test_what_a_urdf_may_be_wrong_by_passes(name, error):
    chain = robot(name)
    assert [weighed(chain, with_parameter_error(chain, error, seed)) for seed in range(5)] == [
        ''] * 5


def scaled(chain, factors):
    return chain.with_links([Inertia.from_standard_parameters(factor * link.standard_parameters)
                             for factor, link in zip(factors, chain.links)])


def test_a_heavy_tool_on_a_wrist_without_weight_of_its_own_passes():
    chain = robot('demo_arm')
    tool = Inertia.from_centre_of_mass(2.0, (0.0, 0.0, 0.15), 0.002 * np.eye(3))
    ratio = (compile_model(chain.with_payload(tool)).gravity_torque(np.full((1, 7), 0.7))
             / compile_model(chain).gravity_torque(np.full((1, 7), 0.7)))
    assert np.max(np.abs(ratio[0, 5:])) > 3.0
    assert weighed(chain, chain.with_payload(tool)) == ''


def test_the_allowed_factor_can_be_widened():
    chain = robot('planar_2r')
    heavy = scaled(chain, [4.0, 4.0])
    assert 'joint joint_' in weighed(chain, heavy)
    assert weighed(chain, heavy, largest_change=5.0) == ''


def test_a_weight_that_pulls_the_other_way_is_refused():
    chain = robot('planar_2r')
    urdf = urdf_parameters(chain)
    turned = DynamicParameters(-urdf.minimal, urdf.joint_physics)
    assert 'would be -1 times' in ParameterGate(chain).weight_objection(turned, urdf)


# A person

def test_without_a_weight_to_compare_with_a_person_decides_once():
    true = robot('planar_2r')
    model, truth = compile_model(true), urdf_parameters(true)
    bare = true.with_links([Inertia.zero()] * 2)
    live = LiveParameters(ParameterGate(bare), urdf_parameters(bare), ramp=0.0)
    data = excitation(np.random.default_rng(8), true, duration=8.0, step=STEP, base=0.13)

    def offer(candidate, scale=1.0):
        live.restart()
        for t, q, qd, tau in zip(data.t, data.q, data.qd, scale * model.torque(
                data.q, data.qd, data.qdd)):
            live.observe(JointSample(t, t, q, qd, tau))
        return live.offer(candidate, np.zeros_like(truth.minimal), 9.0, samples=1000,
                          converged=True)

    assert not live.accept(), 'nothing was offered'
    refused = offer(truth)
    assert refused.asks and 'no weight to compare with' in refused.reason
    assert live.accept()
    assert not live.accept(), 'only once'
    assert offer(truth).accepted
    assert live.advance(10.0)
    assert live.present is truth
    physics = truth.joint_physics
    tenth = DynamicParameters(0.1 * truth.minimal, type(physics)(
        rotor_inertia=0.1 * physics.rotor_inertia, viscous=0.1 * physics.viscous,
        coulomb=0.1 * physics.coulomb, offset=0.1 * physics.offset,
        coulomb_velocity=physics.coulomb_velocity))
    again = offer(tenth, 0.1)
    assert again.asks and 'would be 0.1 times' in again.reason


def test_one_implausible_joint_state_does_not_blind_the_gate():
    chain = robot('planar_2r')
    gate, urdf = ParameterGate(chain), urdf_parameters(chain)
    true = with_parameter_error(chain, 0.3, seed=3)
    data = excitation(np.random.default_rng(8), true, duration=4.0, step=STEP, base=0.13)
    live = LiveParameters(gate, urdf, ramp=0.0)
    for k, t in enumerate(data.t):
        qd = np.array([1e3, 0.0]) if k == 300 else data.qd[k]
        live.observe(JointSample(t, t, data.q[k], qd, data.tau[k]))
    judgement = live.offer(urdf_parameters(true), np.zeros_like(urdf.minimal), 4.0, samples=1000,
                           converged=True)
    assert judgement.accepted
    assert judgement.ratio < 0.1
