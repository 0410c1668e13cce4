# SPDX-License-Identifier: Apache-2.0
"""Readers of what surrounds a robot: meshes, SRDF, obstacles, trees of links; calibrations."""

import tempfile
import warnings
from functools import cache
from pathlib import Path

import numpy as np

from fuzz.file_targets import JOINTS, URDF_FOLDER
from fuzz.target import Target
from robot_dynamics_ros.calibration.folder import CalibrationFolder, ChainChoice
from robot_dynamics_ros.chain.urdf.mesh_files import read_mesh
from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf_text
from robot_dynamics_ros.collision.obstacles import read_obstacles
from robot_dynamics_ros.collision.pairs import disabled_pairs
from robot_dynamics_ros.collision.parts import Part
from robot_dynamics_ros.collision.scene import collision_scene
from robot_dynamics_ros.errors import UrdfError

SRDF = b"""<?xml version="1.0"?>
<robot name="small">
  <group name="arm"><chain base_link="base" tip_link="tool"/></group>
  <disable_collisions link1="base" link2="upper" reason="Adjacent"/>
  <disable_collisions link1="upper" link2="tool" reason="Never"/>
</robot>
"""
OBSTACLES = b"""format: 1
obstacles:
  table: {box: [1.2, 0.8, 0.05], xyz: [0.6, 0, -0.03]}
  lamp: {sphere: 0.1, xyz: [0.3, 0.4, 1.2]}
  post: {capsule: [0.05, 1.0], xyz: [-0.5, 0, 0.5], rpy: [0, 0, 0]}
"""
SHAPES = b"""<robot name="shapes">
  <link name="base"><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="upper"><inertial><mass value="2.5"/>
      <inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial>
    <collision name="c"><origin xyz="0 0 0.5" rpy="0 0.1 0"/>
      <geometry><cylinder radius="0.05" length="0.6"/></geometry></collision></link>
  <link name="tool"><inertial><mass value="1"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <joint name="a" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="50" velocity="2"/></joint>
  <joint name="b" type="continuous"><parent link="upper"/><child link="tool"/>
    <origin xyz="0 0 1"/><axis xyz="0 1 0"/></joint>
</robot>
"""
STL = b"""solid a
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
facet normal 0 0 1
outer loop
vertex 0 0 1
vertex 1 0 1
vertex 0 1 2
endloop
endfacet
endsolid a
"""
OBJ = b"""# three triangles
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1.5
f 1 2 3
f 1/1 2/2 4/3
f -1 -2 -3
"""
COLLADA = b"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><created>2020-01-01T00:00:00</created><modified>2020-01-01T00:00:00</modified>
<unit name="millimeter" meter="0.001"/><up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2 0 1 3</p>
</triangles></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node id="n"><translate>0 0 50</translate>
<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>
"""


@cache
def folder():
    """Return a folder for the files, which goes with the process."""
    return tempfile.TemporaryDirectory(prefix='fuzz-geometry-')


def saved(case, name):
    """Return the path of a file with this content."""
    path = Path(folder().name) / name
    path.write_bytes(case)
    return path


def binary_stl():
    """Return the triangles of STL as a binary file."""
    corners = np.arange(18, dtype='<f4').reshape(2, 9) % 5
    rows = b''.join(bytes(12) + row.tobytes() + bytes(2) for row in corners)
    return bytes(80) + (2).to_bytes(4, 'little') + rows


def mesh_reader(suffix):
    """Return a function that reads a mesh and uses it."""
    def read(case):
        path = saved(case, f'mesh{suffix}')
        with warnings.catch_warnings():  # pycollada uses numpy.matrix
            warnings.simplefilter('ignore', PendingDeprecationWarning)
            mesh = read_mesh(path.name, [path.parent])
        if mesh is None:
            raise UrdfError('not a mesh')
        assert np.all(np.isfinite(mesh.vertices))
        assert np.all((mesh.faces >= 0) & (mesh.faces < len(mesh.vertices)))
    return read


def read_scene(case):
    text = case.decode('utf-8', 'surrogateescape')
    scene = collision_scene(text, chain_from_urdf_text(text, gravity=(0.0, 0.0, -9.81)))
    assert np.all(np.isfinite(scene.margins))


def read_obstacle_file(case):
    for each in read_obstacles(saved(case, 'obstacles.yaml')):
        assert np.all(np.isfinite(Part(each.name, 0, each.shape).points))


def calibration_example():
    with tempfile.TemporaryDirectory() as place:
        made = CalibrationFolder(Path(place) / 'c')
        made.begin((URDF_FOLDER / 'planar_2r.urdf').read_text(), JOINTS.decode(), 'planar_2r',
                   ChainChoice('base_link', 'link_2', (0.0, -9.81, 0.0)))
        made.add_stage('static', 'done', made.path / 'recording' / 'static')
        made.add_stage('rehearsal', 'stopped')
        return [(made.path / 'calibration.yaml').read_bytes()]


def read_calibration(case):
    place = Path(folder().name) / 'calibration'
    place.mkdir(exist_ok=True)
    (place / 'calibration.yaml').write_bytes(case)
    (place / 'robot.urdf').write_bytes((URDF_FOLDER / 'planar_2r.urdf').read_bytes())
    (place / 'joints.yaml').write_bytes(JOINTS)
    made = CalibrationFolder(place)
    done = made.done()
    for stage in done:
        assert all(place.resolve() in path.parents for path in made.recording_paths(stage))
    made.robot()


TARGETS = [
    Target('mesh_stl', lambda: [STL, binary_stl()], mesh_reader('.stl')),
    Target('mesh_obj', lambda: [OBJ], mesh_reader('.obj')),
    Target('mesh_dae', lambda: [COLLADA], mesh_reader('.dae')),
    Target('srdf', lambda: [SRDF], lambda case: disabled_pairs(saved(case, 'a.srdf'))),
    Target('obstacles', lambda: [OBSTACLES], read_obstacle_file),
    Target('scene', lambda: [SHAPES], read_scene),
    Target('calibration_folder', calibration_example, read_calibration),
]
