# SPDX-License-Identifier: Apache-2.0
"""A number that is not finite makes all results of its state NaN, and of no other one."""

import numpy as np
import pytest
from support.models import BACKENDS, COUNT, call, judged, states_of

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.codegen.functions import INPUTS, KINEMATIC_INPUTS


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize('name', INPUTS)
def test_a_bad_number_spoils_its_own_state_only(chain, models, rng, name, bad):
    good = states_of(chain, name, rng)
    for model in models.values():
        expected = call(model, name, good)
        for key in INPUTS[name]:
            inputs = {name: values.copy() for name, values in good.items()}
            inputs[key][3, 0] = bad  # q1 does not enter the torque of an upright arm
            result = call(model, name, inputs)
            assert np.isnan(result[3]).all(), (model.backend, key)
            np.testing.assert_array_equal(np.delete(result, 3, 0), np.delete(expected, 3, 0))
            one = call(model, name, {name: values[3] for name, values in inputs.items()})
            assert np.isnan(one).all(), (model.backend, key)


@pytest.mark.parametrize('bad', [np.nan, np.inf])
@pytest.mark.parametrize('name', INPUTS)
def test_the_loop_form_spoils_bad_states_only(chain, rng, name, bad):
    good = states_of(chain, name, rng)
    expected = judged(chain, name, **good)
    for key in INPUTS[name]:
        inputs = {name: values.copy() for name, values in good.items()}
        inputs[key][3, 0] = bad
        result = judged(chain, name, **inputs)
        assert np.isnan(result[3]).all(), key
        np.testing.assert_array_equal(np.delete(result, 3, 0), np.delete(expected, 3, 0))
        one = judged(chain, name, **{name: values[3] for name, values in inputs.items()})
        assert one.shape == expected.shape[1:] and np.isnan(one).all(), key


def test_a_bad_parameter_spoils_the_loop_form_where_it_is_used(demo_arm, rng, monkeypatch):
    for limit in ('LONGEST_PROGRAM', 'LONGEST_SOLUTION'):
        monkeypatch.setattr(f'robot_dynamics_ros.codegen.runtime.kernels.{limit}', 1)
    model = compile_model(demo_arm)
    parameters = model.parameters.copy()
    parameters[-1] = np.nan
    model.parameters = parameters
    for name in INPUTS:
        result = call(model, name, states_of(demo_arm, name, rng))
        solved = name.startswith('forward_dynamics_derivatives')  # of derivatives in a loop
        assert model.forms[name] == ('solved' if solved else 'loop')
        if ('regressor' in name or name.startswith(('friction', 'momentum_split'))
                or name in KINEMATIC_INPUTS):
            assert np.isfinite(result).all(), name
        else:
            assert np.isnan(result).all(), name


def test_a_bad_parameter_spoils_derivatives_that_are_solved(demo_arm, rng, monkeypatch):
    monkeypatch.setattr('robot_dynamics_ros.codegen.runtime.kernels.LONGEST_SOLUTION', 1)
    model, name = compile_model(demo_arm), 'forward_dynamics_derivatives'
    parameters = model.parameters.copy()
    parameters[-1] = np.nan
    model.parameters = parameters
    result = call(model, name, states_of(demo_arm, name, rng))
    assert model.forms[name] == 'solved' and np.isnan(result).all()


@pytest.mark.parametrize('bad', [np.nan, np.inf])
def test_a_bad_wrench_or_parameter_spoils_everything(chain, rng, bad):
    q, qd, qdd = states_of(chain, 'torque', rng).values()
    wrench = np.zeros((COUNT, 6))
    wrench[:, 4] = bad
    for backend in BACKENDS:
        model = compile_model(chain, backend)
        assert np.isnan(model.torque(q, qd, qdd, wrench=wrench)).all()
        parameters = model.parameters.copy()
        parameters[-1] = bad
        model.parameters = parameters
        for result in (model.torque(q, qd, qdd), model.inverse_dynamics(q[0], qd[0], qdd[0]),
                       model.mass_matrix(q[0]), model.forward_dynamics(q, qd, qdd)):
            assert np.isnan(result).all(), backend
        model.parameters = model.mlc.values
        assert np.isfinite(model.torque(q, qd, qdd)).all()


@pytest.mark.parametrize('backend', BACKENDS)
def test_a_joint_that_moves_no_mass_has_no_acceleration(backend):
    chain = chain_from_dh('RR', beta=[0, np.pi / 2], b=[0, 0.3], d=[0, 0], theta=[0, 0])
    model = compile_model(chain, backend)
    zero = np.zeros(2)
    assert not np.isfinite(model.forward_dynamics(zero, zero, np.ones(2))).any()
    np.testing.assert_array_equal(model.torque(zero, zero, np.ones(2)), zero)
