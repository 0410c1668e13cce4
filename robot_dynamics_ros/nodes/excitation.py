# SPDX-License-Identifier: Apache-2.0
"""
The excitation node: plays a motion that excites all parameters of the robot.

It publishes ``~/joint_trajectory`` for a trajectory controller, and receives ``joint_states``,
``~/start`` and ``~/stop``. ``~/progress`` is the part of the motion that has been played. The
motion comes from a file, or is designed as soon as the robot description is known. It is played
only if it, and the way to its start, keep away from the robot itself, the floor and obstacles. The
robot is stopped if it departs from the motion, joint states stop, or the node ends. If a recording
is named, the joint states during the motion are written into it.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from std_msgs.msg import Float32, Header
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.collision.motion import clearance
from robot_dynamics_ros.collision.obstacles import read_obstacles
from robot_dynamics_ros.collision.postures import free_path
from robot_dynamics_ros.collision.scene import MARGIN, CollisionScene, Floor, collision_scene
from robot_dynamics_ros.errors import CollisionError, RecordingError, RobotDynamicsError
from robot_dynamics_ros.estimation.excitation.design import design_excitation
from robot_dynamics_ros.estimation.excitation.limits import stuck_joints
from robot_dynamics_ros.estimation.recordings.files import write_recording
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.files.bounds import one_line
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.motion.playing.player import (
    MotionPlayer,
    Order,
    Phase,
    PlayerSettings,
    repeated,
)
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.motion.trajectory_file import read_trajectory
from robot_dynamics_ros.nodes.support.conversion import stamp, trajectory_to_message
from robot_dynamics_ros.nodes.support.joint_states import JointStates
from robot_dynamics_ros.nodes.support.robot_node import RobotNode
from robot_dynamics_ros.nodes.support.runner import run
from robot_dynamics_ros.nodes.support.settings import RobotNodeSettings, setting
from robot_dynamics_ros.robot import Robot

#: Points per second of a designed motion [1/s]; the controller's quintics join them.
RATE = 20.0
#: Time between two checks of the motion [s].
PERIOD = 0.05
#: The played curve differs from the designed one between points: margins may be less by this [m],
#: and by this part.
ALLOWANCE, ALLOWANCE_PART = 0.001, 0.1
#: Part of the motion between two lines in the log.
LOGGED = 0.25
#: Most joint states of a recording; later ones are left out.
LONGEST = 500_000


@dataclass(frozen=True)
class ExcitationNodeSettings(RobotNodeSettings):
    """Settings of the excitation node."""

    trajectory_file: str = setting(
        '', 'YAML file of robot-dynamics excite; empty = design a motion')
    start_at_once: bool = setting(
        True, 'play as soon as the robot is known; false = wait for ~/start')
    recording: str = setting(
        '', 'recording of the motion to write for robot-dynamics identify: a new folder (rosbag2 '
            'with the robot description), .csv or .npz; empty = none')
    exit_at_end: bool = setting(False, 'end the node after the motion')
    repetitions: int = setting(1, 'number of times the motion is played', minimum=1, maximum=1000)
    duration: float = setting(10.0, 'duration of a designed motion [s]', minimum=1.0,
                              maximum=600.0)
    harmonics: int = setting(5, 'number of harmonics of a designed motion', minimum=2, maximum=50)
    share: float = setting(
        0.5, 'part of the velocity and effort limits that a designed motion uses', minimum=0.01,
        maximum=1.0)
    seed: int = setting(0, 'seed of the design', minimum=0)
    floor: str = setting(
        'base', 'height of the floor above the origin of the base link, against gravity [m]; base '
                '= 0, none = no floor')
    obstacles_file: str = setting(
        '', 'YAML file with boxes, spheres and capsules around the robot; empty = none')
    srdf_file: str = setting('', 'SRDF whose disabled pairs are not checked; empty = none')
    mesh_folders: tuple[str, ...] = setting(
        (), 'folders with mesh files or packages, beside the installed packages',
        example='[/home/me/ros2_ws/src]')
    margin: float = setting(MARGIN, 'smallest distance that is kept [m]', minimum=0.0, maximum=1.0)
    unchecked: bool = setting(
        False, 'play a motion that was not checked for collisions, at your own risk')
    approach_duration: float = setting(2.0, 'shortest time to reach the first point [s]',
                                       minimum=0.1, maximum=600.0)
    largest_deviation: float = setting(
        0.5, 'distance from the motion at which the robot is stopped [rad, m]', minimum=1e-3,
        maximum=10.0)
    joint_state_timeout: float = setting(
        0.5, 'age of the joint states at which the robot is stopped [s]', minimum=0.01,
        maximum=10.0)


class ExcitationNode(RobotNode):
    """Plays one motion."""

    settings_type = ExcitationNodeSettings

    def __init__(self, **options: object) -> None:
        super().__init__('excitation', **options)
        self._motion: Trajectory | None = None
        self._scene: CollisionScene | None = None  # None = not checked
        self._player: MotionPlayer | None = None
        self._coming: MotionPlayer | None = None  # looks for its way to the start
        self._joints = JointStates(self, self._keep)
        self._kept: list[JointSample] = []
        self._wanted = self.settings.start_at_once
        self._logged = 0.0

    def make_interfaces(self) -> None:
        """Create topics and services."""
        self._output = self.create_publisher(JointTrajectory, '~/joint_trajectory', 10)
        self._progress = self.create_publisher(Float32, '~/progress', 10)
        self._joints.subscribe(newest=not self.settings.recording)
        self.create_service(Trigger, '~/start', self._on_start)
        self.create_service(Trigger, '~/stop', self._on_stop)
        self.create_timer(PERIOD, self._on_tick)

    def use_robot(self, robot: Robot) -> None:
        """Read or design the motion; a running one is stopped."""
        p = self.settings
        self._stop('a new robot description')  # a design takes long, and nobody watches
        self._refuse_to_overwrite()
        given = read_trajectory(p.trajectory_file) if p.trajectory_file else None
        scene = None if p.unchecked else self._make_scene(robot)
        if given is not None:
            motion = given.in_order(robot.chain.joint_names)
        else:
            found = design_excitation(robot.chain, scene=scene, unchecked=p.unchecked,
                                      duration=p.duration, harmonics=p.harmonics,
                                      share=p.share, seed=p.seed)
            if found.start_note:
                self.get_logger().info(f'{found.start_note}; another start was chosen')
            for line in stuck_joints(robot.chain, found.limits):
                self.get_logger().warning(line)
            times = found.trajectory.times(RATE)
            motion = Trajectory(robot.chain.joint_names, times, *found.trajectory.sample(times))
            self.get_logger().info(f'designed a motion of {p.duration:g} s that excites '
                                   f'{len(found.columns)} parameters, condition number '
                                   f'{found.condition_number:.1f}')
        if scene is None:
            self.get_logger().warning('the motion is NOT CHECKED for collisions (unchecked: true)')
        else:
            self._check(motion, scene)
        motion = repeated(motion, p.repetitions)
        MotionPlayer(motion, robot.chain)  # refuses a motion that cannot be played
        self._motion, self._scene, self._coming = motion, scene, None
        self._joints.use_robot(robot.chain)

    def _make_scene(self, robot: Robot) -> CollisionScene:
        """Return the robot's collision geometry and what surrounds it."""
        p = self.settings
        try:
            floor: Floor = {'base': 'base', 'none': None}[p.floor] if p.floor in (
                'base', 'none') else float(p.floor)
        except ValueError:
            raise CollisionError(f"parameter floor must be a height [m], 'base' or 'none', got "
                                 f"'{one_line(p.floor)}'") from None
        try:
            return collision_scene(
                self.description, robot.chain, locked=p.locked or None, folders=p.mesh_folders,
                srdf=Path(p.srdf_file) if p.srdf_file else None, floor=floor, margin=p.margin,
                obstacles=read_obstacles(p.obstacles_file) if p.obstacles_file else ())
        except CollisionError as error:
            raise CollisionError(f'{error}. The parameter unchecked: true plays a motion that '
                                 'nothing has checked') from error

    def _check(self, motion: Trajectory, scene: CollisionScene) -> None:
        """Refuse a motion that comes too close to anything."""
        allowed = np.minimum(ALLOWANCE, ALLOWANCE_PART * scene.margins)
        found = clearance(replace(scene, margins=scene.margins - allowed), motion)
        if not found.kept:
            raise CollisionError(f'the motion comes too close: {found}')
        self.get_logger().info(f'checked for collisions: {found}')

    def come_to_rest(self) -> None:
        """Brake the robot."""
        self._stop('the node ends')

    def stop_commanding(self) -> None:
        """Brake the robot."""
        self._stop('an unforeseen error')

    def clock_set_back(self) -> None:
        """Brake the robot: the times of its motion mean nothing any more."""
        self._stop('the clock was set back')
        self._joints.restart()

    def _on_start(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._player is not None and self._player.running:
            response.message = 'a motion is running'
        else:
            self._wanted, response.success = True, True
        return response

    def _on_stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._wanted, self._coming = False, None
        response.success = self._stop('asked to stop')
        response.message = '' if response.success else 'no motion is running'
        return response

    def _on_tick(self) -> None:
        if not self.active:
            return
        try:
            if self._wanted:
                self._begin_or_fail()
            elif self._player is not None and self._joints.latest is not None:
                self._go_on(self._player, self._joints.latest)
        except RobotDynamicsError as error:
            self.diagnostics.warn('excitation', str(error))

    def _begin_or_fail(self) -> None:
        """Begin; an error ends a node that is to end by itself."""
        try:
            self._begin()
        except RobotDynamicsError as error:
            self._wanted, self._coming = False, None
            if self.settings.exit_at_end:
                self.fail(str(error))
            raise

    def _begin(self) -> None:
        """Begin when everything is there: a robot, its joint states and a controller."""
        if self._motion is None or self.robot is None:
            return
        p, now = self.settings, self.now
        measured = self._joints.fresh(now, p.joint_state_timeout)
        if measured is None or self._output.get_subscription_count() == 0:
            self.diagnostics.value('excitation', 'waiting for joint_states and a controller')
            return
        if self._coming is None:
            self._refuse_to_overwrite()
            self._coming = MotionPlayer(self._motion, self.robot.chain, PlayerSettings(
                approach=p.approach_duration, deviation=p.largest_deviation,
                timeout=p.joint_state_timeout), None if self._scene is None else self._way)
        order = self._coming.begin(now, measured)
        if order is None:
            return
        self._wanted, self._logged, self._kept = False, 0.0, []
        self._player, self._coming = self._coming, None
        self._send(order)
        self.get_logger().info('going to the start of the motion')

    def _way(self, first: Array, last: Array) -> Array:
        """Return a free way between two postures."""
        assert self._scene is not None
        return free_path(self._scene, first, last, seed=self.settings.seed)

    def _go_on(self, player: MotionPlayer, measured: JointSample) -> None:
        if not player.running:
            return
        before, now = player.phase, self.now
        order = player.step(now, measured)
        if order is not None:
            self._send(order)
        part = player.progress(now)
        self._progress.publish(Float32(data=part))
        self.diagnostics.value('excitation', f'{player.phase.value} {100.0 * part:.0f} %')
        if player.phase is Phase.STOPPED:
            self._tell_stop(player.reason)
        elif player.phase is not before or part >= self._logged + LOGGED:
            self._logged = part
            self.get_logger().info(f'{player.phase.value}: {100.0 * part:.0f} %')
        if not player.running:
            self._record()
            if self.settings.exit_at_end:
                if player.phase is Phase.STOPPED:
                    self.fail(f'stopped: {player.reason}')
                self.finished = True

    def _keep(self, sample: JointSample) -> None:
        """Keep what the joints say while the motion is played, for the recording."""
        if (self.settings.recording and len(self._kept) < LONGEST and self._player is not None
                and self._player.phase is Phase.PLAY and sample.time >= self._player.start):
            self._kept.append(sample)

    def _refuse_to_overwrite(self) -> None:
        path = self.settings.recording
        if path and os.path.exists(path):  # also of a name that no file can have
            raise RecordingError(f'{one_line(path)}: exists already; name another recording')

    def _record(self) -> None:
        """Write the recording of what was played, if one is wanted."""
        kept, self._kept, robot = self._kept, [], self.robot
        if not kept or robot is None:
            return
        path = self.settings.recording
        t, q, qd, effort = (np.array([getattr(each, key) for each in kept])
                            for key in ('time', 'q', 'qd', 'effort'))
        try:
            write_recording(path, Recording(t, q, qd, effort, robot.chain.joint_names, path),
                            description=self.description)
            self.get_logger().info(f'recorded {len(kept)} joint states: {path}')
        except RobotDynamicsError as error:
            self.diagnostics.warn('recording', str(error))
            if self.settings.exit_at_end:
                self.fail(str(error))

    def _stop(self, reason: str) -> bool:
        """Brake the robot if this node moves it; return whether it did."""
        if self._player is None or not self._player.running:
            return False
        self._send(self._player.stop(self.now, reason))
        self._tell_stop(reason)
        self._record()
        return True

    def _tell_stop(self, reason: str) -> None:
        self.diagnostics.value('excitation', f'stopped: {reason}')
        self.diagnostics.warn('excitation stops', f'stopped: {reason}')

    def _send(self, order: Order) -> None:
        self._output.publish(trajectory_to_message(order.trajectory,
                                                   Header(stamp=stamp(order.start))))


def main() -> int:
    """Run the node."""
    return run(ExcitationNode)


if __name__ == '__main__':
    sys.exit(main())
