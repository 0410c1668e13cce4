# SPDX-License-Identifier: Apache-2.0
"""
Verdicts on efforts: one by one by weight and friction, then all scales together.

A robot reports all its efforts in one unit, and carries one payload: so a scale that is strange
in one joint is judged by those of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robot_dynamics_ros.calibration.efforts.evidence import Evidence, SlowMotion
from robot_dynamics_ros.calibration.efforts.joint_meaning import Certainty, JointMeaning
from robot_dynamics_ros.calibration.efforts.scales import (
    REMOVED,
    REMOVED_CHECK,
    common_scale,
    removed_everywhere,
    scale_factor,
)
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint import Tip
from robot_dynamics_ros.estimation.hints.effort_units import TORQUE, UNITS_OF_LIMIT

#: The weight is seen in an effort if it explains this part beside friction...
_SEEN_PART = 0.5
#: ...with this many standard deviations.
_SEEN = 6.0
#: Below this it has nothing to do with the effort.
_NOISE = 0.2
#: A scale other than 1 needs a weight that explains this part.
_SCALED_PART = 0.8
#: Scales beyond this factor are another unit; between the two nobody can say.
_OTHER = 2.5
#: A weight that changes by less than this part of the largest one says nothing.
_SMALL = 0.02
#: Friction that would be more than this part of the effort limit, or this many times the changing
#: weight, is not the friction of such a drive: the weight is not in the effort with that scale.
_FRICTION_OF_LIMIT, _FRICTION_OF_WEIGHT = 0.25, 1.5
#: Where gravity is said to be removed, this part of it may be left over.
_LEFT_OVER = 0.3
#: The sign of a weight below this part of the largest one is not believed without friction.
_WITNESS = 0.1
#: A payload explains scales other than 1 if it leaves at most this many times what scales leave,
#: plus this part of the squares: the URDF has other errors, too.
_PAYLOAD, _PAYLOAD_REST = 2.0, 0.02
#: An offset matters from this part of the effort's size on, with this many standard deviations.
_OFFSET, _OFFSET_SURE = 0.1, 5.0
#: Relative standard deviation of a gain that the URDF's masses set.
_GAIN_DEVIATION = 0.25


_UNSETTLED = ('the weight does not turn this joint, and the others do not settle its scale: state '
              'its gain (effort: {gain: ...}; gain: 1 for torques)')
_EITHER = 'torque or another unit'


class EffortJudge:
    """Judges joints one by one, then together."""

    def __init__(self, chain: Chain, motion: SlowMotion) -> None:
        self._chain, self._motion = chain, motion
        self._largest = float(np.max(np.std(motion.weight, axis=0)))
        self.evidence = [motion.evidence(j, j) for j in range(len(chain))]

    def alone(self, j: int, stated: bool, removed: bool) -> JointMeaning:
        """Return the verdict on one joint by itself; its scale is judged later."""
        name, found = self._chain.joint_names[j], self.evidence[j]
        if found is None or found.size == 0.0:
            return JointMeaning(name, 'nothing', Certainty.AMBIGUOUS, check='no effort is '
                                'reported (missing, or always the same): check the driver')
        if removed:
            return self._said_to_be_removed(name, found)
        if _weight_seen(found):
            return self._with_weight(name, found, j, stated)
        if found.weight_torque > _SMALL * self._largest:
            return self._without_weight(name, found, j, stated)
        return self._not_shown(name, found, stated)

    def _said_to_be_removed(self, name: str, found: Evidence) -> JointMeaning:
        kind = REMOVED
        if _weight_seen(found) and abs(found.weight) > _LEFT_OVER:
            return JointMeaning(name, kind, Certainty.AMBIGUOUS, check='joints.yaml says that '
                                'gravity is removed, but the effort follows the weight of the '
                                'arm: remove gravity_removed, or check the payload set on the '
                                'robot')
        if found.friction_seen and found.friction < 0.0:
            return JointMeaning(name, kind, Certainty.AMBIGUOUS, check='the effort falls with '
                                'the direction of motion: check its sign')
        return JointMeaning(name, kind, Certainty.STATED, gravity_removed=True,
                            **_friction(found, 1.0), explained=found.explained)

    def _with_weight(self, name: str, found: Evidence, j: int, stated: bool) -> JointMeaning:
        scale = abs(found.weight)
        values: dict[str, Any] = {
            'sign': float(np.sign(found.weight)), 'gain': 1.0 / scale,
            'gain_deviation': found.weight_deviation / scale, 'explained': found.explained,
            **_friction(found, 1.0 / scale)}
        strange = scale_factor(scale) > TORQUE and found.weight_part < _SCALED_PART
        if strange or (scale < 1.0 / _OTHER and self._too_much_friction(found, scale, j)):
            return self._without_weight(name, found, j, stated)
        if found.friction_seen and np.sign(found.friction) != np.sign(found.weight):
            return JointMeaning(name, 'contradiction', Certainty.AMBIGUOUS, **values, check=(
                'the effort follows the weight of the URDF with one sign and friction with the '
                'other: check the direction of gravity (is the robot mounted as the URDF says?), '
                'the axis and zero of this joint'))
        if found.weight < 0.0 and not found.friction_seen:
            return JointMeaning(name, 'reversed', Certainty.AMBIGUOUS, **values, check=(
                'the effort falls where the weight of the URDF rises, and no friction shows which '
                'of them is wrong: check sign of the effort (effort: {sign: -1} states it), '
                'direction of gravity and axis of this joint'))
        if not found.friction_seen and not stated and (
                found.weight_torque < _WITNESS * self._largest):
            return JointMeaning(name, 'weak weight', Certainty.AMBIGUOUS, check=(
                'its weight is small, so that the URDF may have its sign wrong, and no friction '
                'shows: state what the effort is (effort: {sign: 1, gain: 1} for torques)'))
        return JointMeaning(name, 'with weight', Certainty.SURE, **values,
                            offset=self._offset(found, j))

    def _offset(self, found: Evidence, j: int) -> float:
        """Return the offset if it matters and does not depend on the URDF's masses; else 0."""
        if (abs(found.offset) < _OFFSET * found.size
                or abs(found.offset) < _OFFSET_SURE * found.offset_deviation):
            return 0.0
        free = self._motion.offset_with_free_masses(j)
        return found.offset if 0.5 < free / found.offset < 2.0 else 0.0

    def _without_weight(self, name: str, found: Evidence, j: int, stated: bool
                        ) -> JointMeaning:
        """Judge an effort in which the weight should be and is not seen."""
        if stated and _compatible(found):
            return JointMeaning(name, 'as stated', Certainty.STATED, explained=found.explained,
                                **_friction(found, 1.0))
        if not found.friction_seen and found.weight_part < _NOISE:
            return JointMeaning(name, 'noise', Certainty.AMBIGUOUS, explained=found.explained,
                                check='the effort follows neither weight nor motion: is it '
                                'measured at all?')
        sign = float(np.sign(found.friction if found.friction_seen else found.weight))
        largest = abs(found.weight) + 3.0 * found.weight_deviation
        if largest < 1.0 / _OTHER and self._too_much_friction(found, largest, j):
            return JointMeaning(name, REMOVED, Certainty.AMBIGUOUS, sign=sign,
                                gravity_removed=True, explained=found.explained,
                                **_friction(found, 1.0), check=REMOVED_CHECK)
        return JointMeaning(name, 'weak weight', Certainty.AMBIGUOUS, sign=sign,
                            explained=found.explained, check=(
                                f'the weight explains {100 * found.weight_part:.0f} % of the '
                                'effort beside friction: too little to tell its scale. Repeat '
                                'with larger or slower motion, check masses and gravity of the '
                                'URDF, or state what the effort is'))

    def _too_much_friction(self, found: Evidence, scale: float, j: int) -> bool:
        """Return whether friction would be larger than a drive has, if this were the scale."""
        limit = self._chain.effort_limits[j]
        friction = abs(found.friction) / scale
        return bool(found.friction_seen and (friction > _FRICTION_OF_WEIGHT * found.weight_torque
                                             or friction > _FRICTION_OF_LIMIT * limit))

    def _not_shown(self, name: str, found: Evidence, stated: bool) -> JointMeaning:
        """Judge a joint that the weight does not turn, such as a vertical axis."""
        if found.friction_seen and found.friction < 0.0:
            return JointMeaning(name, 'reversed', Certainty.PROPOSED, sign=-1.0,
                                explained=found.explained, **_friction(found, 1.0),
                                check='by its friction the sign of the effort is reversed; the '
                                'weight does not turn this joint, so confirm it')
        if stated:
            return JointMeaning(name, 'as stated', Certainty.STATED, explained=found.explained,
                                **_friction(found, 1.0))
        if not found.friction_seen:
            return JointMeaning(name, 'not shown', Certainty.AMBIGUOUS, explained=found.explained,
                                check='neither weight nor friction shows in this joint: state '
                                'what its effort is (effort: {sign: 1, gain: 1} for torques)')
        return JointMeaning(name, 'not shown', Certainty.ASSUMED, explained=found.explained,
                            **_friction(found, 1.0))

    def payload(self, joints: Sequence[JointMeaning]) -> float:
        """Return the mass that explains scales other than 1, if one does; else NaN [kg]."""
        shown = [j for j, each in enumerate(joints) if each.kind == 'with weight']
        if not any(scale_factor(joints[j].gain) > TORQUE for j in shown):
            return np.nan
        found = [self._payload_on(tip, joints, shown) for tip in self._chain.tips]
        return min(found, key=lambda each: each[1])[0]

    def _payload_on(self, tip: Tip, joints: Sequence[JointMeaning], shown: Sequence[int]
                    ) -> tuple[float, float]:
        """Return the mass on a tip, or NaN where it explains nothing [kg]; what it leaves."""
        samples, columns = self._motion.samples, self._motion.payload_columns(tip.link)
        A, y, before = [], [], []
        for j in shown:
            use = np.isfinite(samples.effort[:, j])
            others = self._motion.others(j)[use]
            known = joints[j].sign * self._motion.weight[use, j]
            size = float(np.std(samples.effort[use, j]))
            extra = joints[j].sign * columns[use, j] / size
            e = (samples.effort[use, j] - known) / size
            A.append(extra - others @ np.linalg.lstsq(others, extra, rcond=None)[0])
            y.append(e - others @ np.linalg.lstsq(others, e, rcond=None)[0])
            evidence = self.evidence[j]
            before.append(0.0 if evidence is None else (1.0 - evidence.explained) * use.sum())
        W, b = np.concatenate(A), np.concatenate(y)
        p, *_ = np.linalg.lstsq(W, b, rcond=1e-6)
        left = float(np.sum((b - W @ p) ** 2))
        heaviest = sum(link.mass for link in self._chain.links)
        # a tool that the URDF has and the robot has not is a negative one: a part of the weight
        weakest = min(1.0 / joints[j].gain for j in shown)
        tool = self._chain.links[tip.joint - 1].mass
        least = -tool if weakest > _LEFT_OVER else 0.0
        plausible = least <= p[0] < heaviest
        explains = left < _PAYLOAD * sum(before) + _PAYLOAD_REST * len(b)
        return (float(p[0]), left) if plausible and explains else (np.nan, np.inf)

    def together(self, joints: Sequence[JointMeaning], stated: Sequence[bool],
                 payload: float) -> tuple[JointMeaning, ...]:
        """Judge the scales of all joints."""
        joints = removed_everywhere(joints)
        shown = [each for each in joints if each.kind == 'with weight']
        limits = dict(zip(self._chain.joint_names, map(float, self._chain.effort_limits)))
        unit, torques = common_scale(shown, limits)
        among = any(scale_factor(each.gain) <= TORQUE for each in shown)
        result = []
        for each, said in zip(joints, stated):
            if each.kind == 'with weight':
                each = self._scaled(each, unit, torques, limits[each.joint], payload, said,
                                    among)
            elif each.certainty is Certainty.ASSUMED and torques and unit is None:
                each = replace(each, kind='torque')
                if len(shown) < 2:
                    each = replace(each, certainty=Certainty.AMBIGUOUS, check=_UNSETTLED)
            elif each.certainty is Certainty.ASSUMED and unit is not None and not torques:
                gain = limits[each.joint] / unit
                each = replace(each, kind=UNITS_OF_LIMIT[unit], certainty=Certainty.PROPOSED,
                               gain=gain, gain_deviation=_GAIN_DEVIATION,
                               friction=each.friction * gain,
                               friction_deviation=each.friction_deviation * gain,
                               check='taken from the other joints: confirm it')
            elif each.certainty is Certainty.ASSUMED:
                each = replace(each, certainty=Certainty.AMBIGUOUS, friction=np.nan,
                               check=_UNSETTLED)
            result.append(each)
        return tuple(result)

    def _scaled(self, each: JointMeaning, unit: float | None, torques: bool, limit: float,
                payload: float, stated: bool, among_torques: bool) -> JointMeaning:
        """Return the verdict on a joint in whose effort the weight is seen."""
        factor = scale_factor(each.gain)
        if unit is not None and torques:
            return replace(each, kind=_EITHER, certainty=Certainty.AMBIGUOUS,
                           check=f'torques and {UNITS_OF_LIMIT[unit]} both explain the efforts: '
                           'check the unit in the documentation of the driver, and state the gain '
                           '(gain: 1 for torques)')
        if factor <= TORQUE and unit is None:  # masses of a URDF are no better than this
            sure = Certainty.SURE if each.sign > 0.0 else Certainty.PROPOSED
            return replace(each, kind='torque', certainty=sure, gain=1.0, gain_deviation=np.nan,
                           friction=each.friction / each.gain,
                           friction_deviation=each.friction_deviation / each.gain,
                           check='' if each.sign > 0.0 else 'the sign is reversed: confirm it')
        if stated and factor < _OTHER and each.sign > 0.0:  # then it is the masses that are wrong
            return replace(each, kind='as stated', certainty=Certainty.STATED, sign=1.0, gain=1.0,
                           gain_deviation=np.nan, offset=0.0,
                           friction=each.friction / each.gain,
                           friction_deviation=each.friction_deviation / each.gain)
        if np.isfinite(payload) and not stated:
            where = 'is not in the URDF' if payload > 0.0 else 'is in the URDF and not mounted'
            return replace(each, kind=_EITHER, certainty=Certainty.AMBIGUOUS, check=(
                f'either a tool or payload of about {abs(payload):.2g} kg {where}, or one unit is '
                f'{each.gain:.3g} N m: correct the URDF, name the payload in joints.yaml, or '
                'state the gain'))
        if stated:
            return replace(each, kind='not as stated', certainty=Certainty.AMBIGUOUS, check=(
                f'joints.yaml states its gain, but by the weight of the URDF it is '
                f'{each.gain:.3g} times as large: check the gain and the masses of the URDF'))
        if among_torques and unit is None:
            return replace(each, kind=_EITHER, certainty=Certainty.AMBIGUOUS, check=(
                f'the effort is {1.0 / each.gain:.2f} times the weight of the URDF, while others '
                'are torques: check the masses of the URDF and the tool, or state the gain '
                '(gain: 1 for torques)'))
        if factor < _OTHER and unit is None:
            return replace(each, kind=_EITHER, certainty=Certainty.AMBIGUOUS,
                           check=f'the effort is {1.0 / each.gain:.2f} times the weight of the '
                           'URDF: either its masses are wrong, or the unit is not N m: state the '
                           'gain (gain: 1 for torques)')
        if unit is not None:
            gain = limit / unit
            return replace(each, kind=UNITS_OF_LIMIT[unit], certainty=Certainty.PROPOSED,
                           gain=gain, gain_deviation=_GAIN_DEVIATION,
                           friction=each.friction * gain / each.gain,
                           check='confirm that the driver reports parts of the limit')
        return replace(each, kind='current or torque of the motor', certainty=Certainty.PROPOSED,
                       gain_deviation=max(each.gain_deviation, _GAIN_DEVIATION), check=(
                           f'one unit is about {each.gain:.3g} N m, as right as the masses of the '
                           'URDF: compare with motor constant times gear ratio (current) or the '
                           'gear ratio (torque of the motor), or find it with a known payload: '
                           'robot-dynamics gains'))


def _weight_seen(found: Evidence) -> bool:
    return bool(found.weight_part > _SEEN_PART
                and abs(found.weight) > _SEEN * found.weight_deviation)


def _compatible(found: Evidence) -> bool:
    """Return whether an effort may be a torque with weight, by friction and what weight shows."""
    low, high = (found.weight + sign * 3.0 * found.weight_deviation for sign in (-1.0, 1.0))
    return bool(found.friction_seen and found.friction > 0.0
                and low < _OTHER and high > 1.0 / _OTHER)


def _friction(found: Evidence, gain: float) -> dict[str, Any]:
    if not found.friction_seen:
        return {}
    return {'friction': abs(found.friction) * gain,
            'friction_deviation': found.friction_deviation * gain}
