# SPDX-License-Identifier: Apache-2.0
"""The choices of the frames, and the rounding of almost-exact numbers."""

import itertools
import math

import numpy as np
import pytest
from support.tolerances import SAME_ALGEBRA

from robot_dynamics_ros.chain.joint import Joint
from robot_dynamics_ros.chain.urdf.axes import DUST, JointAxis, place_frames

X, Y, Z = np.eye(3)


def line(point, direction, prismatic=False, name='j'):
    """Return an axis from plain numbers."""
    direction = np.asarray(direction, dtype=float)
    return JointAxis(name, np.asarray(point, dtype=float), direction / np.linalg.norm(direction),
                     prismatic)


def frames(axes, snap=True):
    """Return the frames E_0..E_n, the placements and the findings."""
    base, placements, findings = place_frames(axes, snap)
    poses = [base]
    for axis, p in zip(axes, placements):
        kind = 'prismatic' if axis.prismatic else 'revolute'
        poses.append(poses[-1] @ Joint('j', kind, p.b, p.beta, p.d, p.theta).pose())
    return poses, placements, findings


def random_axes(rng, n):
    """Return axes of which some are parallel, antiparallel, coincident or intersecting."""
    axes = [line(rng.normal(size=3), rng.normal(size=3), rng.random() < 0.3)]
    while len(axes) < n:
        last = axes[-1]
        choice = rng.integers(6)
        direction = (last.direction, -last.direction, rng.normal(size=3),
                     np.cross(last.direction, rng.normal(size=3)), last.direction,
                     rng.normal(size=3))[choice]
        point = (rng.normal(size=3), rng.normal(size=3), rng.normal(size=3),
                 last.point + rng.normal() * last.direction,
                 last.point + rng.normal() * last.direction,
                 last.point + rng.normal() * last.direction)[choice]
        axes.append(line(point, direction, rng.random() < 0.3))
    return axes


@pytest.mark.parametrize('snap', [True, False])
def test_every_z_axis_lies_on_its_joint_axis(rng, snap):
    for _ in range(200):
        axes = random_axes(rng, int(rng.integers(1, 9)))
        poses, _, findings = frames(axes, snap)
        assert not findings
        for axis, pose in zip(axes, poses[1:]):
            z = pose.rotation[:, 2]
            np.testing.assert_allclose(z, axis.direction, atol=1e-10)
            if not axis.prismatic:
                away = np.cross(pose.translation - axis.point, axis.direction)
                np.testing.assert_allclose(away, 0.0, atol=1e-9)


def test_the_choices_keep_offsets_zero(rng):
    for _ in range(200):
        axes = random_axes(rng, int(rng.integers(2, 9)))
        _, placements, _ = frames(axes)
        first, last = placements[0], placements[-1]
        assert (first.b, first.beta, first.d, first.theta) == (0.0, 0.0, 0.0, 0.0)
        assert (last.d, last.theta) == (0.0, 0.0)
        assert all(-math.pi / 2 - 1e-5 < p.theta <= math.pi / 2 + 1e-5 for p in placements)
        for p, after in itertools.pairwise(placements):
            if after.beta in (0.0, math.pi):
                assert p.d == 0.0
                if after.b == 0.0:
                    assert p.theta == 0.0


@pytest.mark.parametrize('axes, expected', [
    # b, beta, d, theta of joints 1 and 2, to be checked on paper
    ([line((0, 0, 0), Z), line((0.5, 0, 0.2), Z)], (0.5, 0.0, 0.0, 0.0)),
    ([line((0, 0, 0), Z), line((0.5, 0, 0.2), -Z)], (0.5, math.pi, 0.0, 0.0)),
    ([line((0, 0, 0), Z), line((0, 0, 0.2), Z)], (0.0, 0.0, 0.0, 0.0)),
    ([line((0, 0, 0), Z), line((0, 0, 0.2), Y)], (0.0, -math.pi / 2, 0.0, 0.0)),
    ([line((0, 0, 0), Z), line((0.3, 7, 0.2), Y)], (0.3, -math.pi / 2, 0.0, 0.0)),
    ([line((0, 0, 0), Z), line((-0.3, 7, 0.2), Y)], (-0.3, -math.pi / 2, 0.0, 0.0)),
    ([line((0, 0, 0), Z), line((1, 2, 3), X, prismatic=True)], (0.0, math.pi / 2, 0.0, 0.0)),
    ([line((0, 0, 0), Z), line((1, 2, 3), Z, prismatic=True)], (0.0, 0.0, 0.0, 0.0)),
])
def test_two_axes_by_hand(axes, expected):
    _, placements, _ = frames(axes)
    p = placements[1]
    np.testing.assert_allclose((p.b, p.beta, p.d, p.theta), expected, atol=SAME_ALGEBRA)


def test_a_prismatic_axis_meets_both_neighbours():
    axes = [line((0, 0, 0), Z), line((0, 0, 0.4), Y), line((9, 9, 9), X, prismatic=True),
            line((2, 0.15, 0.4), X), line((2, 0.15, 0.4), Z)]
    _, placements, _ = frames(axes)
    assert [p.b for p in placements] == [0.0] * 5
    np.testing.assert_allclose(placements[1].d, 0.15, atol=SAME_ALGEBRA)


def test_almost_parallel_axes_are_made_parallel_and_reported():
    tilted = np.array([0.0, 9e-6, 1.0])
    for snap in (True, False):
        _, placements, findings = frames([line((0, 0, 0), Z), line((0.5, 0, 0), tilted)], snap)
        assert placements[1].beta == 0.0
        assert [finding.kind for finding in findings] == ['made_parallel']
        np.testing.assert_allclose(findings[0].value, 9e-6, rtol=1e-6)


def test_axes_beyond_the_tolerance_stay_as_they_are():
    tilted = np.array([0.0, 1.2e-5, 1.0])
    _, placements, findings = frames([line((0, 0, 0), Z), line((0.5, 0, 0), tilted)])
    assert not findings  # the normal is where they are 0.5 m apart
    np.testing.assert_allclose(abs(placements[1].beta), 1.2e-5, rtol=1e-6)


@pytest.mark.parametrize('angle, far', [(1.2e-5, True), (1e-3, True), (1e-2, False)])
def test_axes_with_a_common_normal_far_away_are_reported(angle, far):
    tilted = np.array([0.0, angle, 1.0])
    _, placements, findings = frames([line((0, 0, 0), X), line((0, 0, 0), Z),
                                      line((0.0, 0.5, 0), tilted)])
    assert [finding.kind for finding in findings] == ['nearly_parallel'] * far
    np.testing.assert_allclose(placements[1].d, -0.5 / angle, rtol=1e-3)
    if far:
        assert f'{0.5 / angle:.0f} m away' in findings[0].message


def test_almost_exact_numbers_are_rounded_only_when_asked():
    axes = [line((0, 0, 0), Z), line((0, 0, 0), (0, math.cos(4e-6), math.sin(4e-6))),
            line((5e-6, 0, 0), Z)]
    _, exact, findings = frames(axes, snap=True)
    assert exact[1].beta == -math.pi / 2
    assert exact[2].b == 0.0
    assert {finding.kind for finding in findings} == {'snapped'}
    message = 'was taken as -pi/2, which it misses by 4e-06 rad'
    assert any(message in str(each) for each in findings)
    assert all(DUST < finding.value < 1e-5 for finding in findings)
    _, kept, findings = frames(axes, snap=False)
    np.testing.assert_allclose(kept[1].beta, -math.pi / 2 + 4e-6, atol=1e-10)
    assert not findings
