# SPDX-License-Identifier: Apache-2.0
"""
Two judges of a motion that share nothing with the collision room: MuJoCo and FCL.

The URDF is read anew, meshes by trimesh. MuJoCo does the kinematics, and finds contacts of
primitives and of the hulls of meshes. FCL (`python-fcl`) finds contacts of triangles. Neither uses
coal, the chain's frames, or the reader of mesh files.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from robot_dynamics_ros.arrays import Array


@dataclass
class _Geometry:
    """A shape of a link: for MuJoCo by name, for FCL as an object."""

    link: str
    body: int
    shape: Any
    rotation: Array
    translation: Array
    middle: Array
    radius: float


@dataclass
class Contacts:
    """
    What the judges found.

    :param mujoco: postures with a contact of primitives or hulls, by pair.
    :param fcl: postures with a contact of triangles, by pair.
    """

    mujoco: dict[frozenset[str], int] = field(default_factory=dict)
    fcl: dict[frozenset[str], int] = field(default_factory=dict)


class Judges:
    """
    MuJoCo and FCL with the collision geometry of a robot.

    :param path: URDF.
    :param folders: folders below which ``package://`` names are found.
    :param joint_names: joints that move; all others stay at 0.
    :param floor: height of a floor over the origin of `base` [m]; None = none.
    :param base: link whose origin the floor is measured from.
    """

    def __init__(self, path: Path, folders: Iterable[Path], joint_names: Iterable[str],
                 floor: float | None, base: str) -> None:
        import mujoco

        self._folders = list(folders)
        self._root = etree.parse(str(path)).getroot()
        self._names = list(joint_names)
        self._links = {link.get('name'): link for link in self._root.findall('link')}
        self._joints: dict[str, list[Any]] = {}
        children = set()
        for joint in self._root.findall('joint'):
            self._joints.setdefault(joint.find('parent').get('link'), []).append(joint)
            children.add(joint.find('child').get('link'))
        self._geometries: list[_Geometry] = []
        spec = mujoco.MjSpec()
        spec.compiler.autolimits = 0
        spec.option.gravity = [0.0, 0.0, 0.0]
        self._spec, self._mujoco = spec, mujoco
        [root] = set(self._links) - children
        self._add(spec.worldbody, root, (np.zeros(3), np.eye(3)), None)
        self._model = spec.compile()
        self._data = mujoco.MjData(self._model)
        self._qpos = [self._model.jnt_qposadr[self._model.joint(name).id] for name in self._names]
        mujoco.mj_forward(self._model, self._data)
        self._floor = None if floor is None else floor + float(
            self._data.body(_body(base)).xpos[2])
        self._bodies = [self._model.body(_body(each.link)).id for each in self._geometries]

    def _add(self, parent: Any, link: str, pose: tuple[Array, Array], joint: Any) -> None:
        """Add a link and what it carries."""
        translation, rotation = pose
        body = parent.add_body(name=_body(link), pos=translation, quat=_quaternion(rotation))
        body.mass, body.inertia, body.explicitinertial = 1.0, [1.0, 1.0, 1.0], 1
        if joint is not None and joint.get('name') in self._names:
            axis = joint.find('axis')
            kinds = self._mujoco.mjtJoint
            body.add_joint(name=joint.get('name'),
                           type=kinds.mjJNT_SLIDE if joint.get('type') == 'prismatic'
                           else kinds.mjJNT_HINGE,
                           axis=[1.0, 0.0, 0.0] if axis is None else _numbers(axis.get('xyz')))
        for number, element in enumerate(self._links[link].findall('collision')):
            self._add_geometry(body, link, number, element)
        for each in self._joints.get(link, []):
            self._add(body, each.find('child').get('link'), _origin(each), each)

    def _add_geometry(self, body: Any, link: str, number: int, element: Any) -> None:
        import fcl
        import trimesh

        shape = next(iter(element.find('geometry')))
        translation, rotation = _origin(element)
        kinds = self._mujoco.mjtGeom
        place = {'pos': translation, 'quat': _quaternion(rotation), 'name': f'{link}#{number}'}
        if shape.tag == 'mesh':
            loaded: Any = trimesh.load(str(self._file(shape.get('filename'))), force='mesh',
                                  process=False)
            unit = getattr(loaded, 'units', None)
            factor = 1.0 if unit in (None, 'meter', 'meters', 'm') else float(
                trimesh.units.unit_conversion(unit, 'meters'))
            vertices = np.asarray(loaded.vertices) * factor * (
                1.0 if shape.get('scale') is None else _numbers(shape.get('scale')))
            faces = np.asarray(loaded.faces)
            name = f'{link}#{number}'
            self._spec.add_mesh(name=name, uservert=vertices.ravel().astype(np.float32),
                                userface=faces.ravel().astype(np.int32),
                                inertia=self._mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
            body.add_geom(type=kinds.mjGEOM_MESH, meshname=name, **place)
            exact = fcl.BVHModel()
            exact.beginModel(len(vertices), len(faces))
            exact.addSubModel(vertices, faces)
            exact.endModel()
            points = vertices
        else:
            radius, length = (float(shape.get(key) or 0.0) for key in ('radius', 'length'))
            if shape.tag == 'box':
                size = np.abs(_numbers(shape.get('size')))
                body.add_geom(type=kinds.mjGEOM_BOX, size=size / 2.0, **place)
                exact, half = fcl.Box(*size), size / 2.0
            elif shape.tag == 'sphere':
                body.add_geom(type=kinds.mjGEOM_SPHERE, size=[radius, 0.0, 0.0], **place)
                exact, half = fcl.Sphere(radius), np.full(3, radius)
            elif shape.tag == 'capsule':
                body.add_geom(type=kinds.mjGEOM_CAPSULE, size=[radius, length / 2.0, 0.0], **place)
                exact = fcl.Capsule(radius, length)
                half = np.array([radius, radius, radius + length / 2.0])
            else:
                body.add_geom(type=kinds.mjGEOM_CYLINDER, size=[radius, length / 2.0, 0.0],
                              **place)
                exact, half = fcl.Cylinder(radius, length), np.array([radius, radius, length / 2])
            points = np.array([half, -half])
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        self._geometries.append(_Geometry(
            link, 0, exact, rotation, translation, middle,
            float(np.max(np.linalg.norm(points - middle, axis=1)))))

    def _file(self, name: str) -> Path:
        plain = name.removeprefix('package://').removeprefix('file://')
        for folder in self._folders:
            for rest in (plain, plain.partition('/')[2]):
                if (folder / rest).is_file():
                    return folder / rest
        raise FileNotFoundError(name)

    def judge(self, q: Array, pairs: set[frozenset[str]], hulls: set[frozenset[str]],
              moving: set[str]) -> Contacts:
        """
        Return the contacts in N postures.

        :param q: (N, n) positions [rad, m].
        :param pairs: pairs of links that must not touch.
        :param hulls: those of them whose hulls must not touch either.
        :param moving: links that must not touch the floor.
        """
        import fcl

        found = Contacts()
        geometries = self._geometries
        checked = [(i, j) for i in range(len(geometries)) for j in range(i)
                   if frozenset((geometries[i].link, geometries[j].link)) in pairs]
        objects = [fcl.CollisionObject(each.shape) for each in geometries]
        request = fcl.CollisionRequest()
        for posture in q:
            self._data.qpos[self._qpos] = posture
            self._mujoco.mj_forward(self._model, self._data)
            seen = set()
            for contact in self._data.contact:
                names = frozenset(self._model.body(self._model.geom_bodyid[g]).name[len(_LINK):]
                                  for g in (contact.geom1, contact.geom2))
                if names in hulls and contact.dist < 0.0:
                    seen.add(names)
            _count(found.mujoco, seen)
            R = [self._data.xmat[b].reshape(3, 3) for b in self._bodies]
            p = [self._data.xpos[b] for b in self._bodies]
            poses = [(r @ each.rotation, r @ each.translation + t)
                     for each, r, t in zip(geometries, R, p)]
            middles = [r @ each.middle + t for each, (r, t) in zip(geometries, poses)]
            for each, (r, t) in zip(objects, poses):
                each.setTransform(fcl.Transform(r, t))
            seen = set()
            for i, j in checked:
                names = frozenset((geometries[i].link, geometries[j].link))
                gap = float(np.linalg.norm(middles[i] - middles[j]))
                if names not in seen and gap < geometries[i].radius + geometries[j].radius and (
                        fcl.collide(objects[i], objects[j], request, fcl.CollisionResult())):
                    seen.add(names)
            if self._floor is not None:
                for each, obj, middle in zip(geometries, objects, middles):
                    if each.link in moving and middle[2] - each.radius < self._floor and (
                            fcl.collide(obj, self._floor_object(), request,
                                        fcl.CollisionResult())):
                        seen.add(frozenset((each.link, 'the floor')))
            _count(found.fcl, seen)
        return found

    def _floor_object(self) -> Any:
        """Return the floor for FCL: a wide box whose upper side is the plane."""
        import fcl

        return fcl.CollisionObject(fcl.Box(20.0, 20.0, 4.0), fcl.Transform(
            np.eye(3), np.array([0.0, 0.0, (self._floor or 0.0) - 2.0])))


#: Before the name of a link in MuJoCo, which has a body called world.
_LINK = 'link '


def _body(link: str) -> str:
    return _LINK + link


def _count(found: dict[frozenset[str], int], seen: set[frozenset[str]]) -> None:
    for names in seen:
        found[names] = found.get(names, 0) + 1


def _numbers(text: str) -> Array:
    return np.array([float(word) for word in text.split()])


def _origin(element: Any) -> tuple[Array, Array]:
    origin = element.find('origin')
    xyz = '0 0 0' if origin is None else origin.get('xyz', '0 0 0')
    roll, pitch, yaw = _numbers('0 0 0' if origin is None else origin.get('rpy', '0 0 0'))
    turns = [_turn(0, roll), _turn(1, pitch), _turn(2, yaw)]
    return _numbers(xyz), turns[2] @ turns[1] @ turns[0]


def _turn(axis: int, angle: float) -> Array:
    a, b = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[a, a] = R[b, b] = math.cos(angle)
    R[b, a] = math.sin(angle)
    R[a, b] = -R[b, a]
    return R


def _quaternion(R: Array) -> Array:
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return np.array([w, x, y, z])
