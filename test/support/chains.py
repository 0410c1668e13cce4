# SPDX-License-Identifier: Apache-2.0
"""Chains to test with: random ones of every kind of geometry, and those of the papers."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.chain.joint import Follower, Tip
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.chain.pose import Pose

DATA = Path(__file__).resolve().parent.parent / 'data'

#: Angle between neighbouring axes: parallel, antiparallel, perpendicular; None = skew.
AXIS_ANGLES = (0.0, np.pi, np.pi / 2, -np.pi / 2, None)


def random_inertia(rng):
    """Return a body that could exist: the second moments of mass are positive definite."""
    mass = rng.uniform(0.5, 3.0)
    root = rng.normal(scale=0.2, size=(3, 3))
    moments = mass * (root @ root.T + 0.01 * np.eye(3))
    tensor = np.trace(moments) * np.eye(3) - moments
    return Inertia.from_centre_of_mass(mass, rng.uniform(-0.4, 0.4, 3), tensor)


def random_pose(rng):
    """Return a pose with any orientation."""
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    rotation[:, 0] *= np.linalg.det(rotation)
    return Pose(rotation, rng.uniform(-0.5, 0.5, 3))


def random_chain(rng, n, *, types=None, gravity=None) -> Chain:
    """
    Return a chain of n joints: R and P mixed, axes parallel, antiparallel, perpendicular or skew.

    :param types: word of R and P; None = random, R twice as likely.
    :param gravity: (3,) in E_0; None = along an axis of E_0, or oblique.
    """
    types = types or ''.join(rng.choice(['R', 'R', 'P'], n))
    angles = [AXIS_ANGLES[k] for k in rng.integers(len(AXIS_ANGLES), size=n)]
    beta = [rng.uniform(-3.0, 3.0) if angle is None else angle for angle in angles]
    theta = rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi, rng.uniform(-3.0, 3.0)], n)
    b, d = (np.where(rng.random(n) < 0.5, rng.uniform(-0.6, 0.6, n), 0.0) for _ in range(2))
    if gravity is None:
        directions = [*np.eye(3), *-np.eye(3), rng.normal(size=3)]
        gravity = 9.81 * directions[rng.integers(len(directions))]
    return chain_from_dh(types, beta=beta, b=b, d=d, theta=theta, gravity=gravity,
                         links=[random_inertia(rng) for _ in range(n)],
                         tip_pose=random_pose(rng))


def random_tree(rng, n, *, types=None, gravity=None, followers=0) -> Chain:
    """
    Return a tree of n joints as `random_chain` has them; any joint may carry several.

    :param followers: number of further joints that follow others.
    """
    moving = random_chain(rng, n + followers, types=types, gravity=gravity)
    parents = [0]
    for i in range(1, n + followers):  # depth first, as Pinocchio numbers joints: any on the way
        way = [i]
        while way[-1]:
            way.append(parents[way[-1] - 1])
        parents.append(int(rng.choice(way)))
    gamma = rng.choice([0.0, np.pi / 2, np.pi, rng.uniform(-3.0, 3.0)], n + followers)
    epsilon = np.where(rng.random(n + followers) < 0.5, rng.uniform(-0.6, 0.6), 0.0)
    first = {parents.index(parent) for parent in parents}  # gamma and epsilon are 0 for these
    joints = [replace(joint, parent=parents[i], gamma=0.0 if i in first else float(gamma[i]),
                      epsilon=0.0 if i in first else float(epsilon[i]))
              for i, joint in enumerate(moving.joints)]
    ends = [i for i in range(1, len(joints) + 1) if i not in parents]
    tips = [Tip(f'tip{i}', i, random_pose(rng)) for i in ends]
    places = sorted(rng.choice(len(joints), followers, replace=False).tolist())
    following = tuple(Follower(joints[place], place + 1, int(rng.integers(1, n + 1)),
                               float(rng.choice([1.0, -1.0, 0.5, -2.0])), rng.uniform(-1.0, 1.0))
                      for place in places)
    return replace(moving, joints=tuple(joint for i, joint in enumerate(joints)
                                        if i not in places),
                   followers=following, tip=tips[0].link, tip_pose=tips[0].pose,
                   tip_joint=tips[0].joint, further_tips=tuple(tips[1:]),
                   joint_physics=JointPhysics.zero(n))


def renumbered(rng, chain):
    """
    Return a tree whose joints are not numbered depth first, and the old places (n,) of its joints.

    Brothers keep their order: the frame of a link follows the first joint that it carries.
    """
    parents, moving = chain.parents, chain.moving
    waiting = {parent: [i for i, each in enumerate(parents) if each == parent]
               for parent in range(len(parents) + 1)}
    order, open_parents = [], [0]
    while open_parents:
        parent = open_parents[rng.integers(len(open_parents))]
        order.append(waiting[parent].pop(0))
        open_parents = [each for each in (0, *(i + 1 for i in order)) if waiting[each]]
    new = {0: 0, **{old + 1: i + 1 for i, old in enumerate(order)}}
    joints = [replace(moving[old], parent=new[parents[old]]) for old in order]
    own = [old for old in order if old + 1 in chain.numbers]
    places = [chain.numbers.index(old + 1) for old in own]
    tips = [replace(tip, joint=new[tip.joint]) for tip in chain.tips]
    return replace(
        chain, joints=tuple(joints[new[old + 1] - 1] for old in own),
        followers=tuple(sorted((
            replace(each, joint=joints[new[each.number] - 1], number=new[each.number],
                    leader=places.index(each.leader - 1) + 1) for each in chain.followers),
            key=lambda each: each.number)),
        links=tuple(chain.links[old] for old in order), tip_joint=tips[0].joint,
        further_tips=tuple(tips[1:]),
        link_names=tuple(chain.link_names[old] for old in order)), places


def random_states(rng, n, count=None):
    """Return q, qd, qdd, each (n,), or (count, n)."""
    shape = (n,) if count is None else (count, n)
    return rng.uniform(-np.pi, np.pi, shape), rng.normal(size=shape), rng.normal(size=shape)


@dataclass(frozen=True)
class ReferenceChain:
    """
    A chain of mlc_chains.json with its stored numbers.

    :param chain: the robot.
    :param data: the entry of the file.
    """

    chain: Chain
    data: dict

    @property
    def name(self):
        """Short name such as ``V26``."""
        return self.data['name'].split()[0]

    @property
    def wrench(self):
        """The stored wrench (6,) at O_n in E_n, the tip frame of the chain."""
        f, t, s = (np.array(self.data[key]) for key in ('fE', 'tE', 'sE'))
        return np.concatenate([f, t + np.cross(s, f)])


def reference_chains():
    """Return the 37 chains of mlc_chains.json."""
    entries = json.loads((DATA / 'mlc_chains.json').read_text(encoding='utf-8'))
    result = []
    for entry in entries:
        links = [Inertia.from_centre_of_mass(link['m'], link['c'], link['Ic'])
                 for link in entry['links']]
        chain = chain_from_dh(entry['types'], beta=entry['beta'], b=entry['b'], d=entry['d'],
                              theta=entry['theta'], gravity=entry['gravity'], links=links,
                              robot=entry['name'].split()[0])
        result.append(ReferenceChain(chain, entry))
    return result


def papers_reference():
    """Return papers_reference.json: numbers of Angeles and of Lu & Meng."""
    return json.loads((DATA / 'papers_reference.json').read_text(encoding='utf-8'))
