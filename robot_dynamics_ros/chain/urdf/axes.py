# SPDX-License-Identifier: Apache-2.0
"""
Joint axes in space to normal driving-axis frames (Lin 1995, fig. 1).

Choices where the common normal leaves freedom, made so that offsets are zero where they can be:

- E_0 is E_1 at q = 0, so that b_1 = beta_1 = d_1 = theta_1 = 0.
- Of the two directions of a common normal x_i is the one nearer to x_(i-1), so that
  -pi/2 < theta_i <= pi/2; b_(i+1) then has a sign.
- Parallel axes: the normal goes through the foot of the one before, so d_i = 0.
- Coincident axes: theta_i = 0 and d_i = 0.
- Last frame: d_n = 0 and theta_n = 0.
- A prismatic axis has no place, only a direction: it is put through the axis before it and, where
  possible, also through the revolute axis after it (b_i = b_(i+1) = 0).
- Of several joints on a link the first one decides about its x axis, in all that is said above;
  the common normals to the others are reached by gamma and epsilon along z_i, which are 0 for it.

The frames are laid one after the other, each against the one already rounded, so that rounding
errors do not add up: every axis still goes through its URDF joint origin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.chain.joint import exact_cos_sin
from robot_dynamics_ros.chain.pose import Pose

#: Axes closer to (anti)parallel than this are made parallel [rad]: the normal would run away.
PARALLEL_TOLERANCE = 1e-5

#: With snapping, numbers this close to 0 or a multiple of pi/2 become exact [m, rad].
SNAP_TOLERANCE = 1e-5

#: A common normal that is farther away than this costs digits: a finding says so [m].
_FAR = 100.0

#: Rounding errors of the transformation itself: removed always, without a finding [m, rad].
DUST = 1e-12


@dataclass(frozen=True, eq=False)
class JointAxis:
    """
    A joint axis at q = 0, in the frame of the base link.

    :param name: joint name, for findings.
    :param point: (3,) point on the axis [m]; for a prismatic joint only a hint.
    :param direction: (3,) unit vector.
    :param prismatic: whether the joint slides.
    """

    name: str
    point: Array
    direction: Array
    prismatic: bool


@dataclass(frozen=True)
class Placement:
    """Numbers b, beta, d, theta of one joint (Lin 1995 (4)-(5)), and gamma, epsilon."""

    b: float
    beta: float
    d: float
    theta: float
    gamma: float = 0.0
    epsilon: float = 0.0


@dataclass(frozen=True, eq=False)
class _Laid:
    """A frame at q = 0 in the frame of the base link: origin, x and z axis."""

    o: Array
    x: Array
    z: Array

    @property
    def pose(self) -> Pose:
        return Pose(np.column_stack([self.x, np.cross(self.z, self.x), self.z]), self.o)

    def moved(self, theta: float, d: float) -> _Laid:
        """Return Tz(d) Rz(theta) of this frame."""
        return _Laid(self.o + d * self.z, _turned(self.x, self.z, theta), self.z)

    def tilted(self, b: float, beta: float) -> _Laid:
        """Return Tx(b) Rx(beta) of this frame."""
        return _Laid(self.o + b * self.x, self.x, _tilted(self.x, self.z, beta))


def place_frames(axes: Sequence[JointAxis], snap: bool, parents: Sequence[int] | None = None
                 ) -> tuple[Pose, list[Placement], list[Finding]]:
    """
    Lay the frames E_0..E_n along the axes.

    :param axes: the joint axes 1..n at q = 0.
    :param snap: round almost-exact numbers (SNAP_TOLERANCE) and report each.
    :param parents: number of the joint before each joint, 0 = the base; None = a serial chain.
    :returns: E_0 in the base frame, one placement per joint, findings about every rounding and
        about axes that are nearly parallel.
    """
    rounding = _Rounding(SNAP_TOLERANCE if snap else DUST)
    carried: list[list[int]] = [[] for _ in range(len(axes) + 1)]
    for j, parent in enumerate(range(len(axes)) if parents is None else parents, start=1):
        carried[parent].append(j)
    first = {i: joints[0] for i, joints in enumerate(carried) if joints}

    def target(frame: _Laid, j: int) -> JointAxis:
        axis = axes[j - 1]
        after = axes[first[j] - 1] if j in first else None
        return _place_prismatic(frame, axis, after) if axis.prismatic else axis

    base = _Laid(_first_point(axes[0], axes[first[1] - 1] if 1 in first else None),
                 _any_normal(axes[0].direction), axes[0].direction)
    before_d = {1: base}  # frames E_j before d and theta are applied
    placed = {1: (0.0, 0.0, 0.0, 0.0)}  # b, beta, gamma, epsilon
    placements = []
    for i, axis in enumerate(axes, start=1):
        frame = before_d[i]
        d = theta = 0.0
        if i in first:
            d, theta, b, beta = _common_normal(frame, target(frame, first[i]), rounding)
            placed[first[i]] = (b, beta, 0.0, 0.0)
        if i == 1:
            base = frame = frame.moved(theta, d)
            d = theta = 0.0
        else:
            d = rounding.length(d, axis.name, 'd')
            theta = rounding.angle(theta, axis.name, 'theta')
            frame = frame.moved(theta, d)
        b, beta, gamma, epsilon = placed[i]
        placements.append(Placement(b, beta, d, theta, gamma, epsilon))
        further = [*carried[0][1:], *carried[1][1:]] if i == 1 else carried[i][1:]
        for j in further:  # E_0 is E_1 at q = 0
            epsilon, gamma, b, beta = _common_normal(frame, target(frame, j), rounding)
            epsilon = rounding.length(epsilon, axes[j - 1].name, 'epsilon')
            gamma = rounding.angle(gamma, axes[j - 1].name, 'gamma')
            placed[j] = (b, beta, gamma, epsilon)
        for j in (*carried[i][:1], *further):
            b, beta, gamma, epsilon = placed[j]
            before_d[j] = frame.moved(gamma, epsilon).tilted(b, beta)
    return base.pose, placements, rounding.findings


def _common_normal(frame: _Laid, target: JointAxis, rounding: _Rounding
                   ) -> tuple[float, float, float, float]:
    """
    Return d and theta of a frame, and b and beta of the next one.

    :param frame: the frame before d and theta are applied.
    """
    o, x, z = frame.o, frame.x, frame.z
    u = target.direction
    between = target.point - o
    cross = np.cross(z, u)
    sine = float(np.linalg.norm(cross))
    if sine < PARALLEL_TOLERANCE:
        if sine > DUST:
            rounding.findings.append(Finding(
                'made_parallel', target.name, f'axis is {sine:.3g} rad off parallel to the axis '
                'before it and was made parallel', sine))
        beta = 0.0 if z @ u > 0.0 else math.pi
        offset = between - (between @ z) * z
        b = rounding.length(float(np.linalg.norm(offset)), target.name, 'b')
        if b == 0.0:
            return 0.0, 0.0, 0.0, beta
        theta, sign = _nearer_direction(x, offset / b, z)
        return 0.0, theta, sign * b, beta
    normal = cross / sine
    theta, sign = _nearer_direction(x, normal, z)
    b = rounding.length(sign * float(between @ normal), target.name, 'b')
    beta = rounding.angle(_angle(z, u, sign * normal), target.name, 'beta')
    d = float(np.cross(between, u) @ cross) / sine**2
    if abs(d) > _FAR:
        rounding.findings.append(Finding(
            'nearly_parallel', target.name, f'axis is {sine:.3g} rad off parallel to the axis '
            f'before it; their common normal is {abs(d):.0f} m away, which costs digits. If they '
            'are parallel in the robot, correct rpy or axis', sine))
    return d, theta, b, beta


def _nearer_direction(x: Array, normal: Array, z: Array) -> tuple[float, float]:
    """Return the smaller angle from x to +normal or -normal about z, and which sign it was."""
    theta = _angle(x, normal, z)
    if -math.pi / 2 + SNAP_TOLERANCE < theta <= math.pi / 2 + SNAP_TOLERANCE:
        return theta, 1.0
    return theta - math.copysign(math.pi, theta), -1.0


def _place_prismatic(before: _Laid, axis: JointAxis, after: JointAxis | None) -> JointAxis:
    """Choose where a prismatic axis runs: through the z axis of the frame before it."""
    o, z, u = before.o, before.z, axis.direction
    across = z - (z @ u) * u  # the axis before, seen along u
    if np.linalg.norm(across) < PARALLEL_TOLERANCE:
        return JointAxis(axis.name, o, u, True)
    goal = axis.point
    if after is not None and not after.prismatic:
        v = after.direction - (after.direction @ u) * u  # the axis after, seen along u
        if np.linalg.norm(v) < PARALLEL_TOLERANCE:
            goal = after.point
        else:
            side = np.cross(u, v / np.linalg.norm(v))
            if abs(across @ side) > 1e-3:  # else: almost parallel seen along u, no near crossing
                t = float((after.point - o) @ side / (across @ side))
                return JointAxis(axis.name, o + t * z, u, True)
    t = float((goal - o) @ across / (across @ across))
    return JointAxis(axis.name, o + t * z, u, True)


def _first_point(first: JointAxis, second: JointAxis | None) -> Array:
    """Return a point of axis 1; a prismatic one is put through the revolute axis after it."""
    if first.prismatic and second is not None and not second.prismatic:
        t = float((first.point - second.point) @ second.direction)
        return second.point + t * second.direction
    return first.point


class _Rounding:
    """Rounds almost-exact numbers and remembers what it did."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.findings: list[Finding] = []

    def length(self, value: float, joint: str, name: str) -> float:
        return self._round(value, 0.0, joint, name, 'm')

    def angle(self, value: float, joint: str, name: str) -> float:
        exact = round(value / (math.pi / 2)) * (math.pi / 2)
        return self._round(value, exact, joint, name, 'rad')

    def _round(self, value: float, exact: float, joint: str, name: str, unit: str) -> float:
        error = abs(value - exact)
        if error > self.tolerance:
            return round(value, 13)  # 0.3 rather than 0.30000000000000004
        if error > DUST:
            self.findings.append(Finding(
                'snapped', joint, f'{name} was taken as {_exact_text(exact)}, which it misses by '
                f'{error:.1g} {unit}', error))
        return exact


