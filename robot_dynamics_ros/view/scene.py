# SPDX-License-Identifier: Apache-2.0
"""A robot in the 3D scene of a page; moved by its joints, with what is shown beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.picture.renderer import camera_for
from robot_dynamics_ros.picture.solids import Solid
from robot_dynamics_ros.view.viewed_robot import AXIS, OVERLAYS, SEEN_THROUGH, ViewedRobot


class RobotScene:
    """
    Draws a robot into a viser server.

    Names of links come from outside; the nodes of the scene are numbered instead.
    """

    def __init__(self, server: Any, robot: ViewedRobot, shown: Sequence[str] = (),
                 on_click: Callable[[str], None] | None = None) -> None:
        """
        Draw the robot at rest.

        :param server: server of viser.
        :param robot: the robot.
        :param shown: what is shown beside the links at first, out of `OVERLAYS`.
        :param on_click: called with the name of a link that was clicked.
        """
        self._server, self.robot = server, robot
        self._shown = {name: name in shown for name in OVERLAYS}
        self._meshes: list[tuple[Any, float]] = []
        self._parts: dict[str, list[Any]] = {name: [] for name in OVERLAYS}
        self.positions = robot.rest()
        server.scene.set_up_direction('+z')
        self._links = self._add_links('', on_click)
        self._copies = {} if robot.identified is None else self._add_links('/beside', on_click)
        self._add_overlays()
        solids = robot.drawn.placed(self.positions)
        self._floor = server.scene.add_grid(
            '/floor', width=4.0 * robot.drawn.size, height=4.0 * robot.drawn.size, plane='xy',
            cell_size=0.1 if robot.drawn.size < 5.0 else 1.0)
        self._lowest = server.scene.add_icosphere(
            '/lowest', radius=0.012 * robot.drawn.size, color=(220, 38, 38), visible=False)
        camera = camera_for(solids)
        aside = 0.25 * robot.drawn.size * camera.axes[0]  # the panel covers the right side
        server.initial_camera.position = tuple(camera.eye + 0.35 * (camera.eye - camera.target)
                                               + aside)
        server.initial_camera.look_at = tuple(camera.target + aside)
        server.initial_camera.fov = camera.field_of_view
        self.floor = float(robot.lowest_point(self.positions)[2])
        self.place(self.positions)

    def _add_links(self, root: str, on_click: Callable[[str], None] | None) -> dict[str, Any]:
        """Return a frame per link, with its solids."""
        if root:
            self._parts['inertia'].append(self._server.scene.add_frame(
                root, show_axes=False, position=self.robot.beside))
        links = {}
        for i, (link, solids) in enumerate(self.robot.drawn.solids.items()):
            if not solids:
                continue
            links[link] = self._server.scene.add_frame(f'{root}/link_{i}', show_axes=False)
            for k, solid in enumerate(solids):
                mesh = self._mesh(f'{root}/link_{i}/{k}', solid)
                self._meshes.append((mesh, solid.opacity))
                if on_click is not None:
                    mesh.on_click(lambda _, link=link: on_click(link))
        return links

    def _mesh(self, name: str, solid: Solid) -> Any:
        return self._server.scene.add_mesh_simple(
            name, solid.vertices, solid.faces, side='double', flat_shading=True,
            color=tuple(round(255 * part) for part in solid.colour),
            opacity=None if solid.opacity >= 1.0 else solid.opacity)

    def _add_overlays(self) -> None:
        robot, size = self.robot, self.robot.drawn.size
        self._axes: list[list[Any]] = []
        for root, row in zip(('', '/beside'), robot.ellipsoids):
            self._axes.append([self._server.scene.add_frame(
                f'{root}/axis_{i}', axes_length=AXIS * size, axes_radius=0.035 * AXIS * size,
                show_axes=self._shown['axes']) for i in range(len(row))])
            self._parts['inertia'] += [self._mesh(f'{root}/axis_{i}/body', solid)
                                       for i, solid in enumerate(row) if solid is not None]
        self._parts['gravity'] = [self._mesh(f'/gravity_{k}', solid) for k, solid in
                                  enumerate(robot.gravity_arrow(self.positions))]
        for name in OVERLAYS:
            self.show(name, self._shown[name])

    def show(self, name: str, shown: bool) -> None:
        """
        Show or hide something.

        :param name: one of `OVERLAYS`.
        :param shown: True = show it.
        """
        self._shown[name] = shown
        if name == 'axes':
            for frame in (frame for row in self._axes for frame in row):
                frame.show_axes = shown
        for part in self._parts[name]:
            part.visible = shown
        through = SEEN_THROUGH if self._shown['axes'] or self._shown['inertia'] else 1.0
        for mesh, opacity in self._meshes:
            mesh.opacity = None if through * opacity >= 1.0 else through * opacity

    @property
    def floor(self) -> float:
        """Height of the floor in the frame of the root [m]."""
        return float(self._floor.position[2])

    @floor.setter
    def floor(self, height: float) -> None:
        self._floor.position = (0.0, 0.0, height)

    def mark_lowest(self, point: Array | None) -> None:
        """Mark a point (3,) [m] in red; None = no mark."""
        self._lowest.visible = point is not None
        if point is not None:
            self._lowest.position = tuple(point.tolist())

    def place(self, positions: Mapping[str, float]) -> None:
        """
        Move the robot.

        :param positions: positions by joint name [rad, m]; other joints stay where they are.
        """
        known = {joint.name for joint in self.robot.drawn.joints}
        self.positions |= {name: float(value) for name, value in positions.items()
                           if name in known and np.isfinite(value)}
        poses = self.robot.drawn.link_poses(self.positions)
        with self._server.atomic():
            for links in (self._links, self._copies):
                for link, handle in links.items():
                    _put(handle, poses[link])
            frames = self.robot.axis_frames(self.positions)
            for row in self._axes:
                for handle, pose in zip(row, frames):
                    _put(handle, pose)


def _put(handle: Any, pose: Pose) -> None:
    quaternion = _quaternion(pose.rotation)
    if not np.allclose(handle.position, pose.translation, atol=1e-7):
        handle.position = pose.translation
    if not np.allclose(handle.wxyz, quaternion, atol=1e-7):
        handle.wxyz = quaternion


def _quaternion(R: Array) -> Array:
    """Return w, x, y, z of a rotation (3, 3)."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return np.array([w, x, y, z])
