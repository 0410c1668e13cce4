# SPDX-License-Identifier: Apache-2.0
"""
A calibration as a state machine: stages, each confirmed, watched, recorded and noted.

It holds no clock, no topic and no thread. Whoever runs it hands in joint states (`receive`), asks
what to send (`step`), does the work that it asks for (`work`), and passes on what a person says
(`confirm`, `stop`). A stage that was stopped is repeated after the next confirmation; stages that
an earlier run in the same folder has finished are skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from robot_dynamics_ros.calibration.analysis import Analysis
from robot_dynamics_ros.calibration.motions import (
    Motions,
    MotionSettings,
    design_motions,
    payload_motion,
    slowed,
)
from robot_dynamics_ros.calibration.stages import (
    CALIBRATION,
    MEANING,
    MOVING,
    PAYLOAD,
    WORK,
    Condition,
    Stage,
    Status,
)
from robot_dynamics_ros.calibration.surroundings import Surroundings
from robot_dynamics_ros.calibration.watch import MotionWatch, WatchSettings
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.motion.joint_state import JointSample, JointSamples
from robot_dynamics_ros.motion.playing.player import (
    MotionPlayer,
    Order,
    Phase,
    PlayerSettings,
    repeated,
)
from robot_dynamics_ros.motion.trajectory import Trajectory

#: Stamps that are not older than this are of the clock of the receiver [s].
_SAME_CLOCK = 10.0


@dataclass(frozen=True)
class CalibrationSettings:
    """
    User settings of a calibration.

    :param motions: motions that are played.
    :param player: settings of playing them, and of when a robot has left them.
    :param watch: what else is trouble.
    :param auto: go on without asking, except where a person must decide.
    :param payload: find out the payload of a calibrated robot instead of calibrating it.
    """

    motions: MotionSettings = field(default_factory=MotionSettings)
    player: PlayerSettings = field(default_factory=lambda: PlayerSettings(deviation=0.2))
    watch: WatchSettings = field(default_factory=WatchSettings)
    auto: bool = False
    payload: bool = False


class Calibration:
    """One run."""

    def __init__(self, analysis: Analysis, settings: CalibrationSettings | None = None,
                 around: Surroundings | None = None) -> None:
        """
        Begin a run, or continue the one in the folder; nothing moves.

        :param analysis: robot, folder and what is learned about it.
        :param settings: user settings.
        :param around: what must not be touched; None = not checked.
        """
        self.settings = settings or CalibrationSettings()
        self.analysis = analysis
        self._around = around or Surroundings()
        self._stages = PAYLOAD if self.settings.payload else CALIBRATION
        self.watch = MotionWatch(analysis.chain, self.settings.watch)
        self._motions: Motions | None = None
        self._player: MotionPlayer | None = None
        self._coming: MotionPlayer | None = None  # looks for its way to the start
        self._samples: list[JointSamples] = []
        self._latest: JointSample | None = None
        self._trouble = ''
        self._index = 0
        self._condition = Condition.WAITING
        self._text = ''
        self._asked = False  # a person must say next, whatever `auto` says
        #: Work to be done before anything else, in any thread; None = nothing to do.
        self.work: Callable[[], None] | None = None
        self._ask()

    # What a person sees

    @property
    def stage(self) -> Stage:
        """Stage that is next, or runs."""
        return self._stages[min(self._index, len(self._stages) - 1)]

    @property
    def condition(self) -> Condition:
        """What the calibration is doing."""
        return self._condition

    @property
    def over(self) -> bool:
        """Whether nothing is left to do."""
        return self._condition is Condition.DONE

    @property
    def succeeded(self) -> bool:
        """Whether it has reached its end, and the verdict is good."""
        return self.over and self.analysis.passed

    def status(self, now: float) -> Status:
        """Return where the calibration is."""
        durations = [self._duration(stage) for stage in self._stages]
        before = sum(durations[:self._index])
        player = self._player
        moved = self.stage in MOVING and self._condition in (Condition.MOVING, Condition.WORKING)
        if moved and player is not None:
            before += player.progress(now) * self._duration(self.stage)
        whole = sum(durations)
        remaining = 0.0 if self.over else whole - before
        return Status(self.stage, self._condition, 1.0 if self.over else before / whole,
                      remaining, self._text)

    def _duration(self, stage: Stage) -> float:
        """Return the time that a stage is expected to take [s]."""
        s, motions = self.settings.motions, self._motions
        if stage in WORK:
            return WORK[stage]
        if stage is Stage.STATIC_TEST:
            return 60.0 if motions is None else motions.static.duration
        if stage is Stage.REHEARSAL:
            return s.duration / s.rehearsal
        return s.duration * (s.repetitions if stage is Stage.MOTION else 1)

    # What a person says

    def confirm(self) -> str:
        """Begin the next stage, or repeat a stopped one; return why not, or an empty text."""
        if self.over:
            return 'the calibration is finished'
        if self._condition not in (Condition.WAITING, Condition.STOPPED):
            return f'{self.stage.value}: {self._condition.value}'
        if self.work is not None:
            return 'what was recorded is still being written'
        if self._asked and self._condition is Condition.WAITING:
            self._asked = False
            self.analysis.adopt()
            self._learn_efforts()
        try:
            self.analysis.begin()
        except RobotDynamicsError as error:
            return str(error)
        self._note(f'{self.stage.value}: started')
        self._coming = None
        self._condition = Condition.READY if self.stage in MOVING else Condition.WORKING
        self._text = 'waiting for the robot' if self.stage in MOVING else MEANING[self.stage]
        if self.stage not in MOVING:
            self.work = self._do_work
        return ''

    def stop(self, now: float, reason: str) -> Order | None:
        """
        Stop what is running; return what brakes the robot, or None where it does not move.

        Nothing is written: that is work for later, which may take long, or fail.

        :param now: clock time [s].
        :param reason: reason for people.
        """
        if self._condition is Condition.READY:
            self._stopped(reason)
        if self._condition is not Condition.MOVING or self._player is None:
            return None
        order = self._player.stop(now, reason)
        self._stopped(reason)
        return order

    # What the robot says

    def receive(self, samples: JointSamples, now: float) -> None:
        """
        Take joint states: they are watched and recorded while the robot moves.

        :param samples: joint states with efforts in the unit of the robot, at least one.
        :param now: clock time [s].
        """
        k = len(samples.times) - 1
        stamp = float(samples.times[k])
        # where the robot has our clock, its stamp says more than the end of a queue
        received = stamp if 0.0 <= now - stamp < _SAME_CLOCK else now
        self._latest = JointSample(stamp, received, samples.q[k], samples.qd[k],
                                   samples.effort[k])
        if self._condition is Condition.MOVING:
            self._samples.append(samples)
            self.analysis.add_to_journal(samples)
            self._trouble = self._trouble or self.watch.look(samples)

    def step(self, now: float) -> Order | None:
        """
        Return what to send now, or None.

        :param now: clock time [s].
        """
        if (self._condition is Condition.WAITING and self.settings.auto and not self._asked
                and self.work is None):
            self.confirm()
        latest = self._latest
        if latest is None:
            return None
        if self._condition is Condition.READY:
            return self._begin(now, latest)
        if self._condition is not Condition.MOVING or self._player is None:
            return None
        if self._trouble:
            return self.stop(now, self._trouble)
        order = self._player.step(now, latest)
        self._text = f'{self._player.phase.value}, {100 * self._player.progress(now):.0f} %'
        if self._player.phase is Phase.STOPPED:
            self._stopped(self._player.reason)
        elif self._player.phase is Phase.DONE:
            self._recorded()
        return order

    # Motion

    def _begin(self, now: float, latest: JointSample) -> Order | None:
        """Begin the motion of a stage."""
        if abs(now - latest.received) > self.settings.player.timeout:
            return None
        try:
            if self._coming is None:
                self._coming = MotionPlayer(self._motion(latest), self.analysis.chain,
                                            self.settings.player, way=self._around.way)
            order = self._coming.begin(now, latest)
            if order is None:
                return None
            self.analysis.begin_journal(self.stage.value)
        except RobotDynamicsError as error:
            self._stopped(str(error))
            return None
        self._player, self._coming = self._coming, None
        self._samples, self._trouble = [], ''
        self._condition, self._text = Condition.MOVING, 'going to the start of the motion'
        return order

    def _motion(self, latest: JointSample) -> Trajectory:
        s = self.settings.motions
        if self.stage is Stage.PAYLOAD_MOTION:
            start = latest.q if s.start is None else np.array(s.start)
            return payload_motion(self.analysis.chain, start, self._around)
        if self._motions is None:  # a run that is continued
            self._motions = design_motions(self.analysis.chain, s, self._around)
        if self.stage is Stage.STATIC_TEST:
            return self._motions.static
        if self.stage is Stage.REHEARSAL:
            return slowed(self._motions.exciting, s.rehearsal)
        return repeated(self._motions.exciting, s.repetitions)

    def _recorded(self) -> None:
        """Keep what a motion has shown; the work that belongs to it follows."""
        self._condition, self._text = Condition.WORKING, 'writing the recording'
        self.work = self._keep

    def _keep(self) -> None:
        stage, samples = self.stage, joined(self._samples)
        path = self.analysis.keep(stage.value, samples)
        if stage is Stage.STATIC_TEST:
            meaning = self.analysis.find_meaning(samples)
            if meaning.refused:
                self.analysis.folder.add_stage(stage.value, 'refused', path)
                self._samples, self._condition = [], Condition.STOPPED
                self._text = ('stopped: what efforts mean is not clear; see the lines above. '
                              f'Correct {self.analysis.folder.joints} or the robot and repeat')
                self._note(f'{stage.value}: {self._text}')
                return
            self._asked = not meaning.certain
            if meaning.certain:
                self.analysis.adopt()
                self.watch.know_efforts(self.analysis.effort, samples)
        elif stage is Stage.MOTION:
            self.analysis.recorded = None  # read from the folder again
        self.analysis.folder.add_stage(stage.value, 'done', path)
        self._next()

    def _learn_efforts(self) -> None:
        self.watch.know_efforts(self.analysis.effort, joined(self._samples))

    # Work

    def _do_work(self) -> None:
        """Do the work of a stage without motion."""
        stage = self.stage
        if stage is Stage.DESCRIPTION:
            self.analysis.check()
            for line in self._around.lines:
                self._note(line)
            if not self.settings.payload:
                self._motions = design_motions(self.analysis.chain, self.settings.motions,
                                               self._around)
                for line in self._motions.lines:
                    self._note(line)
        elif stage is Stage.IDENTIFICATION:
            self.analysis.identify()
        elif stage is Stage.RESULT:
            self.analysis.write()
        elif stage is Stage.PAYLOAD:
            self.analysis.find_payload()
        self.analysis.folder.add_stage(stage.value, 'done')
        self._next()

    def worked(self, error: RobotDynamicsError | None = None) -> None:
        """
        Say that the work is over.

        :param error: why it failed; None = it did not.
        """
        self.work = None
        if error is None:
            return
        if self._condition is Condition.STOPPED:  # what was recorded cannot be written
            self._text += f'; {error}'
            self._note(f'{self.stage.value}: {error}')
        else:
            self._stopped(str(error))

    # Stages

    def _next(self) -> None:
        """Go to the next stage that is not done yet."""
        self._index += 1
        self._ask()

    def _ask(self) -> None:
        done = set() if self.settings.payload else self.analysis.done
        while (self._index < len(self._stages) and self._index > 0
               and self.stage.value in done and self.stage is not Stage.RESULT):
            self._note(f'{self.stage.value}: done in an earlier run')
            self._index += 1
        if self._index == len(self._stages):
            self._condition = Condition.DONE
            self._text = self.analysis.summary
            self._note(f'finished: {self._text}')
            return
        self._condition = Condition.WAITING
        self._text = (f'{"CONFIRM what efforts mean, then: " if self._asked else ""}'
                      f'next: {MEANING[self.stage]}')
        self._note(f'{self.stage.value}: {self._text}')

    def _stopped(self, reason: str) -> None:
        """End a stage that did not come to its end; what it has recorded is written as work."""
        samples, self._samples = self._samples, []
        self._condition, self._text = Condition.STOPPED, f'stopped: {reason}'
        self.work = partial(self._keep_stopped, self.stage, samples, self._text)

    def _keep_stopped(self, stage: Stage, samples: list[JointSamples], text: str) -> None:
        self._note(f'{stage.value}: {text}')
        path = self.analysis.keep(f'{stage.value} stopped', joined(samples)) if samples else None
        self.analysis.folder.add_stage(stage.value, text, path)

    def _note(self, line: str) -> None:
        self.analysis.note(line)


def joined(parts: list[JointSamples]) -> JointSamples:
    """Return joint states in one piece."""
    times, q, qd, effort = (np.concatenate([getattr(part, name) for part in parts])
                            for name in ('times', 'q', 'qd', 'effort'))
    return JointSamples(times, q, qd, effort, ())
