# SPDX-License-Identifier: Apache-2.0
"""
parameters.yaml: identified parameters of a robot, as written by identify.

.. code-block:: yaml

    format: 2                      # 1 is read as well
    robot: my_arm
    model_hash: 3f6c...            # geometry, gravity, set and names; refused for another robot
    base_link: base_link
    tip_links: [tool0]
    set: lin
    joint_names: [shoulder, elbow]
    parameters:
    - {name: U1_33, formula: ZZ1 + Ia1, unit: kg m^2, value: 1.2, standard_deviation: 0.01,
       identified: true}
    joints:                        # .nan = inside a minimal parameter; parent: the joint before
    - {name: shoulder, parent: null, rotor_inertia: .nan, viscous_friction: 2.1,
       coulomb_friction: 3.0, torque_offset: 0.1, load_friction: 0.05}
    coulomb_velocity: 0.01
    samples: 5000
    condition_number: 21.0
    residual_rms: [0.3, 0.2]
    state: 4
    covariance: {names: [U1_33, Fv1], rows: [[1.0e-4], [2.0e-6, 1.0e-3]]}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.minimal.estimate import (
    JOINT_FIELDS,
    OPTIONAL_JOINT_FIELDS,
    EstimateState,
    MlcEstimate,
)
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.files.atomic_file import write_atomically
from robot_dynamics_ros.files.bounds import LARGEST_NUMBER, one_line
from robot_dynamics_ros.files.checked_yaml import mapping, read_yaml

FORMAT = 2

#: Format before trees and friction under load: one tip_link, joints without parent.
_FORMER = 1

_JOINT_FIELDS = JOINT_FIELDS | OPTIONAL_JOINT_FIELDS


def write_parameters(path: str | Path, estimate: MlcEstimate) -> None:
    """
    Write parameters.yaml atomically: a reader sees the old file or the new one, never a part.

    :param path: path of the file.
    :param estimate: parameters to write.
    :raises ParameterError: the file cannot be written.
    """
    text = yaml.safe_dump(as_mapping(estimate), sort_keys=False, default_flow_style=None,
                          width=1000)
    write_atomically(path, text.encode())


def as_mapping(estimate: MlcEstimate) -> dict[str, Any]:
    """Return an estimate as plain data."""
    mlc, physics = estimate.mlc, estimate.joint_physics
    joints = []
    for j, joint in enumerate(mlc.joint_names):
        entry: dict[str, Any] = {'name': joint, 'parent': mlc.joint_names[j - 1] if j else None}
        for key, field in _JOINT_FIELDS.items():
            values = getattr(physics, field)
            if values is not None:
                entry[key] = float(values[j])
        joints.append(entry)
    content: dict[str, Any] = {
        'format': FORMAT, 'robot': estimate.robot, 'model_hash': mlc.model_hash,
        'base_link': estimate.base_link, 'tip_links': [estimate.tip_link], 'set': mlc.set,
        'joint_names': list(mlc.joint_names),
        'parameters': [
            {'name': name, 'formula': formula, 'unit': unit, 'value': float(value),
             'standard_deviation': float(sigma), 'identified': bool(sure)}
            for name, formula, unit, value, sigma, sure in zip(
                mlc.names, mlc.formulas, mlc.units, mlc.values, estimate.standard_deviations,
                estimate.identified)],
        'joints': joints, 'coulomb_velocity': physics.coulomb_velocity}
    if physics.coupling is not None:
        content['coupling'] = physics.coupling.tolist()
    return content | {
        'samples': int(estimate.samples), 'condition_number': float(estimate.condition_number),
        'residual_rms': estimate.residual_rms.tolist(), 'state': int(estimate.state),
        'covariance': {'names': list(estimate.unknowns),
                       'rows': [row[:i + 1].tolist()
                                for i, row in enumerate(estimate.covariance)]}}


def read_mapping(path: str | Path) -> dict[str, Any]:
    """
    Return the contents of a parameters file without checking them against a robot.

    :raises ParameterError: not readable, or not such a file.
    """
    content = dict(mapping(read_yaml(path), str(path)))
    if content.get('format') not in (FORMAT, _FORMER):
        raise ParameterError(f'{path}: is not a parameters file of format {FORMAT} or {_FORMER}')
    for key in ('robot', 'model_hash', 'set', 'joint_names', 'parameters', 'joints'):
        if key not in content:
            raise ParameterError(f'{path}: {key} is missing')
    _check_lists(content, str(path))
    if content['format'] == _FORMER:
        content = {**content, 'tip_links': [content.get('tip_link', '')]}
    return content


def covariance_in(content: dict[str, Any]) -> tuple[tuple[str, ...], Array]:
    """
    Return the names of what was estimated and their covariance (u, u).

    :param content: contents of a parameters file.
    """
    names = tuple(str(name) for name in content['covariance']['names'])
    lower = np.zeros((len(names), len(names)))
    for i, row in enumerate(content['covariance']['rows']):
        lower[i, :i + 1] = row
    return names, lower + np.tril(lower, -1).T


def _check_lists(content: dict[str, Any], path: str) -> None:
    """Refuse lists of another form: names, and names with values."""
    if not (isinstance(content['joint_names'], list)
            and all(isinstance(name, str) for name in content['joint_names'])):
        raise ParameterError(f'{path}: joint_names must be a list of names')
    for key in ('parameters', 'joints'):
        if not isinstance(content[key], list):
            raise ParameterError(f'{path}: {key} must be a list')
        for entry in content[key]:
            if not isinstance(mapping(entry, f'{path}: {key}').get('name'), str):
                raise ParameterError(f'{path}: {key}: an entry has no name')


def read_parameters(path: str | Path, chain: Chain) -> MlcEstimate:
    """
    Return the parameters of a robot from a file, in the minimal set that its model uses.

    :param path: path of a file written by `write_parameters`, in any minimal set.
    :param chain: the robot that they are used for.
    :raises ParameterError: not readable, for another robot, or with values of the wrong type.
    """
    content = read_mapping(path)
    mlc = minimal_parameters(chain, str(content['set']))
    if content['model_hash'] != mlc.model_hash:
        raise ParameterError(
            f'{path}: the parameters of {one_line(content["robot"])} are for another geometry, '
            f'gravity or set than {chain.robot} from {chain.base} to {chain.tip} has; identify '
            'again')
    try:
        return _estimate(content, chain, mlc.names).converted_to(
            chain, minimal_parameters(chain).set)
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise ParameterError(f'{path}: a value is missing or of the wrong type '
                             f'({type(error).__name__}: {one_line(error)})') from error
    except ParameterError as error:
        raise ParameterError(f'{path}: {error}') from error


def _check_serial(content: dict[str, Any], names: Sequence[str]) -> None:
    """Refuse the parameters of a robot with branches."""
    if content['format'] == _FORMER:
        return
    parents = {entry['name']: entry.get('parent') for entry in content['joints']}
    if (not isinstance(content['tip_links'], list) or len(content['tip_links']) != 1
            or [parents[name] for name in names] != [None, *names[:-1]]):
        raise ParameterError('the robot is a tree; a serial chain is expected, each joint with '
                             'the one before as parent, and one entry in tip_links')


def _estimate(content: dict[str, Any], chain: Chain, names: tuple[str, ...]) -> MlcEstimate:
    lines = {line['name']: line for line in content['parameters']}
    if set(lines) != set(names):
        raise ValueError(f'parameters {sorted(lines)} instead of {sorted(names)}')
    _check_serial(content, chain.joint_names)
    mlc = minimal_parameters(chain, content['set'])
    mlc = replace(mlc, formulas=tuple(str(lines[name]['formula']) for name in names)).with_values(
        [_value(lines[name]['value']) for name in names])
    joints = {entry['name']: entry for entry in content['joints']}

    def term(key: str) -> Array | None:
        if any(key not in joints[name] for name in chain.joint_names):
            return None
        return np.array([_value(joints[name][key]) for name in chain.joint_names])

    given = {field: term(key) for key, field in _JOINT_FIELDS.items()}
    coupling = content.get('coupling')
    physics = replace(
        JointPhysics.zero(len(chain)), coulomb_velocity=float(content['coulomb_velocity']),
        coupling=None if coupling is None else np.array(coupling, dtype=np.float64),
        **{field: values for field, values in given.items() if values is not None})
    physics.check(chain.joint_names)
    unknowns, covariance = covariance_in(content)
    residuals = np.array(content['residual_rms'], dtype=np.float64)
    _check_statistics(covariance, residuals, len(chain))
    return MlcEstimate(
        str(content['robot']), str(content['base_link']), str(content['tip_links'][0]), mlc,
        physics, tuple(bool(lines[name]['identified']) for name in names), unknowns,
        covariance, int(content['samples']), float(content['condition_number']),
        residuals, EstimateState.FROM_FILE)


def _value(content: Any) -> float:
    """Return a number of a model, which may be NaN but not larger than any robot's."""
    value = float(content)
    if isinstance(content, bool) or abs(value) > LARGEST_NUMBER:
        raise ValueError(f'{one_line(content)} must be a number of at most {LARGEST_NUMBER:g}')
    return value


def _check_statistics(covariance: Array, residuals: Array, n: int) -> None:
    """Refuse variances below zero, and residuals of another number of joints."""
    if np.any(np.diag(covariance) < 0.0):
        raise ValueError('a variance is negative')
    if residuals.shape != (n,):
        raise ValueError(f'residual_rms has shape {residuals.shape}, expected ({n},)')
