# SPDX-License-Identifier: Apache-2.0
"""
Where the bodies of a chain are: corners of the geometry that a URDF gives its links.

Collision geometry is taken; for a body without any, the visual one. Boxes are exact; cylinders,
capsules and spheres are replaced by polyhedra inside them, at most 2 % smaller.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.chain.urdf.document import read_document
from robot_dynamics_ros.chain.urdf.reader import Locked, link_poses, locked_positions
from robot_dynamics_ros.chain.urdf.shapes import link_shapes
from robot_dynamics_ros.chain.urdf.tree import tree_from_urdf
from robot_dynamics_ros.chain.urdf.writer import moving_bodies


@dataclass(frozen=True, eq=False)
class BodyGeometry:
    """
    What a URDF says about the extent of a moving body, in its frame E_i.

    :param corners: (k, 3) corners of its geometry [m]; their convex hull holds the body.
    :param whole: whether all of its geometry could be read, and there is some.
    :param frames: (j, 3) origins of its links and of the joint that it carries [m].
    """

    corners: Array
    whole: bool
    frames: Array


def mesh_folders(source: str | os.PathLike[str], folders: Sequence[str | os.PathLike[str]],
                 root: Any) -> list[Path]:
    """
    Return where the mesh files of a URDF may be.

    :param source: path or text of the URDF.
    :param folders: folders that a person has named.
    :param root: its <robot> element.
    :returns: these folders; where the URDF is a file also its own folder, and for each package
        that its meshes name the nearest folder above that holds it.
    """
    if isinstance(source, str) and '<' in source:
        return [*map(Path, folders)]
    above = Path(source).resolve().parents
    names = {str(mesh.get('filename')).removeprefix('package://').partition('/')[0]
             for mesh in root.iter('mesh') if str(mesh.get('filename')).startswith('package://')}
    found = (next((folder for folder in above if (folder / name).is_dir()), None)
             for name in sorted(names) if name not in ('', '.', '..'))
    return [*map(Path, folders), Path(source).parent,
            *(folder for folder in dict.fromkeys(found) if folder is not None)]


def body_geometries(source: str | os.PathLike[str], chain: Chain, *, locked: Locked = None,
                    folders: Sequence[str | os.PathLike[str]] = ()
                    ) -> tuple[tuple[BodyGeometry, ...], tuple[Finding, ...]]:
    """
    Return the geometry of the moving bodies of a chain.

    :param source: path or text of the URDF that the chain was read from.
    :param chain: the robot.
    :param locked: joints to freeze, as given when the chain was read.
    :param folders: folders with mesh files, beside the folder of the URDF itself and the
        packages that are installed.
    :returns: one geometry per body, and findings about what could not be read.
    :raises UrdfError: the text is not a usable URDF.
    """
    tree = tree_from_urdf(source)
    root = read_document(source).root
    elements = {link.get('name'): link for link in root.findall('link')}
    poses = link_poses(tree, chain.base, locked_positions(tree, locked))
    places = mesh_folders(source, folders, root)
    geometries, findings = [], []
    for i, (name, body, pose) in enumerate(zip(
            chain.link_names, moving_bodies(tree, chain, locked), chain.zero_poses()), start=1):
        links = (name, *body.fixed_links)
        after = [link for link, parent in zip(chain.link_names, chain.parents) if parent == i]
        ends = [tip.link for tip in chain.tips if tip.joint == i]
        in_frame = {link: pose.inverse() @ poses[link] for link in (*links, *after, *ends)}
        parts: list[Array] = []
        missing: list[str] = []
        for tag in ('collision', 'visual'):
            for link in links:
                for what, shape in link_shapes(elements[link], tag, places):
                    if shape is None:
                        missing.append(what)
                    else:
                        place = in_frame[link]
                        parts.append(shape.corners() @ place.rotation.T + place.translation)
            if parts:
                break
        if missing:
            findings.append(Finding('unknown_geometry', name, 'cannot be read: '
                                    f'{", ".join(dict.fromkeys(missing))}; name the folder of the '
                                    'mesh files (--meshes)', float(len(missing))))
        corners = np.concatenate(parts) if parts else np.zeros((0, 3))
        geometries.append(BodyGeometry(
            corners, bool(parts) and not missing,
            np.array([pose.translation for pose in in_frame.values()])))
    return tuple(geometries), tuple(findings)
