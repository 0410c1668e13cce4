# SPDX-License-Identifier: Apache-2.0
"""identified.urdf, and the whole way to it: excite, simulate, identify, write, track."""

from dataclasses import replace

import numpy as np
import pytest
from support.robots import URDF_FOLDER
from support.tolerances import assert_close

from robot_dynamics_ros import chain_from_urdf, compile_model, minimal_parameters
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.estimation.consistency.body_space import pseudo_inertia
from robot_dynamics_ros.estimation.excitation.design import design_excitation
from robot_dynamics_ros.estimation.identification.identify import identify
from robot_dynamics_ros.estimation.parameters.identified_urdf import (
    identified_urdf,
    minimal_covariance,
)
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error
from robot_dynamics_ros.simulation.robot import SimulatedRobot

#: Relative torque difference that identified.urdf may have to the projected parameters.
SAME_TORQUE = 1e-6


def estimate(chain, truth, *, deviation=0.01, rng=None):
    """Return the truth's values as an estimate, with errors of a relative deviation."""
    mlc = minimal_parameters(chain)
    w = mlc.of(truth)
    size = deviation * np.maximum(np.abs(w), 0.05 * np.max(np.abs(w)))
    values = w if rng is None else w + size * rng.normal(size=w.shape)
    rotor = np.where([True, *[False] * (len(chain) - 1)], np.nan, 0.1)
    physics = replace(truth.joint_physics, rotor_inertia=rotor)
    return MlcEstimate(chain.robot, chain.base, chain.tip, mlc.with_values(values), physics,
                       (True,) * len(mlc), (*mlc.names, 'Fv1'), np.diag([*size**2, 1.0]), 100,
                       5.0, np.ones(len(chain)))


@pytest.mark.parametrize('deviation', [0.0, 0.1])
@pytest.mark.parametrize('name', ['demo_arm', 'rx90', 'scara', 'planar_2r'])
def test_read_back_it_has_the_torque_of_the_projected_parameters(name, deviation, rng):
    path = URDF_FOLDER / f'{name}.urdf'
    chain = chain_from_urdf(path)
    truth = with_parameter_error(chain, 0.2, seed=1)
    known = estimate(chain, truth, deviation=max(deviation, 1e-9), rng=rng if deviation else None)
    written = identified_urdf(path, chain, known)
    again = chain_from_urdf(written.text.decode())
    states = rng.uniform(-1.0, 1.0, (3, 20, len(chain)))
    model = compile_model(chain)
    model.parameters = written.inertias.mlc.values
    assert_close(compile_model(again).inverse_dynamics(*states), model.inverse_dynamics(*states),
                 SAME_TORQUE)
    for link in again.links:
        assert np.linalg.eigvalsh(pseudo_inertia(link))[0] > 0.0
    assert_close(again.joint_physics.viscous, truth.joint_physics.viscous, 1e-15)


def test_a_known_payload_stays_out_of_the_urdf():
    path = URDF_FOLDER / 'rx90.urdf'
    chain = chain_from_urdf(path)
    load = Inertia.from_centre_of_mass(2.0, [0.1, 0.0, 0.05], 0.01 * np.eye(3))
    loaded = chain.with_payload(load)
    text = identified_urdf(path, loaded, estimate(loaded, loaded), payload=load).text.decode()
    assert_close(chain_from_urdf(text).standard_parameters, chain.standard_parameters, 1e-7)


def test_the_comment_says_what_a_urdf_cannot_hold():
    path = URDF_FOLDER / 'planar_2r.urdf'
    chain = chain_from_urdf(path)
    text = identified_urdf(path, chain, estimate(chain, chain)).text.decode()
    assert 'they are in parameters.yaml. Of rotor inertias that cannot be told' in text
    assert 'this is not in the links: joint_1 ' in text
    assert 'the split among the links is the one nearest to the original' in text


def test_friction_of_coupled_motors_is_mentioned():
    path = URDF_FOLDER / 'planar_2r.urdf'
    chain = chain_from_urdf(path)
    known = estimate(chain, chain)
    coupled = replace(known, joint_physics=replace(
        known.joint_physics, coupling=[[1.0, 0.0], [-1.0, 1.0]]))
    assert b'Friction belongs to coupled motors' in identified_urdf(path, chain, coupled).text


def test_the_covariance_of_what_was_no_unknown_is_unknown():
    chain = chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')
    known = estimate(chain, chain)
    p = len(known.mlc)
    np.testing.assert_array_equal(minimal_covariance(known), known.covariance[:p, :p])
    partly = replace(known, unknowns=known.unknowns[1:], covariance=known.covariance[1:, 1:])
    C = minimal_covariance(partly)
    assert np.all(np.isnan(C[0])) and np.all(np.isnan(C[:, 0]))
    np.testing.assert_array_equal(C[1:, 1:], known.covariance[1:p, 1:p])


# geometry and mass

ARM = """<robot name="arm"><link name="base"/>
<link name="upper">{upper}<collision><origin xyz="0.25 0 0"/>
  <geometry><box size="0.6 0.1 0.1"/></geometry></collision></link>
<link name="lower">{lower}<collision><origin xyz="0.2 0 0" rpy="0 1.5707963267948966 0"/>
  <geometry><cylinder radius="0.04" length="0.5"/></geometry></collision></link>
<joint name="shoulder" type="continuous"><parent link="base"/><child link="upper"/>
  <axis xyz="0 1 0"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
  <origin xyz="0.5 0 0"/><axis xyz="0 1 0"/></joint></robot>"""

