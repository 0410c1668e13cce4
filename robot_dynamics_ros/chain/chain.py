# SPDX-License-Identifier: Apache-2.0
"""The robot: a chain or tree of joints in normal driving-axis frames, link inertias, gravity."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, freeze, immutable
from robot_dynamics_ros.chain.inertia import STANDARD_PARAMETERS, Inertia, payload_inertia
from robot_dynamics_ros.chain.joint import Follower, Joint, JointTree, Tip
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.errors import ChainError, ParameterError, StateError
from robot_dynamics_ros.files.bounds import one_line

#: More is a mistake, and products with it would overflow [m/s^2].
LARGEST_GRAVITY = 1e4


@dataclass(frozen=True)
class Finding:
    """
    One remark about a robot.

    :param kind: short stable key, e.g. ``'negative_mass'``; programs match on it.
    :param where: name of the link or joint, or ``''`` for the robot.
    :param message: one sentence for people.
    :param value: the number the remark is about, where there is one (SI units).
    :param remedy: text to paste: YAML for joints.yaml, or an option of the command line; ``''``
        where there is none.
    """

    kind: str
    where: str
    message: str
    value: float | None = None
    remedy: str = ''

    def __str__(self) -> str:
        """Return ``where: message``, and what to do about it."""
        said = f'{self.where}: {self.message}' if self.where else self.message
        if not self.remedy:
            return said
        place = '' if self.remedy.startswith('-') else ' in joints.yaml'
        return f'{said}; try{place} {self.remedy}'


@immutable
@dataclass(frozen=True, eq=False)
class Chain(JointTree):
    """
    A robot between a base and its tip links. Immutable; `with_...` returns a changed copy.

    A serial chain has one tip; a tree (two arms, a torso, a hand) has several. Where joints
    follow others (URDF's mimic), vectors are those of the n joints that do not; m joints move.

    :param robot: name of the robot.
    :param base: name of the base link.
    :param tip: name of the tip link; of several ones the first.
    :param joints: the joints 1..n with a position of their own, base first.
    :param links: inertia of the moving bodies 1..m, each in its frame E_i; fixed links lumped.
    :param link_names: name of the link each moving joint carries.
    :param gravity: (3,) gravitational acceleration in the frame of `base` [m/s^2].
    :param base_pose: E_0 in the frame of `base`.
    :param tip_pose: frame of the tip link in E_n, or in that of `tip_joint`.
    :param joint_physics: rotor inertia, friction, offset, coupling.
    :param findings: what was noticed about the robot.
    :param link_frames: frame of each link of `link_names` in its E_i; empty = E_i itself.
    :param tip_joint: number (1..m) of the moving joint that carries the tip link; None = m.
    :param further_tips: the other tips of a tree.
    :param followers: joints that follow others, by number.
    """

    robot: str
    base: str
    tip: str
    joints: tuple[Joint, ...]
    links: tuple[Inertia, ...]
    link_names: tuple[str, ...]
    gravity: Array
    base_pose: Pose
    tip_pose: Pose
    joint_physics: JointPhysics
    findings: tuple[Finding, ...] = ()
    link_frames: tuple[Pose, ...] = ()
    tip_joint: int | None = None
    further_tips: tuple[Tip, ...] = ()
    followers: tuple[Follower, ...] = ()

    def __post_init__(self) -> None:
        """Freeze the gravity vector and check that the parts fit together."""
        freeze(self, 'gravity')
        if self.gravity.shape != (3,) or not np.all(np.abs(self.gravity) <= LARGEST_GRAVITY):
            raise ChainError('gravity must be three finite numbers of at most '
                             f'{LARGEST_GRAVITY:g} m/s^2, got {one_line(self.gravity)}')
        if not self.joints:
            raise ChainError(f'robot {self.robot}: no moving joint between {self.base} '
                             f'and {self.tip}')
        if not len(self.moving) == len(self.links) == len(self.link_names):
            raise ChainError(f'{len(self.moving)} joints, {len(self.links)} links and '
                             f'{len(self.link_names)} link names do not fit together')
        if not self.link_frames:
            object.__setattr__(self, 'link_frames', (Pose.identity(),) * len(self.moving))
        if len(self.link_frames) != len(self.moving):
            raise ChainError(f'{len(self.moving)} joints and {len(self.link_frames)} link frames '
                             'do not fit together')
        for i, (joint, parent) in enumerate(zip(self.moving, self.parents), start=1):
            if not 0 <= parent < i:
                raise ChainError(f'joint {joint.name} is number {i} and its parent number '
                                 f'{parent}: parents come before their children')
        for tip in self.tips:
            if not 1 <= tip.joint <= len(self.moving):
                raise ChainError(f'tip {tip.link} is on joint {tip.joint}, there are '
                                 f'{len(self.moving)}')
        self.joint_physics.check(self.joint_names)

    def __repr__(self) -> str:
        """Return what a reader wants to know first."""
        types = ''.join('R' if joint.revolute else 'P' for joint in self.joints)
        mass = sum(link.mass for link in self.links)
        return (f'<Chain of {self.robot}: {self.joint_summary} from {self.base} to '
                f'{self.tip_names}, {types}, {mass:.4g} kg>')

    @cached_property
    def tips(self) -> tuple[Tip, ...]:
        """Tip links, `tip` first."""
        return (Tip(self.tip, self.tip_joint or len(self.moving), self.tip_pose),
                *self.further_tips)

    @property
    def released(self) -> Chain:
        """The robot with all m moving joints as joints of their own: none follows another."""
        if not self.followers:
            return self
        m = len(self.moving)
        return replace(self, joints=self.moving, followers=(), joint_physics=JointPhysics.zero(m))

    @property
    def tip_names(self) -> str:
        """Names of the tips for messages."""
        return ', '.join(tip.link for tip in self.tips)

    def tip_called(self, name: str | None = None) -> Tip:
        """
        Return a tip by the name of its link.

        :param name: name of the link; None = `tip`, the first one.
        :raises ChainError: no tip with this name.
        """
        for tip in self.tips:
            if name is None or tip.link == name:
                return tip
        raise ChainError(f"robot {self.robot} has no tip '{one_line(name)}'; "
                         f'tips: {self.tip_names}')

    @property
    def gravity_in_frame_0(self) -> Array:
        """Gravitational acceleration (3,) in E_0 [m/s^2]; rounding dust removed."""
        g = self.base_pose.rotation.T @ self.gravity
        return np.where(np.abs(g) < 1e-15 * np.linalg.norm(g), 0.0, g)

    @property
    def standard_parameters(self) -> Array:
        """Ten STANDARD_PARAMETERS of every link (10 m,), link 1 first."""
        return np.concatenate([link.standard_parameters for link in self.links])

    @property
    def massless_links(self) -> tuple[str, ...]:
        """Names of the links that move but have neither mass nor inertia."""
        return tuple(name for name, link in zip(self.link_names, self.links)
                     if not link.standard_parameters.any())

    @property
    def standard_parameter_names(self) -> tuple[str, ...]:
        """Names such as ``XX1 ... M1, XX2 ...`` (10 m)."""
        return tuple(f'{name}{i + 1}' for i in range(len(self.links))
                     for name in STANDARD_PARAMETERS)

    def joint_poses(self, q: ArrayLike) -> list[Pose]:
        """
        Return the frames E_1..E_m in the frame of the base link.

        :param q: (n,) joint positions [rad, m].
        """
        positions = np.asarray(q, dtype=np.float64)
        if positions.shape != (len(self),):
            raise StateError(f'q has shape {positions.shape}, expected ({len(self)},): '
                             f'{", ".join(self.joint_names)}')
        poses = [self.base_pose]
        for joint, parent, position in zip(self.moving, self.parents,
                                           self.moving_positions(list(positions))):
            poses.append(poses[parent] @ joint.pose(float(position)))
        return poses[1:]

    def zero_poses(self) -> list[Pose]:
        """Return the frames E_1..E_m in the base link with all moving joints at 0, as the URDF."""
        poses = [self.base_pose]
        for joint, parent in zip(self.moving, self.parents):
            poses.append(poses[parent] @ joint.pose())
        return poses[1:]

    def tip_pose_at(self, q: ArrayLike, tip: str | None = None) -> Pose:
        """
        Return the pose of a tip link in the base link.

        :param q: (n,) joint positions [rad, m].
        :param tip: name of the tip link; None = `tip`.
        """
        end = self.tips[0] if tip is None else self.tip_called(tip)
        return self.joint_poses(q)[end.joint - 1] @ end.pose

    def with_joint_physics(self, joint_physics: JointPhysics) -> Chain:
        """Return the chain with other rotor inertias, friction, offsets or coupling."""
        return replace(self, joint_physics=joint_physics)

    def with_links(self, links: Sequence[Inertia]) -> Chain:
        """Return the chain with other link inertias."""
        return replace(self, links=tuple(links))

    def with_standard_parameters(self, parameters: ArrayLike) -> Chain:
        """Return the chain with the link inertias of a (10 m,) parameter vector."""
        x = np.asarray(parameters, dtype=np.float64)
        if x.shape != (10 * len(self.links),):
            raise ParameterError(f'standard parameters have shape {x.shape}, expected '
                                 f'({10 * len(self.links)},): ten per link of {self.joint_names}')
        return self.with_links([Inertia.from_standard_parameters(row)
                                for row in x.reshape(-1, 10)])

    def with_gravity(self, gravity: ArrayLike) -> Chain:
        """Return the chain under another gravity (3,) in the frame of `base` [m/s^2]."""
        return replace(self, gravity=np.asarray(gravity, dtype=np.float64))

    def with_tip(self, tip: str) -> Chain:
        """
        Return the robot with another of its tips as the first one: the `tip` of Jacobians.

        :param tip: name of the tip link.
        :raises ChainError: no tip with this name.
        """
        first = self.tip_called(tip)
        return replace(self, tip=first.link, tip_pose=first.pose, tip_joint=first.joint,
                       further_tips=tuple(each for each in self.tips if each is not first))

    def with_payload(self, payload: Inertia | float, centre: ArrayLike | None = None,
                     tensor: ArrayLike | None = None, *, tip: str | None = None) -> Chain:
        """
        Return the chain with a body fixed to a tip: ``chain.with_payload(1.0, [0, 0, 0.1])``.

        :param payload: its inertia in the tip frame, or its mass [kg].
        :param centre: (3,) centre of mass in the tip frame [m]; goes with a mass.
        :param tensor: (3, 3) inertia tensor about the centre of mass, axes of the tip frame
            [kg m^2]; None = a point mass.
        :param tip: name of the tip link; None = `tip`, the first one.
        :raises ParameterError: no body has these numbers.
        :raises ChainError: no tip with this name.
        """
        if not isinstance(payload, Inertia):
            if centre is None:
                raise ParameterError('payload: a mass needs a centre of mass in the tip frame, '
                                     'such as with_payload(1.0, [0.0, 0.0, 0.1])')
            payload = payload_inertia(payload, centre,
                                      np.zeros((3, 3)) if tensor is None else tensor)
        elif centre is not None or tensor is not None:
            raise ParameterError('payload: an Inertia has its own centre of mass and tensor')
        end = self.tip_called(tip)
        links = list(self.links)
        links[end.joint - 1] = links[end.joint - 1] + payload.seen_from(end.pose)
        return self.with_links(links)

    def with_findings(self, findings: Iterable[Finding]) -> Chain:
        """Return the chain with further findings."""
        return replace(self, findings=(*self.findings, *findings))

    def geometry_hash(self, *extra: str) -> str:
        """
        Return a sha256 over names, types, geometry and gravity, not over inertias.

        :param extra: further text that belongs to the identity (set name, MLC names).
        """
        digest = hashlib.sha256()
        for joint in self.moving:
            numbers = (joint.b, joint.beta, joint.d, joint.theta)
            digest.update(f'{joint.name}|{joint.type}|'.encode())
            digest.update(','.join(f'{x + 0.0:.12g}' for x in numbers).encode())
        digest.update(','.join(f'{x + 0.0:.12g}' for x in self.gravity_in_frame_0).encode())
        if not self.serial:
            for joint, parent in zip(self.moving, self.parents):
                digest.update(f'|{parent},{joint.gamma + 0.0:.12g},{joint.epsilon + 0.0:.12g}'
                              .encode())
            for each in self.followers:
                digest.update(f'|{each.number},{each.leader},{each.multiplier:.12g},'
                              f'{each.offset + 0.0:.12g}'.encode())
        digest.update('\n'.join(extra).encode())
        return digest.hexdigest()
