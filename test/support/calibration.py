# SPDX-License-Identifier: Apache-2.0
"""A calibration with a simulated robot and its controller, without ROS."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import yaml

from robot_dynamics_ros import chain_from_urdf_text, compile_model
from robot_dynamics_ros.calibration.analysis import Analysis
from robot_dynamics_ros.calibration.calibration import Calibration, CalibrationSettings
from robot_dynamics_ros.calibration.folder import CalibrationFolder, ChainChoice
from robot_dynamics_ros.calibration.motions import MotionSettings
from robot_dynamics_ros.chain.joints_file import JointsFile, joints_from_mapping
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.joint_state import JointSamples
from robot_dynamics_ros.motion.playing.player import PlayerSettings
from robot_dynamics_ros.simulation.controlled_robot import (
    ControlledRobot,
    SensorNoise,
    pid_gains,
)
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error
from robot_dynamics_ros.simulation.robot import SimulatedRobot

URDF = Path(__file__).parents[2] / 'urdf'
#: Times of the simulation, of joint states and of the calibration [s].
STEP, STATE, TICK = 0.004, 0.008, 0.048
FRICTION = {'joint_1': {'coulomb': 1.0, 'viscous': 0.5}, 'joint_2': {'coulomb': 0.5,
                                                                    'viscous': 0.2}}
#: Short motions.
QUICK = MotionSettings(duration=5.0, harmonics=3, repetitions=2, rehearsal=0.4, postures=3,
                       share=0.8)


def two_planar_arms():
    """Return the URDF text of a robot with two planar arms, ``left_...`` and ``right_...``."""
    text = (URDF / 'planar_2r.urdf').read_text()
    parts = re.search(r'<link name="base_link"/>(.*)</robot>', text, re.DOTALL)[1]
    arms = [re.sub(r'"((link|joint)_[12]|load|load_fixed)"', rf'"{side}_\1"', parts)
            for side in ('left', 'right')]
    return f'<robot name="two_planar_arms"><link name="base_link"/>{"".join(arms)}</robot>'


class Cell:
    """A planar arm (or two), whose true parameters differ from the URDF, and its calibration."""

    def __init__(self, folder, *, error=0.15, meaning=lambda torque: torque, joints=None,
                 settings=None, resume=False, urdf='planar_2r', seed=3, friction=None,
                 text=None, tips=(), payload_tip=None):
        text = text or (URDF / f'{urdf}.urdf').read_text()
        plain = chain_from_urdf_text(text, tips=tips or None)
        arms = len(plain) // 2
        known = {name: {**FRICTION[f'joint_{name[-1]}'], **(friction or {})}
                 for name in plain.joint_names}
        true = joints_from_mapping({'joints': known}, 'truth').applied_to(plain)
        self.chain = plain
        self.lines, self.now, self.meaning = [], 10.0, meaning
        true = with_parameter_error(true, error, seed)
        model = compile_model(true)
        arm = SimulatedRobot(true, model, q=np.tile([0.3, -0.4], arms), step=STEP)
        limits = EffortLimits.of_chain(plain)
        self.cell = ControlledRobot(
            arm, pid_gains(compile_model(plain), arm.q, 20.0, 0.5, limits), limits,
            noise=SensorNoise(1e-5, 1e-3, 0.02), seed=seed, now=self.now)
        path = None
        if joints is not None:
            path = Path(folder).parent / 'given_joints.yaml'
            path.write_text(yaml.safe_dump(joints))
        file = JointsFile('none') if joints is None else joints_from_mapping(joints, 'given')
        self.analysis = Analysis(CalibrationFolder(folder), text, ChainChoice(tips=tips),
                                 file.applied_to(plain), file, joints_path=path, resume=resume,
                                 payload_tip=payload_tip, tell=self.lines.append)
        self.settings = settings or CalibrationSettings(
            motions=QUICK, player=PlayerSettings(deviation=0.3, approach=1.0, settle=0.5),
            auto=True)
        self.run = Calibration(self.analysis, self.settings)
        self.orders = []
        self.hidden = False  # joint states stay away
        self.push = np.zeros(len(plain))  # efforts that the robot reports beside its own

    def with_settings(self, **changes):
        self.run = Calibration(self.analysis, replace(self.settings, **changes))

    def tick(self):
        """Let one period pass, as a node would."""
        times, states = [], []
        end = self.now + TICK
        while self.now < end - 1e-9:
            self.now += STATE
            self.cell.advance_to(self.now, at_most=100)
            times.append(self.now)
            q, qd, effort = self.cell.measure()
            states.append((q, qd, self.meaning(effort + self.push)))
        if not self.hidden:
            q, qd, effort = (np.array(each) for each in zip(*states))
            self.run.receive(JointSamples(np.array(times), q, qd, effort, ()), self.now)
        if self.run.work is not None:
            try:
                self.run.work()
                self.run.worked()
            except RobotDynamicsError as error:
                self.run.worked(error)
        self.send(self.run.step(self.now))

    def send(self, order):
        if order is not None:
            self.orders.append(order)
            self.cell.follow(order.trajectory, order.start)

    def until(self, condition, longest=400.0):
        """Let time pass until something holds."""
        end = self.now + longest
        while not condition(self.run):
            assert self.now < end, (self.run.status(self.now), self.lines[-5:])
            self.tick()
