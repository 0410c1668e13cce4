# SPDX-License-Identifier: Apache-2.0
"""What a calibration finds out about its robot, and the files it leaves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import yaml

from robot_dynamics_ros.arrays import Mask
from robot_dynamics_ros.calibration.efforts.meaning import EffortMeaning, effort_meaning
from robot_dynamics_ros.calibration.efforts.proposal import (
    meaning_lines,
    proposed_joints_file,
    stated_efforts,
)
from robot_dynamics_ros.calibration.folder import CalibrationFolder, ChainChoice
from robot_dynamics_ros.calibration.journal import Journal
from robot_dynamics_ros.calibration.stages import MOVING, Stage
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.chain.joints_file import JointsFile, read_joints_file
from robot_dynamics_ros.errors import ChainError, IdentificationError, RobotDynamicsError
from robot_dynamics_ros.estimation.identification.identify import identify
from robot_dynamics_ros.estimation.identification.report import html_report
from robot_dynamics_ros.estimation.identification.result import Identification
from robot_dynamics_ros.estimation.parameters.identified_urdf import identified_urdf
from robot_dynamics_ros.estimation.parameters.parameters_file import (
    read_parameters,
    write_parameters,
)
from robot_dynamics_ros.estimation.payload.estimate import PayloadEstimate
from robot_dynamics_ros.estimation.payload.identify import identify_payload
from robot_dynamics_ros.estimation.payload.wording import joints_entry, payload_lines
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.files.checked_yaml import read_yaml
from robot_dynamics_ros.motion.joint_state import JointSamples
from robot_dynamics_ros.picture.robot_picture import picture_if_possible


class Analysis:
    """
    The robot of a calibration, its folder, and what is known so far.

    `effort` is what efforts mean, `passed` whether the verdict is good, `summary` one line about
    the result.
    """

    def __init__(self, folder: CalibrationFolder, description: str, choice: ChainChoice,
                 chain: Chain, joints: JointsFile, *, joints_path: str | Path | None = None,
                 resume: bool = False, payload_tip: str | None = None,
                 tell: Callable[[str], None] = lambda line: None) -> None:
        """
        Prepare a run, or continue the one in the folder; nothing is written yet.

        :param folder: the folder.
        :param description: URDF text.
        :param choice: chain of the description.
        :param chain: the robot, with what its joints file says.
        :param joints: contents of the joints file.
        :param joints_path: its path; None = there is none.
        :param resume: True = continue the run in the folder, with the joints.yaml in it.
        :param payload_tip: tip link whose payload is found out; None = the only one.
        :param tell: function that gets every line for people; the log gets them, too.
        :raises RobotDynamicsError: the folder holds a calibration already, or another robot's.
        """
        self.folder, self.chain, self._tell = folder, chain, tell
        self._description = description
        self.done: set[str] = set()
        if resume and folder.exists:
            earlier, file = folder.robot()
            if earlier.joint_names != chain.joint_names:
                raise ChainError(f'{folder.path}: holds the calibration of another robot, with '
                                 f'joints {", ".join(earlier.joint_names)}')
            self.chain, self._file, self.done = earlier, file, folder.done()
        else:
            folder.check_empty()
            self._file = joints
        if payload_tip is not None:
            self.chain = self.chain.with_tip(payload_tip)
        self._begun, self._choice, self._joints_path = folder.exists, choice, joints_path
        self._early: list[str] = []
        self.effort: EffortSemantics = self._file.effort_semantics(self.chain)
        self.meaning: EffortMeaning | None = None
        self.result: Identification | None = None
        self.recorded: list[Recording] | None = None
        self._journal: Journal | None = None
        self.load: PayloadEstimate | None = None
        self.passed, self.summary = False, 'nothing is known yet'

    def begin(self) -> None:
        """Make the folder, if there is none yet; nothing is written before."""
        if not self._begun:
            text = 'format: 1\n' if self._joints_path is None else yaml.safe_dump(
                read_yaml(self._joints_path), sort_keys=False)
            self.folder.begin(self._description, text, self.chain.robot, self._choice)
            self._begun = True
            self.folder.log('\n'.join(self._early))
        for stage in MOVING:
            try:
                path = self.folder.keep_interrupted(stage.value, self.chain, self._description)
            except RobotDynamicsError as error:
                self.note(f'{stage.value}: was interrupted; {error}')
            else:
                if path is not None:
                    self.note(f'{stage.value}: was interrupted; what it had recorded: {path}')

    def note(self, text: str) -> None:
        """Tell lines, and write them to the log where there is one; it is no condition."""
        lines = text.splitlines()
        if not self._begun:
            self._early.append(text)
        else:
            try:
                self.folder.log(text)
            except RobotDynamicsError as error:
                lines.append(str(error))
        for line in lines:
            self._tell(line)

    def check(self) -> None:
        """
        Check description and limits.

        :raises ChainError: something that a calibration needs is missing.
        """
        chain = self.chain
        for finding in chain.findings:
            self.note(str(finding))
        missing = [f'{what} of {", ".join(names)}' for what, names in (
            ('velocity limit', self._without(np.isfinite(chain.velocity_limits))),
            ('effort limit', self._without(np.isfinite(chain.effort_limits))),
            ('position limits', self._without(
                np.isfinite(chain.position_limits).all(axis=0) | np.array(chain.continuous))))
            if names]
        if missing:
            raise ChainError(f'missing: {"; ".join(missing)}. Add them to the URDF or to '
                             'joints.yaml (limits: {effort: 80.0, velocity: 2.0})')
        if sum(link.mass for link in chain.links) <= 0.0:
            raise ChainError('the links of the URDF have no mass: efforts cannot be compared with '
                             'their weight')
        self.note(f'robot {chain.robot}: {len(chain)} joints from {chain.base} to '
                  f'{chain.tip_names}, {sum(link.mass for link in chain.links):.1f} kg, gravity '
                  f'({", ".join(f"{g:.4g}" for g in chain.gravity)}) m/s^2 in {chain.base}')

    def _without(self, there: Mask) -> list[str]:
        return [name for name, has in zip(self.chain.joint_names, there) if not has]

    def begin_journal(self, stage: str) -> None:
        """Write the joint states of a stage as they come, until they are kept."""
        self._end_journal()
        self._journal = self.folder.journal(stage, self.chain)

    def _end_journal(self) -> None:
        if self._journal is not None:
            self._journal.close()
            self._journal = None

    def add_to_journal(self, samples: JointSamples) -> None:
        """Write joint states; a full disk does not disturb the motion."""
        if self._journal is not None:
            try:
                self._journal.add(samples)
            except RobotDynamicsError as error:
                self._journal = None
                self.note(f'{error}; the recording is in memory only')

    def keep(self, name: str, samples: JointSamples) -> Path:
        """Write the joint states of a stage and return the path of the bag."""
        path = self.folder.add_recording(name, self._recording(samples), self._description)
        self._end_journal()
        return path

    def _recording(self, samples: JointSamples) -> Recording:
        qd = None if np.isnan(samples.qd).all() else samples.qd
        return Recording(samples.times, samples.q, qd, samples.effort, self.chain.joint_names)

    def find_meaning(self, samples: JointSamples) -> EffortMeaning:
        """Find out what efforts mean, and write the proposal into joints.yaml."""
        # a person may have corrected the file since
        self._file = read_joints_file(self.folder.joints)
        self.effort = self._file.effort_semantics(self.chain)
        meaning = effort_meaning(self.chain, self._recording(samples), given=self.effort,
                                 stated=stated_efforts(self._file, self.chain.joint_names))
        self.note('\n'.join(meaning_lines(meaning)))
        self.meaning = meaning
        if not meaning.refused:
            text = proposed_joints_file(meaning, dict(read_yaml(self.folder.joints) or {}))
            self.folder.write(self.folder.joints, text)
        return meaning

    def adopt(self) -> None:
        """Use the joints.yaml in the folder from now on."""
        self._file = read_joints_file(self.folder.joints)
        self.effort = self._file.effort_semantics(self.chain)

    def identify(self) -> None:
        """
        Identify the robot from the full motion in the folder.

        :raises IdentificationError: there is no such recording.
        """
        recordings = self.folder.recordings(Stage.MOTION.value, self.chain)
        if not recordings:
            raise IdentificationError(f'{self.folder.path}: the full motion was not recorded yet')
        self.adopt()
        self.result = identify(self.chain, recordings, effort=self.effort)
        verdict = self.result.verdict
        self.passed = verdict.passed
        self.summary = (f'{"PASSED" if verdict.passed else "NOT PASSED"}: held-out torque error '
                        f'{100 * verdict.held_out_error:.1f} %, URDF '
                        f'{100 * verdict.urdf_error:.1f} %')
        self.note('\n'.join([self.summary, *(f'  {reason}' for reason in (
            () if verdict.passed else verdict.reasons))]))
        self.folder.write(self.folder.report, html_report(
            self.result, [path.name for path in self.folder.recording_paths(Stage.MOTION.value)],
            picture=picture_if_possible(self.folder.description, self.chain.joint_names,
                                        self.result.comparison.farthest_posture())))

    def write(self) -> None:
        """
        Write parameters and URDF, if the verdict is good.

        :raises IdentificationError: nothing to write.
        """
        if self.result is None:
            self.identify()
        result = self.result
        assert result is not None
        if not result.verdict.passed:
            raise IdentificationError('not passed: parameters are not written; see '
                                      f'{self.folder.report}')
        write_parameters(self.folder.parameters, result.estimate)
        try:
            written = identified_urdf(self._description, self.chain, result.estimate,
                                      locked=self.folder.read().get('locked') or None,
                                      payload=self._file.payload,
                                      payload_tip=self._file.payload_tip,
                                      recorded=result.recorded)
            self.folder.write(self.folder.urdf, written.text)
        except RobotDynamicsError as error:
            self.note(f'{self.folder.urdf} is not written: {error}')
        for path in (self.folder.parameters, self.folder.urdf, self.folder.report,
                     self.folder.joints):
            if path.is_file():
                self.note(f'written: {path}')
        self.note(f'use it: ros2 launch robot_dynamics_ros robot.launch.py '
                  f'calibration:={self.folder.path}')

    def find_payload(self) -> None:
        """
        Identify what the robot carries, by the parameters in the folder.

        :raises RobotDynamicsError: the robot was not calibrated, or nothing was recorded.
        """
        recordings = self.folder.recordings(Stage.PAYLOAD_MOTION.value, self.chain)
        if not recordings:
            raise IdentificationError(f'{self.folder.path}: no payload motion was recorded yet')
        arm = read_parameters(self.folder.parameters, self.chain)
        self.load = identify_payload(self.chain, arm, recordings, effort=self.effort)
        self.passed = self.load.known
        self.summary = ('mass '
                        f'{self.load.mass:.3f} +- {self.load.mass_standard_deviation:.3f} kg'
                        if self.load.known else 'NOT KNOWN: ' + '; '.join(self.load.reasons))
        self.note('\n'.join(payload_lines(self.load)))
        if self.load.known:
            self.folder.write(self.folder.payload, yaml.safe_dump(
                {'payload': joints_entry(self.load)}, sort_keys=False))
            self.note(f'written: {self.folder.payload}')
