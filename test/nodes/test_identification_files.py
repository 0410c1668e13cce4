# SPDX-License-Identifier: Apache-2.0
"""What the identification node keeps in files: parameters that are saved, and its checkpoint."""

import os

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()

from support.identification_node import answer, move, torque, trigger
from support.tolerances import assert_close

from robot_dynamics_interfaces.msg import MlcSet
from robot_dynamics_ros.estimation.parameters.parameters_file import read_parameters
from robot_dynamics_ros.nodes.identification import IdentificationNode

pytestmark = pytest.mark.ros


@pytest.fixture
def node(make_node, planar):
    return make_node(IdentificationNode, robot_description=planar)


def test_save_writes_a_file_that_can_be_read(make_node, planar, true_model, tmp_path):
    path = tmp_path / 'parameters.yaml'
    node = make_node(IdentificationNode, robot_description=planar, parameters_file=str(path))
    move(node, true_model, 20.0)
    response = trigger(node, '~/save')
    assert (response.success, response.message) == (True, str(path))
    back = read_parameters(path, node.robot.chain)
    np.testing.assert_array_equal(back.mlc.values, answer(node).values)


def test_it_is_saved_at_the_end_where_that_is_wanted(make_node, planar, true_model, tmp_path):
    path = tmp_path / 'parameters.yaml'
    node = make_node(IdentificationNode, robot_description=planar, parameters_file=str(path),
                     save_at_end=True)
    move(node, true_model, 3.0)
    seen = answer(node).samples
    node.trigger_deactivate()
    assert read_parameters(path, node.robot.chain).samples == seen > 0


def test_save_needs_a_file(node):
    response = trigger(node, '~/save')
    assert not response.success
    assert 'parameters_file' in response.message


def test_a_restarted_node_resumes_from_its_checkpoint(make_node, planar, true_model, tmp_path):
    path = tmp_path / 'state.npz'
    settings = {'robot_description': planar, 'checkpoint_file': str(path)}
    node = make_node(IdentificationNode, **settings)
    move(node, true_model, 20.0)
    node.tick(node.settings.checkpoint_period)
    again = make_node(IdentificationNode, **settings)
    assert answer(again).samples == answer(node).samples
    assert_close(torque(again), torque(node), 1e-12)
    assert trigger(again, '~/reset').success
    assert not path.exists()


def test_a_checkpoint_that_does_not_fit_is_left_alone(make_node, planar, description, true_model,
                                                      tmp_path):
    path = tmp_path / 'state.npz'
    node = make_node(IdentificationNode, robot_description=planar, checkpoint_file=str(path))
    move(node, true_model, 3.0)
    node.trigger_deactivate()
    assert path.exists(), 'kept at the end'
    other = make_node(IdentificationNode, robot_description=description,
                      checkpoint_file=str(path))
    assert answer(other).samples == 0
    assert other.diagnostics.counted('refused checkpoints') == 1
    path.write_bytes(b'half a file')
    third = make_node(IdentificationNode, robot_description=planar, checkpoint_file=str(path))
    assert third.diagnostics.counted('refused checkpoints') == 1


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_node(make_node, planar, true_model,
                                                                   tmp_path):
    node = make_node(IdentificationNode, robot_description=planar,
                     checkpoint_file=str(tmp_path / 'nowhere' / 'state.npz'))
    move(node, true_model, 3.0)
    node.tick(node.settings.checkpoint_period)
    assert node.diagnostics.counted('failed checkpoints') == 1


@pytest.mark.parametrize('content', [b'', b'half a file', b'PK\x03\x04', b'\x93NUMPY\x01\x00'])
def test_a_damaged_checkpoint_is_kept_aside_and_learning_starts_from_the_urdf(
        make_node, planar, true_model, tmp_path, content):
    path = tmp_path / 'state.npz'
    path.write_bytes(content)
    node = make_node(IdentificationNode, robot_description=planar, checkpoint_file=str(path))
    assert node.diagnostics.counted('refused checkpoints') == 1
    assert not path.exists()
    assert (tmp_path / 'state.npz.damaged').read_bytes() == content
    assert answer(node).state == MlcSet.FROM_URDF
    move(node, true_model, 3.0)
    node.trigger_deactivate()
    assert path.exists(), 'learning goes on as if there had been none'


def test_a_checkpoint_with_any_bit_flipped_does_not_end_the_node(make_node, planar, true_model,
                                                                 tmp_path, rng):
    path = tmp_path / 'state.npz'
    settings = {'robot_description': planar, 'checkpoint_file': str(path)}
    node = make_node(IdentificationNode, **settings)
    move(node, true_model, 3.0)
    node.trigger_deactivate()
    whole = path.read_bytes()
    for _ in range(20):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(damaged) if rng.random() < 0.5 else
                         whole[:rng.integers(len(whole))])
        again = make_node(IdentificationNode, **settings)
        assert np.all(np.isfinite(answer(again).values))


def test_a_checkpoint_file_that_is_a_device_is_neither_moved_nor_replaced(make_node, planar,
                                                                          true_model, tmp_path):
    path = tmp_path / 'pipe'  # stands for /dev/null
    os.mkfifo(path)
    node = make_node(IdentificationNode, robot_description=planar, checkpoint_file=str(path))
    move(node, true_model, 3.0)
    node.tick(node.settings.checkpoint_period)
    assert trigger(node, '~/reset').success
    assert path.is_fifo()
    assert [each.name for each in tmp_path.iterdir() if 'pipe' in each.name] == ['pipe']
    assert node.diagnostics.counted('failed checkpoints') == 1
