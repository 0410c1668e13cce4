# SPDX-License-Identifier: Apache-2.0
"""Conversion of ROS messages to objects of the core and back."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from builtin_interfaces.msg import Duration, Time
from geometry_msgs.msg import InertiaStamped, Vector3
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_interfaces.msg import MlcSet as MlcSetMessage
from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import Inertia, payload_inertia
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.dynamics.minimal.estimate import (
    JOINT_FIELDS,
    OPTIONAL_JOINT_FIELDS,
    EstimateState,
    MlcEstimate,
)
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.errors import ParameterError, TrajectoryError
from robot_dynamics_ros.motion.joint_state import JointSample, JointSamples, JointStateReader
from robot_dynamics_ros.motion.trajectory import Trajectory
from robot_dynamics_ros.motion.waypoints import trajectory_from_waypoints

_NANOSECONDS = 1_000_000_000

#: Largest mass of a payload [kg], and largest distance of its parts from the tip frame [m].
_HEAVIEST, _LARGEST = 1e4, 10.0


def seconds(time: Time | Duration) -> float:
    """Return a stamp or a duration in seconds."""
    return time.sec + time.nanosec / _NANOSECONDS


def duration(time: float) -> Duration:
    """Return seconds as a duration, to the nanosecond."""
    sec, nanosec = divmod(round(time * _NANOSECONDS), _NANOSECONDS)
    return Duration(sec=sec, nanosec=nanosec)


def stamp(time: float) -> Time:
    """Return seconds as a stamp."""
    sec, nanosec = divmod(round(time * _NANOSECONDS), _NANOSECONDS)
    return Time(sec=sec, nanosec=nanosec)


def doubles(values: Array) -> array[float]:
    """Return numbers in the form that messages accept without checking each of them."""
    return array('d', np.asarray(values, dtype=np.float64).tobytes())


def check_point_count(points: int, maximum_points: int) -> None:
    """
    Refuse a trajectory with too many points, before they are read.

    :param points: number of points.
    :param maximum_points: largest number allowed.
    :raises TrajectoryError: more.
    """
    if points > maximum_points:
        raise TrajectoryError(f'the trajectory has {points} points, more than the '
                              f'{maximum_points} allowed; split it, or raise maximum_points')


def trajectory_from_message(message: JointTrajectory, *, with_efforts: bool = False) -> Trajectory:
    """
    Return the trajectory in a message.

    :param message: trajectory with at least one point.
    :param with_efforts: False = ignore the efforts, whatever they are.
    :raises TrajectoryError: a trajectory that cannot be executed.
    """
    if not message.joint_names:
        raise TrajectoryError('the trajectory names no joints')
    points = message.points
    return trajectory_from_waypoints(
        message.joint_names, [seconds(point.time_from_start) for point in points],
        positions=[point.positions for point in points],
        velocities=[point.velocities for point in points],
        accelerations=[point.accelerations for point in points],
        efforts=[point.effort for point in points] if with_efforts else None)


def trajectory_to_message(trajectory: Trajectory, header: Header) -> JointTrajectory:
    """Return a trajectory as a message; fields that a point does not have stay empty."""
    fields = {'positions': trajectory.positions, 'velocities': trajectory.velocities,
              'accelerations': trajectory.accelerations, 'effort': trajectory.efforts}
    points = [JointTrajectoryPoint(time_from_start=duration(time))
              for time in trajectory.times.tolist()]
    for name, table in fields.items():
        raw, length = table.tobytes(), table.shape[1] * table.itemsize
        for i in np.flatnonzero(~np.isnan(table[:, 0])).tolist():
            setattr(points[i], name, array('d', raw[i * length:(i + 1) * length]))
    return JointTrajectory(header=header, joint_names=list(trajectory.joint_names), points=points)


def sample_from_message(reader: JointStateReader, message: JointState,
                        received: float) -> JointSample:
    """
    Return the joint sample in a message.

    :param reader: reader of the joints of the chain.
    :param received: time of receipt [s].
    :raises StateError: the message is to be dropped.
    """
    return reader.read(seconds(message.header.stamp), received, message.name, message.position,
                       message.velocity, message.effort)


def samples_from_messages(reader: JointStateReader, messages: Sequence[JointState],
                          received: float) -> JointSamples:
    """
    Return the joint samples in several messages, at least one.

    :param reader: reader of the joints of the chain.
    :param received: time of receipt [s].
    """
    return reader.read_many(
        [seconds(message.header.stamp) for message in messages], received,
        [message.name for message in messages], [message.position for message in messages],
        [message.velocity for message in messages], [message.effort for message in messages])


def joint_state(time: Time, names: Sequence[str], effort: Array, *, q: Array | None = None,
                qd: Array | None = None) -> JointState:
    """Return a joint state message."""
    message = JointState(name=list(names), effort=doubles(effort))
    message.header.stamp = time
    if q is not None:
        message.position = doubles(q)
    if qd is not None:
        message.velocity = doubles(qd)
    return message


def named_tip(message: InertiaStamped, chain: Chain) -> str:
    """
    Return the tip link that a payload names as its frame; that of a single tip if it names none.

    :raises ParameterError: the robot has several tips, and it names none of them.
    """
    names = [tip.link for tip in chain.tips]
    frame = message.header.frame_id
    if frame not in names and len(names) > 1:
        _refuse_frame(frame, names)
    return frame if frame in names else chain.tip


def _refuse_frame(frame: str, tips: Sequence[str]) -> NoReturn:
    names = "' or '".join(tips)
    raise ParameterError(f"payload: frame_id is '{frame}', expected the tip link '{names}'")


def payload_from_message(message: InertiaStamped, tip: str) -> Inertia:
    """
    Return the payload in a message.

    :param message: payload with the tip link as frame_id.
    :param tip: name of the tip link.
    :raises ParameterError: another frame, or a body that cannot exist or that no robot carries.
    """
    frame, body = message.header.frame_id, message.inertia
    if frame != tip and body.m != 0.0:
        _refuse_frame(frame, [tip])
    centre = [body.com.x, body.com.y, body.com.z]
    tensor = [[body.ixx, body.ixy, body.ixz], [body.ixy, body.iyy, body.iyz],
              [body.ixz, body.iyz, body.izz]]
    # written so that NaN and infinity pass on to the check of every payload
    if body.m > _HEAVIEST or np.abs(centre).max() > _LARGEST or (
            np.abs(tensor).max() > max(body.m, 0.0) * _LARGEST**2 > 0.0):
        raise ParameterError(
            f'payload: {body.m:g} kg with centre of mass {centre} m and inertia of up to '
            f'{np.abs(tensor).max():g} kg m^2; no robot carries more than {_HEAVIEST:g} kg or '
            f'further out than {_LARGEST:g} m')
    return payload_inertia(body.m, centre, tensor)


def payload_to_message(payload: Inertia, tip: str, time: Time) -> InertiaStamped:
    """Return a payload in the tip frame as a message."""
    message = InertiaStamped()
    message.header.stamp, message.header.frame_id = time, tip
    if payload.mass > 0.0:
        c = payload.centre_of_mass
        J = payload.central_tensor
        body = message.inertia
        body.m, body.com = payload.mass, Vector3(x=float(c[0]), y=float(c[1]), z=float(c[2]))
        for name, i, j in (('ixx', 0, 0), ('ixy', 0, 1), ('ixz', 0, 2), ('iyy', 1, 1),
                           ('iyz', 1, 2), ('izz', 2, 2)):
            setattr(body, name, float(J[i, j]))
    return message


def estimate_to_message(estimate: MlcEstimate, time: Time) -> MlcSetMessage:
    """Return minimal parameters and joint physics as a message."""
    mlc, physics = estimate.mlc, estimate.joint_physics
    message = MlcSetMessage(
        robot=estimate.robot, model_hash=mlc.model_hash, base_link=estimate.base_link,
        tip_links=[estimate.tip_link], set=mlc.set, joint_names=list(mlc.joint_names),
        parents=list(range(-1, len(mlc.joint_names) - 1)),
        names=list(mlc.names), formulas=list(mlc.formulas), units=list(mlc.units),
        values=doubles(mlc.values), standard_deviations=doubles(estimate.standard_deviations),
        identified=list(estimate.identified), coulomb_velocity=physics.coulomb_velocity,
        samples=estimate.samples, condition_number=float(estimate.condition_number),
        residual_rms=doubles(estimate.residual_rms), state=int(estimate.state),
        **{field: doubles(getattr(physics, name)) for field, name in JOINT_FIELDS.items()})
    for field, name in (*OPTIONAL_JOINT_FIELDS.items(), ('coupling', 'coupling')):
        if (values := getattr(physics, name)) is not None:
            setattr(message, field, doubles(values))
    message.header.stamp, message.header.frame_id = time, estimate.base_link
    return message


def estimate_from_message(message: MlcSetMessage, mlc: MlcSet) -> MlcEstimate:
    """
    Return the minimal parameters and joint physics in a message.

    :param mlc: minimal parameter set of the model that is to use them.
    :raises ParameterError: parameters of another robot or set, lists of wrong lengths, a value
        that is not finite.
    """
    if message.model_hash != mlc.model_hash:
        raise ParameterError(
            f"minimal parameters of '{message.robot}', set {message.set}, are for another "
            'geometry, gravity or set; identify again, or check base, tip and gravity')
    p, n = len(mlc), len(mlc.joint_names)
    if list(message.parents) != list(range(-1, n - 1)) or len(message.tip_links) != 1:
        raise ParameterError('minimal parameters: the robot is a tree; a serial chain is '
                             'expected, parents -1, 0, 1, ... and one tip link')
    lengths = {'values': p, 'standard_deviations': p, 'identified': p, 'formulas': p,
               'residual_rms': n, **dict.fromkeys(JOINT_FIELDS, n),
               **{field: size for field, size in (*dict.fromkeys(OPTIONAL_JOINT_FIELDS, n).items(),
                                                  ('coupling', n * n))
                  if len(getattr(message, field))}}
    for field, length in lengths.items():
        if len(getattr(message, field)) != length:
            raise ParameterError(f'minimal parameters: {len(getattr(message, field))} {field}, '
                                 f'expected {length}')
    if message.state not in list(EstimateState):
        known_states = ', '.join(f'{each.value} ({each.name})' for each in EstimateState)
        raise ParameterError(f'minimal parameters: state {message.state} is unknown; expected '
                             f'{known_states}')
    deviations = np.array(message.standard_deviations)
    known = np.isfinite(deviations)
    return MlcEstimate(
        message.robot, message.base_link, message.tip_links[0],
        replace(mlc.with_values(message.values), formulas=tuple(message.formulas)),
        JointPhysics(coulomb_velocity=message.coulomb_velocity,
                     coupling=(np.array(message.coupling).reshape(n, n)
                               if len(message.coupling) else None),
                     **{name: np.array(values) for field, name in
                        (JOINT_FIELDS | OPTIONAL_JOINT_FIELDS).items()
                        if len(values := getattr(message, field))}),
        tuple(message.identified), tuple(name for name, sure in zip(mlc.names, known) if sure),
        np.diag(deviations[known]**2), message.samples, message.condition_number,
        np.array(message.residual_rms), EstimateState(message.state))


def controller_state_type() -> Any:
    """Return the message type of controller_state, or None where control_msgs is missing."""
    try:
        from control_msgs.msg import JointTrajectoryControllerState
    except ImportError:
        return None
    return JointTrajectoryControllerState
