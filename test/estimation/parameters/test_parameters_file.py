# SPDX-License-Identifier: Apache-2.0
"""parameters.yaml: what is written is read back, for the same robot only, never half."""

import math
import os
from dataclasses import replace

import numpy as np
import pytest
import yaml
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, identify
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.parameters.parameters_file import (
    read_parameters,
    write_parameters,
)


@pytest.fixture(scope='module')
def chain():
    chain = chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf')
    J = np.eye(4)
    J[3, 2] = -1.0
    physics = random_physics(np.random.default_rng(3), 4, coupling=J, static=np.full(4, 5.0),
                             stribeck_velocity=np.full(4, 0.2))
    return chain.with_joint_physics(physics)


@pytest.fixture(scope='module')
def result(chain):
    rng = np.random.default_rng(4)
    data = excitation(rng, chain, duration=6.0)
    tau = data.tau + 0.05 * rng.normal(size=data.tau.shape)
    return identify(chain, data.t, data.q, data.qd, tau)


def test_what_is_written_is_read_back(result, chain, tmp_path):
    path = tmp_path / 'parameters.yaml'
    write_parameters(path, result.estimate)
    read, written = read_parameters(path, chain), result.estimate
    for name in ('robot', 'base_link', 'tip_link', 'identified', 'unknowns', 'samples',
                 'condition_number', 'model_hash'):
        assert getattr(read, name) == getattr(written, name), name
    assert read.state == EstimateState.FROM_FILE
    np.testing.assert_array_equal(read.mlc.values, written.mlc.values)
    assert read.mlc.formulas == written.mlc.formulas
    np.testing.assert_array_equal(read.standard_deviations, written.standard_deviations)
    np.testing.assert_allclose(read.covariance, written.covariance, rtol=1e-12)
    np.testing.assert_array_equal(read.residual_rms, written.residual_rms)
    for name in ('rotor_inertia', 'viscous', 'coulomb', 'offset', 'static', 'stribeck_velocity',
                 'coupling', 'coulomb_velocity'):
        np.testing.assert_array_equal(getattr(read.joint_physics, name),
                                      getattr(written.joint_physics, name), err_msg=name)
    assert any(math.isnan(value) for value in read.joint_physics.rotor_inertia)


def test_every_term_of_the_friction_law_is_kept(result, chain, tmp_path):
    law = {'load_friction': np.linspace(0.01, 0.04, 4), 'presliding': np.linspace(1e-4, 4e-4, 4),
           'viscous_asymmetry': np.linspace(-0.1, 0.1, 4)}
    physics = replace(result.joint_physics, viscous=np.ones(4), **law)
    write_parameters(tmp_path / 'a.yaml', replace(result.estimate, joint_physics=physics))
    read = read_parameters(tmp_path / 'a.yaml', chain).joint_physics
    for name, values in law.items():
        np.testing.assert_array_equal(getattr(read, name), values)


def test_a_file_of_the_former_format_is_read(result, chain, tmp_path):
    path = tmp_path / 'parameters.yaml'
    write_parameters(path, result.estimate)
    content = yaml.safe_load(path.read_text())
    content['format'], content['tip_link'] = 1, content.pop('tip_links')[0]
    for joint in content['joints']:
        del joint['parent']
    path.write_text(yaml.safe_dump(content))
    read = read_parameters(path, chain)
    assert read.tip_link == chain.tip
    np.testing.assert_array_equal(read.mlc.values, result.mlc.values)


def test_another_robot_is_refused(result, chain, tmp_path):
    path = tmp_path / 'parameters.yaml'
    write_parameters(path, result.estimate)
    longer = tuple(replace(joint, b=joint.b + 0.01) for joint in chain.joints)
    for other in (replace(chain, joints=longer), replace(chain, gravity=np.array([0, 9.81, 0])),
                  chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')):
        with pytest.raises(ParameterError, match='are for another geometry, gravity or set'):
            read_parameters(path, other)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(result, tmp_path, monkeypatch):
    path = tmp_path / 'parameters.yaml'
    path.write_text('old')

    def full(*_):
        raise OSError(28, 'No space left on device')

    monkeypatch.setattr(os, 'fsync', full)
    with pytest.raises(ParameterError, match='cannot be written: No space left'):
        write_parameters(path, result.estimate)
    assert path.read_text() == 'old' and list(tmp_path.iterdir()) == [path]
    with pytest.raises(ParameterError, match='cannot be written: No such file'):
        write_parameters(tmp_path / 'nowhere' / 'a.yaml', result.estimate)


@pytest.mark.parametrize('change, message', [
    (lambda content: content.update(format=3), 'not a parameters file of format 2 or 1'),
    (lambda content: content['joints'][2].update(parent=None), 'the robot is a tree'),
    (lambda content: content.update(tip_links=['a', 'b']), 'the robot is a tree'),
    (lambda content: [each.update(load_friction=1.0) for each in content['joints']],
     'could not be moved at all'),
    (lambda content: content.pop('joints'), 'joints is missing'),
    (lambda content: content.pop('samples'), 'a value is missing'),
    (lambda content: content['parameters'][0].update(value='much'), 'of the wrong type'),
    (lambda content: content['parameters'][0].update(value=float('nan')), 'is not finite'),
    (lambda content: content['parameters'].pop(), 'of the wrong type'),
    (lambda content: content['joints'][0].update(viscous_friction=-1.0), 'cannot be negative'),
])
def test_broken_files_are_told(change, message, result, chain, tmp_path):
    path = tmp_path / 'parameters.yaml'
    write_parameters(path, result.estimate)
    content = yaml.safe_load(path.read_text())
    change(content)
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ParameterError, match=message):
        read_parameters(path, chain)
