# SPDX-License-Identifier: Apache-2.0
"""Sampled controllers on the simulated demo arm: a load of 3 kg appears in motion."""

import functools

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.chain.inertia import Inertia, payload_inertia
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.control.adaptive.choice import LAW_NAMES, AdaptiveSettings
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.playing.lively_motion import lively_motion
from robot_dynamics_ros.simulation.closed_loop import LoadChange, run_closed_loop
from robot_dynamics_ros.simulation.compared_controllers import CONTROLLERS, make_controller
from robot_dynamics_ros.simulation.controlled_robot import SensorNoise
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error
from robot_dynamics_ros.simulation.robot import SimulatedRobot

LOAD = payload_inertia(3.0, [0.0, 0.0, 0.1], 0.005 * np.eye(3))
LOAD_AT = 4.0
DURATION = 10.0
STEP = 0.002


@functools.cache
def models():
    """Return the demo arm as it is known and as it is, with their models."""
    joints = read_joints_file(URDF_FOLDER.parent / 'config' / 'demo_arm_joints.yaml')
    chain = joints.applied_to(chain_from_urdf(URDF_FOLDER / 'demo_arm.urdf'))
    true = with_parameter_error(chain, 0.1, 1)
    return chain, compile_model(chain), true, compile_model(true)


def simulated(name, *, loads=(), duration=DURATION, noise=None, rate=500.0, **settings):
    chain, model, true, true_model = models()
    true_model.parameters = true_model.mlc.values
    motion = lively_motion(chain, duration=duration)
    robot = SimulatedRobot(true, true_model, q=motion.positions[0], step=STEP)
    controller = make_controller(name, model, EffortLimits.of_chain(chain),
                                 AdaptiveSettings(law=name, **settings))
    return run_closed_loop(controller, robot, motion, rate=rate, loads=loads, noise=noise,
                           name=name)


@functools.cache
def with_load(name):
    return simulated(name, loads=[LoadChange(LOAD_AT, LOAD)])


@pytest.mark.parametrize('name', ['slotine_li', 'slotine_li_modified', 'slotine_li_composite'])
def test_tracking_recovers_from_a_load_of_3_kg_within_2_seconds(name):
    run = with_load(name)
    before = run.error_between(LOAD_AT - 2.0, LOAD_AT)
    disturbed = run.error_between(LOAD_AT, LOAD_AT + 0.2)
    assert disturbed > 2.0 * before
    for begin in np.arange(LOAD_AT + 0.5, DURATION, 0.5):
        assert run.error_between(begin, begin + 0.5) < 2.0 * before
    assert not np.any(run.clamped)


def test_computed_torque_with_the_wrong_model_stays_worse():
    computed, adaptive = with_load('computed_torque'), with_load('slotine_li')
    after = (LOAD_AT + 2.0, DURATION)
    assert computed.error_between(*after) > 5.0 * adaptive.error_between(*after)
    assert computed.error_between(*after) > 5.0 * computed.error_between(0.0, LOAD_AT)


def test_learning_from_the_torque_as_well_is_more_exact():
    composite, errors_only = with_load('slotine_li_composite'), with_load('slotine_li')
    assert composite.error_between(0.5, LOAD_AT) < 0.7 * errors_only.error_between(0.5, LOAD_AT)
    assert composite.error_between(LOAD_AT + 0.5, DURATION) < errors_only.error_between(
        LOAD_AT + 0.5, DURATION)


def test_noise_that_spoils_the_inertia_of_a_payload_does_not_with_the_torque():
    learning = {'learn': ('load', 'Fv', 'Fc', 'offset'), 'noise': SensorNoise(velocity=0.02),
                'duration': 4.0}
    assert simulated('slotine_li', **learning).error_between(2.0, 4.0) > 0.01
    assert simulated('slotine_li_composite', **learning).error_between(2.0, 4.0) < 0.001


def test_the_mass_of_the_load_is_learned_in_motion():
    run = with_load('slotine_li')
    mass = run.value_of('load_M')
    assert mass[round(LOAD_AT / STEP) - 1] < 0.5
    assert mass[-1] == pytest.approx(3.0, abs=0.5)


@pytest.mark.parametrize('name', CONTROLLERS)
def test_every_controller_follows_a_motion(name):
    run = simulated(name, duration=1.0)
    assert run.tracked.name == name
    assert run.tracked.tracking.total_rms < 0.1
    assert run.theta.shape == (501, 25 if name in LAW_NAMES else 0)
    assert run.value_of('magic') is None


def test_noise_does_not_let_the_parameters_run_away():
    """Speed noise of 0.02 rad/s, twice the dead zone."""
    noise = SensorNoise(position=1e-4, velocity=0.02)
    run = simulated('slotine_li', noise=noise, loads=[LoadChange(2.0, LOAD)], duration=6.0)
    assert run.error_between(4.0, 6.0) < 0.002
    assert run.value_of('load_M')[-1] == pytest.approx(3.0, abs=0.3)


def test_a_slow_controller_learns_too():
    run = simulated('slotine_li', rate=50.0, loads=[LoadChange(2.0, LOAD)], duration=6.0)
    assert run.error_between(4.0, 6.0) < 2.0 * run.error_between(0.5, 2.0)
    assert run.value_of('load_M')[-1] == pytest.approx(3.0, abs=0.3)


def test_a_load_can_be_put_down_again():
    chain, _, true, true_model = models()
    true_model.parameters = true_model.mlc.values
    robot = SimulatedRobot(true, true_model, step=STEP)
    motion = lively_motion(chain, duration=1.0)
    controller = make_controller('pd_gravity', models()[1], EffortLimits.of_chain(chain),
                                 AdaptiveSettings())
    run_closed_loop(controller, robot, motion,
                    loads=[LoadChange(0.6, Inertia.zero()), LoadChange(0.2, LOAD)])
    np.testing.assert_allclose(true_model.parameters, true_model.mlc.values)


def test_a_rate_that_does_not_fit_and_unknown_names_are_refused():
    chain, model, true, true_model = models()
    robot = SimulatedRobot(true, true_model, step=STEP)
    limits = EffortLimits.of_chain(chain)
    controller = make_controller('pid', model, limits, AdaptiveSettings())
    with pytest.raises(ParameterError, match='must be a multiple'):
        run_closed_loop(controller, robot, lively_motion(chain), rate=300.0)
    with pytest.raises(ParameterError, match="unknown controller 'magic'"):
        make_controller('magic', model, limits, AdaptiveSettings())
