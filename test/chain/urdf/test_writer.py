# SPDX-License-Identifier: Apache-2.0
"""A URDF with other inertias: what changes, what stays, and what others read in it."""

import re
from dataclasses import replace

import numpy as np
import pinocchio
import pytest
from support.chains import random_inertia
from support.robots import URDF_FOLDER, example_robots
from support.tolerances import OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.urdf.writer import XmlText, carried_inertias, urdf_with_inertias
from robot_dynamics_ros.errors import ParameterError, UrdfError
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

DEMO = URDF_FOLDER / 'demo_arm.urdf'

PENDULUM = """<?xml version="1.0"?>
<!-- first line -->
<robot name="pendulum">
  <link name="base"/>   <!-- untouched   -->
  <link name='arm' />
  <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="glue" type="fixed">
    <parent link="arm"/><child link="weight"/><origin xyz="0 0 -0.5"/>
  </joint>
  <link name="weight">
    <inertial>
      <mass value="2"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial>
    <visual><geometry><sphere radius="0.1"/></geometry></visual>
  </link>
</robot>
"""

GRIPPER = """<robot name="gripper">
  <link name="base"/>
  <joint name="turn" type="revolute"><parent link="base"/><child link="palm"/>
    <axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="1" effort="1"/></joint>
  <link name="palm"><inertial><origin xyz="0.1 0 0"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <joint name="finger_slide" type="prismatic"><parent link="palm"/><child link="finger"/>
    <origin xyz="0 0.1 0"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="1" velocity="1" effort="1"/></joint>
  <link name="finger"><inertial><mass value="0.2"/>
    <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/></inertial></link>
</robot>
"""


def without_dynamics(text):
    """Return a URDF text without inertials, <dynamics>, comments of ours and blank lines."""
    text = re.sub(r'<inertial>.*?</inertial>', '', text, flags=re.DOTALL)
    text = re.sub(r'<!-- robot_dynamics_ros:.*?-->', '', text, flags=re.DOTALL)
    text = re.sub(r'<dynamics[^>]*/>', '', text)
    return re.sub(r'\n\s*(?=\n)', '', text)


def pinocchio_torque(text, chain, states):
    """Return the torque of pinocchio's own reading of a URDF text."""
    model = pinocchio.buildModelFromXML(text)
    data = model.createData()
    assert list(model.names)[1:] == list(chain.joint_names)
    return np.array([pinocchio.rnea(model, data, *state) for state in zip(*states)])


@pytest.mark.parametrize('name', ['demo_arm', 'rx90', 'scara', 'planar_2r'])
def test_pinocchio_reads_the_torque_that_was_written(name, rng):
    path = URDF_FOLDER / f'{name}.urdf'
    changed = with_parameter_error(chain_from_urdf(path), 0.3, seed=2)
    text = urdf_with_inertias(path, changed).decode()
    states = rng.uniform(-1.0, 1.0, (3, 5, len(changed)))
    model = compile_model(changed)
    assert_close(pinocchio_torque(text, changed, states), model.inverse_dynamics(*states),
                 OTHER_IMPLEMENTATION)


def test_mujoco_reads_the_dynamics_that_were_written(rng):
    mujoco = pytest.importorskip('mujoco')
    changed = with_parameter_error(chain_from_urdf(DEMO), 0.3, seed=2)
    # MuJoCo would guess the mass of links without inertial, the flange, from their geometry
    text = urdf_with_inertias(DEMO, changed).decode().replace(
        '<robot name="demo_arm">', '<robot name="demo_arm"><mujoco><compiler '
        'inertiafromgeom="false"/></mujoco>')
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = rng.uniform(-1.0, 1.0, (2, 7))
    mujoco.mj_forward(model, data)
    ours = compile_model(changed)
    expected = ours.inverse_dynamics(data.qpos, data.qvel, np.zeros(7))
    assert_close(data.qfrc_bias, expected, OTHER_IMPLEMENTATION)
    assert_close(model.dof_damping, changed.joint_physics.viscous, 1e-12)
    assert_close(model.dof_frictionloss, changed.joint_physics.coulomb, 1e-12)


@pytest.mark.parametrize('path', [DEMO, *(p for p in example_robots() if p.stem in (
    'ur5_robot', 'kinova', 'talos_left_arm', 'so101'))], ids=lambda path: path.stem)
def test_everything_else_stays(path):
    changed = with_parameter_error(chain_from_urdf(path), 0.1, seed=1)
    text = urdf_with_inertias(path, changed, note='by test').decode()
    assert without_dynamics(text) == without_dynamics(path.read_text())
    assert text != path.read_text()


def test_only_the_lines_of_inertials_and_friction_change():
    changed = with_parameter_error(chain_from_urdf(DEMO), 0.1, seed=1)
    before = DEMO.read_text().splitlines()
    after = urdf_with_inertias(DEMO, changed).decode().splitlines()
    different = set(after) - set(before)
    assert different and all(re.match(r'\s*<(origin|mass|inertia|dynamics) ', line)
                             for line in different)


