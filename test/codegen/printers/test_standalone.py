# SPDX-License-Identifier: Apache-2.0
"""Stand-alone source: compiled with every warning as an error, and compared with the model."""

import ctypes
import os
import shutil
import subprocess

import numpy as np
import pytest
from support.chains import random_chain
from support.tolerances import SAME_ALGEBRA, assert_close

from robot_dynamics_ros import JointPhysics, compile_model
from robot_dynamics_ros.codegen.functions import INPUTS, WITH_WRENCH
from robot_dynamics_ros.codegen.printers.standalone import FUNCTIONS, standalone_source
from robot_dynamics_ros.dynamics.joints.joint_terms import joint_parameters
from robot_dynamics_ros.errors import ParameterError

COMPILER = shutil.which(os.environ.get('CC', 'cc'))
needs_compiler = pytest.mark.skipif(COMPILER is None, reason='no C compiler on this machine')
COUNT = 1000


@pytest.fixture(scope='module')
def robots(demo_arm):
    rng = np.random.default_rng(3)
    n = 4
    coupled = random_chain(rng, n, types='RPRR').with_joint_physics(JointPhysics(
        *rng.uniform(0.1, 1.0, (4, n)), coupling=np.eye(n) + 0.2 * rng.normal(size=(n, n)),
        static=np.full(n, 1.5), stribeck_velocity=np.full(n, 0.3),
        load_friction=np.full(n, 0.2), viscous_asymmetry=np.full(n, -0.05)))
    return {'demo arm': demo_arm, 'coupled': coupled}


@pytest.fixture
def chain(request, robots):
    return robots[request.param]


#: Every function of a small robot that has everything, and the most used ones of the demo arm.
CASES = [*(('coupled', function) for function in FUNCTIONS),
         *(('demo arm', function) for function in ('inverse_dynamics', 'torque_with_wrench',
                                                   'mass_matrix', 'regressor'))]


def expected_and_inputs(chain, function, rng):
    """Return results of the model for COUNT states, and the inputs."""
    n = len(chain)
    inputs = [rng.normal(size=(COUNT, n)) for _ in INPUTS[function.removesuffix(WITH_WRENCH)]]
    model, options = compile_model(chain), {}
    if function.endswith(WITH_WRENCH):
        options['wrench'] = rng.normal(size=(COUNT, 6))
    name = function.removesuffix(WITH_WRENCH)
    if name == 'regressor_with_joint_terms':
        result = model.regressor(*inputs, joint_terms=True)
    else:
        result = getattr(model, name)(*inputs, **options)
    return result.reshape(COUNT, -1), [*inputs, *options.values()]


def parameter_vectors(chain, names):
    values = {'mlc': compile_model(chain).parameters, **joint_parameters(chain.joint_physics)}
    return [np.array(values[name]) for name in names]


@needs_compiler
@pytest.mark.parametrize(('chain', 'function'), CASES, indirect=['chain'])
def test_c_compiles_without_warning_and_agrees_on_1000_states(chain, function, rng, tmp_path):
    source, library = tmp_path / 'model.c', tmp_path / 'model.so'
    source.write_text(standalone_source(chain, function, 'c'))
    subprocess.run([COMPILER, '-std=c99', '-Wall', '-Wextra', '-Werror', '-pedantic',
                    '-Wmissing-prototypes', '-Wshadow', '-shared', '-fPIC', '-o', library, source,
                    '-lm'], check=True)
    expected, inputs = expected_and_inputs(chain, function, rng)
    prefix = f'{chain.robot}_{function}'
    code = ctypes.CDLL(str(library))
    text = source.read_text()
    names = [line.split()[2].split('[')[0] for line in text.splitlines()
             if line.startswith(' * parameter')]
    parameters = parameter_vectors(chain, names)
    k, results = np.empty(2000), np.empty_like(expected)
    getattr(code, f'{prefix}_constants')(*(_pointer(each) for each in (*parameters, k)))
    for result, *state in zip(results, *inputs):
        getattr(code, prefix)(*(_pointer(each) for each in (*state, k, result)))
    assert_close(results, expected, SAME_ALGEBRA)
    for name, values in zip(names, parameters):
        stored = (ctypes.c_double * len(values)).in_dll(code, f'{prefix}_{name}')
        np.testing.assert_array_equal(stored, values)
    bad = [each[0].copy() for each in inputs]
    bad[-1][0] = np.inf
    getattr(code, prefix)(*(_pointer(each) for each in (*bad, k, results)))
    assert np.isnan(results[0]).all()


def _pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


@pytest.mark.parametrize(('chain', 'function'), CASES, indirect=['chain'])
def test_python_agrees(chain, function, rng):
    namespace = {}
    exec(standalone_source(chain, function, 'python'), namespace)
    expected, inputs = expected_and_inputs(chain, function, rng)
    prefix = f'{chain.robot}_{function}'
    names = [name.removeprefix(f'{prefix}_') for name in namespace
             if name.startswith(f'{prefix}_') and isinstance(namespace[name], list)]
    constants = namespace.get(f'{prefix}_constants')
    k = [] if constants is None else [constants(*(namespace[f'{prefix}_{name}']
                                                  for name in names))]
    for i in range(0, COUNT, 50):
        result = namespace[prefix](*(each[i].tolist() for each in inputs), *k)
        assert_close(result, expected[i], SAME_ALGEBRA)
    bad = [each[0].tolist() for each in inputs]
    bad[0][0] = float('nan')
    assert np.isnan(namespace[prefix](*bad, *k)).all()


def test_the_header_names_every_number(demo_arm):
    header = standalone_source(demo_arm, 'torque_with_wrench', 'c').split('*/')[0]
    assert 'gravity (0, 0, -9.81) m/s^2\n * in base_link' in header
    for line in ('position of joint_1 [rad]', 'acceleration of joint_7 [rad/s^2]',
                 'fx [N] of the environment on link_7', 'parameter mlc[43]', 'U1_33 [kg m^2] = ',
                 'Coulomb friction of joint_3 [N m]', 'torque or force of joint_7 [N m]'):
        assert line in header


@pytest.mark.parametrize(('function', 'language', 'message'), [
    ('hessian', 'c', "unknown function 'hessian'"), ('torque', 'ada', "unknown language 'ada'")])
def test_unknown_words_are_refused(demo_arm, function, language, message):
    with pytest.raises(ParameterError, match=message):
        standalone_source(demo_arm, function, language)