INERTIAL = """<inertial><origin xyz="{x} 0 0"/><mass value="{mass}"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="{moment}" iyz="0" izz="{moment}"/></inertial>"""

FULL = ARM.format(upper=INERTIAL.format(x=0.25, mass=4.0, moment=0.1),
                  lower=INERTIAL.format(x=0.2, mass=2.0, moment=0.03))
EMPTY = ARM.format(upper='', lower='')


def assert_inside_geometry(chain):
    """Compare with the shapes of ARM: its frames E_i have x along the links, y up or down."""
    for link, (low, high, across) in zip(chain.links, [(-0.05, 0.55, 0.05), (-0.05, 0.45, 0.04)]):
        c = link.centre_of_mass
        assert low < c[0] < high and np.hypot(c[1], c[2]) < np.sqrt(2.0) * across
        assert np.trace(link.central_tensor) < 2.0 * link.mass * (
            (0.5 * (high - low))**2 + 2.0 * across**2)


@pytest.mark.parametrize('deviation', [0.1, 1.0, 5.0])
@pytest.mark.parametrize('text', [FULL, EMPTY], ids=['with inertias', 'without'])
def test_bodies_are_inside_the_collision_geometry(text, deviation, rng):
    chain, truth = chain_from_urdf(text), chain_from_urdf(FULL)
    known = estimate(chain, truth, deviation=deviation, rng=rng)
    written = identified_urdf(text, chain, known, mass=6.0)
    again = chain_from_urdf(written.text.decode())
    assert_inside_geometry(again)
    assert 0.7 * 6.0 <= sum(link.mass for link in again.links) <= 1.3 * 6.0
    kinds = {finding.kind for finding in written.findings}
    assert 'assumed_geometry' not in kinds
    assert ('assumed_inertia' in kinds) == (text is EMPTY)


def test_without_any_mass_a_finding_asks_for_it(rng):
    chain, truth = chain_from_urdf(EMPTY), chain_from_urdf(FULL)
    known = estimate(chain, truth, deviation=0.01, rng=rng)
    written = identified_urdf(EMPTY, chain, known)
    assert 'unknown_mass' in {finding.kind for finding in written.findings}
    assert_inside_geometry(chain_from_urdf(written.text.decode()))


def test_a_centre_of_the_urdf_outside_its_geometry_is_a_finding():
    text = FULL.replace('xyz="0.2 0 0"/><mass', 'xyz="0.2 0 0.5"/><mass')
    chain = chain_from_urdf(text)
    written = identified_urdf(text, chain, estimate(chain, chain))
    finding = next(each for each in written.findings if each.kind == 'outside_geometry')
    assert finding.where == 'lower' and finding.value == pytest.approx(
        0.46 * np.cos(np.pi / 32), abs=1e-6)  # from a face of the polyhedron in the cylinder
    assert_inside_geometry(chain_from_urdf(written.text.decode()))
    cost = next(each for each in written.findings if each.kind == 'costly_bounds')
    assert cost.value > 0.01


# the whole way

def simulate(truth, model, trajectory, step=0.002):
    """Return times, desired and measured motion and efforts: feedforward of `model` plus PD."""
    robot = SimulatedRobot(truth, compile_model(truth), q=trajectory.start, step=step)
    times = np.arange(0.0, trajectory.duration, step)
    desired = trajectory.sample(times)
    feedforward = model.torque(*desired)
    felt = 1.0 / np.diag(np.linalg.inv(model.mass_matrix(trajectory.start)))  # others are free
    stiffness, damping = 15.0**2 * felt, 30.0 * felt
    q, qd, tau = (np.empty_like(desired.q) for _ in range(3))
    for k in range(len(times)):
        q[k], qd[k] = robot.q, robot.qd
        tau[k] = (feedforward[k] + stiffness * (desired.q[k] - robot.q)
                  + damping * (desired.qd[k] - robot.qd))
        robot.advance(tau[k])
    return Recording(times, q, qd, tau, truth.joint_names), desired


def test_excite_simulate_identify_write_track():
    path = URDF_FOLDER / 'puma_4dof.urdf'
    chain = chain_from_urdf(path)
    truth = with_parameter_error(chain, 0.25, seed=11)
    truth = truth.with_joint_physics(replace(
        truth.joint_physics, viscous=np.array([3.0, 3.0, 2.0, 1.0]),
        coulomb=np.array([2.0, 2.0, 1.0, 0.5]), coulomb_velocity=0.05))

    exciting = design_excitation(chain, unchecked=True,
                                 duration=6.0, candidates=20, iterations=8).trajectory
    recording, _ = simulate(truth, compile_model(chain), exciting)
    result = identify(chain, recording)
    assert result.verdict.passed

    written = identified_urdf(path, chain, result.estimate)
    again = chain_from_urdf(written.text.decode())
    other = design_excitation(chain, unchecked=True,
                              duration=4.0, candidates=1, iterations=0, seed=99).trajectory
    errors = []
    for robot in (chain, again):
        measured, desired = simulate(truth, compile_model(robot), other)
        errors.append(float(np.sqrt(np.mean((measured.q - desired.q)**2))))
    assert errors[1] < 0.05 * errors[0]
