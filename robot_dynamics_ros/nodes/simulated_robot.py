# SPDX-License-Identifier: Apache-2.0
"""
The simulated robot node: a stand-in for a real robot.

It publishes ``joint_states`` as joint_state_broadcaster does. It executes ``~/joint_trajectory``
as joint_trajectory_controller with an effort interface does (PID + effort of the trajectory), and
applies ``~/commands`` as forward_command_controller does. Its true parameters differ from the URDF
by a seeded error; ``~/set_payload`` attaches a payload.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from rclpy.clock import Clock as SteadyClock
from rclpy.clock import ClockType
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_interfaces.srv import SetPayload
from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.runtime.model import compile_model
from robot_dynamics_ros.control.pid import GAIN_NAMES, PidGains
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.nodes.support.conversion import (
    joint_state,
    named_tip,
    payload_from_message,
    seconds,
    stamp,
    trajectory_from_message,
)
from robot_dynamics_ros.nodes.support.robot_node import RobotNode
from robot_dynamics_ros.nodes.support.runner import run
from robot_dynamics_ros.nodes.support.settings import (
    EFFORT_LIMITS,
    JointSetting,
    RobotNodeSettings,
    declare_number,
    effort_limits,
    setting,
)
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.simulation.arm import Arm
from robot_dynamics_ros.simulation.controlled_robot import ControlledRobot, SensorNoise, pid_gains
from robot_dynamics_ros.simulation.mujoco_robot import MujocoRobot
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error
from robot_dynamics_ros.simulation.robot import SPRING_DAMPING, SimulatedRobot

#: Physics engines.
ENGINES = ('own', 'mujoco')
#: Longest pause of the machine that is caught up with [s].
CATCH_UP = 0.1
#: A joint that could accelerate more with its largest effort lacks its rotor [rad/s^2, m/s^2].
LARGEST_ACCELERATION = 3000.0
#: Longest wait for efforts in lockstep [s].
PATIENCE = 1.0
#: First time of its own clock [s]; a stamp of zero would mean no stamp.
OWN_START = 1.0

_GAINS = JointSetting(
    'gains', 'gains of the PID of a joint, as of joint_trajectory_controller; i_clamp_max and '
    'i_clamp_min bound the integral part [N m, N]; none = from pid_frequency and integral_time',
    '{joint_1: {p: 100.0, i: 50.0, d: 10.0, i_clamp_max: 5.0, i_clamp_min: -5.0}}')


@dataclass(frozen=True)
class SimulatedRobotNodeSettings(RobotNodeSettings):
    """
    Settings.

    Also ``effort_limits.<joint>`` and ``gains.<joint>.p | i | d | i_clamp_max | i_clamp_min``.
    """

    of_joints: ClassVar[tuple[JointSetting, ...]] = (_GAINS, EFFORT_LIMITS)

    engine: str = setting('own', 'physics engine: of this package, or MuJoCo',
                          choices=ENGINES)
    simulation_rate: float = setting(1000.0, 'steps of the simulation per second [1/s]',
                                     minimum=50.0, maximum=20_000.0)
    publish_rate: float = setting(100.0, 'joint states per second [1/s]', minimum=1.0,
                                  maximum=2000.0)
    publish_clock: bool = setting(
        False, 'publish /clock, in slow motion if the machine is too slow; the other nodes need '
               'use_sim_time, this one must not have it')
    real_time_factor: float = setting(
        1.0, 'with publish_clock: simulated seconds per second, if the machine is fast enough',
        minimum=0.1, maximum=100.0)
    lockstep: bool = setting(
        False, 'with publish_clock: once efforts are commanded, every joint state waits for the '
               'efforts that answer it, so that there is no delay on any machine')
    initial_position: tuple[float, ...] = setting(
        (), 'first joint positions [rad, m]; none = zero', example='[0.0, -0.5]')
    parameter_error: float = setting(
        0.1, 'relative difference of the true parameters from the URDF', minimum=0.0, maximum=0.5)
    seed: int = setting(1, 'seed of the parameter error and the noise', minimum=0)
    position_noise: float = setting(0.0, 'standard deviation of measured positions [rad, m]',
                                    minimum=0.0, maximum=1.0)
    velocity_noise: float = setting(0.0, 'standard deviation of measured velocities [rad/s, m/s]',
                                    minimum=0.0, maximum=10.0)
    effort_noise: float = setting(0.0, 'standard deviation of measured efforts [N m, N]',
                                  minimum=0.0, maximum=1e3)
    missing_interfaces: tuple[str, ...] = setting(
        (), 'interfaces that are reported as NaN', choices=('velocity', 'effort'),
        example='[effort]')
    pid_frequency: float = setting(20.0, 'bandwidth of the PID if no gains are given [rad/s]',
                                   minimum=0.1, maximum=500.0)
    integral_time: float = setting(
        0.5, 'integral time of the PID if no gains are given [s]; 0 = no integral',
        minimum=0.0, maximum=100.0)
    spring_damping: float = setting(
        SPRING_DAMPING, 'damping of elastic joints divided by their stiffness [s]', minimum=0.0,
        maximum=1.0)


class SimulatedRobotNode(RobotNode):
    """Simulates an arm in real time."""

    settings_type = SimulatedRobotNodeSettings
    follows_payload = False  # the true payload may be another one than the others believe

    def __init__(self, **options: object) -> None:
        super().__init__('simulated_robot', **options)
        self._cell: ControlledRobot | None = None
        self._steady = SteadyClock(clock_type=ClockType.STEADY_TIME)
        self._last_tick = self._last_state = 0.0
        self._commanded = self._answered = False

    @property
    def simulation(self) -> ControlledRobot | None:
        """The true arm with its controller; None before the robot description."""
        return self._cell

    @property
    def real_time(self) -> float:
        """Real time [s], from any start; it never jumps."""
        return float(self._steady.now().nanoseconds) * 1e-9

    def make_interfaces(self) -> None:
        """Create the topics."""
        p = self.settings
        self._states = self.create_publisher(JointState, 'joint_states', 10)
        self.create_subscription(JointTrajectory, '~/joint_trajectory', self._on_trajectory, 10)
        self.create_subscription(Float64MultiArray, '~/commands', self._on_commands, 10)
        self.create_service(SetPayload, '~/set_payload', self._on_set_payload)
        if p.publish_clock:
            if self.get_parameter('use_sim_time').value:
                raise ParameterError('publish_clock and use_sim_time exclude each other')
            self._clock_topic = self.create_publisher(Clock, '/clock', 10)
            self.create_timer(1.0 / (p.publish_rate * p.real_time_factor), self._on_own_time,
                              clock=self._steady)
        else:
            self.create_timer(1.0 / p.publish_rate, self._on_tick)

    def use_robot(self, robot: Robot) -> None:
        """Build the arm with its true parameters."""
        p, names = self.settings, robot.chain.joint_names
        limits = effort_limits(self, robot.chain)
        if p.initial_position and len(p.initial_position) != len(names):
            raise ParameterError(f'initial_position has {len(p.initial_position)} values, '
                                 f'expected {len(names)}: {", ".join(names)}')
        arm = self._arm(with_parameter_error(robot.chain, p.parameter_error, p.seed),
                        robot.joints_file.stiffness(robot.chain))
        gains = self._gains(pid_gains(robot.model, arm.q, p.pid_frequency, p.integral_time,
                                      limits), names)
        self._tell_of_light_joints(robot, arm.q, limits)
        noise = SensorNoise(p.position_noise, p.velocity_noise, p.effort_noise)
        self._cell = ControlledRobot(arm, gains, limits, noise=noise, seed=p.seed,
                                     now=OWN_START if p.publish_clock else self.now)

    def _tell_of_light_joints(self, robot: Robot, q: Array, limits: EffortLimits) -> None:
        """Name joints that PID will lose because the URDF has no rotor inertias."""
        inertia = np.diag(robot.model.mass_matrix(q))
        light = [f'{name} ({value:.2g})' for name, value, limit in
                 zip(robot.chain.joint_names, inertia, limits.values)
                 if limit > LARGEST_ACCELERATION * value]
        if light:
            self.get_logger().warning(
                f'very light for their effort limits: {", ".join(light)} [kg m^2, kg]; PID alone '
                'will hardly track them. Give their rotor_inertia in joints.yaml')

    def _arm(self, chain: Chain, stiffness: Array) -> Arm:
        """Return the arm with its true parameters in the chosen engine."""
        p = self.settings
        q, step = p.initial_position or None, 1.0 / p.simulation_rate
        if p.engine == 'own':
            return SimulatedRobot(chain, compile_model(chain), q=q, step=step,
                                  stiffness=stiffness, spring_damping=p.spring_damping)
        if np.any(np.isfinite(stiffness)):
            raise ParameterError("engine 'mujoco' has no elastic joints; take the stiffness out "
                                 "of the joints file, or use engine 'own'")
        return MujocoRobot(chain, q=q, step=step)

    def _gains(self, default: PidGains, names: tuple[str, ...]) -> PidGains:
        """Return the gains given for a joint, and the default ones elsewhere."""
        rows = {}
        for key in GAIN_NAMES:
            given = [declare_number(self, f'{_GAINS.name}.{name}.{key}', _GAINS.description)
                     for name in names]
            rows[key] = np.array([fallback if value is None else value
                                  for value, fallback in zip(given, getattr(default, key))])
        return PidGains(**rows)

    def stop_commanding(self) -> None:
        """Hold the present position."""
        if self._cell is not None:
            self._cell.hold()

    def clock_set_back(self) -> None:
        """Hold the present position, on the new clock."""
        if self._cell is not None:
            self._cell.advance_to(self.now, at_most=0)

    def _on_tick(self) -> None:
        """Follow the clock of the node; time that the machine cannot catch up with is skipped."""
        cell = self._cell
        if cell is not None and self.active and not self._advance(cell, self.now):
            self.diagnostics.warn('skipped time', 'the simulation is slower than real time and '
                                  'has skipped some: lower simulation_rate, or set publish_clock')

    def _on_own_time(self) -> None:
        """Advance by the real time since the last tick, or less; never skip any."""
        p, cell, now = self.settings, self._cell, self.real_time
        elapsed = now - self._last_tick
        # two ticks of a busy machine may come at once: no second state with the same stamp
        if 0.0 <= p.real_time_factor * elapsed * p.simulation_rate < 1.0:
            return
        self._last_tick = now
        if cell is None or not self.active:
            return
        # faster than real time, a busy machine is slower, but loses no joint state
        longest = CATCH_UP if p.real_time_factor <= 1.0 else 1.0 / p.publish_rate
        if p.lockstep and self._commanded:
            if not self._answered and now - self._last_state < PATIENCE:
                return
            longest = 1.0 / p.publish_rate
        self._answered, self._last_state = False, now
        self._advance(cell, cell.time + min(p.real_time_factor * elapsed, longest))

    def _advance(self, cell: ControlledRobot, until: float) -> bool:
        """Simulate, publish the joint states, and return False if time was skipped."""
        p = self.settings
        try:
            on_time = cell.advance_to(until, at_most=round(CATCH_UP * p.simulation_rate) + 1)
        except RobotDynamicsError as error:
            self.diagnostics.warn('simulation errors', f'{error}; holding the present position')
            cell.hold()
            return True
        if p.publish_clock:  # before the joint states, whose receivers look at their clock
            self._clock_topic.publish(Clock(clock=stamp(cell.time)))
        q, qd, effort = cell.measure()
        nothing = np.full_like(q, np.nan)
        message = joint_state(
            stamp(cell.time), cell.robot.chain.joint_names,
            nothing if 'effort' in p.missing_interfaces else effort, q=q,
            qd=nothing if 'velocity' in p.missing_interfaces else qd)
        message.header.frame_id = cell.robot.chain.base  # RViz draws no efforts without a frame
        self._states.publish(message)
        return on_time

    def _on_trajectory(self, message: JointTrajectory) -> None:
        if self._cell is None or not self.active:
            self.diagnostics.warn('dropped trajectories',
                                  'trajectory dropped: no robot or not active')
            return
        try:
            self._cell.follow(trajectory_from_message(message, with_efforts=True),
                              seconds(message.header.stamp) or self._cell.time)
            self._commanded = False
            self.diagnostics.count('trajectories')
        except RobotDynamicsError as error:
            self.diagnostics.warn('dropped trajectories', f'trajectory dropped: {error}')

    def _on_commands(self, message: Float64MultiArray) -> None:
        if self._cell is None or not self.active:
            self.diagnostics.warn('dropped commands', 'command dropped: no robot or not active')
            return
        try:
            self._cell.command(message.data)
            self._commanded = self._answered = True
            self.diagnostics.count('commands')
        except RobotDynamicsError as error:
            self.diagnostics.warn('dropped commands', f'command dropped: {error}')

    def _on_set_payload(self, request: SetPayload.Request,
                        response: SetPayload.Response) -> SetPayload.Response:
        if self._cell is None:
            response.message = 'no robot description yet'
            return response
        try:
            arm = self._cell.robot
            tip = named_tip(request.payload, arm.chain)
            arm.carry(payload_from_message(request.payload, tip), tip)
            response.success = True
        except RobotDynamicsError as error:
            response.message = str(error)
        return response


def main() -> int:
    """Run the node."""
    return run(SimulatedRobotNode)


if __name__ == '__main__':
    sys.exit(main())
