# SPDX-License-Identifier: Apache-2.0
"""The torque of our rigid model and of somebody else's software, at random states."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from proof.description import rigid_links
from proof.engine import Loader, Refused
from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.chain.joint_physics import JointPhysics

#: Random states per robot.
STATES = 200
#: Largest position, velocity and acceleration of a state [rad, rad/s, rad/s^2, m, ...].
RANGE = (3.0, 3.0, 10.0)


def disagreement(load: Loader, urdf: str, seed: int = 0) -> float:
    """
    Return the largest difference of a torque, over the largest torque of that joint.

    :param load: somebody else's software.
    :param urdf: text of a URDF.
    :param seed: seed of the states.
    :raises Refused: it does not take this robot, or would take it for another one.
    """
    chain = chain_from_urdf(urdf)
    if len(chain.moving) > len(chain):  # their readers let mimic joints move by themselves
        raise Refused('has joints that follow others')
    links = rigid_links(urdf)
    n, rng = len(chain), np.random.default_rng(seed)
    states = [rng.uniform(-size, size, (STATES, n)) for size in RANGE]
    ours = compile_model(chain).inverse_dynamics(*states)
    other = load(links, chain.joint_names, JointPhysics.zero(n), 1e-3)
    theirs = np.array([other.inverse_dynamics(*state) for state in zip(*states)])
    # torques and forces do not compare: every joint counts by its own size
    size = np.max(np.abs(ours), axis=0)
    difference = np.max(np.abs(theirs - ours), axis=0)
    return float(np.max(difference / np.where(size > 0.0, size, np.inf), initial=0.0))


def disagreements(load: Loader, urdfs: Iterable[Path]) -> dict[str, float | str]:
    """Return the disagreement about every URDF by its name, or why it was refused."""
    found: dict[str, float | str] = {}
    for path in urdfs:
        try:
            found[path.stem] = disagreement(load, path.read_text(encoding='utf-8'))
        except Refused as error:
            found[path.stem] = str(error)
    return found
