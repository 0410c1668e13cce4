# SPDX-License-Identifier: Apache-2.0
"""Compiled models under wrenches on any links."""

from dataclasses import replace

import numpy as np
import pytest
from support.chains import random_chain, random_states
from support.tolerances import OTHER_FORMULATION, SAME_ALGEBRA, assert_close

from robot_dynamics_ros import JointPhysics, compile_model, inverse_dynamics
from robot_dynamics_ros.errors import ParameterError, StateError


@pytest.fixture(params=['numpy', 'llvm'])
def model(request, rng):
    physics = replace(JointPhysics.zero(4), rotor_inertia=rng.uniform(0.1, 0.5, 4),
                      viscous=rng.uniform(0.1, 1.0, 4), coulomb=rng.uniform(0.5, 2.0, 4),
                      offset=rng.normal(size=4), load_friction=rng.uniform(0.1, 0.3, 4),
                      coulomb_velocity=0.01)
    return compile_model(random_chain(rng, 4).with_joint_physics(physics), request.param)


@pytest.mark.parametrize('count', [None, 3])
def test_every_result_is_that_of_the_formulations(model, rng, count):
    chain = model.chain
    q, qd, qdd = random_states(rng, 4, count)
    shape = (6,) if count is None else (count, 6)
    wrenches = {name: rng.normal(size=shape) for name in (*chain.link_names[:2], chain.tip)}
    for _ in range(2):  # the second time past what has been compiled
        rigid = model.inverse_dynamics(q, qd, qdd, wrench=wrenches)
        assert_close(rigid, inverse_dynamics(chain, q, qd, qdd, link_wrenches=wrenches),
                     OTHER_FORMULATION)
        tau = model.torque(q, qd, qdd, wrench=wrenches)
        load = rigid + model.joint_physics.rotor_inertia * qdd
        assert_close(tau, load + model.friction_under_load(qd, load), SAME_ALGEBRA)
        assert_close(model.forward_dynamics(q, qd, tau, wrench=wrenches), qdd, 1e-9)


def test_on_the_tip_it_is_the_compiled_one(model, rng):
    q, qd, qdd = random_states(rng, 4)
    wrench, out = rng.normal(size=6), np.empty(4)
    for name in ('inverse_dynamics', 'torque', 'forward_dynamics'):
        function = getattr(model, name)
        expected = function(q, qd, qdd, wrench=wrench)
        assert function(q, qd, qdd, wrench={model.chain.tip: wrench}, out=out) is out
        assert_close(out, expected, 1e-10, name)
        assert_close(function(q, qd, qdd, wrench={}), function(q, qd, qdd), 1e-10, name)


def test_a_state_with_a_wrench_that_is_not_finite_is_nan_in_all_joints(model, rng):
    q, qd, qdd = random_states(rng, 4, 3)
    wrench = np.zeros((3, 6))
    wrench[1, 4] = np.inf
    for name in ('inverse_dynamics', 'torque', 'forward_dynamics'):
        found = getattr(model, name)(q, qd, qdd, wrench={model.chain.link_names[0]: wrench})
        assert np.all(np.isnan(found[1])) and np.all(np.isfinite(found[[0, 2]])), name


def test_what_takes_none_says_so(model, rng):
    q, qd, qdd = random_states(rng, 4)
    with pytest.raises(ParameterError, match='torque_derivatives takes wrenches on tips only'):
        model.torque_derivatives(q, qd, qdd, wrench={model.chain.tip: np.zeros(6)})
    with pytest.raises(ParameterError, match="no link 'nose' on the chain"):
        model.torque(q, qd, qdd, wrench={'nose': np.zeros(6)})
    with pytest.raises(StateError, match=r'wrench on link1 has shape \(3,\), expected \(6,\)'):
        model.torque(q, qd, qdd, wrench={'link1': np.zeros(3)})
