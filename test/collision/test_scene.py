# SPDX-License-Identifier: Apache-2.0
"""Which parts a scene has, which pairs it keeps apart, and what it refuses."""

import numpy as np
import pytest

from robot_dynamics_ros import (
    CollisionError,
    chain_from_urdf,
    collision_scene,
    posture_clearance,
    read_obstacles,
)

pytest.importorskip('coal')


def link(name, *shapes):
    collisions = ''.join(f'<collision><origin xyz="{xyz}"/><geometry>{shape}</geometry>'
                         '</collision>' for shape, xyz in shapes)
    return f'<link name="{name}">{collisions}</link>'


def joint(name, parent, child, xyz, axis='0 1 0', kind='revolute'):
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}"/><axis xyz="{axis}"/>'
            '<limit lower="-3" upper="3" velocity="1" effort="50"/></joint>')


def arm(foot='<box size="0.2 0.2 0.1"/>', tool='<sphere radius="0.05"/>', extra=''):
    """Return a planar arm of three links, 0.5 m over its base."""
    rod = ('<box size="0.04 0.04 0.4"/>', '0 0 0.2')
    return ('<robot name="arm">' + link('base', (foot, '0 0 0.05')) + link('upper', rod)
            + link('lower', rod) + link('hand', (tool, '0 0 0.1')) + extra
            + joint('shoulder', 'base', 'upper', '0 0 0.5')
            + joint('elbow', 'upper', 'lower', '0 0 0.4')
            + joint('wrist', 'lower', 'hand', '0 0 0.4') + '</robot>')


def scene_of(text, **options):
    chain_options = {key: options.pop(key) for key in ('gravity', 'tip') if key in options}
    return collision_scene(text, chain_from_urdf(text, **chain_options), **options)


def pair_names(scene):
    return {scene.pair_name(k) for k in range(len(scene.pairs))}


def test_links_that_a_joint_connects_are_left_out_and_listed():
    scene = scene_of(arm())
    assert pair_names(scene) == {('the floor', 'upper'), ('the floor', 'lower'),
                                 ('the floor', 'hand'), ('base', 'lower'), ('base', 'hand'),
                                 ('upper', 'hand')}
    assert {(each.first, each.second) for each in scene.left_out} == {
        ('base', 'upper'), ('upper', 'lower'), ('lower', 'hand')}
    assert {each.reason for each in scene.left_out} == {'connected by a joint'}


def test_distances_are_those_on_paper():
    scene = scene_of(arm(), floor=None, margin=0.04)
    # the hand hangs down beside the upper arm: shoulder 0, elbow 180 degrees
    found = posture_clearance(scene, [0.0, 3.0, 0.0])
    x, z = 0.4 * np.sin(3.0) + 0.1 * np.sin(3.0), 0.4 + 0.5 * np.cos(3.0)
    assert found.pair == ('upper', 'hand')
    np.testing.assert_allclose(found.distance, np.hypot(x - 0.02, min(z, 0.0)) - 0.05, atol=1e-6)
    # arm stretched out horizontally: 0.5 m over the floor, less the radius of the hand
    flat = posture_clearance(scene_of(arm()), [1.4, 0.171, 0.0])
    assert flat.room == 1.0


@pytest.mark.parametrize('shape, reach', [
    ('<sphere radius="0.05"/>', 0.05), ('<box size="0.1 0.1 0.1"/>', 0.05),
    ('<cylinder radius="0.05" length="0.1"/>', 0.05),
    ('<capsule radius="0.05" length="0.1"/>', 0.1)])
def test_the_floor_is_seen_by_every_primitive(shape, reach):
    scene = scene_of(arm(tool=shape), margin=0.1)
    # the arm hangs straight down beside its base: the hand reaches 0.4 below the floor
    found = posture_clearance(scene, [2.0, 1.0, 0.1415926535897931])
    height = 0.5 + 0.4 * np.cos(2.0) + 0.4 * np.cos(3.0) + 0.1 * np.cos(np.pi) - reach
    assert found.pair == ('the floor', 'hand')
    np.testing.assert_allclose(found.distance, height, atol=3e-4)


def test_an_srdf_disables_pairs_and_a_damaged_one_is_refused():
    srdf = ('<robot name="arm"><disable_collisions link1="hand" link2="base" reason="Never"/>'
            '</robot>')
    scene = scene_of(arm(), srdf=srdf)
    assert ('base', 'hand') not in pair_names(scene)
    assert ('base', 'hand', 'disabled in the SRDF') in scene.left_out
    with pytest.raises(CollisionError, match='SRDF'):
        scene_of(arm(), srdf='<robot>')
    with pytest.raises(CollisionError, match='not an SRDF'):
        scene_of(arm(), srdf='<sdf/>')


def test_pairs_that_touch_in_every_posture_are_left_out():
    # a ball around the elbow that the hand's long tail never leaves
    collar = link('collar', ('<sphere radius="0.1"/>', '0 0 0'))
    text = arm(extra=collar).replace('</robot>', joint(
        'weld', 'upper', 'collar', '0 0 0.4', kind='fixed') + '</robot>')
    scene = scene_of(text)
    assert ('collar', 'lower', 'touch in every posture') in scene.left_out
    assert ('upper', 'lower', 'connected by a joint') in scene.left_out


