# SPDX-License-Identifier: Apache-2.0
"""
The folder of a calibration: everything about one run, whole at any time.

``calibration.yaml`` says which stages are over; every stage that moves the robot leaves a bag in
``recording/``, and its journal while it moves. So a run that was interrupted,
in whatever way, can be continued, or analysed as far as it came.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from robot_dynamics_ros.calibration.journal import Journal, journal_path, repaired
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joints_file import JointsFile, read_joints_file
from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf_text
from robot_dynamics_ros.errors import ParameterError, RecordingError, RobotDynamicsError
from robot_dynamics_ros.estimation.recordings.files import read_recording, write_recording
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.files.atomic_file import set_aside, write_atomically
from robot_dynamics_ros.files.bounds import one_line, read_bounded
from robot_dynamics_ros.files.checked_yaml import mapping, name, names, read_yaml, row

FORMAT = 1
_TOP = ('format', 'robot', 'base', 'tip', 'tips', 'gravity', 'locked', 'stages')
_STAGE = ('name', 'result', 'recording')
#: Largest description that is read [bytes].
_LARGEST = 16 * 2**20


@dataclass(frozen=True)
class ChainChoice:
    """
    Which chain of a description was calibrated.

    :param base: base link; None = root of the URDF.
    :param tip: tip link; None = found.
    :param gravity: (3,) gravity in the frame of the base link [m/s^2]; None = default.
    :param locked: joints frozen at zero.
    :param tips: several tip links; none = found.
    """

    base: str | None = None
    tip: str | None = None
    gravity: tuple[float, ...] | None = None
    locked: tuple[str, ...] = ()
    tips: tuple[str, ...] = ()


class CalibrationFolder:
    """Reads and writes the files of one calibration."""

    def __init__(self, path: str | Path) -> None:
        """
        Name the folder; nothing is read or written yet.

        :param path: the folder.
        """
        self.path = Path(path)
        self.description = self.path / 'robot.urdf'
        self.joints = self.path / 'joints.yaml'
        self.parameters = self.path / 'parameters.yaml'
        self.urdf = self.path / 'identified.urdf'
        self.report = self.path / 'report.html'
        self.payload = self.path / 'payload.yaml'
        self._recording = self.path / 'recording'
        self._state = self.path / 'calibration.yaml'
        self.log_file = self.path / 'log.txt'

    @property
    def exists(self) -> bool:
        """Whether the folder holds a calibration."""
        return os.path.isfile(self._state)  # also of a name that no file can have

    def begin(self, description: str, joints: str, robot: str, choice: ChainChoice) -> None:
        """
        Make the folder of a new run.

        :param description: URDF text.
        :param joints: text of joints.yaml.
        :param robot: name of the robot.
        :param choice: chain of the description.
        :raises ParameterError: the folder cannot be written, or holds a calibration already.
        """
        self.check_empty()
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ParameterError(f'{one_line(self.path)}: cannot be made: '
                                 f'{error.strerror}') from error
        write_atomically(self.description, description.encode())
        write_atomically(self.joints, joints.encode())
        self._write({'format': FORMAT, 'robot': robot, 'base': choice.base, 'tip': choice.tip,
                     'gravity': None if choice.gravity is None else list(choice.gravity),
                     'locked': list(choice.locked), 'tips': list(choice.tips), 'stages': []})

    def check_empty(self) -> None:
        """
        Refuse to begin where another calibration is.

        :raises ParameterError: the folder holds a calibration already.
        """
        if self.exists:
            raise ParameterError(f'{one_line(self.path)}: holds a calibration already: continue '
                                 'it (resume:=true), or choose another folder')

    def log(self, text: str) -> None:
        """Add lines to the log, each with the time of day."""
        now = time.strftime('%Y-%m-%d %H:%M:%S')
        try:
            with self.log_file.open('a', encoding='utf-8') as file:
                file.writelines(f'{now}  {line}\n' for line in text.splitlines())
        except OSError as error:
            raise ParameterError(f'{self.log_file}: cannot be written: '
                                 f'{error.strerror}') from error

    def write(self, path: Path, content: str | bytes) -> None:
        """Write a file of the folder at once."""
        write_atomically(path, content if isinstance(content, bytes) else content.encode())

    def add_stage(self, name: str, result: str, recording: Path | None = None) -> None:
        """
        Note that a stage is over.

        :param name: name of the stage.
        :param result: 'done', or why not.
        :param recording: bag that it has left, in the folder.
        """
        content = self.read()
        content['stages'].append({
            'name': name, 'result': result,
            **({} if recording is None else {
                'recording': recording.relative_to(self.path).as_posix()})})
        self._write(content)

    def add_recording(self, name: str, recording: Recording, description: str) -> Path:
        """
        Write the joint states of a stage as a bag and return its path.

        :param name: name of the stage.
        :param recording: joint states.
        :param description: URDF text, which the bag holds, too.
        """
        base = self._recording / name.replace(' ', '_')
        base.parent.mkdir(exist_ok=True)
        target, k = base, 1
        while target.exists():
            k += 1
            target = base.with_name(f'{base.name}_{k}')
        write_recording(target, recording, description=description)
        return target

    def read(self) -> dict[str, Any]:
        """
        Return the contents of calibration.yaml, checked in form.

        :raises ParameterError: not a calibration.
        """
        where = str(self._state)
        content = mapping(read_yaml(self._state), where, _TOP)
        if content.get('format') != FORMAT:
            raise ParameterError(f'{where}: format {one_line(repr(content.get("format")))} is not '
                                 f'known, expected {FORMAT}')
        stages = content.get('stages')
        if not isinstance(stages, list):
            raise ParameterError(f'{where}: stages must be a list')
        return {**content, 'stages': [dict(mapping(each, f'{where}: stages', _STAGE))
                                      for each in stages]}

    def done(self) -> set[str]:
        """Return the names of the stages that are over."""
        return {str(stage.get('name')) for stage in self.read()['stages']
                if stage.get('result') == 'done'}

    def robot(self) -> tuple[Chain, JointsFile]:
        """Return the chain that was calibrated, with what its joints file says, and the file."""
        content, where = self.read(), str(self._state)
        try:
            text = read_bounded(self.description, _LARGEST, ParameterError).decode()
        except UnicodeDecodeError as error:
            raise ParameterError(f'{self.description}: cannot be read: {error}') from error
        gravity = content.get('gravity')
        if gravity is not None:
            gravity = row(gravity, f'{where}: gravity', 3)
        base, tip = (name(content.get(key), f'{where}: {key}') for key in ('base', 'tip'))
        tips, locked = (names(content.get(key), f'{where}: {key}') or None
                        for key in ('tips', 'locked'))
        chain = chain_from_urdf_text(text, base=base, tip=tip, tips=tips, gravity=gravity,
                                     locked=locked)
        file = read_joints_file(self.joints)
        return file.applied_to(chain), file

    def recordings(self, stage: str, chain: Chain) -> list[Recording]:
        """
        Return what was recorded while a stage was done.

        :param stage: name of the stage.
        :param chain: the robot.
        :raises RecordingError: there is none, or it cannot be read.
        """
        paths = self.recording_paths(stage)
        return [read_recording(path, chain) for path in paths]

    def journal(self, stage: str, chain: Chain) -> Journal:
        """
        Begin the journal of a stage.

        :param stage: name of the stage.
        :param chain: the robot.
        :raises ParameterError: it cannot be written.
        """
        return Journal(journal_path(self._recording, stage), chain.joint_names)

    def interrupted(self, stage: str, chain: Chain) -> Recording | None:
        """
        Return what a stage had recorded when its program was ended; None = nothing.

        :param stage: name of the stage.
        :param chain: the robot.
        :raises RecordingError: it cannot be read.
        """
        path = journal_path(self._recording, stage)
        return read_recording(path, chain) if path.is_file() and repaired(path) else None

    def keep_interrupted(self, stage: str, chain: Chain, description: str) -> Path | None:
        """
        Turn what a stage had recorded when its program was ended into a bag; return its path.

        :param stage: name of the stage.
        :param chain: the robot.
        :param description: URDF text, which the bag holds, too.
        :raises RecordingError: it cannot be read, and was set aside: the next call has nothing.
        """
        try:
            found = self.interrupted(stage, chain)
        except RobotDynamicsError as error:  # the power failed, for example
            aside = set_aside(journal_path(self._recording, stage))
            raise RecordingError(f'{error}; set aside as {aside.name}') from error
        path = None if found is None else self.add_recording(f'{stage} interrupted', found,
                                                             description)
        if path is not None:
            self.add_stage(stage, 'interrupted: the program was ended', path)
        with suppress(OSError):  # not a file, or not ours: it is left alone
            journal_path(self._recording, stage).unlink(missing_ok=True)
        return path

    def recording_paths(self, stage: str) -> Sequence[Path]:
        """Return the bags of the last time that a stage was done, or an empty list."""
        found = [str(each['recording']) for each in self.read()['stages']
                 if each.get('name') == stage and each.get('result') == 'done'
                 and 'recording' in each]
        if not found:
            return []
        path = (self.path / found[-1]).resolve()
        if self.path.resolve() not in path.parents:  # a file names nothing outside its folder
            raise ParameterError(f'{self._state}: recording {one_line(found[-1])} is outside the '
                                 'folder')
        return [path]

    def _write(self, content: dict[str, Any]) -> None:
        write_atomically(self._state, yaml.safe_dump(content, sort_keys=False).encode())
