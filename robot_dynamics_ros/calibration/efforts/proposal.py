# SPDX-License-Identifier: Apache-2.0
"""What was found out about efforts, for people and for joints.yaml."""

from __future__ import annotations

from typing import Any

import numpy as np
import yaml

from robot_dynamics_ros.calibration.efforts.joint_meaning import Certainty, JointMeaning
from robot_dynamics_ros.calibration.efforts.meaning import EffortMeaning
from robot_dynamics_ros.chain.joints_file import FORMAT, JointsFile


def stated_efforts(file: JointsFile, joint_names: tuple[str, ...]) -> tuple[bool, ...]:
    """Return for every joint whether a joints file says what its effort means."""
    return tuple(file.preset is not None or bool(file.joints.get(name, {}).get('effort'))
                 for name in joint_names)


def meaning_lines(meaning: EffortMeaning) -> list[str]:
    """Return one line for every joint, and one for everything that a person should check."""
    return [*(_line(joint) for joint in meaning.joints),
            *(f'CHECK {text}' for text in meaning.checks)]


def _line(joint: JointMeaning) -> str:
    said = (f'{joint.kind} in joints.yaml' if joint.certainty is Certainty.STATED
            else f'{joint.kind} ({joint.certainty.value})')
    parts = [f'{joint.joint}: {said}']
    if joint.sign < 0.0:
        parts.append('reversed sign')
    if joint.gain != 1.0:
        deviation = ('' if np.isnan(joint.gain_deviation)
                     else f' (±{100 * joint.gain_deviation:.0f} %)')
        parts.append(f'{joint.gain:.4g} N m per unit{deviation}')
    if joint.offset:
        parts.append(f'offset {joint.offset:.3g}')
    if np.isfinite(joint.friction):
        parts.append(f'friction ±{joint.friction:.2g} N m')
    if np.isfinite(joint.explained):
        parts.append(f'weight and friction explain {100 * joint.explained:.0f} % of the effort')
    return ', '.join(parts)


def proposed_joints_file(meaning: EffortMeaning, given: dict[str, Any] | None = None) -> str:
    """
    Return the text of a joints.yaml with the meaning that was found.

    :param meaning: what the efforts mean.
    :param given: contents of the present file, whose other entries are kept; None = no file.
    """
    content = {'format': FORMAT, **(given or {})}
    content.pop('preset', None)  # every joint says it all now
    joints = dict(content.get('joints') or {})
    s = meaning.semantics
    for j, joint in enumerate(meaning.joints):
        effort: dict[str, Any] = {'sign': int(s.sign[j]), 'gain': float(f'{s.gain[j]:.6g}'),
                                  'offset': float(f'{s.offset[j]:.6g}'),
                                  'side': s.side[j], 'gravity_removed': s.gravity_removed[j]}
        if np.isfinite(s.gain_deviation[j]):
            effort['gain_deviation'] = float(f'{s.gain_deviation[j]:.3g}')
        joints[joint.joint] = {**(joints.get(joint.joint) or {}), 'effort': effort}
    content['joints'] = joints
    header = ['What the efforts mean, by the static test of a calibration:',
              *meaning_lines(meaning)]
    text: str = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=99)
    return ''.join(f'# {line}\n' for line in header) + text