def _exact_text(value: float) -> str:
    """Return a multiple of pi/2 between -pi and pi as people write it."""
    return {0: '0', 1: 'pi/2', 2: 'pi', -1: '-pi/2', -2: '-pi'}[round(value / (math.pi / 2))]


def _angle(a: Array, b: Array, about: Array) -> float:
    """Return the angle that turns `a` into `b` about a unit vector normal to both."""
    return math.atan2(float(np.cross(a, b) @ about), float(a @ b))


def _turned(x: Array, z: Array, angle: float) -> Array:
    """Return x turned about z."""
    c, s = exact_cos_sin(angle)
    return c * x + s * np.cross(z, x)


def _tilted(x: Array, z: Array, angle: float) -> Array:
    """Return z turned about x, made a unit vector normal to x again."""
    c, s = exact_cos_sin(angle)
    tilted = c * z + s * np.cross(x, z)
    tilted = tilted - (tilted @ x) * x
    return np.asarray(tilted / np.linalg.norm(tilted))


def _any_normal(z: Array) -> Array:
    """Return the coordinate axis farthest from z, made normal to it: base x where possible."""
    candidate = np.eye(3)[0] if abs(z[0]) < 0.9 else np.eye(3)[1]
    normal = candidate - (candidate @ z) * z
    return np.asarray(normal / np.linalg.norm(normal))