def test_a_narrow_gap_keeps_half_of_its_width():
    ring = link('ring', ('<sphere radius="0.05"/>', '0 0 0'))
    text = arm(extra=ring).replace('</robot>', joint(
        'weld', 'upper', 'ring', '0.11 0 0.4', kind='fixed') + '</robot>')
    # a ball at the elbow turns 1 cm beside the ring
    text = text.replace(link('lower', ('<box size="0.04 0.04 0.4"/>', '0 0 0.2')),
                        link('lower', ('<sphere radius="0.05"/>', '0 0 0')))
    scene = scene_of(text)
    finding, = (each for each in scene.findings if each.kind == 'narrow_gap')
    assert 'ring - lower 5.0 mm' in finding.message
    margins = {scene.pair_name(k): float(m) for k, m in enumerate(scene.margins)}
    np.testing.assert_allclose(margins.pop(('ring', 'lower')), 0.005, atol=1e-6)
    assert set(margins.values()) == {0.02}


def test_the_floor_must_be_given_where_gravity_is_not_along_z():
    with pytest.raises(CollisionError, match=r'--floor METRES.*--no-floor'):
        scene_of(arm(), gravity=[9.81, 0.0, 0.0])
    with pytest.raises(CollisionError, match='--no-floor'):
        scene_of(arm(), gravity=[0.0, 0.0, 0.0])
    scene = scene_of(arm(), gravity=[9.81, 0.0, 0.0], floor=-2.0)
    np.testing.assert_allclose(scene.up, [-1.0, 0.0, 0.0])
    assert scene.floor == -2.0
    assert scene_of(arm(), gravity=[9.81, 0.0, 0.0], floor=None).floor is None


def test_a_floor_that_a_link_never_leaves_is_refused():
    with pytest.raises(CollisionError, match=r'touches the floor in each of \d+ random postures'):
        scene_of(arm(), floor=3.0)


def test_no_geometry_and_unreadable_geometry_are_refused():
    bare = arm().replace('collision>', 'note>')
    with pytest.raises(CollisionError, match='arm has no collision geometry between base and han'):
        scene_of(bare)
    with pytest.raises(CollisionError, match=r'hand: package://x/y\.stl; name the folder that'):
        scene_of(arm(tool='<mesh filename="package://x/y.stl"/>'))
    with pytest.raises(CollisionError, match='margin'):
        scene_of(arm(), margin=-1.0)


def test_meshes_of_the_package_that_a_urdf_lies_in_are_found(tmp_path):
    robot = tmp_path / 'x' / 'urdf' / 'robot.urdf'
    robot.parent.mkdir(parents=True)
    (tmp_path / 'x' / 'y.obj').write_text('v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n')
    robot.write_text(arm(tool='<mesh filename="package://x/y.obj"/>'))
    chain = chain_from_urdf(robot)
    assert any(part.shape.kind == 'mesh' for part in collision_scene(robot, chain).parts)


def test_a_link_that_is_only_visual_is_a_finding():
    text = arm().replace('<link name="lower"><collision>', '<link name="lower"><visual>').replace(
        '</collision></link><link name="hand">', '</visual></link><link name="hand">')
    finding, = (each for each in scene_of(text).findings if each.kind == 'no_collision_geometry')
    assert 'lower' in finding.message


def test_obstacles_are_read_from_yaml(tmp_path):
    path = tmp_path / 'obstacles.yaml'
    path.write_text("""
format: 1
obstacles:
  table: {box: [1.0, 1.0, 0.1], xyz: [0.5, 0, 1.5]}
  lamp: {sphere: 0.1, xyz: [0, 0, 3]}
  post: {capsule: [0.05, 1.0], xyz: [2, 0, 0], rpy: [0, 1.5707963267948966, 0]}
""", encoding='utf-8')
    scene = scene_of(arm(), obstacles=read_obstacles(path))
    assert ('table', 'hand') in pair_names(scene) and ('post', 'upper') in pair_names(scene)
    assert ('table', 'lamp') not in pair_names(scene)
    upright = posture_clearance(scene, [0.0, 0.0, 0.0])
    assert upright.pair == ('table', 'hand')
    np.testing.assert_allclose(upright.distance, 1.45 - 1.45, atol=1e-6)


@pytest.mark.parametrize('content, match', [
    ('obstacles: {}', 'format must be 1'),
    ('format: 1\nobstacles: {a: {box: [1, 1]}}', 'a: box: expected 3 numbers'),
    ('format: 1\nobstacles: {a: {cone: 1}}', 'unknown key cone'),
    ('format: 1\nobstacles: {a: {xyz: [0, 0, 0]}}', 'give one of box, sphere, capsule'),
    ('format: 1\nobstacles: {a: {sphere: -1}}', 'must be positive'),
    ('format: 1\nobstacles: {a: {sphere: .nan}}', 'finite'),
    ('format: 1\nobstacles: [1]', 'expected names'),
])
def test_a_mistake_in_the_obstacles_is_named(tmp_path, content, match):
    path = tmp_path / 'o.yaml'
    path.write_text(content, encoding='utf-8')
    with pytest.raises(CollisionError, match=match):
        read_obstacles(path)
