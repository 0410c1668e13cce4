# SPDX-License-Identifier: Apache-2.0
"""Every URDF of example-robot-data: kinematics and inertias against Pinocchio."""

import numpy as np
import pinocchio
import pytest
from support.oracle import STANDARD_IN_PINOCCHIO
from support.robots import example_robots
from support.tolerances import OTHER_IMPLEMENTATION

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.chain.urdf.reader import sample_positions
from robot_dynamics_ros.chain.urdf.tree import tree_from_urdf
from robot_dynamics_ros.errors import UrdfError

#: An empty <robot>; Pinocchio refuses it too.
EMPTY = 'ur3.urdf'

#: A base without joints: nothing to compare.
WITHOUT_JOINTS = {'quadrotor_base.urdf', 'iris_simple.urdf'}

FILES = [path for path in example_robots() if path.name != EMPTY]


def longest_tips(tree):
    """Return the tips of the longest chains from the root with usable joints only."""
    lengths = {}
    for joint in tree.joints.values():
        moving = [each for each in tree.path_to(joint.child) if each.moving]
        usable = all(each.mimic is None and each.type not in ('floating', 'planar')
                     for each in moving)
        if joint.moving and usable:
            lengths[joint.child] = len(moving)
    return [tip for tip, length in lengths.items() if length == max(lengths.values())]


class Reference:
    """Pinocchio's view of a chain inside a whole robot."""

    def __init__(self, path):
        self.model = pinocchio.buildModelFromUrdf(str(path))
        self.data = self.model.createData()

    def move(self, chain, q):
        full = pinocchio.neutral(self.model)
        for name, position in zip(chain.joint_names, q):
            joint = self.model.joints[self.model.getJointId(name)]
            value = position if joint.nq == 1 else (np.cos(position), np.sin(position))
            full[joint.idx_q:joint.idx_q + joint.nq] = value
        pinocchio.framesForwardKinematics(self.model, self.data, full)

    def tip(self, chain):
        return self.data.oMf[self.model.getFrameId(chain.tip)]

    def body(self, chain, i):
        """Return the standard parameters of moving body i in the root frame."""
        after = self.model.getJointId(chain.joint_names[i + 1]) if i + 1 < len(chain) else -1
        waiting = [self.model.getJointId(chain.joint_names[i])]
        total = np.zeros(10)
        while waiting:
            joint = waiting.pop()
            inertia = self.model.inertias[joint].se3Action(self.data.oMi[joint])
            total += inertia.toDynamicParameters()
            waiting += [child for child in self.model.children[joint] if child != after]
        return total[STANDARD_IN_PINOCCHIO]


def compare(chain, reference):
    """Return the largest differences: position [m], axes, inertia relative to the largest."""
    position = axes = inertia = 0.0
    for q in sample_positions(chain):
        reference.move(chain, q)
        tip, ours = reference.tip(chain), chain.tip_pose_at(q)
        position = max(position, float(np.linalg.norm(ours.translation - tip.translation)))
        axes = max(axes, float(np.max(np.abs(ours.rotation - tip.rotation))))
        for i, (pose, link) in enumerate(zip(chain.joint_poses(q), chain.links)):
            expected = reference.body(chain, i)
            error = np.max(np.abs(link.seen_from(pose).standard_parameters - expected))
            inertia = max(inertia, float(error) / max(1.0, float(np.max(np.abs(expected)))))
    return position, axes, inertia


@pytest.mark.parametrize('path', FILES, ids=lambda path: path.name)
def test_longest_chains_agree_with_pinocchio(path):
    tree = tree_from_urdf(path)
    if path.name in WITHOUT_JOINTS:
        assert not any(joint.moving for joint in tree.joints.values())
        return
    reference = Reference(path)
    for tip in longest_tips(tree):
        exact = chain_from_urdf(path, tip=tip, snap=False)
        made_parallel = [f for f in exact.findings if f.kind == 'made_parallel']
        reported = [f.value for f in exact.findings if f.kind == 'tip_error']
        assert bool(made_parallel) == bool(reported)
        position, axes, inertia = compare(exact, reference)
        if made_parallel:
            np.testing.assert_allclose(position, reported[0], atol=OTHER_IMPLEMENTATION)
        else:
            assert max(position, axes, inertia) < OTHER_IMPLEMENTATION

        snapped = chain_from_urdf(path, tip=tip)
        reported = [f.value for f in snapped.findings if f.kind == 'tip_error'] or [0.0]
        position, _, _ = compare(snapped, reference)
        np.testing.assert_allclose(position, reported[0], atol=OTHER_IMPLEMENTATION)


def test_all_files_but_the_empty_one_load():
    paths = example_robots()
    assert len(paths) == 69
    for path in paths:
        if path.name == EMPTY:
            with pytest.raises(UrdfError, match='has no <link>'):
                tree_from_urdf(path)
        else:
            assert tree_from_urdf(path).inertias
