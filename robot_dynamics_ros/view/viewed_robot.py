# SPDX-License-Identifier: Apache-2.0
"""What can be shown of a robot: its links, axes, inertias, weights, and motions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.codegen.runtime.model import Model, compile_model
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.picture.drawn_robot import DrawnRobot
from robot_dynamics_ros.picture.solids import (
    BLUE,
    ORANGE,
    RED,
    Solid,
    arrow,
    frame_arrows,
    inertia_ellipsoid,
)

#: What can be shown beside the links.
OVERLAYS = ('axes', 'gravity', 'inertia')

#: Opacity of links with something inside, and length of an axis over the size of the robot.
SEEN_THROUGH, AXIS = 0.3, 0.12

#: Rate at which a motion is sampled to find its lowest point [Hz].
_MOTION_RATE = 30.0

#: Number of samples of a motion at most.
_MOST_SAMPLES = 20_000


@dataclass(frozen=True, eq=False)
class ViewedRobot:
    """
    A robot to be looked at.

    :param drawn: all links of its description.
    :param chain: the part whose dynamics is shown; None = nothing but the links.
    :param estimate: identified parameters; None = those of the description.
    :param identified: the chain with identified inertias that real bodies can have; None = none.
    :param locked: positions of locked joints [rad, m].
    """

    drawn: DrawnRobot
    chain: Chain | None = None
    estimate: MlcEstimate | None = None
    identified: Chain | None = None
    locked: Mapping[str, float] | None = None

    @cached_property
    def model(self) -> Model | None:
        """The compiled model; None without a chain."""
        if self.chain is None:
            return None
        model = compile_model(self.chain)
        if self.estimate is not None:
            model.swap(self.estimate.converted_to(self.chain, model.mlc.set).mlc.values,
                       self.estimate.joint_physics)
        return model

    def rest(self) -> dict[str, float]:
        """Return the posture to begin with: zero, or the nearest inside the limits [rad, m]."""
        return {**self.drawn.rest(), **(self.locked or {})}

    def joint_vector(self, positions: Mapping[str, float]) -> Array:
        """Return the positions of the chain's joints (n,) out of a posture [rad, m]."""
        names = () if self.chain is None else self.chain.joint_names
        return np.array([positions.get(name, 0.0) for name in names])

    def axis_frames(self, positions: Mapping[str, float]) -> list[Pose]:
        """Return the frames E_i of the driving axes in the frame of the root."""
        if self.chain is None:
            return []
        base = self.drawn.link_poses(positions)[self.chain.base]
        return [base @ pose for pose in self.chain.joint_poses(self.joint_vector(positions))]

    def gravity(self, positions: Mapping[str, float]) -> Array:
        """Return the gravity vector in the frame of the root (3,) [m/s^2]."""
        if self.chain is None:
            return np.array([0.0, 0.0, -9.81])
        base = self.drawn.link_poses(positions)[self.chain.base]
        return np.asarray(base.rotation @ self.chain.gravity)

    def gravity_torque(self, positions: Mapping[str, float]) -> Array:
        """Return the torque that holds the robot still at a posture (n,) [N m, N]."""
        if self.model is None:
            return np.zeros(0)
        return self.model.gravity_torque(self.joint_vector(positions))

    @cached_property
    def ellipsoids(self) -> tuple[tuple[Solid | None, ...], ...]:
        """Inertia of each body, in its frame E_i: of the URDF, then of what was identified."""
        return tuple(tuple(inertia_ellipsoid(link, colour) for link in chain.links)
                     for chain, colour in ((self.chain, ORANGE), (self.identified, BLUE))
                     if chain is not None)

    def scene(self, positions: Mapping[str, float], shown: Sequence[str] = ()) -> list[Solid]:
        """
        Return all that is to be drawn, in the frame of the root.

        Where something inside the links is shown, one looks through them; identified inertias are
        shown in a second robot beside the first.

        :param positions: posture by joint name [rad, m].
        :param shown: what is shown beside the links, out of `OVERLAYS`.
        """
        links = self.drawn.placed(positions)
        if 'axes' in shown or 'inertia' in shown:
            links = [replace(solid, opacity=SEEN_THROUGH * solid.opacity) for solid in links]
        frames, solids = self.axis_frames(positions), list(links)
        if 'axes' in shown:
            solids += [part for frame in frames
                       for part in frame_arrows(frame, AXIS * self.drawn.size)]
        if 'inertia' in shown:
            bodies = [[solid.moved(frame) for frame, solid in zip(frames, row)
                       if solid is not None] for row in self.ellipsoids]
            for k, row in enumerate(bodies):
                beside = Pose(np.eye(3), k * self.beside)
                solids += [solid.moved(beside) for solid in (*row, *(links if k else ()))]
        if 'gravity' in shown:
            solids += self.gravity_arrow(positions)
        return solids

    @property
    def beside(self) -> Array:
        """Place of the second robot, with identified inertias, in the frame of the root [m]."""
        return np.array([-0.6, -0.45, 0.0]) * self.drawn.size

    def gravity_arrow(self, positions: Mapping[str, float]) -> list[Solid]:
        """Return an arrow beside the robot along gravity; nothing without gravity."""
        gravity = self.gravity(positions)
        size = self.drawn.size
        start = np.array([-0.28 * size, -0.28 * size, 0.35 * size])
        return arrow(start, start + 0.22 * size * gravity / 9.81, 0.009 * size, RED)

    def body_of(self, link: str) -> int | None:
        """Return the number of the moving body, from 0, that a link belongs to."""
        if self.chain is None:
            return None
        numbers = {name: i for i, name in enumerate(self.chain.link_names)}
        joint = self.drawn.tree.parent_joint(link)
        while link not in numbers and joint is not None:
            link = joint.parent
            joint = self.drawn.tree.parent_joint(link)
        return numbers.get(link)

    def parameters_of(self, body: int) -> list[tuple[str, str, float, float, float]]:
        """
        Return the minimal parameters of a body: name, unit, URDF, identified, sigma.

        Without identified parameters the last two are NaN.

        :param body: number of the body, from 0.
        """
        if self.chain is None:
            return []
        mlc = compile_model(self.chain).mlc
        values = sigmas = np.full(len(mlc), np.nan)
        if self.estimate is not None:
            estimate = self.estimate.converted_to(self.chain, mlc.set)
            values, sigmas = estimate.mlc.values, estimate.standard_deviations
        own = re.compile(rf'[A-Za-z]+{body + 1}(?!\d)')
        return [(name, unit, float(before), float(now), float(sigma)) for
                name, unit, before, now, sigma in zip(mlc.names, mlc.units, mlc.values, values,
                                                      sigmas) if own.match(name)]

    @cached_property
    def _outlines(self) -> dict[str, Array]:
        """Corners of the convex hull of each link, in its frame: enough for the lowest point."""
        return {link: _corners(np.concatenate([solid.vertices for solid in parts]))
                for link, parts in self.drawn.solids.items() if parts}

    @cached_property
    def _moving(self) -> set[str]:
        """Links that some joint moves."""
        return {link for link in self.drawn.solids
                if any(joint.moving for joint in self.drawn.tree.path_to(link))}

    def lowest_point(self, positions: Mapping[str, float], *, moving: bool = False) -> Array:
        """
        Return the lowest point (3,) in the frame of the root [m].

        :param positions: posture by joint name [rad, m].
        :param moving: True = only of the links that some joint moves, where there are any.
        """
        poses = self.drawn.link_poses(positions)
        links = [link for link in poses if not moving or link in self._moving] or list(poses)
        points = np.concatenate([[poses[link].translation for link in links], *(
            self._outlines[link] @ poses[link].rotation.T + poses[link].translation
            for link in links if link in self._outlines)])
        return np.asarray(points[int(np.argmin(points[:, 2]))])


