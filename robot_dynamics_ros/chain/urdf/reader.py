# SPDX-License-Identifier: Apache-2.0
"""URDF to Chain: choose the chain, freeze and lump what does not move, place the frames."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain, Finding, Joint
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.chain.urdf.axes import (
    DUST,
    SNAP_TOLERANCE,
    JointAxis,
    Placement,
    place_frames,
)
from robot_dynamics_ros.chain.urdf.tree import (
    Tree,
    TreeJoint,
    tree_from_urdf,
    tree_from_urdf_text,
)
from robot_dynamics_ros.errors import ChainError
from robot_dynamics_ros.files.bounds import one_line

#: Gravitational acceleration along -z of the URDF root, unless told otherwise [m/s^2].
STANDARD_GRAVITY = 9.81


def chain_from_urdf(source: str | os.PathLike[str], *, base: str | None = None,
                    tip: str | None = None, gravity: ArrayLike | None = None,
                    locked: Mapping[str, float] | Sequence[str] | None = None,
                    snap: bool = True) -> Chain:
    """
    Read a robot and return one of its serial chains.

    :param source: path of a URDF (or .xacro) file, or the XML text: a string with ``<`` in it is
        text, any other a path. For text from outside use `chain_from_urdf_text`.
    :param base: base link; None = root link of the URDF.
    :param tip: tip link; None = found when the URDF has one moving chain.
    :param gravity: (3,) gravitational acceleration in the frame of `base` [m/s^2]; None = 9.81
        along -z of the URDF root.
    :param locked: joints to freeze, with their positions [rad, m]; names alone mean 0.
    :param snap: round almost-exact numbers (1.5708) to exact ones; each is a finding.
    :raises UrdfError: the text is not a usable URDF.
    :raises ChainError: the chain asked for does not exist or cannot be used.
    """
    return _chain(tree_from_urdf(source), base, tip, gravity, locked, snap)


def chain_from_urdf_text(text: str, *, base: str | None = None, tip: str | None = None,
                         gravity: ArrayLike | None = None,
                         locked: Mapping[str, float] | Sequence[str] | None = None,
                         snap: bool = True) -> Chain:
    """
    Return a serial chain of a robot whose URDF came from outside: no file is ever opened.

    :param text: XML text; the other parameters are those of `chain_from_urdf`.
    :raises UrdfError: the text is not a usable URDF.
    :raises ChainError: the chain asked for does not exist or cannot be used.
    """
    return _chain(tree_from_urdf_text(text), base, tip, gravity, locked, snap)


def _chain(tree: Tree, base: str | None, tip: str | None, gravity: ArrayLike | None,
           locked: Mapping[str, float] | Sequence[str] | None, snap: bool) -> Chain:
    frozen = locked_positions(tree, locked)
    base_link = tree.root if base is None else _known_link(tree, base, 'base')
    tip_link = _find_tip(tree, base_link, frozen) if tip is None else _known_link(tree, tip, 'tip')
    path = _path(tree, base_link, tip_link)
    moving = [joint for joint in path if joint.moving and joint.name not in frozen]
    _refuse_unusable(tree, moving, base_link, tip_link)

    poses = link_poses(tree, base_link, frozen)
    axes = [JointAxis(joint.name, poses[joint.child].translation,
                      poses[joint.child].rotation @ joint.axis, joint.type == 'prismatic')
            for joint in moving]
    base_pose, placements, roundings = place_frames(axes, snap)
    joints = tuple(_joint(joint, placement) for joint, placement in zip(moving, placements))
    frames = [base_pose]
    for joint in joints:
        frames.append(frames[-1] @ joint.pose())
    links = _lump(tree, moving, poses, frames[1:])
    physics, physics_findings = _joint_physics(moving)
    if gravity is None:
        gravity, tilt = _root_gravity(poses[tree.root], base_pose, snap)
        roundings += tilt
    chain = Chain(
        robot=tree.robot, base=base_link, tip=tip_link, joints=joints, links=links,
        link_names=tuple(joint.child for joint in moving),
        gravity=np.asarray(gravity, dtype=np.float64), base_pose=base_pose,
        tip_pose=frames[-1].inverse() @ poses[tip_link], joint_physics=physics,
        link_frames=tuple(frame.inverse() @ poses[joint.child]
                          for frame, joint in zip(frames[1:], moving)))
    return chain.with_findings([
        *tree.findings, *_limit_findings(moving), *physics_findings,
        *_frozen_findings(tree, moving, frozen), *_massless_findings(chain), *roundings,
        *_tip_error_finding(chain, moving, tree, frozen, roundings)])


def _known_link(tree: Tree, name: str, role: str) -> str:
    if name not in tree.inertias:
        some = ', '.join(list(tree.inertias)[:40])
        raise ChainError(f"{tree.label}: {role} link '{one_line(name)}' does not exist; "
                         f'links: {some}')
    return name


def locked_positions(tree: Tree, locked: Mapping[str, float] | Sequence[str] | None
                     ) -> dict[str, float]:
    """
    Return the positions [rad, m] of the joints to freeze, by name.

    :raises ChainError: an unknown joint, or a position that is not finite.
    """
    if locked is None:
        return {}
    if isinstance(locked, str):
        locked = [locked]
    items = locked.items() if isinstance(locked, Mapping) else [(name, 0.0) for name in locked]
    positions = {}
    for name, position in items:
        if name not in tree.joints:
            raise ChainError(f"{tree.label}: joint '{one_line(name)}' to be locked does not "
                             f'exist; joints: {", ".join(list(tree.joints)[:40])}')
        if not np.isfinite(position):
            raise ChainError(f"{tree.label}: joint '{name}' cannot be locked at {position}")
        positions[name] = float(position)
    return positions


def _find_tip(tree: Tree, base: str, frozen: Mapping[str, float]) -> str:
    """Return the child link of the last moving joint below `base`, if there is only one."""
    ends = []
    above_motion = _links_above_motion(tree, frozen)
    waiting = [(base, base)]
    while waiting:
        link, last_moved = waiting.pop()
        branches = tree.children(link)
        deeper = False
        for joint in branches:
            moves = joint.moving and joint.name not in frozen
            if moves or joint.child in above_motion:
                deeper = True
                waiting.append((joint.child, joint.child if moves else last_moved))
        if not deeper:
            ends.append(last_moved)
    ends = sorted(set(ends) - {base})
    if not ends:
        raise ChainError(f"{tree.label}: no moving joint below link '{base}'; joints are fixed "
                         'or locked')
    if len(ends) > 1:
        raise ChainError(f'{tree.label}: the robot has {len(ends)} moving chains; choose one with '
                         f'tip=... (or lock joints). Candidates: {", ".join(ends[:40])}')
    return ends[0]


def _links_above_motion(tree: Tree, frozen: Mapping[str, float]) -> set[str]:
    """Return the links with a moving joint somewhere below them."""
    above: set[str] = set()
    for joint in tree.joints.values():
        if joint.moving and joint.name not in frozen:
            link = joint.parent
            while link not in above:
                above.add(link)
                carrier = tree.parent_joint(link)
                if carrier is not None:
                    link = carrier.parent
    return above


def _path(tree: Tree, base: str, tip: str) -> list[TreeJoint]:
    path = tree.path_to(tip)
    if base != tree.root:
        below = [i for i, joint in enumerate(path) if joint.child == base]
        if not below:
            raise ChainError(f"{tree.label}: base link '{base}' is not an ancestor of tip link "
                             f"'{tip}'; links on the way to the tip: "
                             f'{", ".join([tree.root] + [joint.child for joint in path][:40])}')
        path = path[below[0] + 1:]
    return path


def _refuse_unusable(tree: Tree, moving: Sequence[TreeJoint], base: str, tip: str) -> None:
    if not moving:
        raise ChainError(f"{tree.label}: no moving joint between '{base}' and '{tip}'")
    for joint in moving:
        if joint.type in ('floating', 'planar'):
            raise ChainError(f"{tree.label}: joint '{joint.name}' on the chain is {joint.type}; "
                             f"choose base='{joint.child}' or lock it")
        if joint.mimic is not None:
            raise ChainError(f"{tree.label}: joint '{joint.name}' on the chain mimics "
                             f"'{joint.mimic}'; choose another tip or lock it")


def link_poses(tree: Tree, base: str, frozen: Mapping[str, float]) -> dict[str, Pose]:
    """Return every link in the frame of `base`, all joints at their frozen position or 0."""
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


def _joint(joint: TreeJoint, placement: Placement) -> Joint:
    return Joint(
        name=joint.name, type='prismatic' if joint.type == 'prismatic' else 'revolute',
        b=placement.b, beta=placement.beta, d=placement.d, theta=placement.theta,
        lower=joint.lower, upper=joint.upper, velocity_limit=joint.velocity_limit,
        effort_limit=joint.effort_limit, reduction=joint.reduction,
        continuous=joint.type == 'continuous')


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


def _joint_physics(moving: Sequence[TreeJoint]) -> tuple[JointPhysics, list[Finding]]:
    """Take damping and friction from <dynamics>."""
    findings = []
    values = {'damping': np.zeros(len(moving)), 'friction': np.zeros(len(moving))}
    for i, joint in enumerate(moving):
        for name, column in values.items():
            value = getattr(joint, name)
            if value < 0.0:
                findings.append(Finding('negative_friction', joint.name,
                                        f'{name} is {value:g}; taken as 0', value))
            column[i] = max(value, 0.0)
    n = len(moving)
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


def _frozen_findings(tree: Tree, moving: Sequence[TreeJoint], frozen: Mapping[str, float]
                     ) -> list[Finding]:
    """Say which joints off the chain were frozen, where that changes a moving body."""
    findings = []
    on_chain = {joint.name for joint in moving}
    waiting = [moving[0].child]
    while waiting:
        for joint in tree.children(waiting.pop()):
            waiting.append(joint.child)
            if joint.moving and joint.name not in on_chain:
                position = frozen.get(joint.name, 0.0)
                follows = joint.mimic in on_chain
                findings.append(Finding(
                    'frozen_joint', joint.name, f'is not on the chain: frozen at {position:g}'
                    + (f" although it follows '{joint.mimic}'" if follows else ''), position))
    return findings


def _massless_findings(chain: Chain) -> list[Finding]:
    return [Finding('zero_inertia', name, 'moves but has no mass and no inertia')
            for name in chain.massless_links]


def _tip_error_finding(chain: Chain, moving: Sequence[TreeJoint], tree: Tree,
                       frozen: Mapping[str, float], roundings: Sequence[Finding]
                       ) -> list[Finding]:
    """Say how far rounding moved the tip, at worst over a fixed sample of positions."""
    if not roundings:
        return []
    path = _path(tree, chain.base, chain.tip)
    columns = {joint.name: i for i, joint in enumerate(moving)}
    distance = angle = 0.0
    for q in sample_positions(chain):
        exact = Pose.identity()
        for joint in path:
            position = q[columns[joint.name]] if joint.name in columns else frozen.get(
                joint.name, 0.0)
            exact = exact @ joint.pose(position)
        error = chain.tip_pose_at(q).distance_to(exact)
        distance, angle = max(distance, error[0]), max(angle, error[1])
    return [Finding('tip_error', chain.tip, 'rounding moves the tip by at most '
                    f'{distance:.3g} m and {angle:.3g} rad', distance)]


def sample_positions(chain: Chain, count: int = 16) -> Array:
    """Return fixed pseudo-random joint positions (count, n): any angle, +-1 m [rad, m]."""
    reach = np.array([np.pi if joint.revolute else 1.0 for joint in chain.joints])
    return np.random.default_rng(0).uniform(-reach, reach, (count, len(chain)))
