# SPDX-License-Identifier: Apache-2.0
"""Which joints of a tree move: the whole robot, or the ways to some tips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robot_dynamics_ros.chain.urdf.choices import choices
from robot_dynamics_ros.chain.urdf.tree import Leader, Tree, TreeJoint
from robot_dynamics_ros.errors import ChainError


@dataclass(frozen=True, eq=False)
class SelectedJoints:
    """
    The joints of a robot that move, in the order of their numbers 1..m.

    :param moving: the joints, base first, a parent before its children.
    :param parents: number of the joint that carries each of them; 0 = the base.
    :param leaders: which joint is followed, by the name of the follower.
    :param tips: tip links, each with the number of the joint that carries it.
    """

    moving: list[TreeJoint]
    parents: list[int]
    leaders: Mapping[str, Leader]
    tips: list[tuple[str, int]]


def selected_joints(tree: Tree, base: str, tips: Sequence[str],
                    frozen: Mapping[str, float]) -> SelectedJoints:
    """
    Return the joints between a base link and tips.

    :param tree: the robot.
    :param base: base link.
    :param tips: tip links; none = all joints below the base. The tip of a single chain is then
        the link of its last moving joint, those of a tree are what `choices` finds.
    :param frozen: joints that do not move.
    :raises ChainError: a tip that is not below the base.
    """
    ways = [path_between(tree, base, tip) for tip in tips]
    wanted = {joint.name for way in ways for joint in way} if tips else None
    moving: list[TreeJoint] = []
    parents: list[int] = []
    carriers = {base: 0}  # number of the moving joint that carries a link
    waiting = [(joint, 0) for joint in reversed(tree.children(base))]
    while waiting:  # depth first, in the order of the file
        joint, number = waiting.pop()
        if wanted is not None and joint.name not in wanted:
            continue
        if joint.moving and joint.name not in frozen:
            moving.append(joint)
            parents.append(number)
            number = len(moving)
        carriers[joint.child] = number
        waiting += [(branch, number) for branch in reversed(tree.children(joint.child))]
    names = {joint.name for joint in moving}
    leaders = {name: lead for name in names if (lead := tree.leader(name)) is not None}
    if tips:
        ends = [(tip, carriers[tip]) for tip in dict.fromkeys(tips)]
        return SelectedJoints(moving, parents, leaders, [end for end in ends if end[1]])
    ends = [(moving[i - 1].child, i) for i in range(1, len(moving) + 1) if i not in parents]
    if len(ends) > 1:
        ends = [(choice.tip, carriers[choice.tip]) for choice in choices(tree, base, frozen)]
    return SelectedJoints(moving, parents, leaders, ends)


def path_between(tree: Tree, base: str, tip: str) -> list[TreeJoint]:
    """
    Return all joints from a base link to a tip link.

    :raises ChainError: the tip is not below the base.
    """
    path = tree.path_to(tip)
    if base != tree.root:
        below = [i for i, joint in enumerate(path) if joint.child == base]
        if not below:
            raise ChainError(f"{tree.label}: base link '{base}' is not an ancestor of tip link "
                             f"'{tip}'; links on the way to the tip: "
                             f'{", ".join([tree.root] + [joint.child for joint in path][:40])}')
        path = path[below[0] + 1:]
    return path
