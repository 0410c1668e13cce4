# SPDX-License-Identifier: Apache-2.0
"""
The prior: URDF values with large standard deviations.

The standard deviation of a parameter is the size of the composite body it belongs to: mass, mass
times reach, or mass times reach squared; of a joint term what the measured torques leave room for:
torque over acceleration, torque over velocity. The data decide wherever they contain information.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.estimation.regression.torque_terms import Unknowns

#: Mass [kg] and reach [m] assumed for links that a URDF leaves without mass or extent.
_SMALLEST_MASS, _SMALLEST_REACH = 0.5, 0.1

#: Friction per unit of load of an ordinary gear [1].
_LOAD_FRICTION = 0.3


@dataclass(frozen=True, eq=False)
class Prior:
    """
    A belief about the unknowns, independent of each other.

    :param mean: (u,) expected values.
    :param standard_deviations: (u,) standard deviations.
    """

    mean: Array
    standard_deviations: Array


def prior_from_chain(unknowns: Unknowns, torque: Array, velocity: Array,
                     acceleration: Array | None = None, strength: float = 1.0) -> Prior:
    """
    Return the prior given by the URDF and the joints file.

    :param unknowns: unknowns of the torque.
    :param torque: (n,) root mean square of the measured torques [N m, N].
    :param velocity: (n,) root mean square velocities [rad/s, m/s].
    :param acceleration: (n,) root mean square accelerations [rad/s^2, m/s^2]; None = unknown, the
        inertia of a rotor is not larger than that of the links.
    :param strength: confidence in the links and rotors; 1 = errors as large as the links
        themselves, 10 = a tenth of that.
    """
    chain = unknowns.chain
    mass, reach = composite_sizes(chain)
    units = dict(zip(unknowns.mlc.names, unknowns.mlc.units))
    of_mass = {'kg m^2': mass * reach ** 2, 'kg m': mass * reach, 'kg': mass}
    revolute = np.array([joint.revolute for joint in chain.joints])
    rotor = 3.0 * np.where(revolute, of_mass['kg m^2'], mass)
    largest = np.maximum(torque, 1e-3 * np.max(torque, initial=1e-6))
    if acceleration is not None:  # the rotor of a small link may be the largest part of it
        rotor = np.maximum(rotor, largest / np.maximum(acceleration, 1e-3))
    of_term = {'Ia': rotor, 'Fc': largest, 'Fs': largest, 'offset': largest,
               'Fv': largest / np.maximum(velocity, 1e-3),
               'Fa': largest / np.maximum(velocity, 1e-3),
               'Fl': np.full(len(chain), _LOAD_FRICTION)}
    sigma = [of_mass[units[name]][block] if name in units else _of_joint(of_term, name)
             for name, block in zip(unknowns.names, unknowns.blocks)]
    mean = unknowns.values(unknowns.mlc.of(chain), chain.joint_physics)
    # a value far larger than its body needs a standard deviation of its own size
    return Prior(mean, np.maximum(sigma, np.abs(mean)) / strength)


def _of_joint(of_term: dict[str, Array], name: str) -> float:
    """Return the entry of a joint term such as ``Fc3``."""
    term = name.rstrip('0123456789')
    return float(of_term[term][int(name[len(term):]) - 1])


def composite_sizes(chain: Chain) -> tuple[Array, Array]:
    """Return mass [kg] and reach [m] of the links from every joint outward, (n,) each."""
    mass = np.array([link.mass for link in chain.links])
    own = np.nan_to_num([np.linalg.norm(link.centre_of_mass) if link.mass > 0.0 else 0.0
                         for link in chain.links])
    outward = np.zeros(len(mass))  # along the longest branch
    for j in range(len(mass), 0, -1):
        joint, parent = chain.moving[j - 1], chain.parents[j - 1]
        if parent:
            mass[parent - 1] += mass[j - 1]
            outward[parent - 1] = max(outward[parent - 1],
                                      outward[j - 1] + np.hypot(joint.b, joint.d))
    joints = [number - 1 for number in chain.numbers]
    return (np.maximum(mass, _SMALLEST_MASS)[joints],
            np.maximum(outward + own, _SMALLEST_REACH)[joints])
