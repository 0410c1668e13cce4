# SPDX-License-Identifier: Apache-2.0
"""CONVERGED is true: what has converged predicts motions that were never seen."""

import numpy as np
import pytest
from studies.coverage import irregular_motion
from support.excitation import random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.estimation.recursion.convergence import PossibleStates
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

#: Largest relative torque error, on motions never seen, of what is called converged.
TRUE = 0.10
STEP, HALF = 0.01, 20.0


class Stream:
    """A robot that moves for two times 20 s, and another motion to judge by."""

    def __init__(self, robot, seed):
        rng = np.random.default_rng(seed)
        chain = chain_from_urdf(URDF_FOLDER / f'{robot}.urdf')
        self.n = len(chain)
        truth = chain.with_joint_physics(random_physics(rng, self.n))
        self.start, self.model = with_parameter_error(truth, 0.3, seed), compile_model(truth)
        self.t, *self.motion = irregular_motion(rng, self.n, 2.0 * HALF, STEP)
        _, *self.other = irregular_motion(rng, self.n, 20.0, 0.05)
        self.torque = self.model.torque(*self.other)
        self.noise = 0.02 * np.std(self.torque, axis=0) * np.repeat(
            rng.normal(size=(len(self.t) // 20 + 1, self.n)), 20, axis=0)[:len(self.t)]

    def changed(self, kind):
        """Return q, qd, qdd: slowly, hardly, one joint only, or that and then everything."""
        q, qd, qdd = (values.copy() for values in self.motion)
        if kind == 'slow':
            k = np.arange(len(q)) // 5
            part = np.arange(len(q)) % 5 / 5.0
            q = q[k] + part[:, None] * (q[k + 1] - q[k])
            return q, 0.2 * qd[k], 0.04 * qdd[k]
        if kind == 'small':
            return q[0] + 0.1 * (q - q[0]), 0.1 * qd, 0.1 * qdd
        if kind.startswith('one'):
            until = len(q) if kind == 'one' else len(q) // 2
            q[:until, 1:] = q[until - 1, 1:]
            qd[:until, 1:], qdd[:until, 1:] = 0.0, 0.0
        return q, qd, qdd

    def judged(self, kind):
        """Return time, state and error on the other motion, twice per second."""
        q, qd, qdd = self.changed(kind)
        tau = self.model.torque(q, qd, qdd) + self.noise
        estimator, model = OnlineEstimator(self.start), compile_model(self.start)
        for k in range(0, len(q), 50):
            part = slice(k, k + 50)
            estimator.feed_many(self.t[part], q[part], qd[part], tau[part])
            estimate = estimator.estimate()
            model.swap(estimate.mlc.values, estimate.joint_physics)
            error = np.linalg.norm(model.torque(*self.other) - self.torque)
            yield self.t[k], estimate.state, error / np.linalg.norm(self.torque)


def converged(judged):
    return [(t, error) for t, state, error in judged if state == EstimateState.CONVERGED]


@pytest.fixture(scope='module', params=['puma_4dof', 'demo_arm'])
def stream(request):
    return Stream(request.param, 11)


def test_a_good_motion_converges_soon_and_truly(stream):
    found = converged(stream.judged('rich'))
    assert found and found[0][0] < 20.0
    assert max(error for _, error in found) < TRUE


@pytest.mark.parametrize('kind', ['slow', 'small', 'one'])
def test_a_poor_motion_is_not_called_converged_unless_it_is(stream, kind):
    found = converged(stream.judged(kind))
    assert all(error < TRUE for _, error in found)
    assert kind == 'slow' or not found


def test_after_one_joint_all_must_have_moved(stream):
    found = converged(stream.judged('one, then all'))
    assert all(t >= HALF and error < TRUE for t, error in found)


def test_possible_states_are_inside_the_limits_and_as_lively_as_the_motion():
    chain = chain_from_urdf(URDF_FOLDER / 'demo_arm.urdf')
    n = len(chain)
    possible = PossibleStates(chain)
    q, qd, _ = possible.states(np.zeros(n), np.zeros(n))
    lower, upper = chain.position_limits
    assert np.all((q >= lower) & (q <= upper))
    size = np.sqrt(np.mean(qd ** 2, axis=0))
    assert np.all((size > 0.1 * chain.velocity_limits) & (size < 0.3 * chain.velocity_limits))
    _, fast, brisk = possible.states(np.full(n, 9.0), np.full(n, 40.0))
    assert np.all(np.sqrt(np.mean(fast ** 2, axis=0)) > 6.0)
    assert np.all(np.sqrt(np.mean(brisk ** 2, axis=0)) > 25.0)


def test_the_spread_on_paper():
    possible = PossibleStates(chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf'))
    Y = np.tile(np.diag([10.0, 1.0]), (60, 1, 1))
    whole, worst = possible.relative_spread(Y, np.ones(2), np.diag([0.01, 0.04]))
    assert whole == pytest.approx(np.sqrt((1.0 + 0.04) / 101.0))
    assert worst == pytest.approx(0.2)
