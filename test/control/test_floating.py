# SPDX-License-Identifier: Apache-2.0
"""An arm that floats: it stays, it follows, it comes to rest, and nothing drives it."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.robots import URDF_FOLDER
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import (
    FloatController,
    FloatSettings,
    JointPhysics,
    SimulatedRobot,
    chain_from_urdf,
    compile_model,
    read_joints_file,
)
from robot_dynamics_ros.control.floating import LARGEST_FRICTION_SHARE, friction_help
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

N = 7
POSE = np.array([0.2, 0.9, 0.3, -1.2, 0.2, 0.6, 0.1])
REST = np.zeros(N)
#: Where the holding springs slip [rad].
SLIP = 0.05


@pytest.fixture(scope='module')
def arm():
    """Return the demo arm with its rotors and friction."""
    file = read_joints_file(URDF_FOLDER.parent / 'config' / 'demo_arm_joints.yaml')
    return file.applied_to(chain_from_urdf(URDF_FOLDER / 'demo_arm.urdf'))


@pytest.fixture(scope='module')
def frictionless(arm):
    return arm.with_joint_physics(
        JointPhysics(arm.joint_physics.rotor_inertia, *np.zeros((3, N))))


@pytest.fixture(scope='module')
def model(arm):
    return compile_model(arm)


def floated(chain, model, seconds, *, push=lambda t: 0.0, qd=REST, q=POSE, every=5, seen=1,
            **choices):
    """
    Return positions and velocities (N, n) of an arm that floats, one row per millisecond.

    :param every: milliseconds between two commands.
    :param seen: milliseconds between two joint states.
    """
    robot = SimulatedRobot(chain, compile_model(chain), q=q)
    robot.qd = robot.qd_motor = np.array(qd)
    controller = FloatController(FloatSettings.of_chain(chain, period=1e-3 * every, **choices))
    rows = []
    for step in range(round(1000 * seconds)):
        if step % seen == 0:
            state = robot.time, robot.q, robot.qd
        if step % every == 0:
            command = controller.command(model, robot.time, *state)
            assert command.objection == ''
        rows.append((robot.q, robot.qd))
        robot.advance(command.effort + push(robot.time))
    return [np.array(each) for each in zip(*rows)]


def test_at_rest_the_torque_is_the_weight_and_the_offset(arm):
    physics = replace(arm.joint_physics, offset=np.arange(7.0))
    model = compile_model(arm.with_joint_physics(physics))
    command = FloatController(FloatSettings.of_chain(arm)).command(model, 1.0, 1.0, POSE, REST)
    assert_close(command.effort, model.torque(POSE, REST, REST), SAME_ALGEBRA)
    assert command.clamped.tolist() == [0] * N


def test_a_robot_that_carries_itself_gets_no_weight(arm, model):
    controller = FloatController(FloatSettings.of_chain(arm, gravity=False))
    assert not controller.command(model, 1.0, 1.0, POSE, REST).effort.any()


def test_released_at_rest_it_stays_where_it_is(frictionless):
    q, _ = floated(frictionless, compile_model(frictionless), 2.0)
    assert np.abs(q - POSE).max() < 1e-6


@pytest.mark.parametrize('seed', [0, 1, 2])
def test_with_a_model_that_is_25_percent_wrong_it_drifts_less_than_a_tenth(arm, seed):
    wrong = compile_model(with_parameter_error(arm, 0.25, seed))
    q, qd = floated(arm, wrong, 4.0)
    assert np.abs(q - POSE).max() < 0.1
    assert np.abs(qd[-1]).max() < 0.01


@pytest.mark.parametrize('seed', [0, 1, 2])
def test_an_error_that_the_hold_carries_moves_it_less_than_the_slip(frictionless, seed):
    wrong = compile_model(with_parameter_error(frictionless, 0.05, seed))
    error = np.abs(compile_model(frictionless).gravity_torque(POSE) - wrong.gravity_torque(POSE))
    assert error.max() > 0.1 and (error < 0.03 * frictionless.effort_limits).all()
    q, _ = floated(frictionless, wrong, 4.0)
    assert 1e-3 < np.abs(q - POSE).max() < SLIP


def test_without_hold_and_friction_a_wrong_model_lets_it_creep(frictionless):
    """What the test above would not show if nothing ever moved."""
    q, _ = floated(frictionless, compile_model(with_parameter_error(frictionless, 0.25, 0)), 2.0,
                   holding=0.0)
    assert np.abs(q - POSE).max() > SLIP


@pytest.mark.parametrize('share', [0.0, LARGEST_FRICTION_SHARE])
def test_pushed_it_follows_and_comes_to_rest_after(arm, model, share):
    push = np.array([8.0, 9.0, 6.0, 6.0, 3.0, 2.0, 1.5])
    q, qd = floated(arm, model, 4.0, push=lambda t: push * (t < 0.7), friction_share=share)
    assert (q[700] - POSE > 0.05).all()
    assert np.abs(qd[-1]).max() < 0.01
    assert np.abs(q[-1] - q[-500]).max() < 0.005


def test_compensated_friction_makes_it_easier_to_lead(arm, model):
    push = np.array([8.0, 9.0, 6.0, 6.0, 3.0, 2.0, 1.5])
    heavy, light = (floated(arm, model, 0.7, push=lambda t: push, friction_share=share)[0][-1]
                    for share in (0.0, 0.7))
    assert (light - POSE > 1.2 * (heavy - POSE)).all()


@pytest.mark.parametrize('holding', [0.0, 0.03])
def test_energy_never_grows(frictionless, holding, rng):
    """Kinetic energy plus that of the holding springs; the weight is carried exactly."""
    model = compile_model(frictionless)
    q, qd = floated(frictionless, model, 2.0, qd=rng.uniform(-0.8, 0.8, N), holding=holding,
                    margin=0.0, every=1)
    kinetic = 0.5 * np.einsum('ti,tij,tj->t', qd, model.mass_matrix(q), qd)
    anchor, stored = q[0].copy(), []
    for row in q:
        stretch = np.clip(row - anchor, -SLIP, SLIP)
        anchor = row - stretch
        stored.append(0.5 * float(holding * frictionless.effort_limits / SLIP @ stretch**2))
    energy = kinetic + np.array(stored)
    # every 50 ms: within a period of the controller the springs are held
    assert (np.diff(energy[::50]) <= 1e-3 * energy[0]).all()
    assert energy[-1] < 0.05 * energy[0]


@pytest.mark.parametrize('every', [2, 5, 10, 20])
def test_at_every_rate_an_arm_with_light_rotors_and_no_friction_comes_to_rest(arm, every):
    """Springs that knew no rate kept it in motion for ever: 2 rad/s at 50 commands per second."""
    rotors = 0.2 * arm.joint_physics.rotor_inertia
    light = arm.with_joint_physics(JointPhysics(rotors, *np.zeros((3, N))))
    _, qd = floated(light, compile_model(light), 6.0, qd=np.full(N, 0.4), every=every)
    assert np.abs(qd[-1000:]).max() < 0.02


@pytest.mark.parametrize(('every', 'seen'), [(5, 50), (5, 80), (1, 10), (1, 20)])
def test_joint_states_that_come_less_often_than_commands_do_not_shake_it(every, seen):
    """With rates for the commands alone it shook with 1 to 8 rad/s, and never stopped."""
    chain = chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')
    _, qd = floated(chain, compile_model(chain), 6.0, q=[0.3, 0.3], qd=np.full(2, 0.3),
                    every=every, seen=seen)
    assert np.abs(qd).max() < 1.0
    assert np.abs(qd[-1000:]).max() < 0.3


def test_a_late_joint_state_does_not_soften_the_hold(arm, model):
    efforts = []
    for late in (0.0, 0.09):
        controller = FloatController(FloatSettings.of_chain(arm))
        for now in (1.0, 1.005, 1.01, 1.015, 1.02 + late, 1.025 + late):
            controller.command(model, now, now, POSE, REST)
        efforts.append(controller.command(model, now, now, POSE + 1e-3, REST).effort)
    np.testing.assert_array_equal(*efforts)
    assert (efforts[0] < model.torque(POSE + 1e-3, REST, REST) - 1e-3).all()


def test_a_velocity_that_no_joint_can_have_is_not_braked(arm, model):
    controller = FloatController(FloatSettings.of_chain(arm))
    controller.command(model, 1.0, 1.0, POSE, REST)
    wrong = np.append(REST[1:], 3.1 * arm.velocity_limits[-1])
    command = controller.command(model, 1.005, 1.005, POSE, wrong)
    assert command.objection == 'the velocity of a joint is impossible'
    assert_close(command.effort, model.torque(POSE, REST, REST), SAME_ALGEBRA)
    assert controller.command(model, 1.01, 1.01, POSE, REST).objection == ''


def test_beyond_the_largest_velocity_it_is_braked(frictionless):
    model = compile_model(frictionless)
    settings = FloatSettings.of_chain(frictionless, holding=0.0)
    controller = FloatController(settings)
    controller.command(model, 0.995, 0.995, POSE, REST)

    def damping(qd):
        effort = controller.command(model, 1.0, 1.0, POSE, qd).effort
        return (model.gravity_torque(POSE) - effort)[6] / qd[6]

    slow, quick = (damping(np.array([0.0] * 6 + [qd])) for qd in (1.0, 1.5))
    assert_close(quick / slow, 1.0 + 0.5 / 1.5 * settings.damping_time / settings.braking_time,
                 SAME_ALGEBRA)


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_before_a_position_limit_it_stops_softly(frictionless, sign):
    model = compile_model(frictionless)
    start, velocity = POSE.copy(), REST.copy()
    start[0], velocity[0] = 2.5 * sign, 1.0 * sign
    q, qd = floated(frictionless, model, 3.0, q=start, qd=velocity, holding=0.0, damping_time=5.0)
    reached = np.max(sign * q[:, 0])
    assert 2.8 < reached < 2.9, 'it enters the margin of 0.1 rad, and stays inside the limit'
    assert np.abs(qd[-1, 0]) < 0.05


@given(qd=st.lists(st.floats(-3.0, 3.0), min_size=4, max_size=4), seed=st.integers(0, 99),
       share=st.floats(0.0, LARGEST_FRICTION_SHARE), exact=st.booleans())
def test_friction_is_never_overcome(qd, seed, share, exact):
    """Also with coupled motors, and with a friction that jumps at standstill."""
    from robot_dynamics_ros.dynamics.joints.joint_terms import JointTerms

    rng, qd = np.random.default_rng(seed), np.array(qd)
    physics = JointPhysics(*np.zeros((1, 4)), *rng.uniform(0.0, 2.0, (2, 4)), np.zeros(4),
                           coulomb_velocity=0.0 if exact else 0.01,
                           coupling=np.eye(4) + 0.3 * rng.normal(size=(4, 4)))
    friction = np.array(JointTerms.of(physics, np).friction_torque(qd))
    helped = friction_help(friction, qd, share)
    rounding = SAME_ALGEBRA * float(np.abs(friction) @ np.abs(qd))
    assert helped @ qd <= share * (friction @ qd) + rounding


def test_friction_is_compensated_smoothly_through_standstill():
    steps = [friction_help(3.0 * np.sign([qd]), np.array([qd]), 0.7)[0]
             for qd in np.linspace(-0.01, 0.01, 201)]
    assert np.abs(np.diff(steps)).max() < 0.01
    assert steps[100] == 0.0


def test_effort_limits_hold_and_clipping_is_counted(arm, model):
    from robot_dynamics_ros import EffortLimits

    limits = EffortLimits(arm.joint_names, np.full(N, 0.5))
    controller = FloatController(FloatSettings.of_chain(arm, limits))
    command = controller.command(model, 1.0, 1.0, POSE, REST)
    assert np.abs(command.effort).max() == 0.5
    assert command.clamped[1] == 1 and command.clamped[0] == 0


BAD_STATES = {
    'stale': (0.5, POSE, REST), 'from the future': (1.5, POSE, REST),
    'without position': (1.0, np.full(N, np.nan), REST),
    'without velocity': (1.0, POSE, np.full(N, np.nan)),
    'infinite': (1.0, POSE, np.full(N, np.inf)), 'short': (1.0, POSE[:3], REST[:3])}


@pytest.mark.parametrize('state', BAD_STATES.values(), ids=BAD_STATES)
def test_nothing_is_commanded_before_a_usable_state(arm, model, state):
    assert FloatController(FloatSettings.of_chain(arm)).command(model, 1.0, *state) is None


@pytest.mark.parametrize('state', BAD_STATES.values(), ids=BAD_STATES)
def test_without_usable_states_the_weight_is_held_and_then_taken_away_slowly(arm, model, state):
    controller = FloatController(FloatSettings.of_chain(arm))
    weight = controller.command(model, 0.9, 0.9, POSE, REST).effort
    received, q, qd = state
    efforts, objections = [], set()
    for step in range(701):
        now = 1.0 + 0.01 * step
        age = received - 1.0
        command = controller.command(model, now, now + age, q, qd)
        efforts.append(command.effort)
        objections.add(command.objection)
    assert '' not in objections and len(objections) == 1
    np.testing.assert_array_equal(efforts[:90], np.tile(weight, (90, 1)))
    np.testing.assert_array_equal(efforts[-1], 0.0)
    jumps = np.abs(np.diff(efforts, axis=0)).max()
    assert 0.0 < jumps < 0.003 * np.abs(weight).max(), 'taken away slowly'
    floating = controller.command(model, 8.01, 8.01, POSE, REST)
    assert floating.objection == ''
    np.testing.assert_array_equal(floating.effort, weight)


def test_a_controller_that_was_not_called_for_long_does_not_drop_the_arm(arm, model):
    controller = FloatController(FloatSettings.of_chain(arm))
    weight = controller.command(model, 1.0, 1.0, POSE, REST).effort
    np.testing.assert_array_equal(controller.command(model, 99.0, 1.0, POSE, REST).effort, weight)


def test_a_clock_that_is_set_back_does_not_hold_for_ever(arm, model):
    controller = FloatController(FloatSettings.of_chain(arm))
    controller.command(model, 1000.0, 1000.0, POSE, REST)
    for step in range(1000):
        command = controller.command(model, 0.01 * step, 1000.0, POSE, REST)
    np.testing.assert_array_equal(command.effort, 0.0)


def test_a_robot_with_brakes_gets_zero_at_once(arm, model):
    controller = FloatController(FloatSettings.of_chain(arm, safe_end='zero'))
    controller.command(model, 1.0, 1.0, POSE, REST)
    assert not controller.command(model, 1.2, 1.0, POSE, REST).effort.any()


def test_what_was_stopped_is_let_down_whatever_comes(arm, model):
    controller = FloatController(FloatSettings.of_chain(arm))
    controller.command(model, 1.0, 1.0, POSE, REST)
    controller.stop('enough')
    for step in range(700):
        now = 1.0 + 0.01 * step
        command = controller.command(model, now, now, POSE, REST)
    assert command.objection == 'enough' and not command.effort.any()


@pytest.mark.parametrize('mass', [np.full((N, N), np.nan), np.zeros((N, N)), -np.eye(N)])
def test_a_model_that_makes_no_sense_lets_the_arm_down(arm, model, mass):
    class Broken:
        gravity_torque, friction_torque = model.gravity_torque, model.friction_torque

        def mass_matrix(self, q):
            return mass

    controller = FloatController(FloatSettings.of_chain(arm))
    weight = controller.command(model, 1.0, 1.0, POSE, REST).effort
    command = controller.command(Broken(), 1.005, 1.005, POSE, REST)
    assert command.objection
    np.testing.assert_array_equal(command.effort, weight)


@pytest.mark.parametrize(('name', 'value'), [
    ('friction_share', 0.71), ('friction_share', -0.1), ('friction_share', np.nan),
    ('holding', 1.0), ('damping_time', 0.0), ('period', np.inf), ('period', 0.021),
    ('margin', -0.1), ('safe_end', 'fall'), ('release_time', 0.0)])
def test_settings_that_cannot_be_are_refused(arm, name, value):
    with pytest.raises(ParameterError, match=name):
        FloatSettings.of_chain(arm, **{name: value})


def test_the_example_of_the_document_runs(monkeypatch, capsys):
    root = URDF_FOLDER.parent
    monkeypatch.chdir(root)
    example, = re.findall(r'^```python\n(.*?)^```', (root / 'docs' / 'float.md').read_text(),
                          re.DOTALL | re.MULTILINE)
    exec(example, {})
    assert capsys.readouterr().out == 'True True\n'
