# SPDX-License-Identifier: Apache-2.0
"""
The calibration node: calibrates a robot in stages that a person confirms.

It receives ``joint_states`` and publishes ``~/joint_trajectory`` for a trajectory controller.
``~/next`` starts the next stage, and ``~/stop`` brakes along the path. ``~/status`` (one line,
latched) and ``~/progress`` (0 to 1) say how far it is. Everything is written into one folder. The
robot is stopped if it departs from the motion, a torque is not the expected one, a limit is
exceeded, joint states stop, or the node ends.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from std_msgs.msg import Float32, Header, String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.calibration.analysis import Analysis
from robot_dynamics_ros.calibration.calibration import Calibration, CalibrationSettings
from robot_dynamics_ros.calibration.folder import CalibrationFolder, ChainChoice
from robot_dynamics_ros.calibration.motions import MotionSettings
from robot_dynamics_ros.calibration.stages import Condition
from robot_dynamics_ros.calibration.surroundings import Surroundings
from robot_dynamics_ros.calibration.watch import WatchSettings
from robot_dynamics_ros.chain.joints_file import carrier_of
from robot_dynamics_ros.collision.obstacles import read_obstacles
from robot_dynamics_ros.collision.scene import CollisionScene, Floor, collision_scene
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError
from robot_dynamics_ros.files.bounds import one_line
from robot_dynamics_ros.motion.joint_state import JointSamples, JointStateReader
from robot_dynamics_ros.motion.playing.player import Order, PlayerSettings
from robot_dynamics_ros.nodes.support.conversion import stamp, trajectory_to_message
from robot_dynamics_ros.nodes.support.diagnostics import described
from robot_dynamics_ros.nodes.support.learning_node import LearningNode, LearningNodeSettings
from robot_dynamics_ros.nodes.support.robot_node import LATCHED
from robot_dynamics_ros.nodes.support.runner import run
from robot_dynamics_ros.nodes.support.settings import setting
from robot_dynamics_ros.robot import Robot

#: Time between two looks at the robot [s].
PERIOD = 0.05


@dataclass(frozen=True)
class CalibrationNodeSettings(LearningNodeSettings):
    """Settings of the calibration node."""

    folder: str = setting('calibration', 'folder for everything that the calibration writes')
    resume: bool = setting(False, 'continue the run in the folder: finished stages are '
                                  'skipped, and its joints.yaml is used')
    payload: bool = setting(False, 'identify the payload of a robot whose calibration is in '
                                   'the folder')
    payload_tip: str = setting('', 'tip link that carries the payload; empty = the only one')
    auto: bool = setting(False, 'continue without ~/next, for simulations; a doubtful meaning '
                                'of efforts still needs confirmation')
    exit_at_end: bool = setting(False, 'end the node after the last stage')
    start: tuple[float, ...] = setting(
        (), 'posture at both ends of all motions [rad, m]; none = found by the design',
        example='[0.0, -1.2, 1.0]')
    duration: float = setting(10.0, 'duration of the exciting motion [s]', minimum=1.0,
                              maximum=600.0)
    harmonics: int = setting(5, 'number of harmonics of the exciting motion', minimum=2,
                             maximum=50)
    share: float = setting(
        0.5, 'part of the velocity and effort limits that the exciting motion uses',
        minimum=0.01, maximum=1.0)
    repetitions: int = setting(2, 'number of times that the exciting motion is played',
                               minimum=1, maximum=100)
    rehearsal_velocity: float = setting(
        0.1, 'velocity of the rehearsal, as a part of that of the motion', minimum=0.01,
        maximum=1.0)
    postures: int = setting(5, 'postures of the static test', minimum=2, maximum=50)
    reach: float = setting(0.8, 'largest distance of a joint from the start in the static test '
                                '[rad, m]', minimum=0.01, maximum=10.0)
    seed: int = setting(0, 'seed of the designs', minimum=0)
    unchecked: bool = setting(
        False, 'calibrate without collision checks if there is no collision geometry')
    floor: str = setting(
        'base', "height of the floor above the origin of the base, against gravity [m]; 'base' = "
        "0, 'none' = no floor")
    obstacles_file: str = setting('', 'YAML file with boxes, spheres and capsules around the '
                                      'robot; empty = none')
    srdf_file: str = setting('', 'SRDF whose disabled pairs are not checked; empty = none')
    mesh_folders: tuple[str, ...] = setting(
        (), 'folders with the meshes of the description, beside installed packages',
        example='[/opt/robot/meshes]')
    margin: float = setting(0.02, 'smallest distance to keep [m]', minimum=0.0, maximum=1.0)
    largest_deviation: float = setting(
        0.2, 'distance from the motion at which the robot is stopped [rad, m]', minimum=1e-3,
        maximum=10.0)
    torque_share: float = setting(
        0.1, 'share of the effort limit by which a torque may always differ from the expected one',
        minimum=0.001, maximum=1.0)
    joint_state_timeout: float = setting(
        0.5, 'age of the joint states at which the robot is stopped [s]', minimum=0.01,
        maximum=10.0)


class CalibrationNode(LearningNode):
    """Calibrates one robot."""

    settings_type = CalibrationNodeSettings
    follows_payload = False  # what the robot carries is part of what it is

    def __init__(self, **options: object) -> None:
        super().__init__('calibration', **options)
        self._run: Calibration | None = None
        self._work: threading.Thread | None = None
        self._failure: Exception | None = None
        self._status = self._described = ''

    @property
    def calibration(self) -> Calibration | None:
        """The run; None before the robot description."""
        return self._run

    @property
    def working(self) -> bool:
        """Whether a thread works."""
        return self._work is not None

    def make_interfaces(self) -> None:
        """Create topics and services."""
        self._output = self.create_publisher(JointTrajectory, '~/joint_trajectory', 10)
        self._progress = self.create_publisher(Float32, '~/progress', 10)
        self._line = self.create_publisher(String, '~/status', LATCHED)
        self.listen()
        self.create_service(Trigger, '~/next', self._on_next)
        self.create_service(Trigger, '~/stop', self._on_stop)
        self.create_timer(PERIOD, self._on_tick)

    def use_robot(self, robot: Robot) -> None:
        """Begin the calibration of this robot; one that runs is stopped."""
        p, description = self.settings, self.description
        if self._run is not None and description == self._described:
            return  # sent again, by a restarted publisher for example
        if p.payload and not os.path.isfile(Path(p.folder) / 'parameters.yaml'):
            raise ParameterError(f'{p.folder}: holds no parameters.yaml; calibrate the arm '
                                 'without payload first')
        if p.start and len(p.start) != len(robot.chain):
            raise ParameterError(f'start has {len(p.start)} values, expected '
                                 f'{len(robot.chain)}: {", ".join(robot.chain.joint_names)}')
        if p.payload or p.payload_tip:
            carrier_of(robot.chain, p.payload_tip or None, 'payload_tip:=NAME')
        _floor(p.floor)
        self._stop('a new robot description')
        self._finish_work()
        analysis = Analysis(
            CalibrationFolder(p.folder), description,
            ChainChoice(p.base or None, p.tip or None, p.gravity or None, p.locked, p.tips),
            robot.chain, robot.joints_file, joints_path=p.joints_file or None,
            resume=p.resume or p.payload, payload_tip=p.payload_tip or None,
            tell=self.get_logger().info)
        self._run = Calibration(
            analysis, self._calibration_settings(),
            Surroundings(None if p.unchecked else lambda: self._scene(robot, description)))
        self.reader, self._described = JointStateReader(robot.chain.joint_names), description

    def _calibration_settings(self) -> CalibrationSettings:
        p = self.settings
        return CalibrationSettings(
            MotionSettings(p.start or None, p.duration, p.harmonics, p.share, p.repetitions,
                           p.rehearsal_velocity, p.postures, p.reach, p.seed),
            PlayerSettings(deviation=p.largest_deviation, timeout=p.joint_state_timeout,
                           speed=0.15),
            WatchSettings(share=p.torque_share, cutoff=p.cutoff), p.auto, p.payload)

    def _scene(self, robot: Robot, description: str) -> CollisionScene:
        p = self.settings
        return collision_scene(
            description, robot.chain, locked=p.locked or None, folders=p.mesh_folders,
            srdf=p.srdf_file or None, floor=_floor(p.floor), margin=p.margin,
            obstacles=read_obstacles(p.obstacles_file) if p.obstacles_file else ())

    def remove_interfaces(self) -> None:
        """Forget the run; its folder stays."""
        self._finish_work()
        self._run = None

    def learn(self, samples: JointSamples) -> None:
        """Hand joint states on."""
        if self._run is not None:
            self._run.receive(samples, self.now)
            self.diagnostics.count('joint states', len(samples.times))

    def come_to_rest(self) -> None:
        """Brake the robot, and end the work that runs."""
        self._stop('the node ends')
        self._finish_work()

    def stop_commanding(self) -> None:
        """Brake the robot."""
        self._stop('an unforeseen error')

    def clock_set_back(self) -> None:
        """Brake the robot: the times of its motion mean nothing any more."""
        self._stop('the clock was set back')
        super().clock_set_back()

    def _on_next(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._run is None or not self.active:
            response.message = 'no robot description yet, or not active'
        elif self._output.get_subscription_count() == 0:
            response.message = 'nobody listens to ~/joint_trajectory: start the controller'
        else:
            if self._run.condition in (Condition.STOPPED, Condition.WAITING):
                self._finish_work()
            response.message = self._run.confirm()
            response.success = response.message == ''
        return response

    def _on_stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success = self._stop('asked to stop')
        response.message = '' if response.success else 'no motion is running'
        return response

    def _on_tick(self) -> None:
        if self._run is None or not self.active:
            return
        self.catch_up()
        try:
            self._go_on(self._run)
        except RobotDynamicsError as error:
            self.diagnostics.warn('calibration', str(error))
            self._stop(str(error))

    def _go_on(self, calibration: Calibration) -> None:
        """Do what is next: work in a thread of its own, or motion."""
        if self._work is not None and self._work.is_alive():
            self._tell(calibration)
            return
        self._take_result(calibration)
        if calibration.work is not None:
            self._begin_work(calibration.work)
        elif self._output.get_subscription_count() or calibration.condition is Condition.MOVING:
            self._send(calibration.step(self.now))
        self._tell(calibration)
        p = self.settings
        stopped = calibration.condition is Condition.STOPPED and calibration.work is None
        if p.exit_at_end and not self.finished and (calibration.over or (stopped and p.auto)):
            if not calibration.succeeded:
                self.fail(calibration.status(self.now).text)
            self.finished = True

    def _begin_work(self, work: Callable[[], None]) -> None:
        self._work = threading.Thread(target=self._do, args=(work,), daemon=True)
        self._work.start()

    def _do(self, work: Callable[[], None]) -> None:
        """Work; what goes wrong is told by the next tick."""
        try:
            work()
        except Exception as error:
            self._failure = error

    def _take_result(self, calibration: Calibration) -> None:
        """Go on from work that is over."""
        if self._work is None:
            return
        self._work, failure, self._failure = None, self._failure, None
        if failure is not None and not isinstance(failure, RobotDynamicsError):
            calibration.worked(RobotDynamicsError(described(failure)))
            raise failure
        calibration.worked(failure)

    def _finish_work(self) -> None:
        """Wait until no thread works any more, and what a stopped stage recorded is written."""
        run = self._run
        if run is None:
            return
        self._wait_for_thread(run)
        if run.condition is Condition.STOPPED and run.work is not None:
            self._begin_work(run.work)
            self._wait_for_thread(run)

    def _wait_for_thread(self, calibration: Calibration) -> None:
        if self._work is not None:
            self._work.join()
            self._take_result(calibration)

    def _tell(self, calibration: Calibration) -> None:
        status = calibration.status(self.now)
        self._progress.publish(Float32(data=float(status.progress)))
        line = f'{status.condition.name} {status}'
        self.diagnostics.value('calibration', line)
        if line != self._status:
            self._status = line
            self._line.publish(String(data=line))

    def _stop(self, reason: str) -> bool:
        """Brake the robot if this node moves it; return whether it did."""
        if self._run is None:
            return False
        order = self._run.stop(self.now, reason)
        self._send(order)
        if order is not None:
            self.diagnostics.warn('calibration stops', f'stopped: {reason}')
        return order is not None

    def _send(self, order: Order | None) -> None:
        if order is not None:
            self._output.publish(trajectory_to_message(order.trajectory,
                                                       Header(stamp=stamp(order.start))))


def _floor(text: str) -> Floor:
    """
    Return the floor as `collision_scene` takes it.

    :raises ParameterError: neither a word nor a height.
    """
    if text in ('base', 'none'):
        return 'base' if text == 'base' else None
    try:
        return float(text)
    except ValueError:
        raise ParameterError("parameter floor must be 'base', 'none' or a height [m], got "
                             f"'{one_line(text)}'") from None


def main() -> int:
    """Run the node."""
    return run(CalibrationNode)


if __name__ == '__main__':
    sys.exit(main())
