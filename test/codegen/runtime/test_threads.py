# SPDX-License-Identifier: Apache-2.0
"""A batch in several threads."""

import multiprocessing

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import ParameterError, chain_from_urdf, compile_model
from robot_dynamics_ros.codegen.functions import INPUTS
from robot_dynamics_ros.codegen.runtime.threads import SMALLEST_PART

CHAIN = chain_from_urdf(URDF_FOLDER / 'rx90.urdf')
FUNCTIONS = ('inverse_dynamics', 'torque', 'regressor', 'reference_regressor', 'mass_matrix',
             'gravity_torque', 'coriolis_torque', 'friction_torque', 'forward_dynamics')


@pytest.fixture(scope='module')
def model():
    return compile_model(CHAIN)


def states(rng, name, count):
    return [rng.normal(size=(count, len(CHAIN))) for _ in INPUTS[name]]


@pytest.mark.parametrize('name', FUNCTIONS)
@pytest.mark.parametrize('count', [0, 1, 2 * SMALLEST_PART - 1, 2 * SMALLEST_PART + 5, 2001])
def test_the_bits_are_those_of_one_thread(model, rng, name, count):
    given, function = states(rng, name, count), getattr(model, name)
    expected = function(*given)
    for threads in (0, 2, 3, 7):
        np.testing.assert_array_equal(function(*given, threads=threads), expected)


@pytest.mark.parametrize('backend', ['python', 'numpy'])
def test_other_backends_take_the_argument(rng, backend):
    given = states(rng, 'torque', 3 * SMALLEST_PART if backend == 'numpy' else 3)
    model = compile_model(CHAIN, backend)
    np.testing.assert_array_equal(model.torque(*given, threads=2), model.torque(*given))


def test_one_state_and_a_wrench_take_the_argument(model, rng):
    q, qd, qdd = states(rng, 'torque', 3 * SMALLEST_PART)
    wrench = rng.normal(size=(len(q), 6))
    np.testing.assert_array_equal(model.torque(q[0], qd[0], qdd[0], threads=2),
                                  model.torque(q[0], qd[0], qdd[0]))
    np.testing.assert_array_equal(model.torque(q, qd, qdd, wrench=wrench, threads=2),
                                  model.torque(q, qd, qdd, wrench=wrench))


def test_the_result_is_written_where_it_is_wanted_even_over_an_input(model, rng):
    q, qd, qdd = states(rng, 'torque', 3 * SMALLEST_PART)
    expected = model.torque(q, qd, qdd)
    for out in (np.empty_like(expected), qdd):
        assert model.torque(q, qd, qdd, out=out, threads=2) is out
        np.testing.assert_array_equal(out, expected)


def test_angles_that_machine_code_declines_are_calculated_as_in_one_thread(model, rng):
    q, qd, qdd = states(rng, 'torque', 4 * SMALLEST_PART)
    q[-1] *= 1e12
    q[5, 2] = np.nan
    np.testing.assert_array_equal(model.torque(q, qd, qdd, threads=4), model.torque(q, qd, qdd))


@pytest.mark.parametrize('threads', [-1, 1.5, '2', None, True])
def test_a_wrong_number_of_threads_is_refused(model, rng, threads):
    with pytest.raises(ParameterError, match=r'threads: .* is not a number of threads'):
        model.torque(*states(rng, 'torque', 2), threads=threads)


def test_a_forked_process_has_threads_of_its_own(model, rng):
    given = states(rng, 'torque', 4 * SMALLEST_PART)
    expected = model.torque(*given, threads=2)
    reader, writer = multiprocessing.Pipe(duplex=False)

    def child():
        writer.send(model.torque(*given, threads=2))

    process = multiprocessing.get_context('fork').Process(target=child)
    process.start()
    assert reader.poll(60.0)
    np.testing.assert_array_equal(reader.recv(), expected)
    process.join()
