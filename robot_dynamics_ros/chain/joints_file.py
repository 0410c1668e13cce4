# SPDX-License-Identifier: Apache-2.0
"""
The joints file: facts about a robot that a URDF cannot hold.

.. code-block:: yaml

    format: 1
    preset: kuka_lbr_fri          # what efforts mean, from effort_presets; for all joints
    coulomb_velocity: 0.01        # [rad/s, m/s]
    coupling: [[1, 0], [-1, 1]]   # q = J q_motor, over the joints in the order of the chain
    effort_delay: 0.012           # efforts are reported later than positions by this [s]
    payload:                      # fixed to the tip link, in its frame
      tip: tool0                  # needed where there are several tips
      mass: 1.5                   # [kg]
      centre_of_mass: [0, 0, 0.1]            # [m]
      inertia: [0.01, 0, 0, 0.01, 0, 0.005]  # xx xy xz yy yz zz about the centre [kg m^2]
    joints:
      shoulder:
        rotor_inertia: 0.3        # all terms of JointPhysics; or motor_inertia and gear_ratio
        viscous: 2.0
        coulomb: 1.5
        load_friction: 0.05       # Coulomb friction per unit of load [1]
        presliding: 0.0003        # distance over which friction turns after a reversal [rad, m]
        stiffness: 8000.0         # of an elastic joint [N m/rad, N/m]
        limits: {effort: 80.0, velocity: 2.0, lower: -3.0, upper: 3.0}
        effort: {sign: -1, gain: 11.9, gain_deviation: 0.03, offset: 0.02, side: joint,
                 gravity_removed: false}

Every entry is optional; a joint that is not named keeps what the URDF says. What a joint says
about its effort overrides the preset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.chain.effort_presets import PRESETS
from robot_dynamics_ros.chain.inertia import Inertia, payload_inertia
from robot_dynamics_ros.chain.joint_physics import PER_JOINT, JointPhysics
from robot_dynamics_ros.errors import ParameterError, RobotDynamicsError
from robot_dynamics_ros.files.bounds import one_line
from robot_dynamics_ros.files.checked_yaml import (
    mapping,
    matrix,
    name,
    number,
    read_yaml,
    row,
)

FORMAT = 1
#: Instead of rotor_inertia: inertia at the motor [kg m^2], and motor velocity over joint velocity.
_ROTOR = ('motor_inertia', 'gear_ratio')
_LIMITS = {'effort': 'effort_limit', 'velocity': 'velocity_limit', 'lower': 'lower',
           'upper': 'upper'}
_EFFORT = ('sign', 'gain', 'gain_deviation', 'offset', 'side', 'gravity_removed')
_TOP = ('format', 'preset', 'coulomb_velocity', 'coupling', 'effort_delay', 'payload', 'joints')


@dataclass(frozen=True)
class JointsFile:
    """
    The contents of a joints file, checked in form; names are checked against a chain later.

    :param source: path of the file, for messages.
    :param joints: entries by joint name.
    :param coulomb_velocity: velocity of `JointPhysics` [rad/s, m/s], or None.
    :param coupling: rows of the matrix, or None.
    :param payload: known payload in the tip frame, or None.
    :param preset: name of what efforts mean, one of PRESETS, or None.
    :param effort_delay: time by which efforts are reported later than positions [s].
    :param payload_tip: tip link that carries the payload, or None.
    """

    source: str
    joints: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    coulomb_velocity: float | None = None
    coupling: Sequence[Sequence[float]] | None = None
    payload: Inertia | None = None
    preset: str | None = None
    effort_delay: float = 0.0
    payload_tip: str | None = None

    def applied_to(self, chain: Chain) -> Chain:
        """
        Return the chain with the joint physics, limits and payload of the file.

        :raises ParameterError: a joint or tip that is not on the chain, several tips of which a
            payload names none, or an impossible value.
        """
        self._check_names(chain)
        try:
            chain = self._with_physics(chain)
            if self.payload is not None:
                chain = chain.with_payload(self.payload, tip=carrier_of(
                    chain, self.payload_tip, 'payload: {tip: NAME}').tip)
        except RobotDynamicsError as error:
            raise ParameterError(f'{self.source}: {error}') from error
        joints = tuple(replace(joint, **{
            _LIMITS[key]: value
            for key, value in self.joints.get(joint.name, {}).get('limits', {}).items()})
            for joint in chain.joints)
        return replace(chain, joints=joints)

    def effort_semantics(self, chain: Chain) -> EffortSemantics:
        """
        Return what the efforts of the robot mean, in the joint order of the chain.

        :raises ParameterError: a joint that is not on the chain, an impossible value, or a gain
            that the preset leaves open.
        """
        self._check_names(chain)
        given = [self.joints.get(name, {}).get('effort', {}) for name in chain.joint_names]
        defaults = {key: getattr(EffortSemantics.torque(1), key)[0] for key in _EFFORT}
        if self.preset is not None:
            preset = PRESETS[self.preset]
            defaults |= {'sign': preset.sign, 'gain': preset.gain,
                         'gravity_removed': preset.gravity_removed}
            missing = [name for name, effort in zip(chain.joint_names, given)
                       if effort.get('gain', preset.gain) is None]
            if missing:
                raise ParameterError(
                    f'{self.source}: preset {self.preset}: the unit of its efforts is '
                    f'"{preset.unit}", so that joint {", ".join(missing)} needs an effort: gain: '
                    '[N m per unit], motor constant times gear ratio; '
                    'identify_drive_gains finds it with a known payload')
        columns: dict[str, Any] = {key: [effort.get(key, default) for effort in given]
                                   for key, default in defaults.items()}
        coupling = None if self.coupling is None else np.array(self.coupling)
        try:
            return EffortSemantics(coupling=coupling, delay=self.effort_delay, **columns)
        except RobotDynamicsError as error:
            raise ParameterError(f'{self.source}: {error}') from error

    def stiffness(self, chain: Chain) -> Array:
        """Return the stiffness of every joint (n,) [N m/rad, N/m]; infinite where not given."""
        self._check_names(chain)
        return np.array([self.joints.get(name, {}).get('stiffness', np.inf)
                         for name in chain.joint_names])

    def _check_names(self, chain: Chain) -> None:
        unknown = [name for name in self.joints if name not in chain.joint_names]
        if unknown:
            raise ParameterError(f'{self.source}: joint {", ".join(unknown)} is not on the chain; '
                                 f'its joints are {", ".join(chain.joint_names)}')

    def _with_physics(self, chain: Chain) -> Chain:
        old = chain.joint_physics
        changes: dict[str, Any] = {}
        for key in PER_JOINT:
            given = {name: entry[key] for name, entry in self.joints.items() if key in entry}
            if given:
                before = getattr(old, key)
                if before is None:
                    before = _absent(key, old)
                changes[key] = np.array([given.get(name, value)
                                         for name, value in zip(chain.joint_names, before)])
        if self.coulomb_velocity is not None:
            changes['coulomb_velocity'] = self.coulomb_velocity
        if self.coupling is not None:
            changes['coupling'] = np.array(self.coupling)
        return chain.with_joint_physics(replace(old, **changes)) if changes else chain


def _absent(key: str, physics: JointPhysics) -> Array:
    """Return the values (n,) of a term with which nothing changes."""
    if key == 'static':  # without Stribeck it is the Coulomb friction, at any velocity
        return physics.coulomb
    return np.full(len(physics), 1.0 if key == 'stribeck_velocity' else 0.0)


def carrier_of(chain: Chain, tip: str | None, option: str) -> Chain:
    """
    Return the robot with the tip that carries a payload as its first one.

    :param chain: the robot.
    :param tip: name of the tip link; None = the only one.
    :param option: how a person names it, for the message, with NAME in the place of the link.
    :raises ParameterError: there are several, and none is named.
    :raises ChainError: no tip with this name.
    """
    if tip is None and len(chain.tips) > 1:
        ways = ' or '.join(option.replace('NAME', each.link) for each in chain.tips)
        raise ParameterError(f'robot {chain.robot} has several tips, and a payload is on one of '
                             f'them; name it: {ways}')
    return chain if tip is None else chain.with_tip(tip)


def read_joints_file(path: str | Path) -> JointsFile:
    """
    Read a joints file.

    :param path: path of the YAML file.
    :raises ParameterError: naming file, joint and key: not readable, not YAML, an unknown key, a
        value of the wrong type.
    """
    return joints_from_mapping(read_yaml(path), str(path))


def joints_from_mapping(content: Any, source: str) -> JointsFile:
    """
    Check the contents of a joints file.

    :param content: what the YAML holds.
    :param source: its path, for messages.
    :raises ParameterError: naming file, joint and key.
    """
    top = mapping(content, source, _TOP)
    if top.get('format', FORMAT) != FORMAT:
        raise ParameterError(f'{source}: format {top["format"]} is not known, expected {FORMAT}')
    joints = {}
    for joint, entry in mapping(top.get('joints'), f'{source}: joints').items():
        joints[str(joint)] = _joint(entry, f'{source}: joint {joint}')
    preset = top.get('preset')
    if preset is not None and (not isinstance(preset, str) or preset not in PRESETS):
        raise ParameterError(f'{source}: preset {one_line(repr(preset))} is not known; known are '
                             f'{", ".join(PRESETS)}')
    velocity = top.get('coulomb_velocity')
    return JointsFile(
        source, joints,
        None if velocity is None else number(velocity, f'{source}: coulomb_velocity'),
        matrix(top['coupling'], f'{source}: coupling') if 'coupling' in top else None,
        _payload(top.get('payload'), f'{source}: payload'), preset,
        number(top.get('effort_delay', 0.0), f'{source}: effort_delay'),
        name((top.get('payload') or {}).get('tip'), f'{source}: payload: tip'))


def _joint(content: Any, where: str) -> dict[str, Any]:
    entry = dict(mapping(content, where, (*PER_JOINT, *_ROTOR, 'stiffness', 'limits', 'effort')))
    for key in (*PER_JOINT, *_ROTOR, 'stiffness'):
        if key in entry:
            entry[key] = number(entry[key], f'{where}: {key}')
    _set_rotor_inertia(entry, where)
    if entry.get('stiffness', 1.0) <= 0.0:
        raise ParameterError(f'{where}: stiffness must be positive, got {entry["stiffness"]:g}')
    if 'limits' in entry:
        place = f'{where}: limits'
        entry['limits'] = {key: number(value, f'{place}: {key}') for key, value
                           in mapping(entry['limits'], place, tuple(_LIMITS)).items()}
    if 'effort' in entry:
        entry['effort'] = _effort(entry['effort'], f'{where}: effort')
    rotor = entry.get('rotor_inertia', 0.0)
    if rotor < 0.0 and entry.get('effort', {}).get('side') != 'link':
        raise ParameterError(f'{where}: rotor_inertia is {rotor:g}; it cannot be negative, unless '
                             'the torque is that of a sensor behind the gear (effort: {side: '
                             'link})')
    return entry


def _set_rotor_inertia(entry: dict[str, Any], where: str) -> None:
    """Set the rotor inertia on the joint side, Ia = N^2 Jm (Khalil & Dombre 9.29)."""
    given = [key for key in _ROTOR if key in entry]
    if not given:
        return
    if len(given) < len(_ROTOR) or 'rotor_inertia' in entry:
        raise ParameterError(f'{where}: give rotor_inertia, or both of {" and ".join(_ROTOR)}')
    inertia, ratio = (entry.pop(key) for key in _ROTOR)
    if inertia < 0.0 or ratio == 0.0:
        raise ParameterError(f'{where}: motor_inertia must not be negative and gear_ratio not '
                             f'zero, got {inertia:g} and {ratio:g}')
    entry['rotor_inertia'] = ratio**2 * inertia


def _effort(content: Any, where: str) -> dict[str, Any]:
    effort = dict(mapping(content, where, _EFFORT))
    for key, value in effort.items():
        if key == 'gravity_removed':
            if not isinstance(value, bool):
                raise ParameterError(f'{where}: {key} must be true or false, got '
                                     f'{one_line(repr(value))}')
        elif key != 'side':
            effort[key] = number(value, f'{where}: {key}')
        elif not isinstance(value, str):
            raise ParameterError(f'{where}: {key} must be a word, got {one_line(repr(value))}')
    return effort


def _payload(content: Any, where: str) -> Inertia | None:
    if content is None:
        return None
    payload = mapping(content, where, ('tip', 'mass', 'centre_of_mass', 'inertia'))
    if 'mass' not in payload:
        raise ParameterError(f'{where}: mass is missing')
    mass = number(payload['mass'], f'{where}: mass')
    centre = row(payload.get('centre_of_mass', [0, 0, 0]), f'{where}: centre_of_mass', 3)
    xx, xy, xz, yy, yz, zz = row(payload.get('inertia', [0] * 6), f'{where}: inertia', 6)
    try:
        return payload_inertia(mass, centre, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    except ParameterError as error:
        raise ParameterError(f'{where}: {error}') from error
