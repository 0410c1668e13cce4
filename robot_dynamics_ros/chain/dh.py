# SPDX-License-Identifier: Apache-2.0
"""A Chain from a modified Denavit-Hartenberg table: for papers, tests and quick studies."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joint import Joint, Tip
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.errors import ChainError


def chain_from_dh(types: str, *, beta: ArrayLike, b: ArrayLike, d: ArrayLike, theta: ArrayLike,
                  links: Sequence[Inertia] | None = None, gravity: ArrayLike = (0.0, 0.0, -9.81),
                  joint_names: Sequence[str] | None = None, robot: str = 'robot',
                  tip_pose: Pose | None = None, joint_physics: JointPhysics | None = None,
                  parents: Sequence[int] | None = None, gamma: ArrayLike | None = None,
                  epsilon: ArrayLike | None = None) -> Chain:
    """
    Build a chain from a table of Tx(b) Rx(beta) Tz(d) Rz(theta) (Lin 1995 (4)-(5)).

    Names elsewhere: b is Khalil's d_j and Craig's a_(i-1); beta is alpha; d is Khalil's r_j.

    :param types: one letter per joint, 'R' or 'P', e.g. ``'RRPRRR'``.
    :param beta: (n,) angles of the axes about x_(i-1) [rad].
    :param b: (n,) distances of the axes along x_(i-1) [m].
    :param d: (n,) offsets along z_i [m]; of a prismatic joint the value at q = 0.
    :param theta: (n,) angles about z_i [rad]; of a revolute joint the value at q = 0.
    :param links: inertia of each link in its frame E_i; None = massless.
    :param gravity: (3,) gravitational acceleration in E_0 [m/s^2].
    :param joint_names: n names; default ``joint1 ... jointn``.
    :param robot: name of the robot.
    :param tip_pose: tip frame in E_n, in a tree of every tip in its frame; default E_n itself.
    :param joint_physics: rotor inertia, friction, offset, coupling; None = nothing of these.
    :param parents: number (1..n) of the joint that carries each joint, 0 = the base; None = the
        joint before. The last joint of every branch has a tip.
    :param gamma: (n,) angles about z of the parent [rad] (Khalil & Dombre, chapter 7); None = 0.
    :param epsilon: (n,) offsets along z of the parent [m]; None = 0.
    :raises ChainError: wrong letters or lengths, non-finite numbers.
    """
    n = len(types)
    if n == 0 or set(types) - set('RP'):
        raise ChainError(f"types must be a word of R and P, one letter per joint, got '{types}'")
    columns = {}
    for name, values in (('beta', beta), ('b', b), ('d', d), ('theta', theta), ('gamma', gamma),
                         ('epsilon', epsilon)):
        column = np.zeros(n) if values is None else np.asarray(values, dtype=np.float64)
        if column.shape != (n,) or not np.all(np.isfinite(column)):
            raise ChainError(f'{name} must be {n} finite numbers, one per joint, got {column}')
        columns[name] = column
    names = list(joint_names) if joint_names is not None else [f'joint{i + 1}' for i in range(n)]
    if len(set(names)) != n or len(names) != n:
        raise ChainError(f'joint_names must be {n} different names, got {names}')
    if parents is not None and len(parents) != n:
        raise ChainError(f'parents must be {n} numbers, one per joint, got {list(parents)}')
    joints = tuple(
        Joint(names[i], 'revolute' if types[i] == 'R' else 'prismatic',
              b=float(columns['b'][i]), beta=float(columns['beta'][i]),
              d=float(columns['d'][i]), theta=float(columns['theta'][i]),
              parent=None if parents is None else int(parents[i]),
              gamma=float(columns['gamma'][i]), epsilon=float(columns['epsilon'][i]))
        for i in range(n))
    first, *further = [i for i in range(1, n + 1) if i not in parents] if parents else [n]
    pose = tip_pose or Pose.identity()
    bodies = tuple(links) if links is not None else (Inertia.zero(),) * n
    return Chain(robot=robot, base='base', tip='tip', joints=joints, links=bodies,
                 link_names=tuple(f'link{i + 1}' for i in range(n)),
                 gravity=np.asarray(gravity, dtype=np.float64), base_pose=Pose.identity(),
                 tip_pose=pose, joint_physics=joint_physics or JointPhysics.zero(n),
                 tip_joint=first, further_tips=tuple(Tip(f'tip{i}', i, pose) for i in further))
