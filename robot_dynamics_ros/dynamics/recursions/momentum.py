# SPDX-License-Identifier: Apache-2.0
"""Masses in motion: centre of mass, momentum and kinetic energy of all links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robot_dynamics_ros.dynamics.scalars.frames import JointFrame
from robot_dynamics_ros.dynamics.scalars.pair import ZERO_PAIR, Pair, moved_wrench, summed
from robot_dynamics_ros.dynamics.scalars.vector import (
    ZERO,
    Scalar,
    Vector,
    add,
    cross,
    dot,
    multiply,
    scale,
    symmetric,
    total,
)


@dataclass(frozen=True)
class FirstMoments:
    """
    What the links outside of every joint weigh, list entry i in E_i; entry 0 is the whole robot.

    :param mass: mass of link i and all that it carries [kg].
    :param moment: mass times centre of mass from O_i [kg m].
    """

    mass: list[Scalar]
    moment: list[Vector]


def first_moments(frames: Sequence[JointFrame],
                  parameters: Sequence[Sequence[Scalar]]) -> FirstMoments:
    """
    Return masses and first moments of the links outside of every joint.

    :param frames: E_0..E_n from `joint_frames`.
    :param parameters: ten STANDARD_PARAMETERS per link, link 1 first, standard or grouped.
    """
    mass: list[Scalar] = [0.0, *(own[9] for own in parameters)]
    moment: list[Vector] = [ZERO, *((own[6], own[7], own[8]) for own in parameters)]
    for i in range(len(frames) - 1, 0, -1):
        inner = frames[i].parent
        moment[inner] = add(moment[inner], add(frames[i].to_parent(moment[i]),
                                               scale(mass[i], frames[i].origin)))
        mass[inner] = mass[inner] + mass[i]
    return FirstMoments(mass, moment)


def momentum(frames: Sequence[JointFrame], parameters: Sequence[Sequence[Scalar]],
             velocities: Sequence[Pair]) -> Pair:
    """
    Return linear momentum [kg m/s] and angular momentum about O_0 [kg m^2/s], in E_0.

    :param frames: E_0..E_n from `joint_frames`.
    :param parameters: ten STANDARD_PARAMETERS per link, link 1 first.
    :param velocities: V and omega of links 0..n from `link_velocities`.
    """
    sums = [ZERO_PAIR, *(_link_momentum(own, twist)
                         for own, twist in zip(parameters, velocities[1:]))]
    for i in range(len(frames) - 1, 0, -1):
        inner = frames[i].parent
        sums[inner] = summed(sums[inner], moved_wrench(frames[i], sums[i]))
    return sums[0]


def _link_momentum(parameters: Sequence[Scalar], twist: Pair) -> Pair:
    """Return linear and angular momentum of one link about O_i, in E_i."""
    v, omega = twist
    first_moment = (parameters[6], parameters[7], parameters[8])
    return (add(scale(parameters[9], v), cross(omega, first_moment)),
            add(multiply(symmetric(*parameters[:6]), omega), cross(first_moment, v)))


def twice_kinetic_energy(parameters: Sequence[Sequence[Scalar]],
                         velocities: Sequence[Pair]) -> Scalar:
    """
    Return twice the kinetic energy of the links [J] (Khalil & Dombre 9.16).

    :param parameters: ten STANDARD_PARAMETERS per link, link 1 first, standard or grouped.
    :param velocities: V and omega of links 0..n from `link_velocities`.
    """
    parts = []
    for own, (v, omega) in zip(parameters, velocities[1:]):
        twice = (own[6] + own[6], own[7] + own[7], own[8] + own[8])
        angular = add(multiply(symmetric(*own[:6]), omega), cross(twice, v))
        parts.append(dot(omega, angular) + own[9] * dot(v, v))
    return total(parts)


def weight_energy(frames: Sequence[JointFrame], parameters: Sequence[Sequence[Scalar]],
                  gravity: Vector) -> Scalar:
    """
    Return the potential energy of the links [J], zero with all masses at O_0.

    :param frames: E_0..E_n from `joint_frames`.
    :param parameters: ten STANDARD_PARAMETERS per link; grouped ones give it but for a constant.
    :param gravity: gravitational acceleration in E_0 [m/s^2].
    """
    return -dot(gravity, first_moments(frames, parameters).moment[0])
