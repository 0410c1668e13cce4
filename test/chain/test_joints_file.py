# SPDX-License-Identifier: Apache-2.0
"""The joints file: what it changes, and what its errors name."""

import numpy as np
import pytest
from support.chains import random_chain

from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.chain.joints_file import joints_from_mapping, read_joints_file
from robot_dynamics_ros.errors import ParameterError

WHOLE = """
format: 1
coulomb_velocity: 0.02
coupling: [[1, 0], [-1, 1]]
payload: {mass: 2.0, centre_of_mass: [0, 0, 0.1], inertia: [0.01, 0, 0, 0.02, 0, 0.015]}
joints:
  joint2:
    rotor_inertia: 0.3
    viscous: 2
    coulomb: 1.5
    offset: -0.1
    static: 2.5
    stribeck_velocity: 0.05
    stiffness: 8000.0
    limits: {effort: 80.0, velocity: 2.0, lower: -3.0, upper: 3.0}
    effort: {sign: -1, gain: 11.9, gain_deviation: 0.03, offset: 0.02, side: motor,
             gravity_removed: true}
"""


@pytest.fixture
def chain(rng):
    return random_chain(rng, 2)


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / 'joints.yaml'
        path.write_text(text, encoding='utf-8')
        return path
    return write


def test_every_entry_arrives(chain, write):
    file = read_joints_file(write(WHOLE))
    changed = file.applied_to(chain)
    physics, joint = changed.joint_physics, changed.joints[1]
    assert physics.rotor_inertia.tolist() == [0.0, 0.3]
    assert physics.viscous.tolist() == [0.0, 2.0]
    assert physics.coulomb.tolist() == [0.0, 1.5]
    assert physics.offset.tolist() == [0.0, -0.1]
    assert physics.static.tolist() == [0.0, 2.5]
    assert physics.stribeck_velocity[1] == 0.05
    assert physics.coulomb_velocity == 0.02
    assert physics.coupling.tolist() == [[1, 0], [-1, 1]]
    assert (joint.effort_limit, joint.velocity_limit, joint.lower, joint.upper) == (80, 2, -3, 3)
    assert changed.links[-1].mass == pytest.approx(chain.links[-1].mass + 2.0)
    effort = file.effort_semantics(chain)
    assert effort.sign.tolist() == [1, -1]
    assert effort.gain.tolist() == [1, 11.9]
    np.testing.assert_array_equal(effort.gain_deviation, [np.nan, 0.03])
    assert effort.offset.tolist() == [0, 0.02]
    assert effort.side == ('joint', 'motor')
    assert effort.gravity_removed == (False, True)
    assert effort.coupling.tolist() == [[1, 0], [-1, 1]]
    assert file.stiffness(chain).tolist() == [np.inf, 8000.0]


def test_a_joint_that_is_not_named_keeps_what_the_urdf_says(chain, write):
    before = read_joints_file(write('joints: {joint1: {viscous: 4.0}}')).applied_to(chain)
    after = read_joints_file(write('joints: {joint2: {viscous: 5.0}}')).applied_to(before)
    assert after.joint_physics.viscous.tolist() == [4.0, 5.0]
    assert after.joint_physics.static is None


def test_an_empty_file_changes_nothing(chain, write):
    file = read_joints_file(write(''))
    changed = file.applied_to(chain)
    np.testing.assert_array_equal(changed.standard_parameters, chain.standard_parameters)
    assert changed.joint_physics is chain.joint_physics
    assert file.effort_semantics(chain).sign.tolist() == EffortSemantics.torque(2).sign.tolist()


