# SPDX-License-Identifier: Apache-2.0
"""A group of an SRDF, MoveIt's file beside the URDF: which joints of a robot belong together."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from robot_dynamics_ros.chain.urdf.selection import path_between
from robot_dynamics_ros.chain.urdf.tree import Tree
from robot_dynamics_ros.errors import ChainError, UrdfError
from robot_dynamics_ros.files.bounds import one_line

#: Larger files are no SRDF [bytes].
_LARGEST = 10_000_000


class Group(NamedTuple):
    """
    What a group says about a robot.

    :param locked: moving joints that do not belong to it.
    :param tips: tip links of its chains; none = not said.
    """

    locked: tuple[str, ...]
    tips: tuple[str, ...]


def group_of_srdf(path: str | os.PathLike[str], name: str, tree: Tree) -> Group:
    """
    Return a group of an SRDF.

    :param path: path of the SRDF file.
    :param name: name of the group.
    :param tree: the robot.
    :raises UrdfError: the file is not an SRDF.
    :raises ChainError: no such group, or one that does not fit the robot.
    """
    groups = {group.get('name'): group for group in _root(Path(path)).findall('group')}
    joints: set[str] = set()
    tips: list[str] = []
    waiting, seen = [name], {name}
    while waiting:
        group = groups.get(waiting.pop(0))  # in the order of the file
        if group is None:
            raise ChainError(f"{path}: no group '{one_line(name)}'; groups: "
                             f'{", ".join(str(each) for each in groups)}')
        for element in group:
            word = str(element.get('name'))
            if element.tag == 'group' and word not in seen:
                seen.add(word)
                waiting.append(word)
            elif element.tag == 'chain':
                base, tip = str(element.get('base_link')), str(element.get('tip_link'))
                for link in (base, tip):
                    if link not in tree.inertias:
                        raise ChainError(f"{path}: link '{one_line(link)}' of group '{name}' is "
                                         f'not in {tree.label}')
                joints.update(joint.name for joint in path_between(tree, base, tip))
                tips.append(tip)
            elif element.tag == 'joint':
                joints.add(word)
            elif element.tag == 'link':
                carrier = tree.parent_joint(word)
                joints.update([carrier.name] if carrier is not None else [])
    unknown = sorted(joints - set(tree.joints))
    if unknown:
        raise ChainError(f"{path}: joints of group '{name}' that {tree.label} does not have: "
                         f'{", ".join(unknown[:10])}')
    locked = tuple(joint.name for joint in tree.joints.values()
                   if joint.moving and joint.name not in joints)
    return Group(locked, tuple(tips))


def _root(path: Path) -> Any:
    from lxml import etree

    try:
        data = path.read_bytes()
    except OSError as error:
        raise UrdfError(f'{path}: {error.strerror}') from error
    if len(data) > _LARGEST:
        raise UrdfError(f'{path}: larger than {_LARGEST} bytes')
    try:
        root = etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True,
                                                      remove_comments=True))
    except etree.XMLSyntaxError as error:
        raise UrdfError(f'{path}: {one_line(error)}') from error
    if root.tag != 'robot':
        raise UrdfError(f'{path}: <{root.tag}> instead of <robot>: this is not an SRDF')
    return root
