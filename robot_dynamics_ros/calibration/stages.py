# SPDX-License-Identifier: Apache-2.0
"""The stages of a calibration, in words for the person who confirms them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Stage(Enum):
    """One step, which a person confirms."""

    DESCRIPTION = 'description'
    STATIC_TEST = 'static test'
    REHEARSAL = 'rehearsal'
    MOTION = 'full motion'
    IDENTIFICATION = 'identification'
    RESULT = 'result'
    PAYLOAD_MOTION = 'payload motion'
    PAYLOAD = 'payload'


#: Stages of a calibration, and of a payload on a robot that has been calibrated.
CALIBRATION = (Stage.DESCRIPTION, Stage.STATIC_TEST, Stage.REHEARSAL, Stage.MOTION,
               Stage.IDENTIFICATION, Stage.RESULT)
PAYLOAD = (Stage.DESCRIPTION, Stage.PAYLOAD_MOTION, Stage.PAYLOAD)

#: What a stage does, for the question whether to begin it.
MEANING = {
    Stage.DESCRIPTION: 'check description and limits, and design the motions; nothing moves',
    Stage.STATIC_TEST: 'move slowly through a few postures and back, to find out what the '
                       'efforts mean',
    Stage.REHEARSAL: 'play the exciting motion slowly; check that nothing is in the way',
    Stage.MOTION: 'play the exciting motion; keep away from the robot',
    Stage.IDENTIFICATION: 'identify the parameters; nothing moves',
    Stage.RESULT: 'write parameters, URDF and report; nothing moves',
    Stage.PAYLOAD_MOTION: 'swing the last joints to feel the payload; keep away from the robot',
    Stage.PAYLOAD: 'identify the payload; nothing moves',
}

#: Stages that move the robot.
MOVING = (Stage.STATIC_TEST, Stage.REHEARSAL, Stage.MOTION, Stage.PAYLOAD_MOTION)

#: Time that stages without motion are expected to take [s].
WORK = {Stage.DESCRIPTION: 15.0, Stage.IDENTIFICATION: 10.0, Stage.RESULT: 5.0,
        Stage.PAYLOAD: 3.0}


class Condition(Enum):
    """What a calibration is doing."""

    WAITING = 'waiting for ~/next'
    READY = 'waiting for the robot'
    MOVING = 'moving'
    WORKING = 'working'
    STOPPED = 'stopped'
    DONE = 'done'


@dataclass(frozen=True)
class Status:
    """
    Where a calibration is.

    :param stage: stage that is next, or runs.
    :param condition: what it is doing.
    :param progress: part of the whole calibration that is over, 0 to 1.
    :param remaining: expected time to the end, without that of a person [s].
    :param text: one line for people.
    """

    stage: Stage
    condition: Condition
    progress: float
    remaining: float
    text: str

    def __str__(self) -> str:
        """Return one line."""
        return (f'[{100.0 * self.progress:3.0f} %, {self.remaining:.0f} s left] '
                f'{self.stage.value}: {self.text}')