def test_the_chain_reads_back_what_was_written():
    changed = with_parameter_error(chain_from_urdf(DEMO), 0.3, seed=4)
    again = chain_from_urdf(urdf_with_inertias(DEMO, changed).decode())
    assert_close(again.standard_parameters, changed.standard_parameters, 1e-13)
    assert_close(again.joint_physics.viscous, changed.joint_physics.viscous, 1e-15)
    assert_close(again.joint_physics.coulomb, changed.joint_physics.coulomb, 1e-15)


@pytest.mark.parametrize('options', [
    {}, {'tips': ['left_hand', 'right_hand']}, {'tip': 'left_hand'},
    {'locked': {'right_*': 0.1, 'left_joint_4': -0.5}}, {'base': 'left_link_7'}],
    ids=['whole', 'tips', 'tip', 'locked', 'base'])
def test_a_tree_or_a_part_of_it_reads_back_what_was_written(options):
    path, locked = URDF_FOLDER / 'demo_two_arms.urdf', options.get('locked')
    chain = chain_from_urdf(path, **options)
    x, still = chain.standard_parameters, np.concatenate([
        body.standard_parameters for body in carried_inertias(path, chain, locked)])
    physics = replace(chain.joint_physics, viscous=1.2 * chain.joint_physics.viscous)
    changed = chain.with_standard_parameters(1.3 * (x - still) + still).with_joint_physics(physics)
    text = urdf_with_inertias(path, changed, locked=locked).decode()
    again = chain_from_urdf(text, **options)
    assert [joint.name for joint in again.moving] == [joint.name for joint in changed.moving]
    assert_close(again.standard_parameters, changed.standard_parameters, 1e-12)
    assert_close(again.joint_physics.viscous, changed.joint_physics.viscous, 1e-15)
    assert_close(again.joint_physics.coulomb, changed.joint_physics.coulomb, 1e-15)


def test_friction_of_a_joint_that_follows_is_written_as_that_of_its_leader():
    path = URDF_FOLDER / 'demo_two_arms.urdf'
    text = path.read_text().replace(
        '<mimic joint="left_finger_joint"/>', '<mimic joint="left_finger_joint" multiplier="-2"/>'
        '<dynamics damping="0.5" friction="0.25"/>')
    chain = chain_from_urdf(text)
    written = urdf_with_inertias(text, chain).decode()
    leader, follower = (re.search(rf'<joint name="{name}".*?</joint>', written, re.DOTALL).group()
                        for name in ('left_finger_joint', 'left_other_finger_joint'))
    assert '<dynamics damping="2.0" friction="0.5"/>' in leader
    assert '<dynamics damping="0.0" friction="0.0"/>' in follower
    again = chain_from_urdf(written).joint_physics
    assert_close(again.viscous, chain.joint_physics.viscous, 1e-15)
    assert_close(again.coulomb, chain.joint_physics.coulomb, 1e-15)


def test_a_lumped_body_goes_wholly_into_the_moving_link(rng):
    chain = chain_from_urdf(PENDULUM)
    physics = replace(chain.joint_physics, viscous=[0.5], coulomb=[0.25])
    changed = chain.with_links([random_inertia(rng)]).with_joint_physics(physics)
    text = urdf_with_inertias(PENDULUM, changed).decode()
    arm, weight = text.index("<link name='arm'"), text.index('<link name="weight"')
    assert text.count('<inertial>') == 1 and arm < text.index('<inertial>') < weight
    assert '<dynamics damping="0.5" friction="0.25"/>' in text
    assert '<link name="base"/>   <!-- untouched   -->' in text
    assert without_dynamics(text).count('\n') == without_dynamics(PENDULUM).count('\n') + 2


def test_numbers_on_paper():
    # 3 kg at 0.5 m below the hinge, without extent, in a link frame that is not E_1
    chain = chain_from_urdf(PENDULUM)
    heavier = Inertia.from_standard_parameters(1.5 * chain.links[0].standard_parameters)
    text = urdf_with_inertias(PENDULUM, chain.with_links([heavier])).decode()
    mass = float(re.search(r'<mass value="([^"]*)"', text).group(1))
    x, y, z = map(float, re.search(r'<origin xyz="([^"]*)" rpy', text).group(1).split())
    ixx = float(re.search(r'ixx="([^"]*)"', text).group(1))
    np.testing.assert_allclose([mass, x, y, z, ixx], [3.0, 0.0, 0.0, -0.5, 0.15], atol=1e-14)


def test_fingers_keep_their_inertia_and_are_taken_off_the_palm():
    chain = chain_from_urdf(GRIPPER, tip='palm', locked={'finger_slide': 0.3})
    carried = carried_inertias(GRIPPER, chain, locked={'finger_slide': 0.3})
    assert carried[0].mass == pytest.approx(0.2)
    heavier = chain.with_links([chain.links[0] + Inertia(0.5, np.zeros(3), 0.01 * np.eye(3))])
    text = urdf_with_inertias(GRIPPER, heavier, locked={'finger_slide': 0.3}).decode()
    assert '<mass value="0.2"/>' in text
    palm = float(re.search(r'<mass value="(1\.[^"]*)"', text).group(1))
    assert palm == pytest.approx(1.5, abs=1e-12)


