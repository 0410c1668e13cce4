# SPDX-License-Identifier: Apache-2.0
"""What a joint adds to the torque: sizes, signs, coupling."""

from dataclasses import replace

import numpy as np
import pytest

from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.errors import ParameterError


@pytest.fixture
def joints():
    return JointPhysics(rotor_inertia=[0.1, 0.2, 0.3], viscous=[1.0, 2.0, 3.0],
                        coulomb=[4.0, 5.0, 6.0], offset=[0.5, -0.5, 0.0])


def test_possible_values_pass_and_are_kept(joints):
    changes = {'rotor_inertia': [np.nan, 0.0, 1.0], 'static': [5.0, 6.0, 7.0],
               'stribeck_velocity': [0.1, 0.2, 0.3], 'coupling': np.diag([1.0, -1.0, 2.0]),
               'coulomb_velocity': 0}
    changed = replace(joints, **changes)
    changed.check(['a', 'b', 'c'])
    for name, values in changes.items():
        np.testing.assert_array_equal(getattr(changed, name), values)
    np.testing.assert_array_equal(changed.viscous, joints.viscous)
    assert len(changed) == 3 and type(changed.coulomb_velocity) is float


def test_joints_introduce_themselves_by_the_terms_they_have(joints):
    assert repr(joints).startswith('<JointPhysics, n = 3: rotor_inertia = [')
    assert repr(JointPhysics(viscous=[0.5, 1.25])) == (
        '<JointPhysics, n = 2: viscous = [0.5, 1.25]>')
    assert repr(JointPhysics.zero(2)) == '<JointPhysics, n = 2: nothing>'
    coupled = replace(JointPhysics.zero(2), rotor_inertia=[np.nan, 0.0], coupling=np.eye(2))
    assert repr(coupled) == '<JointPhysics, n = 2: rotor_inertia = [nan, 0], coupling>'


@pytest.mark.parametrize('name', ['rotor_inertia', 'viscous', 'coulomb', 'offset'])
def test_one_term_is_enough(name):
    joints = JointPhysics(**{name: [1.0, 2.0, 3.0]})
    joints.check(['a', 'b', 'c'])
    for other in ('rotor_inertia', 'viscous', 'coulomb', 'offset'):
        np.testing.assert_array_equal(getattr(joints, other),
                                      [1.0, 2.0, 3.0] if other == name else np.zeros(3))
    with pytest.raises(ParameterError, match=r'offset has shape \(2,\)'):
        replace(joints, **{'coulomb': np.zeros(3), 'offset': np.zeros(2)})


def test_they_refuse_to_be_changed(joints):
    with pytest.raises(AttributeError, match=r'JointPhysics\.viscous cannot be changed'):
        joints.viscous = np.zeros(3)
    with pytest.raises(AttributeError, match="JointPhysics has no field 'viscosity'"):
        joints.viscosity = np.zeros(3)


def test_values_are_copied_and_read_only(joints):
    viscous = np.ones(3)
    changed = replace(joints, viscous=viscous)
    viscous[0] = 9.0
    assert changed.viscous[0] == 1.0
    with pytest.raises(ValueError, match='read-only'):
        changed.viscous[0] = 2.0


def test_the_number_of_joints_must_fit_the_chain(joints):
    with pytest.raises(ParameterError, match='for 3 joints, the chain has 2: a, b'):
        joints.check(['a', 'b'])


def test_a_singular_coupling_names_the_joints_it_is_about(joints):
    coupling = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with pytest.raises(ParameterError, match='motors of joints a, b do not move'):
        replace(joints, coupling=coupling).check(['a', 'b', 'c'])


@pytest.mark.parametrize('changes, message', [
    ({'viscous': [1.0, -2.0, 3.0]}, 'joint b: viscous is -2; it cannot be negative'),
    ({'static': [4.0] * 3, 'stribeck_velocity': [0.1, 0.0, 0.1]}, 'joint b: stribeck_velocity'),
    ({'coulomb': [1.0, 2.0, np.inf]}, 'joint c: coulomb is not finite'),
    ({'coupling': np.ones((3, 3))}, 'coupling matrix is singular'),
    ({'coupling': np.diag([1.0, np.nan, 1.0])}, 'coupling matrix has non-finite entries'),
    ({'rotor_inertia': [0.1, np.inf, 0.1]}, 'joint b: rotor_inertia is not finite'),
])
def test_impossible_values_are_refused_by_the_name_of_the_joint(joints, changes, message):
    with pytest.raises(ParameterError, match=message):
        replace(joints, **changes).check(['a', 'b', 'c'])


@pytest.mark.parametrize('changes, message', [
    ({'static': [4.0] * 3}, 'belong together'),
    ({'coulomb_velocity': -1.0}, 'coulomb_velocity must be finite and >= 0'),
    ({'viscous': [1.0]}, r'viscous has shape \(1,\)'),
    ({'coupling': np.eye(2)}, r'coupling has shape \(2, 2\)'),
])
def test_values_that_do_not_fit_together_are_refused(joints, changes, message):
    with pytest.raises(ParameterError, match=message):
        replace(joints, **changes)
