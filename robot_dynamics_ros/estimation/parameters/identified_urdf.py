# SPDX-License-Identifier: Apache-2.0
"""identified.urdf: the robot's own URDF with the identified inertias and friction."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.urdf.geometry import body_geometries
from robot_dynamics_ros.chain.urdf.reader import Locked
from robot_dynamics_ros.chain.urdf.writer import carried_inertias, urdf_with_inertias
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate, covariance_of
from robot_dynamics_ros.estimation.consistency.hull import BodyHull, reach_hulls
from robot_dynamics_ros.estimation.consistency.projection import (
    MASS_TOLERANCE,
    ConsistentInertias,
    consistent_inertias,
)
from robot_dynamics_ros.estimation.regression.recorded_torque import RecordedTorque


@dataclass(frozen=True, eq=False)
class IdentifiedUrdf:
    """
    A URDF with identified inertias.

    :param text: text of the URDF.
    :param inertias: its physically consistent inertias, and how far they are from the estimate.
    :param findings: findings about geometry, bodies, mass and cost.
    """

    text: bytes
    inertias: ConsistentInertias
    findings: tuple[Finding, ...]


def identified_urdf(source: str | os.PathLike[str], chain: Chain, estimate: MlcEstimate, *,
                    locked: Locked = None, payload: Inertia | None = None,
                    payload_tip: str | None = None,
                    recorded: RecordedTorque | None = None, mass: float | None = None,
                    mass_tolerance: float = MASS_TOLERANCE,
                    folders: Sequence[str | os.PathLike[str]] = ()) -> IdentifiedUrdf:
    """
    Return the URDF of a robot with identified parameters.

    Minimal parameters do not say how inertia is split among the links: of all robots whose bodies
    fit their geometry and the total mass, the one that diverges least from the URDF is written.

    :param source: path or text of the URDF that the chain was read from.
    :param chain: the robot.
    :param estimate: identified parameters.
    :param locked: positions of locked joints that were given when the chain was read.
    :param payload: known payload in the tip frame that is part of the chain and of the estimate;
        it is not written into the URDF.
    :param payload_tip: name of its tip link; None = the first one.
    :param recorded: rows of the recording (`Identification.recorded`); None = torque errors are
        those at random states.
    :param mass: total mass of the moving links without the payload [kg]; None = that of the URDF.
    :param mass_tolerance: part by which the total mass may differ from that.
    :param folders: folders with mesh files, beside the folder of the URDF itself and the
        packages that are installed.
    :raises ParameterError: a mass that no robot has.
    :raises IdentificationError: no physically possible robot is found.
    :raises UrdfError: the text cannot be changed, or does not belong to the chain.
    """
    known = Inertia.zero() if payload is None else payload
    carried = list(carried_inertias(source, chain, locked))
    if payload is not None:
        end = chain.tip_called(payload_tip)
        carried[end.joint - 1] = carried[end.joint - 1] + known.seen_from(end.pose)
    hulls, unread = _hulls(source, chain, carried, locked, folders)
    rotors = [name for name, value in zip(chain.joint_names, estimate.joint_physics.rotor_inertia)
              if np.isnan(value)]
    inertias = consistent_inertias(
        chain, estimate.mlc, covariance=minimal_covariance(estimate), carried=carried,
        hulls=hulls, mass=None if mass is None else mass + known.mass,
        mass_tolerance=mass_tolerance, rotors=rotors, recorded=recorded)
    unloaded = inertias.chain if payload is None else inertias.chain.with_payload(
        Inertia.from_standard_parameters(-known.standard_parameters), tip=payload_tip)
    robot = unloaded.with_joint_physics(estimate.joint_physics)
    text = urdf_with_inertias(source, robot, locked=locked, note=_note(estimate, inertias))
    return IdentifiedUrdf(text, inertias, (*unread, *inertias.findings))


def _hulls(source: str | os.PathLike[str], chain: Chain, carried: Sequence[Inertia],
           locked: Locked, folders: Sequence[str | os.PathLike[str]]
           ) -> tuple[list[BodyHull], tuple[Finding, ...]]:
    """Return the space of every link: its geometry, or a box around what is known of it."""
    geometries, findings = body_geometries(source, chain, locked=locked, folders=folders)
    own = [Inertia.from_standard_parameters(link.standard_parameters - body.standard_parameters)
           for link, body in zip(chain.links, carried)]
    boxes = reach_hulls(chain, own, [np.concatenate([each.corners, each.frames])
                                     for each in geometries])
    return [BodyHull.around(each.corners) if each.whole else box
            for each, box in zip(geometries, boxes)], findings


def minimal_covariance(estimate: MlcEstimate) -> Array:
    """
    Return the covariance (p, p) of the minimal parameters; NaN where there is none.

    It includes values that the data alone do not determine, with the standard deviations that the
    prior gives them: combinations of them may well be determined.
    """
    return covariance_of(estimate.mlc.names, estimate.unknowns, estimate.covariance)


def _note(estimate: MlcEstimate, inertias: ConsistentInertias) -> str:
    """Return the comment for readers of the URDF."""
    physics = estimate.joint_physics
    lines = [f'inertias and friction of the chain {estimate.base_link} to {estimate.tip_link} '
             'are identified.',
             'Only minimal combinations of the inertias can be measured; the split among the '
             'links is the one nearest to the original.']
    if inertias.changed:
        lines.append('The estimate was moved to the nearest physically possible robot, which '
                     f'changes the torque by {100 * inertias.torque_error:.2g} %.')
    lines.append('Rotor inertias and torque offsets have no place in a URDF: they are in '
                 'parameters.yaml.')
    inside = [f'{name} {value:.6g}' for name, value, rotor in zip(
        estimate.mlc.joint_names, inertias.rotor_inertia, physics.rotor_inertia)
        if np.isnan(rotor)]
    if inside:
        lines.append('Of rotor inertias that cannot be told from the links, this is not in the '
                     f'links: {", ".join(inside)}.')
    if physics.coupling is not None:
        lines.append('Friction belongs to coupled motors: it is in parameters.yaml, too.')
    return ' '.join(lines)
