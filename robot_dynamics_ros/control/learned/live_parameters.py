# SPDX-License-Identifier: Apache-2.0
"""Parameters that change while a robot works: through the gate, gradually, and back again."""

from __future__ import annotations

from dataclasses import dataclass

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.control.learned.gate import DynamicParameters, Judgement, ParameterGate
from robot_dynamics_ros.control.learned.recent_motion import RecentMotion
from robot_dynamics_ros.motion.joint_state import JointSample

#: After a rollback the estimator must have seen this much more before it is asked again.
_MORE = 1.5


@dataclass(frozen=True)
class _Change:
    """A change from some parameters to others that begins at a time."""

    before: DynamicParameters
    after: DynamicParameters
    begin: float


class LiveParameters:
    """
    The parameters in use and those before them.

    `present` is what the torque is computed with now; during a change it lies between two sets.
    """

    def __init__(self, gate: ParameterGate, first: DynamicParameters, *, window: float = 4.0,
                 ramp: float = 0.5) -> None:
        """
        Use the first parameters.

        :param gate: judge of learned parameters.
        :param first: parameters from the URDF or a file; their weight is trusted.
        :param window: length of the motion that they are judged by [s].
        :param ramp: duration of a change [s].
        """
        self._gate, self._ramp = gate, ramp
        self._motion = RecentMotion(window, gate.plausible)
        self._target = self._trusted = first
        self._asked: DynamicParameters | None = None  # what a person may accept
        self._before: DynamicParameters | None = None  # to go back to
        self._change: _Change | None = None
        self._changed = 0.0  # when the last change was finished [s]
        self._accepted_samples, self._needed_samples = 0, 0
        self.present = first

    def observe(self, sample: JointSample) -> None:
        """Remember a joint state, efforts as joint torques [N m, N]."""
        self._motion.add(sample)

    def restart(self) -> None:
        """Forget the motion: the clock was set back. A change that runs is finished at once."""
        self._motion.clear()
        self._change, self._before = None, None
        self.present = self._target

    def offer(self, candidate: DynamicParameters, load: Array, now: float, *, samples: int,
              converged: bool) -> Judgement:
        """
        Begin to change to learned parameters, if the gate lets them pass.

        :param candidate: learned parameters, without payload.
        :param load: (p,) minimal parameters of the payload.
        :param now: time of the clock of the samples [s].
        :param samples: number of samples that the estimator has seen.
        :param converged: the estimator says that it has finished.
        """
        if self._change is not None:
            return Judgement(False, 'the last change is not finished')
        if samples < self._needed_samples:
            return Judgement(False, f'parameters were taken back; waiting for '
                                    f'{self._needed_samples} samples, has {samples}')
        judgement = self._gate.judge(candidate, self._target, self._motion, load,
                                     trusted=self._trusted, converged=converged)
        if judgement.asks:
            self._asked = candidate
        if judgement.accepted:
            self._begin(candidate, now)
            self._accepted_samples, self._needed_samples = samples, 0
            self._asked = None
        return judgement

    def accept(self) -> bool:
        """
        Trust the weight of the parameters that were refused for it; the next offer may pass.

        :returns: False = none were.
        """
        if self._asked is None:
            return False
        self._trusted, self._asked = self._asked, None
        return True

    def reconsider(self, load: Array, now: float) -> Judgement:
        """
        Go back to the parameters before, if the motion since the change speaks for them.

        :param load: (p,) minimal parameters of the payload.
        :param now: time of the clock of the samples [s].
        :returns: accepted = they go back.
        """
        if self._before is None or self._change is not None:
            return Judgement(False, 'nothing to go back to')
        judgement = self._gate.set_back(self._target, self._before, self._motion, load,
                                        self._changed)
        if judgement.accepted:
            self._begin(self._before, now)
            self._before = None
            self._needed_samples = round(_MORE * max(self._accepted_samples, 1))
        return judgement

    def advance(self, now: float) -> bool:
        """
        Move on with a change; True where `present` is another one than before.

        :param now: time of the clock of the samples [s].
        """
        change = self._change
        if change is None:
            return False
        share = 1.0 if self._ramp <= 0.0 else max(0.0, (now - change.begin) / self._ramp)
        if share >= 1.0:
            self._change, self._changed = None, now
        self.present = change.before.blended(change.after, share)
        return True

    def _begin(self, after: DynamicParameters, now: float) -> None:
        self._change = _Change(self._target, after, now)
        self._before, self._target = self._target, after