@pytest.mark.parametrize(('text', 'message'), [
    ('format: 2', r'joints\.yaml: format 2 is not known'),
    ('joints: {joint1: {viscus: 1}}', r'joints\.yaml: joint joint1: unknown key viscus; known'),
    ('joints: {joint1: {viscous: lots}}', r"joint joint1: viscous must be .* got 'lots'"),
    ('joints: {joint1: {viscous: .nan}}', r'joint joint1: viscous must be a finite number'),
    ('joints: {joint1: {viscous: true}}', r'joint joint1: viscous must be a finite number'),
    ('joints: {joint1: {stiffness: 0}}', r'joint joint1: stiffness must be positive'),
    ('joints: {joint1: {limits: {torque: 3}}}', r'joint joint1: limits: unknown key torque'),
    ('joints: {joint1: {limits: {effort: x}}}', r'joint joint1: limits: effort must be'),
    ('joints: {joint1: {effort: {gravity_removed: 1}}}', r'effort: gravity_removed must be true'),
    ('joints: {joint1: {effort: {gain_deviation: much}}}', r'effort: gain_deviation must be'),
    ('joints: [1, 2]', r'joints: expected names with values'),
    ('coupling: [[1, 0], [1]]', r'coupling: row 2: expected 2 numbers'),
    ('coupling: 3', r'coupling: expected a list of rows'),
    ('payload: {centre_of_mass: [0, 0, 0]}', r'payload: mass is missing'),
    ('payload: {mass: -1}', r'payload: mass is -1 kg'),
    ('payload: {mass: 1, inertia: [1, 0, 0, 1, 0, 5]}', r'payload: no body has'),
    ('joint: {}', r'joints\.yaml: unknown key joint;'),
    ('a: [', r'is not YAML'),
])
def test_a_wrong_file_is_refused_with_the_place(write, text, message):
    with pytest.raises(ParameterError, match=message):
        read_joints_file(write(text))


@pytest.mark.parametrize(('text', 'message'), [
    ('joints: {elbow: {viscous: 1}}', r'joint elbow is not on the chain; its joints are joint1'),
    ('joints: {joint1: {viscous: -1}}', r'joints\.yaml: joint joint1: viscous is -1'),
    ('coupling: [[1]]', r'joints\.yaml: joint physics: coupling has shape \(1, 1\)'),
])
def test_a_file_that_does_not_fit_the_robot_is_refused(chain, write, text, message):
    with pytest.raises(ParameterError, match=message):
        read_joints_file(write(text)).applied_to(chain)


@pytest.mark.parametrize('text', ['{sign: 2}', '{gain: 0}', '{gain: -1}', '{side: left}'])
def test_an_impossible_effort_is_refused(chain, write, text):
    file = read_joints_file(write(f'joints: {{joint1: {{effort: {text}}}}}'))
    with pytest.raises(ParameterError, match=r'joints\.yaml: effort: '):
        file.effort_semantics(chain)


def test_a_file_that_does_not_exist_is_named():
    with pytest.raises(ParameterError, match=r'nowhere\.yaml: cannot be read'):
        read_joints_file('nowhere.yaml')


def test_a_motor_inertia_is_felt_with_the_square_of_the_gear_ratio():
    """Ia = N^2 Jm, Khalil & Dombre (9.29)."""
    content = {'joints': {'joint1': {'motor_inertia': 2e-4, 'gear_ratio': -100.0}}}
    assert joints_from_mapping(content, 'file').joints['joint1'] == {
        'rotor_inertia': pytest.approx(2.0)}


@pytest.mark.parametrize('entry', [
    {'motor_inertia': 2e-4}, {'gear_ratio': 100.0},
    {'motor_inertia': 2e-4, 'gear_ratio': 100.0, 'rotor_inertia': 1.0}])
def test_half_of_a_motor_is_refused(entry):
    with pytest.raises(ParameterError, match='joint joint1: give rotor_inertia, or both'):
        joints_from_mapping({'joints': {'joint1': entry}}, 'file')
    with pytest.raises(ParameterError, match='gear_ratio not zero, got 1 and 0'):
        joints_from_mapping({'joints': {'joint1': {'motor_inertia': 1.0, 'gear_ratio': 0.0}}}, 'f')


def test_delay_and_sensors_behind_the_gear(chain):
    first, second = chain.joint_names[:2]
    file = joints_from_mapping({'effort_delay': 0.012, 'joints': {
        first: {'rotor_inertia': -0.1, 'effort': {'side': 'link'}}}}, 'file')
    meaning = file.effort_semantics(chain)
    assert meaning.delay == 0.012 and meaning.side[:2] == ('link', 'joint')
    assert file.applied_to(chain).joint_physics.rotor_inertia[0] == -0.1
    with pytest.raises(ParameterError, match=r'rotor_inertia is -0\.1; it cannot be negative'):
        joints_from_mapping({'joints': {second: {'rotor_inertia': -0.1}}}, 'file')
    with pytest.raises(ParameterError, match='delay must be between -1 and 1 s, got 2'):
        joints_from_mapping({'effort_delay': 2.0}, 'file').effort_semantics(chain)