@dataclass(frozen=True, eq=False)
class ShownMotion:
    """
    A motion to be played.

    :param times: (N,) times from zero [s].
    :param joint_names: names of the joints that move.
    :param positions: (N, m) their positions [rad, m].
    """

    times: Array
    joint_names: tuple[str, ...]
    positions: Array

    @classmethod
    def of(cls, trajectory: Trajectory) -> ShownMotion:
        """Return a trajectory, sampled."""
        count = min(max(2, int(trajectory.duration * _MOTION_RATE) + 1), _MOST_SAMPLES)
        times = np.linspace(0.0, trajectory.duration, count)
        return cls(times, trajectory.joint_names, trajectory.sample(times).q)

    @property
    def duration(self) -> float:
        """Duration [s]."""
        return float(self.times[-1])

    def at(self, time: float) -> dict[str, float]:
        """Return the positions at a time [s] by joint name [rad, m]."""
        return {name: float(np.interp(time, self.times, column))
                for name, column in zip(self.joint_names, self.positions.T)}

    def lowest(self, robot: ViewedRobot, rest: Mapping[str, float], count: int = 200
               ) -> tuple[float, Array]:
        """
        Return when what moves is lowest along the motion [s], and its lowest point (3,) [m].

        :param robot: the robot.
        :param rest: positions of the joints that do not move [rad, m].
        :param count: number of postures to look at.
        """
        found = [(robot.lowest_point({**rest, **self.at(float(time))}, moving=True), float(time))
                 for time in np.linspace(0.0, self.duration, count)]
        point, time = min(found, key=lambda pair: float(pair[0][2]))
        return time, point


def _corners(points: Array) -> Array:
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):  # flat
        return points
