# SPDX-License-Identifier: Apache-2.0
"""The serial chain: joints in normal driving-axis frames, link inertias, gravity, findings."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.arrays import Array, freeze, immutable
from robot_dynamics_ros.chain.inertia import STANDARD_PARAMETERS, Inertia, payload_inertia
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


JointType = Literal['revolute', 'prismatic']


def exact_cos_sin(angle: float) -> tuple[float, float]:
    """Return cosine and sine, exactly 0 or +-1 where `angle` is a multiple of pi/2."""
    quarter_turns = round(angle / (math.pi / 2))
    if abs(angle - quarter_turns * (math.pi / 2)) <= 4e-16 * max(1.0, abs(angle)):
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[quarter_turns % 4]
    return math.cos(angle), math.sin(angle)


@dataclass(frozen=True)
class Joint:
    """
    One moving joint and its place: E_i in E_(i-1) is Tx(b) Rx(beta) Tz(d) Rz(theta).

    A revolute joint turns by ``theta + q``, a prismatic one slides by ``d + q``.

    :param name: name in the URDF.
    :param type: 'revolute' (also URDF's continuous) or 'prismatic'.
    :param b: distance of the axes along x_(i-1) [m].
    :param beta: angle of the axes about x_(i-1) [rad].
    :param d: offset along z_i [m], at q = 0.
    :param theta: angle about z_i [rad], at q = 0.
    :param lower: lower position limit [rad, m]; -inf = none known.
    :param upper: upper position limit [rad, m]; inf = none known.
    :param velocity_limit: largest velocity [rad/s, m/s]; NaN = unknown.
    :param effort_limit: largest effort [N m, N]; NaN = unknown.
    :param reduction: gear reduction of the transmission; NaN = unknown.
    :param continuous: True for URDF's type continuous: q and q + 2 pi are one place.
    """

    name: str
    type: JointType
    b: float
    beta: float
    d: float
    theta: float
    lower: float = -math.inf
    upper: float = math.inf
    velocity_limit: float = math.nan
    effort_limit: float = math.nan
    reduction: float = math.nan
    continuous: bool = False

    def __post_init__(self) -> None:
        """Refuse a type that would silently be taken for a prismatic joint."""
        if self.type not in get_args(JointType):
            raise ChainError(f'joint {self.name}: type must be one of '
                             f"{', '.join(get_args(JointType))}, got '{self.type}'")

    @property
    def revolute(self) -> bool:
        """True for a revolute joint, False for a prismatic one."""
        return self.type == 'revolute'

    def pose(self, q: float = 0.0) -> Pose:
        """Return E_i in E_(i-1) (4)-(5)."""
        theta, d = (self.theta + q, self.d) if self.revolute else (self.theta, self.d + q)
        cb, sb = exact_cos_sin(self.beta)
        c, s = exact_cos_sin(theta)
        rotation = [[c, -s, 0.0], [s * cb, c * cb, -sb], [s * sb, c * sb, cb]]
        return Pose(np.array(rotation), np.array([self.b, -d * sb, d * cb]))


@immutable
@dataclass(frozen=True, eq=False)
class Chain:
    """
    A serial robot between a base and a tip link. Immutable; `with_...` returns a changed copy.

    :param robot: name of the robot.
    :param base: name of the base link.
    :param tip: name of the tip link.
    :param joints: the moving joints 1..n, base first.
    :param links: inertia of the moving bodies 1..n, each in its frame E_i; fixed links lumped.
    :param link_names: name of the link each moving joint carries.
    :param gravity: (3,) gravitational acceleration in the frame of `base` [m/s^2].
    :param base_pose: E_0 in the frame of `base`.
    :param tip_pose: frame of the tip link in E_n.
    :param joint_physics: rotor inertia, friction, offset, coupling.
    :param findings: what was noticed about the robot.
    :param link_frames: frame of each link of `link_names` in its E_i; empty = E_i itself.
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

    def __post_init__(self) -> None:
        """Freeze the gravity vector and check that the parts fit together."""
        freeze(self, 'gravity')
        if self.gravity.shape != (3,) or not np.all(np.abs(self.gravity) <= LARGEST_GRAVITY):
            raise ChainError('gravity must be three finite numbers of at most '
                             f'{LARGEST_GRAVITY:g} m/s^2, got {one_line(self.gravity)}')
        if not self.joints:
            raise ChainError(f'robot {self.robot}: no moving joint between {self.base} '
                             f'and {self.tip}')
        if not len(self.joints) == len(self.links) == len(self.link_names):
            raise ChainError(f'{len(self.joints)} joints, {len(self.links)} links and '
                             f'{len(self.link_names)} link names do not fit together')
        if not self.link_frames:
            object.__setattr__(self, 'link_frames', (Pose.identity(),) * len(self.joints))
        if len(self.link_frames) != len(self.joints):
            raise ChainError(f'{len(self.joints)} joints and {len(self.link_frames)} link frames '
                             'do not fit together')
        self.joint_physics.check(self.joint_names)

    def __repr__(self) -> str:
        """Return what a reader wants to know first."""
        types = ''.join('R' if joint.revolute else 'P' for joint in self.joints)
        mass = sum(link.mass for link in self.links)
        return (f'<Chain of {self.robot}: {self.joint_summary} from {self.base} to {self.tip}, '
                f'{types}, {mass:.4g} kg>')

    def __len__(self) -> int:
        """Return the number of moving joints n."""
        return len(self.joints)

    @property
    def joint_summary(self) -> str:
        """How many joints there are, and which: ``7 joints (joint_1 ... joint_7)``."""
        names = self.joint_names
        return f'1 joint ({names[0]})' if len(names) == 1 else (
            f'{len(names)} joints ({names[0]} ... {names[-1]})')

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the moving joints, base first: the order of every joint vector."""
        return tuple(joint.name for joint in self.joints)

    @property
    def gravity_in_frame_0(self) -> Array:
        """Gravitational acceleration (3,) in E_0 [m/s^2]; rounding dust removed."""
        g = self.base_pose.rotation.T @ self.gravity
        return np.where(np.abs(g) < 1e-15 * np.linalg.norm(g), 0.0, g)

    @property
    def standard_parameters(self) -> Array:
        """Ten STANDARD_PARAMETERS of every link (10 n,), link 1 first."""
        return np.concatenate([link.standard_parameters for link in self.links])

    @property
    def massless_links(self) -> tuple[str, ...]:
        """Names of the links that move but have neither mass nor inertia."""
        return tuple(name for name, link in zip(self.link_names, self.links)
                     if not link.standard_parameters.any())

    @property
    def standard_parameter_names(self) -> tuple[str, ...]:
        """Names such as ``XX1 ... M1, XX2 ...`` (10 n)."""
        return tuple(f'{name}{i + 1}' for i in range(len(self)) for name in STANDARD_PARAMETERS)

    @property
    def effort_limits(self) -> Array:
        """Largest effort (n,) [N m, N]; NaN = unknown."""
        return np.array([joint.effort_limit for joint in self.joints])

    @property
    def velocity_limits(self) -> Array:
        """Largest velocity (n,) [rad/s, m/s]; NaN = unknown."""
        return np.array([joint.velocity_limit for joint in self.joints])

    @property
    def position_limits(self) -> Array:
        """Lower and upper position limits (2, n) [rad, m]; infinite = none known."""
        return np.array([[joint.lower for joint in self.joints],
                         [joint.upper for joint in self.joints]])

    @property
    def continuous(self) -> NDArray[np.bool_]:
        """True (n,) for joints that turn without end."""
        return np.array([joint.continuous for joint in self.joints])

    def joint_poses(self, q: ArrayLike) -> list[Pose]:
        """
        Return the frames E_1..E_n in the frame of the base link.

        :param q: (n,) joint positions [rad, m].
        """
        positions = np.asarray(q, dtype=np.float64)
        if positions.shape != (len(self),):
            raise StateError(f'q has shape {positions.shape}, expected ({len(self)},): '
                             f'{", ".join(self.joint_names)}')
        poses = [self.base_pose]
        for joint, position in zip(self.joints, positions):
            poses.append(poses[-1] @ joint.pose(float(position)))
        return poses[1:]

    def tip_pose_at(self, q: ArrayLike) -> Pose:
        """Return the pose of the tip link in the base link for (n,) joint positions."""
        return self.joint_poses(q)[-1] @ self.tip_pose

    def with_joint_physics(self, joint_physics: JointPhysics) -> Chain:
        """Return the chain with other rotor inertias, friction, offsets or coupling."""
        return replace(self, joint_physics=joint_physics)

    def with_links(self, links: Sequence[Inertia]) -> Chain:
        """Return the chain with other link inertias."""
        return replace(self, links=tuple(links))

    def with_standard_parameters(self, parameters: ArrayLike) -> Chain:
        """Return the chain with the link inertias of a (10 n,) parameter vector."""
        x = np.asarray(parameters, dtype=np.float64)
        if x.shape != (10 * len(self),):
            raise ParameterError(f'standard parameters have shape {x.shape}, expected '
                                 f'({10 * len(self)},): ten per link of {self.joint_names}')
        return self.with_links([Inertia.from_standard_parameters(row)
                                for row in x.reshape(len(self), 10)])

    def with_gravity(self, gravity: ArrayLike) -> Chain:
        """Return the chain under another gravity (3,) in the frame of `base` [m/s^2]."""
        return replace(self, gravity=np.asarray(gravity, dtype=np.float64))

    def with_payload(self, payload: Inertia | float, centre: ArrayLike | None = None,
                     tensor: ArrayLike | None = None) -> Chain:
        """
        Return the chain with a body fixed to its tip: ``chain.with_payload(1.0, [0, 0, 0.1])``.

        :param payload: its inertia in the tip frame, or its mass [kg].
        :param centre: (3,) centre of mass in the tip frame [m]; goes with a mass.
        :param tensor: (3, 3) inertia tensor about the centre of mass, axes of the tip frame
            [kg m^2]; None = a point mass.
        :raises ParameterError: no body has these numbers.
        """
        if not isinstance(payload, Inertia):
            if centre is None:
                raise ParameterError('payload: a mass needs a centre of mass in the tip frame, '
                                     'such as with_payload(1.0, [0.0, 0.0, 0.1])')
            payload = payload_inertia(payload, centre,
                                      np.zeros((3, 3)) if tensor is None else tensor)
        elif centre is not None or tensor is not None:
            raise ParameterError('payload: an Inertia has its own centre of mass and tensor')
        last = self.links[-1] + payload.seen_from(self.tip_pose)
        return self.with_links([*self.links[:-1], last])

    def with_findings(self, findings: Iterable[Finding]) -> Chain:
        """Return the chain with further findings."""
        return replace(self, findings=(*self.findings, *findings))

    def geometry_hash(self, *extra: str) -> str:
        """
        Return a sha256 over names, types, geometry and gravity, not over inertias.

        :param extra: further text that belongs to the identity (set name, MLC names).
        """
        digest = hashlib.sha256()
        for joint in self.joints:
            numbers = (joint.b, joint.beta, joint.d, joint.theta)
            digest.update(f'{joint.name}|{joint.type}|'.encode())
            digest.update(','.join(f'{x + 0.0:.12g}' for x in numbers).encode())
        digest.update(','.join(f'{x + 0.0:.12g}' for x in self.gravity_in_frame_0).encode())
        digest.update('\n'.join(extra).encode())
        return digest.hexdigest()
