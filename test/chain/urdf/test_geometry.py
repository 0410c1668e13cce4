# SPDX-License-Identifier: Apache-2.0
"""Corners of the geometry of links, in the frames of the chain."""

import struct

import numpy as np
import pytest

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.chain.urdf.geometry import body_geometries
from robot_dynamics_ros.chain.urdf.mesh_files import read_mesh

CORNERS = np.array([[0.0, 0.0, 0.0], [0.4, 0.0, 0.0], [0.0, 0.2, 0.0], [0.0, 0.0, 0.1]])
FACES = [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]


def urdf(shape, tag='collision', origin=''):
    return f"""<robot name="arm"><link name="base"/>
<link name="link"><{tag}>{origin}<geometry>{shape}</geometry></{tag}></link>
<link name="tool"/>
<joint name="turn" type="continuous"><parent link="base"/><child link="link"/>
  <origin xyz="0 0 1"/><axis xyz="0 0 1"/></joint>
<joint name="weld" type="fixed"><parent link="link"/><child link="tool"/>
  <origin xyz="0 0 0.5"/></joint></robot>"""


def geometry(text, **options):
    geometries, findings = body_geometries(text, chain_from_urdf(text), **options)
    return geometries[0], findings


def binary_stl():
    triangles = b''.join(struct.pack('<12fH', 0, 0, 1, *CORNERS[list(face)].ravel(), 0)
                         for face in FACES)
    return bytes(80) + struct.pack('<I', len(FACES)) + triangles


def text_stl():
    lines = ['solid body']
    for face in FACES:
        lines += ['facet normal 0 0 1', ' outer loop',
                  *(f'  vertex {x} {y} {z}' for x, y, z in CORNERS[list(face)]),
                  ' endloop', 'endfacet']
    return '\n'.join([*lines, 'endsolid']).encode()


def obj():
    return '\n'.join([*(f'v {x} {y} {z}' for x, y, z in CORNERS), 'vn 0 0 1',
                      *(f'f {a + 1} {b + 1} {c + 1}' for a, b, c in FACES)]).encode()


@pytest.mark.parametrize('shape, half', [
    ('<box size="0.2 0.4 0.6"/>', [0.1, 0.2, 0.3]),
    ('<cylinder radius="0.1" length="0.6"/>', [0.1, 0.1, 0.3]),
    ('<capsule radius="0.1" length="0.6"/>', [0.1, 0.1, 0.4]),
    ('<sphere radius="0.1"/>', [0.1, 0.1, 0.1]),
])
@pytest.mark.parametrize('tag', ['collision', 'visual'])
def test_primitives_have_their_extent(shape, half, tag):
    found, findings = geometry(urdf(shape, tag))
    assert found.whole and not findings
    np.testing.assert_allclose(found.corners.max(axis=0), half, atol=1e-12)
    np.testing.assert_allclose(found.corners.min(axis=0), -np.array(half), atol=1e-12)


def test_an_origin_turns_and_moves_a_shape():
    found, _ = geometry(urdf('<box size="0.2 0.4 0.6"/>',
                             origin='<origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/>'))
    np.testing.assert_allclose(found.corners.max(axis=0), [1.2, 2.1, 3.3], atol=1e-9)


def test_frames_are_those_of_the_links():
    found, _ = geometry(urdf('<box size="0.2 0.4 0.6"/>'))
    np.testing.assert_allclose(found.frames.max(axis=0), [0.0, 0.0, 0.5], atol=1e-12)


def test_a_robot_without_geometry_is_not_whole():
    text = urdf('<box size="0.2 0.4 0.6"/>').replace('collision', 'note')
    found, findings = geometry(text)
    assert not found.whole and not findings and found.corners.shape == (0, 3)


@pytest.mark.parametrize('shape', [
    '<box size="1 2"/>', '<box size="nan 1 1"/>', '<box size="1e9 1 1"/>', '<box/>',
    '<cylinder radius="a" length="1"/>', '<sphere/>', '<torus radius="1"/>', '<mesh/>',
    '<mesh filename="package://nowhere/link.stl"/>'])
def test_what_cannot_be_read_is_a_finding(shape):
    found, findings = geometry(urdf(shape))
    assert not found.whole
    assert [each.kind for each in findings] == ['unknown_geometry'] and findings[0].where == 'link'


@pytest.mark.parametrize('name, data', [('link.stl', binary_stl()), ('link.STL', text_stl()),
                                        ('link.obj', obj())])
def test_meshes_are_read_below_named_folders(tmp_path, name, data):
    (tmp_path / 'arm' / 'meshes').mkdir(parents=True)
    (tmp_path / 'arm' / 'meshes' / name).write_bytes(data)
    text = urdf(f'<mesh filename="package://arm/meshes/{name}" scale="2 1 1"/>')
    for folder in (tmp_path, tmp_path / 'arm'):
        found, findings = geometry(text, folders=[folder])
        assert found.whole and not findings
        np.testing.assert_allclose(found.corners.max(axis=0), [0.8, 0.2, 0.1], atol=1e-7)


def test_meshes_are_read_beside_the_urdf_and_from_packages(tmp_path, monkeypatch):
    (tmp_path / 'link.stl').write_bytes(binary_stl())
    (tmp_path / 'arm.urdf').write_text(urdf('<mesh filename="link.stl"/>'), encoding='utf-8')
    assert geometry(tmp_path / 'arm.urdf')[0].whole
    share = tmp_path / 'prefix' / 'share' / 'arm'
    share.mkdir(parents=True)
    (share / 'link.stl').write_bytes(binary_stl())
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path / 'prefix'))
    assert geometry(urdf('<mesh filename="package://arm/link.stl"/>'))[0].whole


def test_names_that_lead_out_of_the_folders_are_not_opened(tmp_path):
    (tmp_path / 'inner').mkdir()
    (tmp_path / 'link.stl').write_bytes(binary_stl())
    (tmp_path / 'inner' / 'way.stl').symlink_to(tmp_path / 'link.stl')
    for name in ('../link.stl', 'package://../link.stl', str(tmp_path / 'link.stl'),
                 f'file://{tmp_path}/link.stl', 'way.stl', 'a\0b.stl', 'x' * 5000):
        assert read_mesh(name, [tmp_path / 'inner']) is None


@pytest.mark.parametrize('name, data', [
    ('link.stl', b''), ('link.stl', b'solid x\nvertex 1 2 z\n'), ('link.stl', b'vertex 1 2\n'),
    ('link.stl', binary_stl()[:-1]), ('link.obj', b'v nan 0 0\n'), ('link.dae', b'<COLLADA/>')])
def test_damaged_and_foreign_meshes_are_not_read(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    assert read_mesh(name, [tmp_path]) is None
