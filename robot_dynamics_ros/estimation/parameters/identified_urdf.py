# SPDX-License-Identifier: Apache-2.0
"""identified.urdf: the robot's own URDF with the identified inertias and friction."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.urdf.writer import Locked, carried_inertias, urdf_with_inertias
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate, covariance_of
from robot_dynamics_ros.estimation.consistency.projection import (
    ConsistentInertias,
    consistent_inertias,
)


@dataclass(frozen=True, eq=False)
class IdentifiedUrdf:
    """
    A URDF with identified inertias.

    :param text: text of the URDF.
    :param inertias: its physically consistent inertias, and how far they are from the estimate.
    """

    text: bytes
    inertias: ConsistentInertias


def identified_urdf(source: str | os.PathLike[str], chain: Chain, estimate: MlcEstimate, *,
                    locked: Locked = None, payload: Inertia | None = None) -> IdentifiedUrdf:
    """
    Return the URDF of a robot with identified parameters.

    Minimal parameters do not say how inertia is split among the links: of all physically possible
    robots with these parameters, the one nearest to the URDF is written.

    :param source: path or text of the URDF that the chain was read from.
    :param chain: the robot.
    :param estimate: identified parameters.
    :param locked: positions of locked joints that were given when the chain was read.
    :param payload: known payload in the tip frame that is part of the chain and of the estimate;
        it is not written into the URDF.
    :raises IdentificationError: clarabel is not installed.
    :raises UrdfError: the text cannot be changed, or does not belong to the chain.
    """
    known = Inertia.zero() if payload is None else payload
    *inner, last = carried_inertias(source, chain, locked)
    carried = [*inner, last + known.seen_from(chain.tip_pose)]
    inertias = consistent_inertias(chain, estimate.mlc, covariance=minimal_covariance(estimate),
                                   carried=carried)
    unloaded = inertias.chain.with_payload(
        Inertia.from_standard_parameters(-known.standard_parameters))
    robot = unloaded.with_joint_physics(estimate.joint_physics)
    text = urdf_with_inertias(source, robot, locked=locked, note=_note(estimate, inertias))
    return IdentifiedUrdf(text, inertias)


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
    inside = [name for name, value in zip(estimate.mlc.joint_names, physics.rotor_inertia)
              if np.isnan(value)]
    lines.append('Rotor inertias and torque offsets have no place in a URDF: they are in '
                 'parameters.yaml' + (f'; those of {", ".join(inside)} are part of the links.'
                                      if inside else '.'))
    if physics.coupling is not None:
        lines.append('Friction belongs to coupled motors: it is in parameters.yaml, too.')
    return ' '.join(lines)
