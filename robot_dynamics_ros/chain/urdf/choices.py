# SPDX-License-Identifier: Apache-2.0
"""Sensible tips of a robot: the hand, flange or tool link of every arm, not its fingers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from robot_dynamics_ros.chain.urdf.tree import Tree, TreeJoint

#: Names of links at the end of an arm.
_END_LINKS = ('tool0', 'tcp', 'tool', 'flange', 'hand', 'palm', 'ee', 'end_effector', 'gripper')

#: Names of links that a hand carries, but nobody works with.
_SENSOR = re.compile('led|camera|optical|motor|sensor|imu|accelerometer', re.IGNORECASE)

#: Names of joints that belong to a hand.
_FINGER = re.compile('finger|thumb|gripper|knuckle|hand|claw|jaw|index|middle|ring_|pinky|little',
                     re.IGNORECASE)

#: A prismatic joint at the end with less stroke than this is a finger [m].
_FINGER_STROKE = 0.15


class Choice(NamedTuple):
    """
    One part of a robot that can be chosen.

    :param tip: tip link.
    :param joints: names of the joints that move on the way to it, followers left out.
    """

    tip: str
    joints: tuple[str, ...]

    @property
    def joint_count(self) -> str:
        """How many joints there are, in words: ``8 joints``."""
        return f'{len(self.joints)} joint{"" if len(self.joints) == 1 else "s"}'


def choices(tree: Tree, base: str | None = None,
            frozen: Mapping[str, float] | None = None) -> list[Choice]:
    """
    Return the arms of a robot, each up to its hand, flange or tool link.

    :param tree: the robot.
    :param base: base link; None = the root.
    :param frozen: joints that do not move.
    """
    still = frozen or {}
    led = {tree.joints[name].mimic for name in tree.joints} - {None}

    def moves(joint: TreeJoint) -> bool:
        return joint.moving and joint.name not in still

    def finger(joint: TreeJoint) -> bool:
        short = joint.type == 'prismatic' and joint.upper - joint.lower < _FINGER_STROKE
        return (short or joint.mimic is not None or joint.name in led
                or bool(_FINGER.search(joint.name)))

    found: dict[str, Choice] = {}
    root = base or tree.root
    for joint in tree.joints.values():
        path = tree.path_to(joint.child)
        links = [tree.root, *(each.child for each in path)]
        if root not in links:
            continue
        path = path[links.index(root):]
        moving = [each for each in path if moves(each)]
        if not moving or moving[-1] is not joint or _carries_motion(tree, joint.child, moves):
            continue
        arm = list(moving)
        while len(arm) > 1 and finger(arm[-1]):
            arm.pop()
        tip = _end_link(tree, arm[-1].child, moves)
        found[tip] = Choice(tip, tuple(each.name for each in arm if each.mimic is None))
    return list(found.values())


def choices_line(tree: Tree) -> str:
    """Return the sensible tips, as options of the command line, as a part of a message."""
    tips = ', '.join(f'--tip {choice.tip} ({choice.joint_count})' for choice in choices(tree)[:12])
    return f'sensible tips: {tips}; ' if tips else ''


def _carries_motion(tree: Tree, link: str, moves: Callable[[TreeJoint], bool]) -> bool:
    waiting = [link]
    while waiting:
        for joint in tree.children(waiting.pop()):
            if moves(joint):
                return True
            waiting.append(joint.child)
    return False


def _end_link(tree: Tree, link: str, moves: Callable[[TreeJoint], bool]) -> str:
    """Return the outermost link fixed to `link` that is named like an end; else `link`."""
    fixed = {link: 0}  # with the number of fixed joints between
    waiting = [link]
    while waiting:
        inner = waiting.pop()
        for joint in tree.children(inner):
            if not moves(joint):
                fixed[joint.child] = fixed[inner] + 1
                waiting.append(joint.child)
    named = [name for name in fixed if not _SENSOR.search(name)
             and re.search(rf'(^|[_/-])({"|".join(_END_LINKS)})($|[_/-])', name, re.IGNORECASE)]
    return max(named, key=lambda name: fixed[name]) if named else link
