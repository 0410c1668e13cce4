# SPDX-License-Identifier: Apache-2.0
"""
What does ``effort`` mean? A verdict for every joint, from slow motion.

Two independent witnesses are heard: the weight of the URDF's links, and friction, which acts
against the motion whatever the masses are. A wrong answer would scale or turn all that is learned
from the efforts, so doubt is a refusal: where the witnesses disagree, or one that is needed is
silent, the verdict is `AMBIGUOUS` and says what a person should check. What a person states in
joints.yaml is believed where the data are silent, and refused where they contradict it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.calibration.efforts.evidence import SlowMotion, slow_samples
from robot_dynamics_ros.calibration.efforts.joint_meaning import Certainty, JointMeaning
from robot_dynamics_ros.calibration.efforts.judge import EffortJudge
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.estimation.recordings.recording import Recording

#: Another joint explains an effort better if it leaves this part of the squares or less.
_SWAPPED = 0.5
#: ...and explains this part itself.
_EXPLAINED = 0.5


@dataclass(frozen=True, eq=False)
class EffortMeaning:
    """
    What the efforts of a robot mean.

    :param joints: verdict for every joint.
    :param swapped: pairs of names: effort of the first is reported under the second.
    :param payload: mass that explains scales other than 1 [kg]; NaN = none does.
    :param semantics: the proposal: meaning of the raw efforts.
    """

    joints: tuple[JointMeaning, ...]
    swapped: tuple[tuple[str, str], ...]
    payload: float
    semantics: EffortSemantics

    @property
    def certain(self) -> bool:
        """Whether a calibration may go on without asking."""
        good = (Certainty.SURE, Certainty.ASSUMED, Certainty.STATED)
        return not self.swapped and all(each.certainty in good for each in self.joints)

    @property
    def refused(self) -> bool:
        """Whether a calibration must not go on."""
        return bool(self.swapped) or any(each.certainty is Certainty.AMBIGUOUS
                                         for each in self.joints)

    @property
    def checks(self) -> tuple[str, ...]:
        """What a person should check."""
        swaps = tuple(f'joint {joint}: its effort is reported under {name}: correct the order of '
                      'the efforts in the driver' for joint, name in self.swapped)
        return (*swaps, *(f'joint {each.joint}: {each.check}' for each in self.joints
                          if each.check))


def effort_meaning(chain: Chain, recording: Recording, *, given: EffortSemantics | None = None,
                   stated: Sequence[bool] | None = None) -> EffortMeaning:
    """
    Return what the efforts in a recording of slow motion mean.

    :param chain: the robot; its masses are the scale.
    :param recording: slow motion in both directions through several postures.
    :param given: meaning to be checked; None = joint torques.
    :param stated: n flags: a person has stated the given meaning of this joint; None = of none.
    :raises RecordingError: a recording that cannot be used.
    :raises IdentificationError: the robot hardly moves.
    """
    n = len(chain)
    given = EffortSemantics.torque(n) if given is None else given
    stated = (False,) * n if stated is None else tuple(stated)
    motion = SlowMotion(chain, slow_samples(chain, recording.for_chain(chain), given))
    order = _order(motion)
    swapped = tuple((chain.joint_names[k], chain.joint_names[j]) for j, k in enumerate(order)
                    if j != k)
    judge = EffortJudge(chain, motion)
    first = [judge.alone(j, stated[j], bool(given.gravity_removed[j])) for j in range(n)]
    payload = judge.payload(first)
    joints = [JointMeaning(each.joint, 'swapped', Certainty.AMBIGUOUS) if order[j] != j else each
              for j, each in enumerate(judge.together(first, stated, payload))]
    if given.coupling is not None and 'motor' in given.side:
        joints = [_not_behind_a_coupling(each) for each in joints]
    return EffortMeaning(tuple(joints), swapped, payload, _composed(given, joints))


def _not_behind_a_coupling(joint: JointMeaning) -> JointMeaning:
    """Return the verdict where efforts of several motors make one torque."""
    if joint.certainty is Certainty.PROPOSED:
        return replace(joint, certainty=Certainty.AMBIGUOUS, sign=1.0, gain=1.0, offset=0.0,
                       check='with a coupling, the scale of the joint torque does not tell that '
                       'of each motor: state the gains')
    return replace(joint, offset=0.0)


def _order(motion: SlowMotion) -> list[int]:
    """Return the joint that each effort belongs to: its own unless another explains far more."""
    from scipy.optimize import linear_sum_assignment

    n = len(motion.chain)
    left = np.ones((n, n))
    for j in range(n):
        for k in range(n):
            found = motion.evidence(j, k)
            if found is not None:
                left[j, k] = max(1.0 - found.explained, 1e-6)
    cost = np.log(left)
    _, best = linear_sum_assignment(cost)
    order = list(range(n))
    for j, k in enumerate(int(each) for each in best):
        better = left[j, k] < _SWAPPED * left[j, j] and 1.0 - left[j, k] > _EXPLAINED
        if k != j and better:
            order[j] = k
    # a permutation, or nothing: half of a swap is not one
    return order if sorted(order) == list(range(n)) else list(range(n))


def _composed(given: EffortSemantics, joints: Sequence[JointMeaning]) -> EffortSemantics:
    """Return the meaning of the raw efforts: what was found holds for the converted ones."""
    sign, gain, offset = (np.array([getattr(each, name) for each in joints])
                          for name in ('sign', 'gain', 'offset'))
    deviation = np.array([each.gain_deviation for each in joints])
    changed: Array = gain != 1.0
    # torque = s g (s0 g0 (e - o0) - o) = (s s0) (g g0) (e - o0 - o / (s0 g0))
    return EffortSemantics(
        given.sign * sign, given.gain * gain, given.offset + offset / (given.sign * given.gain),
        given.side, given.coupling, tuple(each.gravity_removed for each in joints),
        np.where(changed, deviation, given.gain_deviation), given.delay)