def test_the_body_is_split_for_the_finger_position_that_is_told():
    chain = chain_from_urdf(GRIPPER, tip='palm', locked={'finger_slide': 0.3})
    text = urdf_with_inertias(GRIPPER, chain, locked={'finger_slide': 0.0})
    again = chain_from_urdf(text.decode(), tip='palm')
    assert_close(again.standard_parameters, chain.standard_parameters, 1e-12)


def test_a_note_becomes_a_comment_and_replaces_an_older_one():
    chain = chain_from_urdf(PENDULUM)
    once = urdf_with_inertias(PENDULUM, chain, note='rotor inertia: see a--b---c').decode()
    assert '<!-- robot_dynamics_ros: rotor inertia: see a- -b- - -c -->' in once
    twice = urdf_with_inertias(once, chain, note='newer').decode()
    assert twice.count('robot_dynamics_ros:') == 1 and 'newer' in twice
    assert '<!-- first line -->' in twice


def test_windows_lines_and_other_encodings_stay(rng, tmp_path):
    path = tmp_path / 'pendulum.urdf'
    text = PENDULUM.replace('version="1.0"', 'version="1.0" encoding="ISO-8859-1"')
    text = text.replace('untouched', 'unberührt').replace('\n', '\r\n')
    path.write_bytes(text.encode('latin-1'))
    chain = chain_from_urdf(path).with_links([random_inertia(rng)])
    written = urdf_with_inertias(path, chain)
    assert 'unberührt'.encode('latin-1') in written
    assert b'\n' not in written.replace(b'\r\n', b'')


def test_rounded_geometry_is_written_consistently(rng):
    text = PENDULUM.replace('xyz="0 1 0"', 'xyz="1e-7 1 0"')
    chain = chain_from_urdf(text).with_links([random_inertia(rng)])
    again = chain_from_urdf(urdf_with_inertias(text, chain).decode())
    assert_close(again.standard_parameters, chain.standard_parameters, 1e-13)


def test_friction_of_coupled_motors_stays_out_of_the_urdf():
    chain = chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')
    physics = replace(chain.joint_physics, viscous=[1.0, 2.0], coupling=[[1, 0], [-1, 1]])
    text = urdf_with_inertias(URDF_FOLDER / 'planar_2r.urdf', chain.with_joint_physics(physics))
    assert b'damping="1.0"' not in text and b'damping="2.0"' not in text


def test_a_body_without_mass_gets_no_inertial():
    chain = chain_from_urdf(PENDULUM).with_links([Inertia.zero()])
    assert b'<inertial>' not in urdf_with_inertias(PENDULUM, chain)


@pytest.mark.parametrize('body, message', [
    (Inertia(-1.0, np.zeros(3), np.eye(3)), 'link arm: .*mass is -1 kg'),
    (Inertia(1.0, np.zeros(3), np.diag([1.0, 1.0, 5.0])), 'link arm: no body has this inertia'),
])
def test_a_body_that_cannot_exist_is_refused(body, message):
    chain = chain_from_urdf(PENDULUM).with_links([body])
    with pytest.raises(ParameterError, match=message):
        urdf_with_inertias(PENDULUM, chain)


def test_another_robot_is_refused():
    with pytest.raises(UrdfError, match="joint 'joint_1' of the chain does not exist"):
        urdf_with_inertias(PENDULUM, chain_from_urdf(DEMO))


def test_a_text_of_another_geometry_is_noticed():
    chain = chain_from_urdf(PENDULUM)
    moved = PENDULUM.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 0.6 0.8"/>')
    with pytest.raises(UrdfError, match='was the chain read from this URDF'):
        urdf_with_inertias(moved, chain)


def test_utf_16_is_refused(tmp_path):
    path = tmp_path / 'pendulum.urdf'
    path.write_bytes(PENDULUM.replace('?>', ' encoding="UTF-16"?>', 1).encode('utf-16'))
    with pytest.raises(UrdfError, match='save the file as UTF-8'):
        urdf_with_inertias(path, chain_from_urdf(PENDULUM))


def test_elements_are_found_whatever_their_attributes_hold():
    text = b'<a><b x="1 > 2" y=\'/>\'/><b></b ><c><d/></c></a>'
    xml = XmlText(text, 'text')
    pieces = [text[each.start:each.end] for each in xml.root.children]
    assert pieces == [b'<b x="1 > 2" y=\'/>\'/>', b'<b></b >', b'<c><d/></c>']
    xml.set_attribute(xml.root.children[0], 'x', '3')
    xml.set_attribute(xml.root.children[1], 'z', '4')
    xml.remove(xml.root.children[2])
    assert xml.changed() == b'<a><b x="3" y=\'/>\'/><b z="4"></b ></a>'
