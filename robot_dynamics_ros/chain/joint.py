# SPDX-License-Identifier: Apache-2.0
"""A joint and its place in normal driving-axis frames, a joint that follows another, and a tip."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

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
    Dombre, chapter 10).

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
        """Return E_i in the frame of its parent, E_(i-1) in a serial chain (4)-(5)."""
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
