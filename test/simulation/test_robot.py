# SPDX-License-Identifier: Apache-2.0
"""The simulated arm against analytic motion and against scipy's integrator."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.chains import random_chain

from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia, payload_inertia
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.codegen.runtime.model import compile_model
from robot_dynamics_ros.dynamics.joints.elastic import ElasticModel
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.simulation.robot import SimulatedRobot

MASS, LENGTH, G = 2.0, 0.5, 9.81
WEIGHT = MASS * LENGTH * G


def pendulum(gravity=G, **physics):
    """Return a point mass on a horizontal axis; q = 0 is horizontal, gravity pulls towards -."""
    terms = {'rotor_inertia': [0.0], 'viscous': [0.0], 'coulomb': [0.0], 'offset': [0.0]}
    mass = Inertia.from_centre_of_mass(MASS, [LENGTH, 0.0, 0.0], np.zeros((3, 3)))
    return chain_from_dh('R', beta=[0.0], b=[0.0], d=[0.0], theta=[0.0], links=[mass],
                         gravity=[0.0, -gravity, 0.0],
                         joint_physics=JointPhysics(**{**terms, **physics}))


def robot(chain, **settings):
    return SimulatedRobot(chain, compile_model(chain, 'python'), **settings)


def run(arm, steps, effort=(0.0,)):
    positions = []
    for _ in range(steps):
        arm.advance(effort)
        positions.append(arm.q.copy())
    return np.array(positions)


def energy(arm):
    return (0.5 * MASS * LENGTH**2 * arm.qd[0]**2 + WEIGHT * np.sin(arm.q[0]))


def test_a_constant_torque_without_gravity_on_paper():
    arm = robot(pendulum(gravity=0.0), step=1e-3)
    run(arm, 1000, [1.0])
    assert arm.time == pytest.approx(1.0)
    assert arm.qd[0] == pytest.approx(1.0 / (MASS * LENGTH**2))
    assert arm.q[0] == pytest.approx(0.5 / (MASS * LENGTH**2), rel=2e-3)


def test_the_energy_of_a_swinging_pendulum_does_not_drift():
    arm = robot(pendulum(), step=2e-3, q=[-1.0])
    before = energy(arm)
    energies = []
    for _ in range(2000):
        arm.advance([0.0])
        energies.append(energy(arm))
    assert abs(np.mean(energies[-500:]) - before) < 0.005 * WEIGHT


@pytest.mark.parametrize('types', ['RR', 'RPR'])
def test_the_motion_converges_to_that_of_another_integrator(rng, types):
    n = len(types)
    physics = JointPhysics(rng.uniform(0.1, 0.3, n), rng.uniform(0.5, 1.0, n), np.zeros(n),
                           rng.normal(size=n))
    chain = random_chain(rng, n, types=types).with_joint_physics(physics)
    model = compile_model(chain, 'python')
    tau = rng.normal(size=n)

    def rates(_, x):
        return np.concatenate([x[n:], model.forward_dynamics(x[:n], x[n:], tau)])

    exact = solve_ivp(rates, (0.0, 0.2), np.zeros(2 * n), rtol=1e-9, atol=1e-10).y[:n, -1]
    errors = []
    for step in (2e-3, 1e-3):
        arm = SimulatedRobot(chain, model, q=np.zeros(n), step=step)
        run(arm, round(0.2 / step), tau)
        errors.append(np.abs(arm.q - exact).max())
    assert errors[1] < 0.6 * errors[0], 'first order: half the step, half the error'
    assert errors[1] < 0.01 * np.abs(exact).max()


def test_dry_friction_holds_a_joint_that_it_can_hold():
    arm = robot(pendulum(coulomb=[1.1 * WEIGHT]), step=1e-3)
    run(arm, 1000)
    # the smoothed sign lets it creep: tanh(qd / 0.01) = 1 / 1.1
    assert -0.01 * np.arctanh(1 / 1.1) * 1.01 < arm.q[0] < 0.0


@pytest.mark.parametrize('step', [1e-3, 1e-2])
def test_dry_friction_stops_a_joint_and_never_turns_it_around(step):
    arm = robot(pendulum(gravity=0.0, coulomb=[5.0], coulomb_velocity=0.0), step=step)
    arm.qd = np.array([1.0])
    speeds = []
    for _ in range(round(1.0 / step)):
        arm.advance([0.0])
        speeds.append(arm.qd[0])
    assert min(speeds) >= 0.0
    assert speeds[-1] < 1e-6
    # 5 N m on 0.5 kg m^2: stops after 0.1 s and 0.05 rad
    assert arm.q[0] == pytest.approx(0.05, rel=25 * step)


def test_a_steady_speed_balances_friction():
    arm = robot(pendulum(gravity=0.0, viscous=[2.0], coulomb=[1.0]), step=1e-2)
    run(arm, 1000, [5.0])  # 40 time constants
    assert arm.qd[0] == pytest.approx(2.0, rel=1e-9)


def test_an_elastic_joint_gives_way_under_the_weight():
    arm = robot(pendulum(rotor_inertia=[0.1], viscous=[20.0]), stiffness=[2000.0],
                spring_damping=0.01)
    hold = WEIGHT
    run(arm, 2000, [hold])
    deflection = arm.q_motor[0] - arm.q[0]
    assert deflection == pytest.approx(hold * np.cos(arm.q[0]) / 2000.0, rel=1e-3)


def test_elastic_joints_move_as_the_equations_say(rng):
    n, stiffness, tau = 2, np.array([300.0, 200.0]), np.array([4.0, -2.0])
    physics = JointPhysics([0.2, 0.1], [0.5, 0.4], np.zeros(n), [0.3, -0.2])
    chain = random_chain(rng, n, types='RR').with_joint_physics(physics)
    elastic = ElasticModel(chain, stiffness)

    def rates(_, x):
        q, qd, q_motor, qd_motor = x.reshape(4, n)
        qdd, qdd_motor = elastic.forward(q, qd, q_motor, qd_motor, tau)
        return np.concatenate([qd, qdd, qd_motor, qdd_motor])

    exact = solve_ivp(rates, (0.0, 0.2), np.zeros(4 * n), rtol=1e-8, atol=1e-9).y[:, -1]
    arm = robot(chain, q=np.zeros(n), step=2e-4, stiffness=stiffness)
    run(arm, 1000, tau)
    np.testing.assert_allclose(arm.q, exact[:n], atol=0.01 * np.abs(exact[:n]).max())
    np.testing.assert_allclose(arm.q_motor, exact[2 * n:3 * n],
                               atol=0.01 * np.abs(exact[2 * n:3 * n]).max())


def test_an_elastic_joint_swings_at_its_natural_frequency():
    rotor, stiffness, step = 0.1, 100.0, 4e-4
    arm = robot(pendulum(gravity=0.0, rotor_inertia=[rotor]), stiffness=[stiffness], step=step)
    arm.qd_motor = np.array([1.0])
    twist = []
    for _ in range(2500):
        arm.advance([0.0])
        twist.append(arm.q_motor[0] - arm.q[0])
    crossings = np.flatnonzero(np.diff(np.sign(twist)) > 0)
    frequency = 1.0 / (np.mean(np.diff(crossings)) * step)
    expected = np.sqrt(stiffness * (1 / rotor + 1 / (MASS * LENGTH**2))) / (2 * np.pi)
    assert frequency == pytest.approx(expected, rel=0.01)


def test_a_very_stiff_spring_is_a_rigid_joint():
    chain = pendulum(rotor_inertia=[0.1])
    rigid, stiff = robot(chain), robot(chain, stiffness=[1e7])
    np.testing.assert_allclose(run(stiff, 300), run(rigid, 300), rtol=0, atol=1e-4)


def test_a_payload_can_be_hung_on_while_it_moves():
    chain = pendulum()
    arm = robot(chain)
    loaded = chain.with_payload(payload_inertia(3.0, [LENGTH, 0.0, 0.0], np.zeros((3, 3))))
    arm.model.parameters = arm.model.mlc.of(loaded)
    assert arm.model.gravity_torque([0.0])[0] == pytest.approx(2.5 * WEIGHT)
    arm.advance([2.5 * WEIGHT])
    assert abs(arm.qd[0]) < 1e-12


@pytest.mark.parametrize('effort', [[np.nan], [np.inf], [1.0, 2.0]])
def test_a_wrong_effort_is_refused_and_the_state_stays(effort):
    arm = robot(pendulum())
    with pytest.raises(StateError, match='effort'):
        arm.advance(effort)
    assert arm.time == 0.0


def test_a_joint_that_moves_nothing_is_named_as_the_cause():
    massless = chain_from_dh('R', beta=[0.0], b=[0.0], d=[0.0], theta=[0.0])
    with pytest.raises(StateError, match='rotor_inertia'):
        robot(massless).advance([1.0])


@pytest.mark.parametrize(('settings', 'message'), [
    ({'step': 0.0}, 'step'),
    ({'stiffness': [-1.0]}, 'stiffness'),
    ({'stiffness': [100.0]}, 'joint joint1: an elastic joint needs a rotor_inertia'),
])
def test_impossible_robots_are_refused(settings, message):
    with pytest.raises(ParameterError, match=message):
        robot(pendulum(), **settings)


def test_a_wrong_first_position_is_refused():
    with pytest.raises(StateError, match='1 finite'):
        robot(pendulum(), q=[np.nan])
