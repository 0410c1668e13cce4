# SPDX-License-Identifier: Apache-2.0
"""Joints in normal driving-axis frames, followers, tips, and how the joints hang together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.errors import ChainError

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

    A revolute joint turns by ``theta + q``, a prismatic one slides by ``d + q``. Where a link
    carries several joints, its x axis can follow the common normal to one of them only; the place
    of another one in its parent is Rz(gamma) Tz(epsilon) Tx(b) Rx(beta) Tz(d) Rz(theta) (Khalil &
    Dombre, chapter 7).

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
    :param parent: number (1..n) of the joint whose link carries this one, 0 = the base; None = the
        joint before it, as in a serial chain.
    :param gamma: angle about z of the parent [rad]; 0 in a serial chain.
    :param epsilon: offset along z of the parent [m]; 0 in a serial chain.
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
    parent: int | None = None
    gamma: float = 0.0
    epsilon: float = 0.0

    def __post_init__(self) -> None:
        """Refuse a type that would silently be taken for a prismatic joint."""
        if self.type not in get_args(JointType):
            raise ChainError(f'joint {self.name}: type must be one of '
                             f"{', '.join(get_args(JointType))}, got '{self.type}'")

    def __eq__(self, other: object) -> bool:
        """Return whether all is equal; what is unknown of both (NaN) is no difference."""
        return isinstance(other, Joint) and self._known() == other._known()

    def __hash__(self) -> int:
        """Return a number that equal joints share."""
        return hash(self._known())

    def _known(self) -> tuple[object, ...]:
        """Return all fields, None where one is unknown."""
        values = (getattr(self, field.name) for field in fields(self))
        return tuple(None if isinstance(value, float) and math.isnan(value) else value
                     for value in values)

    @property
    def revolute(self) -> bool:
        """True for a revolute joint, False for a prismatic one."""
        return self.type == 'revolute'

    @property
    def branches_off(self) -> bool:
        """Whether the parent carries another joint that its frame follows."""
        return self.gamma != 0.0 or self.epsilon != 0.0

    @property
    def branch(self) -> Pose:
        """Rz(gamma) Tz(epsilon): the frame in the parent that b, beta, d, theta start from."""
        c, s = exact_cos_sin(self.gamma)
        return Pose(np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]),
                    np.array([0.0, 0.0, self.epsilon]))

    def pose(self, q: float = 0.0) -> Pose:
        """Return E_i in the frame of its parent, E_(i-1) in a serial chain (Lin 1995 (4)-(5))."""
        theta, d = (self.theta + q, self.d) if self.revolute else (self.theta, self.d + q)
        cb, sb = exact_cos_sin(self.beta)
        c, s = exact_cos_sin(theta)
        rotation = [[c, -s, 0.0], [s * cb, c * cb, -sb], [s * sb, c * sb, cb]]
        own = Pose(np.array(rotation), np.array([self.b, -d * sb, d * cb]))
        return self.branch @ own if self.branches_off else own


@dataclass(frozen=True)
class Follower:
    """
    A joint that no motor drives: it follows another one, ``q = multiplier q_leader + offset``.

    :param joint: the joint and its place.
    :param number: its number (1..m) among all moving joints.
    :param leader: number (1..n) of the joint it follows, among `Chain.joints`.
    :param multiplier: its velocity for a unit velocity of the leader.
    :param offset: its position where the leader is at 0 [rad, m].
    """

    joint: Joint
    number: int
    leader: int
    multiplier: float
    offset: float


@dataclass(frozen=True)
class Tip:
    """
    A link at the end of a robot: where payloads are carried and the environment is touched.

    :param link: name of the link.
    :param joint: number (1..m) of the moving joint that carries it.
    :param pose: frame of the link in the frame E of that joint.
    """

    link: str
    joint: int
    pose: Pose


class JointTree:
    """
    The joints of a robot, how they hang together, and which of them follow others.

    Vectors are those of the n joints with a position of their own; m joints move.
    """

    joints: tuple[Joint, ...]
    followers: tuple[Follower, ...]

    def __len__(self) -> int:
        """Return the number of joints n, those that follow others left out."""
        return len(self.joints)

    @cached_property
    def moving(self) -> tuple[Joint, ...]:
        """All m moving joints, base first, a parent before its children; with followers."""
        joints = list(self.joints)
        for follower in self.followers:
            joints.insert(follower.number - 1, follower.joint)
        return tuple(joints)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers (1..m) of the n joints among all moving ones."""
        followers = {follower.number for follower in self.followers}
        return tuple(i for i in range(1, len(self.moving) + 1) if i not in followers)

    def moving_positions(self, q: Sequence[Any]) -> Sequence[Any]:
        """
        Return the positions of all m moving joints.

        :param q: n positions [rad, m], any scalars.
        """
        return self._with_followers(q, [follower.offset for follower in self.followers])

    def moving_rates(self, qd: Sequence[Any]) -> Sequence[Any]:
        """
        Return the velocities or accelerations of all m moving joints.

        :param qd: n velocities [rad/s, m/s] or accelerations, any scalars.
        """
        return self._with_followers(qd, [0.0] * len(self.followers))

    def _with_followers(self, values: Sequence[Any], offsets: Sequence[float]) -> Sequence[Any]:
        if not self.followers:
            return values
        result = list(values)
        for follower, offset in zip(self.followers, offsets):
            result.insert(follower.number - 1,
                          follower.multiplier * values[follower.leader - 1] + offset)
        return result

    def joint_sums(self, values: Sequence[Any]) -> list[Any]:
        """
        Return what the n joints feel of m values, one per moving joint: torques, rows.

        The virtual work of a follower is that of its leader: ``tau_a = G^T tau``.

        :param values: m scalars or arrays.
        """
        followers = {follower.number - 1 for follower in self.followers}
        result = [value for i, value in enumerate(values) if i not in followers]
        for each in self.followers:
            result[each.leader - 1] = (result[each.leader - 1]
                                       + each.multiplier * values[each.number - 1])
        return result

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the moving joints, base first: the order of every joint vector."""
        return tuple(joint.name for joint in self.joints)

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Number of the joint that carries each moving joint (m); 0 = the base."""
        return tuple(i if joint.parent is None else joint.parent
                     for i, joint in enumerate(self.moving))

    def path(self, number: int) -> list[int]:
        """Return the numbers of the moving joints from the base to one of them, base first."""
        path = []
        while number:
            path.append(number)
            number = self.parents[number - 1]
        return path[::-1]

    @property
    def serial(self) -> bool:
        """Whether every joint is carried by the one before it, and none follows another."""
        return not self.followers and self.parents == tuple(range(len(self.moving)))

    @cached_property
    def coupling(self) -> tuple[Array, Array]:
        """G (m, n) and c (m,): the positions of all moving joints are ``G q + c``."""
        n = len(self)
        G = np.array([self.moving_rates(list(row)) for row in np.eye(n)]).T
        return G, np.array(self.moving_positions([0.0] * n), dtype=np.float64)

    @property
    def joint_count(self) -> str:
        """How many joints there are, in words: ``7 joints``."""
        return f'{len(self)} joint{"" if len(self) == 1 else "s"}'

    @property
    def joint_summary(self) -> str:
        """How many joints there are, and which: ``7 joints (joint_1 ... joint_7)``."""
        names = self.joint_names
        return f'{self.joint_count} (' + (
            f'{names[0]})' if len(names) == 1 else f'{names[0]} ... {names[-1]})')

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
