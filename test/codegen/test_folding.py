# SPDX-License-Identifier: Apache-2.0
"""Zeros folded into generated code: fewer operations, the same torque, and no silent value."""

import copy
import ctypes
import math
import pickle
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from support.chains import random_chain
from support.robots import ROBOTS, URDF_FOLDER
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import c_library, chain_from_urdf, compile_model, standalone_source
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.errors import ParameterError

COMPILER = shutil.which('cc')
OPTIONS = ({'zeros': 'chain'}, {'baked': True}, {'zeros': 'chain', 'baked': True})


@pytest.fixture(scope='module')
def stanford():
    return chain_from_urdf(URDF_FOLDER / 'stanford.urdf')


@pytest.mark.parametrize('robot', ROBOTS)
@pytest.mark.parametrize('options', OPTIONS, ids=['zeros', 'baked', 'both'])
@pytest.mark.parametrize('backend', ['auto', 'python'])
def test_folded_code_has_the_torque_of_the_whole_one(robot, options, backend, rng):
    chain = chain_from_urdf(URDF_FOLDER / f'{robot}.urdf')
    whole, folded = compile_model(chain), compile_model(chain, backend, **options)
    q, qd, qdd = rng.normal(size=(3, 20, len(chain)))
    wrench = rng.normal(size=(20, 6 * len(chain.tips)))
    tau = whole.torque(q, qd, qdd, wrench=wrench)
    assert_close(folded.torque(q, qd, qdd, wrench=wrench), tau, SAME_ALGEBRA)
    assert_close(folded.mass_matrix(q), whole.mass_matrix(q), SAME_ALGEBRA)
    assert_close(folded.forward_dynamics(q, qd, tau), whole.forward_dynamics(q, qd, tau), 1e-9)
    assert_close(folded.regressor(q, qd, qdd, joint_terms=True),
                 whole.regressor(q, qd, qdd, joint_terms=True), SAME_ALGEBRA)
    for name in ('torque', 'mass_matrix', 'forward_dynamics'):
        assert folded.operations[name] <= whole.operations[name]


def test_the_stanford_arm_needs_half_of_the_operations(stanford):
    """20 of its 33 minimal parameters, and 21 grouped ones, are zero."""
    whole, folded = compile_model(stanford), compile_model(stanford, zeros='chain')
    assert np.sum(whole.parameters == 0.0) == 20
    assert len([name for name in folded.folded if name in stanford.standard_parameter_names]) == 21
    assert whole.operations['inverse_dynamics_with_wrench'] == (219, 212)
    assert folded.operations['inverse_dynamics_with_wrench'] == (128, 100)


def test_minimal_names_fold_too(stanford):
    """Zeros of Lin's set alone leave MY2, which is zero for another reason."""
    lin = compile_model(stanford).mlc
    names = [name for name, value in zip(lin.names, lin.values) if value == 0.0]
    model = compile_model(stanford, zeros=names)
    assert model.operations['inverse_dynamics_with_wrench'] == (132, 104)
    assert model.folded == tuple(names)


@pytest.mark.parametrize(('name', 'message'), [
    ('XX2', r'XX2 is folded as zero in this model, got 1\.3'),
    ('XX9', r'no parameter XX9 to fold; this robot has ZZ1'),
])
def test_what_is_not_zero_is_not_folded(stanford, name, message):
    with pytest.raises(ParameterError, match=message):
        compile_model(stanford, zeros=[name])
    with pytest.raises(ParameterError, match="zeros is 'all'"):
        compile_model(stanford, zeros='all')


def test_another_value_of_a_folded_parameter_is_refused(stanford, rng):
    model = compile_model(stanford, zeros='chain')
    state = rng.normal(size=(3, 6))
    before = model.torque(*state)
    for name in ('U2_12', 'k5_x', 'k2_y'):
        values = model.parameters.copy()
        values[model.mlc.names.index(name)] += 0.1
        with pytest.raises(ParameterError, match='is folded as zero'):
            model.parameters = values
    values = model.parameters.copy()
    values[0] *= 1.5  # U1_33
    model.parameters = values
    assert np.max(np.abs(model.torque(*state) - before)) > 1e-3
    physics = replace(model.joint_physics, viscous=np.full(6, 0.1))
    with pytest.raises(ParameterError, match='Fv1 is folded as zero'):
        model.joint_physics = physics
    values[3] = math.nan
    with pytest.raises(ParameterError):
        model.parameters = values


