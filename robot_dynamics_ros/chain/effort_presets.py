# SPDX-License-Identifier: Apache-2.0
"""
What drivers of known robots put into `effort`, by name.

A preset is a starting point with a source, not a measurement of your robot: a driver may change
what it reports. Every entry of a joint in joints.yaml overrides it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_GITHUB = 'https://github.com/'


@dataclass(frozen=True)
class EffortPreset:
    """
    The meaning of the efforts of one driver, the same for all joints.

    :param unit: unit of the effort.
    :param meaning: one sentence for people.
    :param sources: addresses of what the driver's authors or users say about it.
    :param gain: torque per unit of effort [N m, N per unit]; None = differs between robots, so
        that it is asked of the user for every joint.
    :param sign: +1 or -1, the direction of a positive effort.
    :param gravity_removed: True where efforts are reported without the weight of the arm.
    """

    unit: str
    meaning: str
    sources: tuple[str, ...]
    gain: float | None = 1.0
    sign: float = 1.0
    gravity_removed: bool = False


PRESETS: Mapping[str, EffortPreset] = MappingProxyType({
    # The driver's documentation says that effort "contains the currents reported by the joints";
    # it reads the RTDE field actual_current (releases 2.14, 3.8, 4.8 and 7.0 of July 2026).
    'ur_driver_currents': EffortPreset(
        'A', 'motor currents: up to ur_robot_driver 2.14, 3.8, 4.8, 7.0, and later with '
             'use_currents_as_efforts: true',
        (f'{_GITHUB}UniversalRobots/Universal_Robots_ROS2_Driver/blob/main/ur_robot_driver/doc/'
         'usage/utility_controllers.rst',
         f'{_GITHUB}UniversalRobots/Universal_Robots_ROS2_Driver/issues/794'), gain=None),
    # After these releases actual_current_as_torque is the default, with PolyScope 5.23.0 or
    # 10.11.0 and later; zero means "not moving and no external load".
    'ur_driver_torques': EffortPreset(
        'N m', 'joint torques without gravity: after ur_robot_driver 7.0 by default; true only '
               'with the right payload set on the robot',
        (f'{_GITHUB}UniversalRobots/Universal_Robots_ROS2_Driver/pull/1551',
         f'{_GITHUB}UniversalRobots/Universal_Robots_ROS2_Driver/pull/1918'),
        gravity_removed=True),
    # franka_hardware copies tau_J of libfranka: signals of the torque sensors on the link side.
    # Commands go without gravity, so that the two differ by it.
    'franka_ros2': EffortPreset(
        'N m', 'torque sensors on the link side (tau_J), with gravity; motor friction and rotor '
               'inertia are not in them. Commands go without gravity: gravity_mode none',
        (f'{_GITHUB}frankaemika/franka_ros2/blob/humble/franka_hardware/src/'
         'franka_hardware_interface.cpp',
         f'{_GITHUB}frankarobotics/docs/pull/9', f'{_GITHUB}frankarobotics/libfranka/issues/98')),
    # lbr_ros2_control passes getMeasuredTorque on as it is. On a real iiwa, gravity that pulls a
    # joint in its positive direction is reported as a positive torque: the load, not the drive.
    'kuka_lbr_fri': EffortPreset(
        'N m', 'torque sensors of an LBR iiwa or Med (getMeasuredTorque), with gravity, counted '
               'as the load on the joint',
        (f'{_GITHUB}lbr-stack/lbr_fri_ros2_stack/blob/rolling/lbr_ros2_control/src/'
         'system_interface.cpp', f'{_GITHUB}RobotLocomotion/drake/issues/13374'), sign=-1.0),
    # ros2_kortex passes actuators(i).torque() on as it is; Kinova's own example of torque control
    # negates it: "Torque measure is reversed compared to actuator direction".
    'kinova_gen3': EffortPreset(
        'N m', 'torque sensors of a Gen3 (a Gen3 lite has none), with gravity, against the '
               'direction of the actuator',
        (f'{_GITHUB}Kinovarobotics/ros2_kortex/blob/main/kortex_driver/src/hardware_interface.cpp',
         f'{_GITHUB}Kinovarobotics/Kinova-kortex2_Gen3_G3L/blob/master/api_cpp/examples/'
         '108-Gen3_torque_control/01-torque_control_cyclic.cpp',
         f'{_GITHUB}Kinovarobotics/Kinova-kortex2_Gen3_G3L/issues/98'), sign=-1.0),
    # xarm_api copies the reported tau; UFACTORY: "There is no torque sensor on the joints". The
    # ros2_control plug-in of the same repository reports no effort at all.
    'xarm_api': EffortPreset(
        'as reported', 'estimate without torque sensors, only on the topic of xarm_api; its scale '
                       'is not documented',
        (f'{_GITHUB}xArm-Developer/xarm_ros2/blob/master/xarm_api/src/xarm_driver.cpp',
         f'{_GITHUB}xArm-Developer/xarm_ros2/issues/98'), gain=None),
    # README of interbotix_xs_sdk: "effort is given in milliamps".
    'interbotix_xs': EffortPreset(
        'mA', 'motor currents of Dynamixel servos; load where a servo reports no current',
        (f'{_GITHUB}Interbotix/interbotix_ros_core/blob/main/interbotix_ros_xseries/'
         'interbotix_xs_sdk/README.md',), gain=None),
    # convertValue2Current of dynamixel_workbench, in mA.
    'dynamixel_hardware': EffortPreset(
        'mA', 'motor currents of Dynamixel servos; load where a servo reports no current',
        (f'{_GITHUB}dynamixel-community/dynamixel_hardware/blob/rolling/dynamixel_hardware/src/'
         'dynamixel_hardware.cpp',), gain=None),
    # README of the driver: "Motor load percentage (-1.0 to +1.0, normalized)".
    'feetech_sts': EffortPreset(
        'share of full load', 'load of Feetech STS servos (SO-100 and the like) between -1 and 1, '
                              'a duty cycle rather than a torque',
        (f'{_GITHUB}adityakamath/sts_hardware_interface/blob/main/README.md',), gain=None),
})
