# SPDX-License-Identifier: Apache-2.0
"""URDF to Chain: choose what moves, freeze and lump what does not, place the frames."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joint import Follower, Joint, Tip
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.chain.urdf.axes import (
    DUST,
    SNAP_TOLERANCE,
    JointAxis,
    Placement,
    place_frames,
)
from robot_dynamics_ros.chain.urdf.choices import choices_line
from robot_dynamics_ros.chain.urdf.selection import (
    SelectedJoints,
    path_between,
    selected_joints,
)
from robot_dynamics_ros.chain.urdf.tree import (
    Leader,
    Tree,
    TreeJoint,
    tree_from_urdf,
    tree_from_urdf_text,
)
from robot_dynamics_ros.errors import ChainError
from robot_dynamics_ros.files.bounds import one_line

#: Gravitational acceleration along -z of the URDF root, unless told otherwise [m/s^2].
STANDARD_GRAVITY = 9.81


#: Joints to freeze: names or patterns such as ``finger*``, with positions [rad, m] or at 0.
Locked: TypeAlias = Mapping[str, float] | Sequence[str] | None


def chain_from_urdf(source: str | os.PathLike[str], *, base: str | None = None,
                    tip: str | None = None, tips: Sequence[str] | None = None,
                    gravity: ArrayLike | None = None, locked: Locked = None,
                    snap: bool = True) -> Chain:
    """
    Read a robot as it is, or a part of it.

    Without `tip` and `tips` all joints below `base` move that are not locked.

    :param source: path of a URDF (or .xacro) file, or the XML text: a string with ``<`` in it is
        text, any other a path. For text from outside use `chain_from_urdf_text`.
    :param base: base link; None = root link of the URDF.
    :param tip: tip link: only the joints on the way to it move.
    :param tips: several tip links: only the joints on the ways to them move.
    :param gravity: (3,) gravitational acceleration in the frame of `base` [m/s^2]; None = 9.81
        along -z of the URDF root.
    :param locked: joints to freeze, with their positions [rad, m]; names alone mean 0. A name may
        be a pattern with ``*`` and ``?``.
    :param snap: round almost-exact numbers (1.5708) to exact ones; each is a finding.
    :raises UrdfError: the text is not a usable URDF.
    :raises ChainError: the part asked for does not exist or cannot be used.
    """
    return _chain(tree_from_urdf(source), base, _asked(tip, tips), gravity, locked, snap)


def chain_from_urdf_text(text: str, *, base: str | None = None, tip: str | None = None,
                         tips: Sequence[str] | None = None, gravity: ArrayLike | None = None,
                         locked: Locked = None, snap: bool = True) -> Chain:
    """
    Return a robot whose URDF came from outside: no file is ever opened.

    :param text: XML text; the other parameters are those of `chain_from_urdf`.
    :raises UrdfError: the text is not a usable URDF.
    :raises ChainError: the part asked for does not exist or cannot be used.
    """
    return _chain(tree_from_urdf_text(text), base, _asked(tip, tips), gravity, locked, snap)


def _asked(tip: str | None, tips: Sequence[str] | None) -> list[str]:
    """Return the tips that are asked for; none = the whole robot."""
    several = [tips] if isinstance(tips, str) else list(tips or ())
    if tip is not None and several:
        raise ChainError('give tip or tips, not both')
    return several if tip is None else [tip]


def _chain(tree: Tree, base: str | None, asked: Sequence[str], gravity: ArrayLike | None,
           locked: Locked, snap: bool) -> Chain:
    frozen = locked_positions(tree, locked)
    base_link = tree.root if base is None else _known_link(tree, base, 'base')
    parts = selected_joints(tree, base_link, [_known_link(tree, tip, 'tip') for tip in asked],
                            frozen)
    moving = parts.moving
    _refuse_unusable(tree, parts, base_link, asked)

    poses = link_poses(tree, base_link, frozen)
    axes = [JointAxis(joint.name, poses[joint.child].translation,
                      poses[joint.child].rotation @ joint.axis, joint.type == 'prismatic')
            for joint in moving]
    base_pose, placements, roundings = place_frames(axes, snap, parts.parents)
    serial = parts.parents == list(range(len(moving)))
    joints = [_joint(joint, placement, None if serial else parent)
              for joint, placement, parent in zip(moving, placements, parts.parents)]
    frames = [base_pose]
    for joint, parent in zip(joints, parts.parents):
        frames.append(frames[parent] @ joint.pose())
    links = _lump(tree, moving, poses, frames[1:])
    names = [joint.name for joint in moving]
    independent = [name for name in names if name not in parts.leaders]
    followers = tuple(
        Follower(joint, i, independent.index(lead.leader) + 1, lead.multiplier, lead.offset)
        for i, joint in enumerate(joints, start=1)
        if (lead := parts.leaders.get(joint.name)) is not None)
    physics, physics_findings = _joint_physics(moving, independent, parts.leaders)
    if gravity is None:
        gravity, tilt = _root_gravity(poses[tree.root], base_pose, snap)
        roundings += tilt
    first, *further = (Tip(link, number, frames[number].inverse() @ poses[link])
                       for link, number in parts.tips)
    chain = Chain(
        robot=tree.robot, base=base_link, tip=first.link,
        joints=tuple(joint for joint in joints if joint.name not in parts.leaders), links=links,
        link_names=tuple(joint.child for joint in moving),
        gravity=np.asarray(gravity, dtype=np.float64), base_pose=base_pose,
        tip_pose=first.pose, joint_physics=physics,
        tip_joint=None if first.joint == len(moving) else first.joint,
        further_tips=tuple(further), followers=followers,
        link_frames=tuple(frame.inverse() @ poses[joint.child]
                          for frame, joint in zip(frames[1:], moving)))
    return chain.with_findings([
        *tree.findings, *_limit_findings(moving), *physics_findings,
        *_frozen_findings(tree, moving, frozen, parts.parents), *_massless_findings(chain),
        *roundings, *_tip_error_finding(chain, tree, frozen, roundings)])


def _known_link(tree: Tree, name: str, role: str) -> str:
    if name not in tree.inertias:
        hint = choices_line(tree) if role == 'tip' else ''
        raise ChainError(f"{tree.label}: {role} link '{one_line(name)}' does not exist; "
                         f'{hint}links: {", ".join(list(tree.inertias)[:40])}')
    return name


def locked_positions(tree: Tree, locked: Locked) -> dict[str, float]:
    """
    Return the positions [rad, m] of the joints to freeze, by name.

    A joint that follows a frozen one is frozen where that one puts it, unless it is named itself.

    :param locked: names or patterns, with positions or at 0; a later one counts.
    :raises ChainError: no such joint, or a position that is not finite.
    """
    if locked is None:
        locked = {}
    if isinstance(locked, str):
        locked = [locked]
    items = locked.items() if isinstance(locked, Mapping) else [(name, 0.0) for name in locked]
    positions: dict[str, float] = {}
    for name, position in items:
        pattern = any(letter in name for letter in '*?[')
        names = ([name] if name in tree.joints else
                 [each for each in tree.joints if pattern and fnmatchcase(each, name)])
        if not names:
            what = 'matches no joint' if pattern else 'does not exist'
            raise ChainError(f"{tree.label}: joint '{one_line(name)}' to be locked {what}; "
                             f'joints: {", ".join(list(tree.joints)[:40])}')
        if not np.isfinite(position):
            raise ChainError(f"{tree.label}: joint '{name}' cannot be locked at {position}")
        positions |= dict.fromkeys(names, float(position))
    for joint in tree.joints.values():
        lead = tree.leader(joint.name, positions)
        if lead is None or joint.name in positions:
            continue
        if lead.leader in positions or not tree.joints[lead.leader].moving:
            at = positions.get(lead.leader, 0.0)
            positions[joint.name] = lead.multiplier * at + lead.offset
    return positions


def _refuse_unusable(tree: Tree, parts: SelectedJoints, base: str, asked: Sequence[str]) -> None:
    if not parts.moving:
        where = f"between '{base}' and '{', '.join(asked)}'" if asked else (
            f"below link '{base}'; joints are fixed or locked")
        raise ChainError(f'{tree.label}: no moving joint {where}')
    for joint in parts.moving:
        if joint.type in ('floating', 'planar'):
            raise ChainError(
                f"{tree.label}: joint '{joint.name}' on the chain is {joint.type}; choose "
                f"base='{joint.child}' (--base {joint.child}) or freeze it where it stands "
                f'(--lock {joint.name}): a base that moves freely is not modelled')
    names = {joint.name for joint in parts.moving}
    for name, lead in parts.leaders.items():
        if lead.leader not in names:
            raise ChainError(f"{tree.label}: joint '{name}' on the chain mimics '{lead.leader}', "
                             f'which is not on it; choose another tip or lock it (--lock {name})')


def link_poses(tree: Tree, base: str, frozen: Mapping[str, float]) -> dict[str, Pose]:
    """
    Return every link in the frame of `base`, all joints at their frozen position or 0.

    Joints that follow one that is not frozen are at 0 like it: their offset is part of their q.
    """
    poses = {tree.root: Pose.identity()}
    waiting = [tree.root]
    while waiting:
        link = waiting.pop()
        for joint in tree.children(link):
            poses[joint.child] = poses[link] @ joint.pose(frozen.get(joint.name, 0.0))
            waiting.append(joint.child)
    if base == tree.root:
        return poses
    to_base = poses[base].inverse()
    return {link: to_base @ pose for link, pose in poses.items()}


def _root_gravity(root: Pose, base_pose: Pose, snap: bool) -> tuple[Array, list[Finding]]:
    """
    Return gravity along -z of the URDF root, in the base frame.

    With `snap` it is made exactly parallel or perpendicular to axes of E_0 that it almost is:
    what minimal parameters a robot has depends on it.

    :param root: root link in the base frame.
    :param base_pose: E_0 in the base frame.
    """
    down = root.rotation @ np.array([0.0, 0.0, -STANDARD_GRAVITY])
    in_frame_0 = base_pose.rotation.T @ down
    tolerance = (SNAP_TOLERANCE if snap else DUST) * STANDARD_GRAVITY
    small = np.abs(in_frame_0) <= tolerance
    tilt = float(np.linalg.norm(in_frame_0[small])) / STANDARD_GRAVITY
    in_frame_0[small] = 0.0
    in_frame_0 *= STANDARD_GRAVITY / np.linalg.norm(in_frame_0)
    gravity = base_pose.rotation @ in_frame_0
    findings = [] if tilt <= DUST else [Finding(
        'snapped', '', f'gravity is {tilt:.3g} rad off an axis of the first joint frame and was '
        'turned onto it', tilt)]
    return np.where(np.abs(gravity) < 1e-15 * STANDARD_GRAVITY, 0.0, gravity), findings


def _joint(joint: TreeJoint, placement: Placement, parent: int | None) -> Joint:
    return Joint(
        name=joint.name, type='prismatic' if joint.type == 'prismatic' else 'revolute',
        b=placement.b, beta=placement.beta, d=placement.d, theta=placement.theta,
        lower=joint.lower, upper=joint.upper, velocity_limit=joint.velocity_limit,
        effort_limit=joint.effort_limit, reduction=joint.reduction,
        continuous=joint.type == 'continuous', parent=parent, gamma=placement.gamma,
        epsilon=placement.epsilon)


def _lump(tree: Tree, moving: Sequence[TreeJoint], poses: Mapping[str, Pose],
          frames: Sequence[Pose]) -> tuple[Inertia, ...]:
    """Add up, for every moving joint, the links that move with it, in its frame E_i."""
    bodies = []
    on_chain = {joint.name for joint in moving}
    for joint, frame in zip(moving, frames):
        to_frame = frame.inverse()
        body = Inertia.zero()
        waiting = [joint.child]
        while waiting:
            link = waiting.pop()
            body = body + tree.inertias[link].seen_from(to_frame @ poses[link])
            waiting += [branch.child for branch in tree.children(link)
                        if branch.name not in on_chain]
        bodies.append(body)
    return tuple(bodies)


def _joint_physics(moving: Sequence[TreeJoint], independent: Sequence[str],
                   leaders: Mapping[str, Leader]) -> tuple[JointPhysics, list[Finding]]:
    """Take damping and friction from <dynamics>; that of a follower is felt by its leader."""
    findings = []
    values = {'damping': np.zeros(len(independent)), 'friction': np.zeros(len(independent))}
    for joint in moving:
        lead = leaders.get(joint.name, Leader(joint.name, 1.0, 0.0))
        for name, column in values.items():
            value = getattr(joint, name)
            if value < 0.0:
                findings.append(Finding('negative_friction', joint.name,
                                        f'{name} is {value:g}; taken as 0', value))
            ratio = abs(lead.multiplier) ** (2 if name == 'damping' else 1)
            column[independent.index(lead.leader)] += ratio * max(value, 0.0)
    n = len(independent)
    return JointPhysics(np.zeros(n), values['damping'], values['friction'], np.zeros(n)), findings


def _limit_findings(moving: Sequence[TreeJoint]) -> list[Finding]:
    findings = []
    for joint in moving:
        for kind in ('effort', 'velocity'):
            if np.isnan(getattr(joint, f'{kind}_limit')):
                findings.append(Finding(f'unknown_{kind}_limit', joint.name,
                                        f'{kind} limit is absent or 0: taken as unknown'))
        if joint.type != 'continuous' and np.isinf(joint.lower):
            findings.append(Finding('unknown_position_limits', joint.name,
                                    'has no usable position limits'))
    return findings


def _frozen_findings(tree: Tree, moving: Sequence[TreeJoint], frozen: Mapping[str, float],
                     parents: Sequence[int]) -> list[Finding]:
    """Say which joints off the chain were frozen, where that changes a moving body."""
    findings = []
    on_chain = {joint.name for joint in moving}
    waiting = [joint.child for joint, parent in zip(moving, parents) if parent == 0]
    while waiting:
        for joint in tree.children(waiting.pop()):
            waiting.append(joint.child)
            if joint.moving and joint.name not in on_chain:
                position = frozen.get(joint.name, 0.0)
                lead = tree.leader(joint.name)
                follows = lead is not None and lead.leader in on_chain
                findings.append(Finding(
                    'frozen_joint', joint.name, f'is not on the chain: frozen at {position:g}'
                    + (f" although it follows '{joint.mimic}'" if follows else ''), position))
    return findings


def _massless_findings(chain: Chain) -> list[Finding]:
    return [Finding('zero_inertia', name, 'moves but has no mass and no inertia')
            for name in chain.massless_links]


def _tip_error_finding(chain: Chain, tree: Tree, frozen: Mapping[str, float],
                       roundings: Sequence[Finding]) -> list[Finding]:
    """Say how far rounding moved a tip, at worst over a fixed sample of positions."""
    if all(finding.kind == 'nearly_parallel' for finding in roundings):  # nothing was rounded
        return []
    worst = (0.0, 0.0, chain.tip)
    for q in sample_positions(chain):
        positions = dict(zip((joint.name for joint in chain.moving),
                             chain.moving_positions(list(q))))
        poses = chain.joint_poses(q)
        for tip in chain.tips:
            exact = Pose.identity()
            for joint in path_between(tree, chain.base, tip.link):
                exact = exact @ joint.pose(positions.get(joint.name,
                                                         frozen.get(joint.name, 0.0)))
            error = (poses[tip.joint - 1] @ tip.pose).distance_to(exact)
            worst = max(worst[0], error[0]), max(worst[1], error[1]), (
                tip.link if error[0] > worst[0] else worst[2])
    return [Finding('tip_error', worst[2], 'rounding moves the tip by at most '
                    f'{worst[0]:.3g} m and {worst[1]:.3g} rad', worst[0])]


def sample_positions(chain: Chain, count: int = 16) -> Array:
    """Return fixed pseudo-random joint positions (count, n): any angle, +-1 m [rad, m]."""
    reach = np.array([np.pi if joint.revolute else 1.0 for joint in chain.joints])
    return np.random.default_rng(0).uniform(-reach, reach, (count, len(chain)))
