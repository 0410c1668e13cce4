# SPDX-License-Identifier: Apache-2.0
"""The minimal parameters of a load: what it adds to those of the arm."""

from __future__ import annotations

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.mlc import MlcSet


def payload_parameters(mlc: MlcSet, chain: Chain, payload: Inertia) -> Array:
    """
    Return what a load adds to the minimal parameters (p,).

    Minimal parameters are linear in the inertias: whatever is known of the arm, from its URDF or
    learned, stays, and the load is added.

    :param mlc: the minimal set.
    :param chain: the robot of the set; only its geometry matters.
    :param payload: in the tip frame.
    """
    weightless = chain.with_links([Inertia.zero()] * len(chain))
    return mlc.of(weightless.with_payload(payload))
