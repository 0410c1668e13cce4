# SPDX-License-Identifier: Apache-2.0
"""Meshes: as hulls, in convex pieces, and triangle by triangle."""

import numpy as np
import pytest

from robot_dynamics_ros import chain_from_urdf, collision_scene, posture_clearance
from robot_dynamics_ros.chain.urdf.mesh_files import Mesh, read_mesh
from robot_dynamics_ros.collision.distance import Postures
from robot_dynamics_ros.collision.parts import _coal_hull
from robot_dynamics_ros.collision.pieces import clipped, convex_pieces

pytest.importorskip('coal')

BOX = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
SIDES = np.array([(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
                  (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)])


def boxes(*places):
    """Return a mesh of boxes, each of a size and a middle."""
    vertices = [BOX * size + middle for size, middle in places]
    return Mesh(np.concatenate(vertices),
                np.concatenate([SIDES + 8 * k for k in range(len(places))]))


def fork():
    """Return a fork whose prongs are 0.4 m apart."""
    return boxes(([0.5, 0.1, 0.1], [0.0, 0.0, 0.0]), ([0.05, 0.1, 0.6], [-0.225, 0.0, 0.3]),
                 ([0.05, 0.1, 0.6], [0.225, 0.0, 0.3]))


def obj(mesh):
    return '\n'.join([*(f'v {x} {y} {z}' for x, y, z in mesh.vertices),
                      *(f'f {a + 1} {b + 1} {c + 1}' for a, b, c in mesh.faces)])


COLLADA = """<?xml version="1.0"?>{doctype}
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2020-01-01T00:00:00</created><modified>2020-01-01T00:00:00</modified>
<unit name="millimeter" meter="0.001"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">0 0 0 400 0 0 0 200 0 0 0 100</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><translate>0 0 50</translate>
<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def test_collada_is_read_with_its_unit_and_its_nodes(tmp_path):
    (tmp_path / 'part.dae').write_text(COLLADA.format(doctype=''), encoding='utf-8')
    mesh = read_mesh('part.dae', [tmp_path])
    np.testing.assert_allclose(mesh.vertices.max(axis=0), [0.4, 0.2, 0.15], atol=1e-9)
    np.testing.assert_allclose(mesh.vertices.min(axis=0), [0.0, 0.0, 0.05], atol=1e-9)
    assert mesh.faces.shape == (4, 3)


def test_a_mesh_that_names_other_files_is_not_read(tmp_path):
    entity = '<!DOCTYPE COLLADA [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    (tmp_path / 'part.dae').write_text(COLLADA.format(doctype=entity), encoding='utf-8')
    assert read_mesh('part.dae', [tmp_path]) is None


@pytest.mark.parametrize('content', [
    'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999999999999', 'v 0 0 0\nf 1 2 3', 'v 0 0 inf'])
def test_a_damaged_mesh_is_not_read(tmp_path, content):
    """A corner number beyond 64 bits came out as an OverflowError."""
    (tmp_path / 'part.obj').write_text(content, encoding='utf-8')
    assert read_mesh('part.obj', [tmp_path]) is None


def test_a_full_path_is_opened_below_installed_packages_only(tmp_path, monkeypatch):
    share = tmp_path / 'prefix' / 'share' / 'arm'
    share.mkdir(parents=True)
    for place in (share, tmp_path):
        (place / 'part.obj').write_text(obj(fork()), encoding='utf-8')
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'prefix'))
    assert read_mesh(f'file://{share}/part.obj', []) is not None
    assert read_mesh(f'file://{tmp_path}/part.obj', []) is None


@pytest.mark.parametrize('name', ['STL', 'obj'])
def test_meshes_keep_their_triangles(tmp_path, name):
    import trimesh

    mesh = fork()
    body = trimesh.Trimesh(mesh.vertices, mesh.faces, process=False)
    body.export(str(tmp_path / f'part.{name}'), file_type=name.lower())
    found = read_mesh(f'part.{name}', [tmp_path])
    area = trimesh.Trimesh(found.vertices, found.faces).area
    assert area == pytest.approx(body.area, rel=1e-5)


def test_pieces_hold_the_whole_mesh_and_leave_the_gap_free():
    from scipy.spatial import ConvexHull

    mesh = fork()
    pieces = convex_pieces(mesh)
    assert len(pieces) > 2
    volume = sum(ConvexHull(points).volume for points in pieces)
    assert volume < 0.5 * ConvexHull(mesh.vertices).volume
    # every point of the surface is inside a piece, the middle of the gap in none
    rng = np.random.default_rng(0)
    corners = mesh.vertices[mesh.faces]
    weights = rng.dirichlet(np.ones(3), (len(corners), 30))
    surface = np.einsum('tkc,tci->tki', weights, corners).reshape(-1, 3)
    hulls = [ConvexHull(points).equations for points in pieces]
    inside = [np.max(surface @ planes[:, :3].T + planes[:, 3], axis=1) < 1e-9 for planes in hulls]
    assert np.all(np.any(inside, axis=0))
    gap = np.array([0.0, 0.0, 0.4])
    assert all(np.max(planes[:, :3] @ gap + planes[:, 3]) > 0.0 for planes in hulls)


def test_both_sides_of_a_cut_are_the_whole(rng):
    triangles = rng.normal(size=(50, 3, 3))

    def area(t):
        return np.linalg.norm(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]), axis=1).sum()

    normal = np.array([0.6, 0.0, 0.8])
    upper, lower = clipped(triangles, normal, 0.1), clipped(triangles, -normal, -0.1)
    assert area(upper) + area(lower) == pytest.approx(area(triangles))
    assert np.min(upper @ normal) > 0.1 - 1e-9 and np.max(lower @ normal) < 0.1 + 1e-9


def test_a_round_cap_with_many_corners_is_no_trouble():
    angles = np.linspace(0.0, 2.0 * np.pi, 400, endpoint=False)
    rim = np.column_stack([np.cos(angles), np.sin(angles)])
    points = np.concatenate([np.column_stack([rim, np.full(400, z)]) for z in (0.0, 1.0)])
    assert _coal_hull(points).num_points >= 8


def arm(tmp_path):
    """Return a rod that swings inside a fork: hulls always overlap, meshes do not."""
    (tmp_path / 'fork.obj').write_text(obj(fork()), encoding='utf-8')
    (tmp_path / 'arm.urdf').write_text("""<robot name="arm">
<link name="base"><collision><geometry><mesh filename="fork.obj"/></geometry></collision></link>
<link name="turntable"/>
<link name="rod"><collision><origin xyz="0 0 0.2"/><geometry><box size="0.05 0.05 0.4"/></geometry>
</collision></link>
<joint name="slide" type="prismatic"><parent link="base"/><child link="turntable"/>
<origin xyz="0 0 0.15"/><axis xyz="0 0 1"/>
<limit lower="0" upper="0.5" velocity="1" effort="99"/></joint>
<joint name="swing" type="revolute"><parent link="turntable"/><child link="rod"/>
<axis xyz="0 1 0"/><limit lower="-1.5" upper="1.5" velocity="1" effort="99"/></joint></robot>""",
                                       encoding='utf-8')
    return tmp_path / 'arm.urdf'


def test_triangles_are_compared_where_hulls_touch_and_meshes_do_not(tmp_path):
    path = arm(tmp_path)
    scene = collision_scene(path, chain_from_urdf(path), floor=None)
    assert [scene.pair_name(k) for k in np.flatnonzero(scene.exact)] == [('base', 'rod')]
    upright = posture_clearance(scene, [0.3, 0.0])
    assert upright.room == 1.0
    np.testing.assert_allclose(
        Postures(scene, np.array([[0.3, 0.0]])).true_distance(0, 0), 0.175, atol=1e-6)
    leaning = posture_clearance(scene, [0.0, 0.55])
    assert leaning.distance <= 0.0 and leaning.pair == ('base', 'rod')


def test_a_mesh_inside_another_one_touches_it(tmp_path):
    (tmp_path / 'case.obj').write_text(obj(boxes(([1.0] * 3, [0.0] * 3))), encoding='utf-8')
    path = arm(tmp_path)
    path.write_text(path.read_text().replace('fork.obj', 'case.obj').replace(
        '<box size="0.05 0.05 0.4"/>', '<box size="0.02 0.02 0.02"/>').replace(
        '0 0 0.2', '0 0 0.01'))
    scene = collision_scene(path, chain_from_urdf(path), floor=None)
    # the small box is deep inside the large one, far away from all triangles
    assert posture_clearance(scene, [0.0, 0.0]).distance <= 0.0