def test_baked_values_stay(stanford):
    model = compile_model(stanford, baked=True)
    model.parameters = model.parameters
    with pytest.raises(ParameterError, match='baked in'):
        model.parameters = 2.0 * model.parameters
    with pytest.raises(ParameterError, match='not finite'):
        compile_model(random_chain(np.random.default_rng(1), 2).with_standard_parameters(
            np.full(20, math.nan)), baked=True)


def test_copies_fold_the_same(stanford):
    model = compile_model(stanford, zeros='chain')
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert twin.folded == model.folded
        assert twin.operations['torque'] == model.operations['torque']
    with pytest.raises(ParameterError, match='baked in'):
        copy.deepcopy(compile_model(stanford, baked=True)).parameters = np.ones(33)


@pytest.mark.parametrize('options', OPTIONS, ids=['zeros', 'baked', 'both'])
def test_generated_python_refuses_by_nan(stanford, options, rng):
    space = {}
    exec(standalone_source(stanford, 'torque', 'python', **options), space)
    state = rng.normal(size=(3, 6))
    names = [name for name in ('mlc', 'rotor', 'coulomb', 'viscous', 'offset', 'sharpness')
             if f'stanford_torque_{name}' in space]
    values = [space[f'stanford_torque_{name}'] for name in names]
    assert (not names) == ('baked' in options)
    k = [space['stanford_torque_constants'](*values)] if names else []
    assert_close(space['stanford_torque'](*state.tolist(), *k),
                 compile_model(stanford).torque(*state), SAME_ALGEBRA)
    if names:
        values[0][3] = 0.1
        assert np.isnan(space['stanford_torque_constants'](*values)).all()


@pytest.mark.skipif(COMPILER is None, reason='no C compiler on this machine')
def test_generated_c_refuses_by_nan(stanford, rng, tmp_path):
    source, library = tmp_path / 'model.c', tmp_path / 'model.so'
    assert main(['generate', str(URDF_FOLDER / 'stanford.urdf'), '--zeros', '-o',
                 str(source)]) == 0
    assert 'Folded as zero, other values make all results NaN: XY2' in source.read_text()
    subprocess.run([COMPILER, '-std=c99', '-Wall', '-Wextra', '-Werror', '-pedantic', '-shared',
                    '-fPIC', '-o', library, source, '-lm'], check=True)
    code = ctypes.CDLL(str(library))

    def torque(mlc, state):
        k, tau = np.empty(200), np.empty(6)
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (mlc, k, *state, tau)]
        code.stanford_inverse_dynamics_constants(*pointers[:2])
        code.stanford_inverse_dynamics(*pointers[2:5], pointers[1], pointers[5])
        return tau

    model = compile_model(stanford)
    state, mlc = list(rng.normal(size=(3, 6))), model.parameters.copy()
    assert_close(torque(mlc, state), model.inverse_dynamics(*state), SAME_ALGEBRA)
    mlc[3] = 0.1
    assert np.isnan(torque(mlc, state)).all()


def test_a_library_tells_what_is_folded(stanford):
    whole, folded = c_library(stanford), c_library(stanford, zeros='chain')
    header = folded['include/stanford_dynamics.h']
    assert 'Folded as zero, other values make all results NaN: XY2' in header
    assert len(folded['src/stanford_dynamics.c']) < len(whole['src/stanford_dynamics.c'])
    assert 'baked in' in c_library(stanford, baked=True)['include/stanford_dynamics.h']


def test_the_command_says_which_zero_is_none(capsys):
    assert main(['generate', str(URDF_FOLDER / 'stanford.urdf'), '--zeros', 'XX2']) != 0
    assert 'XX2 is folded as zero' in capsys.readouterr().err


def test_a_joint_that_moves_nothing_has_no_acceleration():
    chain = random_chain(np.random.default_rng(1), 2).with_standard_parameters(np.zeros(20))
    model = compile_model(chain, zeros='chain')
    assert np.isnan(model.forward_dynamics([0.1, 0.2], [0, 0], [1, 1])).all()
    with pytest.raises(ParameterError, match='moves nothing that has inertia'):
        standalone_source(chain, 'forward_dynamics', 'c', zeros='chain')
