# SPDX-License-Identifier: Apache-2.0
"""What an online estimator keeps: over a restart, and when the robot carries something else."""

import numpy as np
import pytest
from support.motions import swinging_samples
from support.robots import URDF_FOLDER
from support.tolerances import assert_close

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.dynamics.minimal.mlc import payload_parameters
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

#: Two ways of computing with the same numbers, many steps long.
SAME_RECURSION = 1e-7


@pytest.fixture(scope='module')
def chain():
    return chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')


@pytest.fixture(scope='module')
def true_model(chain):
    return compile_model(with_parameter_error(chain, 0.3, seed=3))


@pytest.fixture(scope='module')
def samples(true_model):
    return swinging_samples(true_model, 20.0)


@pytest.fixture
def estimator(chain):
    return OnlineEstimator(chain)


def feed(estimator, samples):
    for sample in samples:
        estimator.feed(sample.time, sample.q, sample.qd, sample.effort)
    return estimator


def torque(estimator, state=((0.3, -0.5), (1.0, -2.0), (3.0, 0.5))):
    """Return the torque of what was learned."""
    estimate = estimator.estimate()
    model = compile_model(estimator.chain)
    model.swap(estimate.mlc.values, estimate.joint_physics)
    return model.torque(*state)


def test_a_restored_estimator_goes_on_as_if_nothing_had_happened(chain, estimator, samples):
    feed(estimator, samples[:2000])
    other = OnlineEstimator(chain)
    other.restore(estimator.state())
    assert other.samples == estimator.samples
    np.testing.assert_array_equal(other.estimate().mlc.values, estimator.estimate().mlc.values)
    np.testing.assert_array_equal(other.estimate().covariance, estimator.estimate().covariance)
    assert other.estimate().state == estimator.estimate().state
    before = other.estimate().covariance.trace()
    feed(other, samples[2000:])
    assert other.samples > 1.5 * estimator.samples
    assert other.estimate().covariance.trace() < before


def test_the_state_is_finite_and_survives_a_copy(chain, estimator, samples):
    feed(estimator, samples[:1000])
    state = {name: np.array(values) for name, values in estimator.state().items()}
    feed(estimator, samples[1000:])
    assert all(np.all(np.isfinite(values)) for values in state.values())
    other = OnlineEstimator(chain)
    other.restore(state)
    assert 0 < other.samples < estimator.samples


def test_nothing_learned_is_restored_as_nothing(chain, estimator):
    other = OnlineEstimator(chain)
    other.restore(estimator.state())
    assert other.samples == 0


@pytest.mark.parametrize('spoil', [
    lambda state: state.pop('triangle'),
    lambda state: state.update(x=state['x'][:-8]),
    lambda state: state.update(x=state['x'] * np.nan),
    lambda state: state.pop('load'),
    lambda state: state.update(fastest=np.zeros(7)),
])
def test_a_state_that_does_not_fit_is_refused(chain, estimator, samples, spoil):
    state = feed(estimator, samples[:1000]).state()
    spoil(state)
    with pytest.raises(ParameterError, match='of the state is missing'):
        OnlineEstimator(chain).restore(state)


def test_a_known_load_is_not_learned_as_a_part_of_the_arm(chain, estimator, samples, true_model):
    payload = payload_inertia(3.0, [0.1, 0.0, 0.0], np.diag([0.01, 0.01, 0.01]))
    load = payload_parameters(true_model.mlc, chain, payload)
    loaded = compile_model(true_model.chain.with_payload(payload))
    feed(estimator, samples)
    alone = torque(estimator)
    estimator.carry(load)
    assert_close(torque(estimator), alone, SAME_RECURSION)
    feed(estimator, swinging_samples(loaded, 20.0, start=30.0))
    expected = true_model.torque((0.3, -0.5), (1.0, -2.0), (3.0, 0.5))
    assert_close(torque(estimator), expected, 0.01)
    estimator.carry(np.zeros_like(load))
    feed(estimator, swinging_samples(true_model, 5.0, start=60.0))
    assert_close(torque(estimator), expected, 0.01)
    other = OnlineEstimator(chain)
    other.carry(load)
    other.restore(estimator.state())
    assert_close(torque(other), torque(estimator), SAME_RECURSION)


def test_a_load_known_from_the_start_is_no_part_of_the_arm(chain, true_model):
    payload = payload_inertia(3.0, [0.1, 0.0, 0.0], np.diag([0.01, 0.01, 0.01]))
    estimator = OnlineEstimator(chain)
    estimator.carry(payload_parameters(true_model.mlc, chain, payload))
    feed(estimator, swinging_samples(compile_model(true_model.chain.with_payload(payload)), 20.0))
    assert_close(torque(estimator), true_model.torque((0.3, -0.5), (1.0, -2.0), (3.0, 0.5)), 0.01)


def test_excitation_grows_with_the_motion_of_each_joint(chain, estimator, true_model):
    assert estimator.excitation.tolist() == [0.0, 0.0]
    still = [0.0, 1.0]
    for sample in swinging_samples(true_model, 8.0):
        q, qd = sample.q * still, sample.qd * still
        qdd = np.array([0.0, -(2.2**2) * q[1]])
        estimator.feed(sample.time, q, qd, true_model.torque(q, qd, qdd))
    one = estimator.excitation
    feed(estimator, swinging_samples(true_model, 10.0, start=20.0))
    assert np.all(estimator.excitation >= one)
    assert estimator.excitation[0] > one[0]
    assert estimator.excitation[0] > 0.8
