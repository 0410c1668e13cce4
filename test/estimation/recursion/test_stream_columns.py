# SPDX-License-Identifier: Apache-2.0
"""Friction laws in a stream: the columns are those of the model, and the law is learned."""

from dataclasses import replace

import numpy as np
import pytest
from support.excitation import excitation, fourier_motion, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.estimation.recursion.stream_columns import StreamColumns
from robot_dynamics_ros.estimation.regression.friction_law import FrictionLaw
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms

LOAD = np.array([0.05, 0.12, 0.08, 0.1])


def puma(rng, **law):
    chain = chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf')
    return chain.with_joint_physics(random_physics(rng, 4, **law))


@pytest.mark.parametrize('law', [
    {}, {'load_friction': LOAD}, {'presliding': np.array([0.01, 0.0, 0.03, 0.005])},
    {'load_friction': LOAD, 'presliding': np.full(4, 0.02), 'viscous_asymmetry': np.full(4, 0.2),
     'static': np.full(4, 6.0), 'stribeck_velocity': np.full(4, 0.1)}])
def test_columns_times_parameters_are_the_torque_along_a_motion(law, rng):
    chain = puma(rng, **law)
    columns = StreamColumns(TorqueTerms(chain), FrictionLaw.of(chain.joint_physics))
    values = columns.unknowns.values(columns.unknowns.mlc.of(chain), chain.joint_physics)
    t, q, qd, qdd = fourier_motion(rng, 4, duration=3.0)
    torque = np.array([columns.along(*state, values) @ values for state in zip(q, qd, qdd)])
    expected = compile_model(chain).torque_along(q, qd, qdd)
    after = t > 1.0  # a stream does not know from where the robot came
    np.testing.assert_allclose(torque[after], expected[after], atol=1e-6)
    steady = columns.at(q, qd, qdd, values) @ values
    np.testing.assert_allclose(steady, compile_model(chain).torque(q, qd, qdd), atol=1e-9)


@pytest.mark.parametrize('given', [True, False], ids=['in the joints file', 'asked for'])
def test_friction_under_load_is_learned_from_a_stream(given, rng):
    truth = puma(rng, load_friction=LOAD)
    data = excitation(rng, truth, duration=30.0, step=0.01)
    physics = replace(truth.joint_physics, load_friction=np.zeros(4) if given else None)
    estimator = OnlineEstimator(truth.with_joint_physics(physics), load_friction=not given)
    estimator.feed_many(data.t, data.q, data.qd, data.tau)
    found = estimator.estimate()
    np.testing.assert_allclose(found.joint_physics.load_friction, LOAD, atol=0.01)
    assert {'Fl1', 'Fl4'} <= set(found.unknowns)


def test_a_law_of_the_robot_is_never_dropped(rng):
    chain = puma(rng, presliding=np.full(4, 0.01), static=np.full(4, 6.0),
                 stribeck_velocity=np.full(4, 0.1))
    data = excitation(rng, chain, duration=6.0, step=0.01)
    estimator = OnlineEstimator(chain)
    for learned in (False, True):
        physics = estimator.estimate().joint_physics
        np.testing.assert_array_equal(physics.presliding, 0.01)
        np.testing.assert_array_equal(physics.stribeck_velocity, 0.1)
        assert physics.static is not None and physics.load_friction is None
        if not learned:
            estimator.feed_many(data.t, data.q, data.qd, data.tau)
    with pytest.raises(ParameterError, match='another friction law'):
        OnlineEstimator(puma(rng)).restore(estimator.state())
