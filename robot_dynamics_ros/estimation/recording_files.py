# SPDX-License-Identifier: Apache-2.0
"""
Recordings from files: rosbag2, CSV, npz.

CSV: a header ``t``, ``q_<joint>``, ``qd_<joint>`` (may be left out), ``tau_<joint>`` and numbers;
an empty field is a missing value. npz: arrays t (N,), q, tau (N, n), qd or v (may be left out),
and joint_names; without names the columns are the joints of the chain in its order.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.errors import RecordingError
from robot_dynamics_ros.estimation.bag_file import read_bag
from robot_dynamics_ros.estimation.recording import Recording
from robot_dynamics_ros.files.csv_table import read_csv_table

SUFFIXES = ('.csv', '.npz', '.db3', '.mcap')


def read_recording(path: str | Path, chain: Chain, *, topic: str | None = None,
                   rename: Sequence[tuple[str, str]] = ()) -> Recording:
    """
    Return the joints of a chain from a file, in the order of the chain.

    :param path: a rosbag2 folder or file, .csv or .npz.
    :param chain: the robot.
    :param topic: of the joint states in a bag; None = found.
    :param rename: pairs of a text in the recorded joint names and what the URDF has instead.
    :raises RecordingError: naming the file and what is wrong with it.
    """
    source = Path(path)
    if not source.exists():
        raise RecordingError(f'{source}: no such file')
    if source.is_dir() or source.suffix in ('.db3', '.mcap'):
        return read_bag(source, chain.joint_names, topic, rename)
    if source.suffix == '.csv':
        return _read_csv(source).renamed(rename).for_chain(chain)
    if source.suffix == '.npz':
        return _read_npz(source, chain.joint_names).renamed(rename).for_chain(chain)
    raise RecordingError(f"{source}: unknown kind '{source.suffix}'; known are a rosbag2 folder, "
                         f'{", ".join(SUFFIXES)}')


def _read_csv(path: Path) -> Recording:
    table = read_csv_table(path)
    names = tuple(name[2:] for name in table.columns if name.startswith('q_'))
    if 't' not in table.columns or not names:
        raise RecordingError(f'{path}: the header is {", ".join(table.columns)[:200]}; expected '
                             't, q_<joint>, qd_<joint> (may be left out) and tau_<joint>')
    return Recording(table.columns['t'], table.required_joints('q', names),
                     table.joints('qd', names), table.required_joints('tau', names), names,
                     str(path))


def _read_npz(path: Path, joint_names: Sequence[str]) -> Recording:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files
                      if key in ('t', 'q', 'qd', 'v', 'tau', 'joint_names')}
    except (ValueError, OSError, BadZipFile, EOFError) as error:
        raise RecordingError(f'{path}: cannot be read as npz: {error}') from error
    missing = [key for key in ('t', 'q', 'tau') if key not in arrays]
    if missing:
        raise RecordingError(f'{path}: array {", ".join(missing)} is missing; expected t, q, tau, '
                             'qd or v (may be left out) and joint_names (may be left out)')
    names = tuple(str(name) for name in arrays.get('joint_names', np.array(joint_names)))
    qd = arrays.get('qd', arrays.get('v'))
    try:
        return Recording(arrays['t'], arrays['q'], qd, arrays['tau'], names, str(path))
    except (TypeError, ValueError) as error:
        raise RecordingError(f'{path}: the arrays are not numbers: {error}') from error
