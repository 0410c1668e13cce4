# SPDX-License-Identifier: Apache-2.0
"""Readers of robots that branch: several arms, followers, and any choice of tips and locks."""

import re
import zlib
from contextlib import suppress

import numpy as np

from fuzz.file_targets import URDF_FOLDER
from fuzz.target import Target
from robot_dynamics_ros import RobotDynamicsError, minimal_parameters
from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf_text
from robot_dynamics_ros.dynamics.formulations.equations_of_motion import (
    gravity_torque,
    mass_matrix,
)

#: Robots with more moving links are only read: their equations take too long for one try.
LARGEST = 9
#: Part of the largest entry by which entries that should be equal may differ.
SAME = 1e-6

_INERTIAL = """<inertial><origin xyz="0.05 0 0.02"/><mass value="1.5"/>
  <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.01"/></inertial>"""
_LINK, _JOINT = (re.compile(rb'<%s\s+name="([^"<>]*)"' % kind) for kind in (b'link', b'joint'))


def _link(name):
    return f'  <link name="{name}">{_INERTIAL}</link>\n'


def _joint(name, parent, child, kind='revolute', axis='0 0 1', rest=''):
    return (f'  <joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/>\n    <origin xyz="0.1 0.2 0" rpy="0.5 0 1.5708"/>'
            f'<axis xyz="{axis}"/>{rest}\n'
            f'    <limit lower="-1" upper="2" effort="50" velocity="2"/></joint>\n')


def two_arms():
    """Return a torso with two arms, each with a finger that follows another joint."""
    text = '  <link name="base"/>\n' + _link('torso') + _joint('turn', 'base', 'torso')
    for side in ('left', 'right'):
        names = [f'{side}_{part}' for part in ('arm', 'hand', 'thumb', 'finger')]
        text += ''.join(map(_link, names))
        arm, hand, thumb, finger = names
        text += _joint(f'{side}_shoulder', 'torso', arm, axis='0 1 0')
        text += _joint(f'{side}_slide', arm, hand, 'prismatic', '1 0 0')
        text += _joint(f'{side}_grip', hand, thumb, 'continuous', '0 0.6 0.8')
        text += _joint(f'{side}_follow', hand, finger, rest=(
            f'<mimic joint="{side}_grip" multiplier="-1.5" offset="0.1"/>'))
    return f'<?xml version="1.0"?>\n<robot name="two">\n{text}</robot>\n'.encode()


def read_tree(case):
    """Read a robot whole and in parts, and calculate what every caller relies on."""
    text = case.decode('utf-8', 'surrogateescape')
    rng = np.random.default_rng(zlib.crc32(case))
    _calculate(chain_from_urdf_text(text), rng)
    links, joints = ([each.decode('utf-8', 'surrogateescape') for each in pattern.findall(case)]
                     for pattern in (_LINK, _JOINT))
    tips = [str(each) for each in rng.choice(links, size=min(3, len(links)))]
    lock = str(rng.choice(joints))
    for choice in ({'locked': ['*follow*', '*grip*']}, {'tips': tips}, {'tip': tips[0]},
                   {'locked': {lock: 0.3}}, {'base': tips[-1]}):
        with suppress(RobotDynamicsError):  # there need not be such a part
            _calculate(chain_from_urdf_text(text, **choice), rng)


def _calculate(robot, rng):
    moving = len(robot) + len(robot.followers)
    if moving > LARGEST:
        return
    assert np.all(np.isfinite(minimal_parameters(robot).values))
    q = rng.uniform(-1.0, 1.0, len(robot))
    mass = mass_matrix(robot, q)
    assert mass.shape == (len(robot),) * 2
    assert np.all(np.isfinite(mass)) and np.all(np.isfinite(gravity_torque(robot, q)))
    assert np.max(np.abs(mass - mass.T)) <= SAME * np.max(np.abs(mass))


TARGETS = [Target('trees', lambda: [two_arms(),
                                    (URDF_FOLDER / 'demo_two_arms.urdf').read_bytes()], read_tree)]
