# SPDX-License-Identifier: Apache-2.0
"""The proof that a motion keeps its distances, and the search for free postures and ways."""

from pathlib import Path

import numpy as np
import pytest

from robot_dynamics_ros import (
    CollisionError,
    Obstacle,
    Pose,
    Trajectory,
    chain_from_urdf,
    clearance,
    collision_scene,
    find_free_posture,
    free_path,
    posture_clearance,
    slow_trajectory,
)
from robot_dynamics_ros.chain.urdf.shapes import Shape
from robot_dynamics_ros.collision.distance import FLOOR, Postures, segment_distances
from robot_dynamics_ros.collision.motion import Segment, check_times, first_violation
from robot_dynamics_ros.estimation.excitation.fourier import FourierBasis

pytest.importorskip('coal')

TWO_ARMS = Path(__file__).parents[2] / 'urdf' / 'demo_two_arms.urdf'

ARM = """<robot name="arm">
<link name="base"><collision><origin xyz="0 0 0.2"/><geometry><box size="0.2 0.2 0.4"/></geometry>
</collision></link>
<link name="pillar"><collision><geometry><capsule radius="0.06" length="0.1"/></geometry>
</collision></link>
<link name="upper"><collision><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.04"
 length="0.4"/></geometry></collision></link>
<link name="lower"><collision><origin xyz="0 0 0.2"/><geometry><box size="0.05 0.06 0.4"/>
</geometry></collision></link>
<link name="hand"><collision><origin xyz="0.05 0 0.05" rpy="0.3 0.2 0.1"/><geometry>
<box size="0.1 0.04 0.1"/></geometry></collision></link>
<joint name="pan" type="revolute"><parent link="base"/><child link="pillar"/>
<origin xyz="0 0 0.5"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="2" effort="90"/>
</joint>
<joint name="shoulder" type="revolute"><parent link="pillar"/><child link="upper"/>
<origin xyz="0.1 0 0.1"/><axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="2" effort="90"/>
</joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
<origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
<limit lower="-2.8" upper="2.8" velocity="2" effort="90"/></joint>
<joint name="slide" type="prismatic"><parent link="lower"/><child link="hand"/>
<origin xyz="0 0 0.42"/><axis xyz="0 0 1"/>
<limit lower="0" upper="0.2" velocity="1" effort="90"/></joint></robot>"""


@pytest.fixture(scope='module')
def chain():
    return chain_from_urdf(ARM)


@pytest.fixture(scope='module')
def scene(chain):
    return collision_scene(ARM, chain)


def random_postures(chain, count, rng):
    return rng.uniform(*chain.position_limits, (count, len(chain)))


def exact(scene, q):
    postures = Postures(scene, q)
    sample, pair = (x.ravel() for x in np.indices((len(q), len(scene.pairs))))
    return postures, sample, pair, postures.distances(sample, pair, np.full(len(sample), np.inf))


def test_bounds_are_never_above_distances(scene, chain, rng):
    q = random_postures(chain, 200, rng)
    postures, *_, found = exact(scene, q)
    excess = found.value.reshape(len(q), -1) - postures.bounds()
    assert excess.min() > -1e-9
    assert np.median(excess) < 0.1


def test_frames_are_those_of_the_chain(scene, chain, rng):
    q = random_postures(chain, 5, rng)
    frames = Postures(scene, q).frames
    for k, posture in enumerate(q):
        for i, pose in enumerate(chain.joint_poses(posture), 1):
            np.testing.assert_allclose(frames.rotation[i, k], pose.rotation, atol=1e-12)
            np.testing.assert_allclose(frames.origin[i, k], pose.translation, atol=1e-12)


def test_slopes_are_those_of_the_distances(scene, chain, rng):
    q = random_postures(chain, 60, rng)
    postures, sample, pair, found = exact(scene, q)
    slopes = postures.slopes(sample, pair, found)
    step = 1e-6
    apart = found.value > 1e-3
    for j in range(len(chain)):
        shift = step * (np.arange(len(chain)) == j)
        change = (exact(scene, q + shift)[-1].value - exact(scene, q - shift)[-1].value) / step / 2
        wrong = np.abs(change - slopes[:, j]) > 1e-3
        # distances of boxes have kinks where another corner becomes the nearest
        assert np.mean(wrong[apart]) < 0.02


def test_no_distance_changes_faster_than_the_levers_say(scene, chain, rng):
    q = random_postures(chain, 400, rng)
    q[:, 3] = np.clip(q[:, 3], 0.0, 0.2)
    step = rng.normal(size=q.shape) * 0.01
    change = np.abs(exact(scene, q + step)[-1].value - exact(scene, q)[-1].value)
    allowed = (np.abs(step) @ scene.levers.T).ravel()
    assert np.all(change <= allowed + 1e-7)
    assert np.max(change / allowed) > 0.5  # and the bound is not a void one


def test_levers_of_a_tree_hold_for_both_arms_and_mimic_fingers(rng):
    chain = chain_from_urdf(TWO_ARMS)
    scene = collision_scene(TWO_ARMS, chain, floor=None)
    bodies = scene.bodies[scene.pairs]
    apart = [not {*chain.path(int(a))} & {*chain.path(int(b))} - {*chain.path(1)}
             for a, b in bodies]
    assert np.any(apart)  # pairs of the two arms
    q = random_postures(chain, 60, rng)
    postures = Postures(scene, q)
    close = postures.bounds() < 0.3
    sample, pair = np.nonzero(close)
    enough = np.full(len(sample), -np.inf)
    for joint in range(len(chain)):
        moved = q.copy()
        moved[:, joint] += 0.01
        change = np.abs(Postures(scene, moved).distances(sample, pair, enough).value
                        - postures.distances(sample, pair, enough).value)
        assert np.all(change <= 0.01 * scene.levers[pair, joint] + 1e-7), chain.joint_names[joint]


def test_segments_have_the_distance_of_their_nearest_points(rng):
    a0, a1, b0, b1 = rng.normal(size=(4, 50, 3))
    a1[:10] = a0[:10]
    b1[5:15] = b0[5:15] + 2.0 * (a1 - a0)[5:15]  # points, and parallel ones
    found = segment_distances(a0, a1, b0, b1)
    s = np.linspace(0.0, 1.0, 201)
    first = a0[:, None] + s[:, None] * (a1 - a0)[:, None]
    second = b0[:, None] + s[:, None] * (b1 - b0)[:, None]
    sampled = np.min(np.linalg.norm(first[:, :, None] - second[:, None], axis=-1), axis=(1, 2))
    assert np.all(found <= sampled + 1e-12)
    np.testing.assert_allclose(found, sampled, atol=0.02)


@pytest.mark.parametrize('make', ['trajectory', 'cubic', 'linear', 'fourier'])
def test_velocities_are_bounded(chain, rng, make):
    if make == 'fourier':
        basis = FourierBasis(5.0, 4)
        motion = basis.trajectory(chain.joint_names, np.zeros(4), rng.normal(size=(4, basis.size)))
    else:
        times = np.cumsum(rng.uniform(0.1, 0.5, 12))
        q, qd, qdd = rng.normal(size=(3, 12, 4))
        motion = Trajectory(chain.joint_names, times, q, None if make == 'linear' else qd,
                            qdd if make == 'trajectory' else None)
    times = check_times(motion, 0.05)
    bounds = motion.largest_velocities(times[:-1], times[1:])
    fine = np.linspace(times[:-1], times[1:], 30)[1:-1]
    velocity = np.abs(motion.sample(fine.ravel()).qd).reshape(28, len(times) - 1, -1)
    assert np.all(velocity.max(axis=0) <= bounds + 1e-9)
    assert np.median(bounds / np.maximum(velocity.max(axis=0), 1e-2)) < 2.0


def test_a_dip_between_samples_is_seen(scene):
    # the hand sweeps through a ball and is out again at every sample
    ball = Obstacle('ball', Shape('sphere', (0.02,), Pose(np.eye(3), np.array([0.1, 0.45, 1.1]))))
    fuller = collision_scene(ARM, scene.chain, obstacles=[ball])
    sweep = Segment(np.array([0.0, 0.0, 0.0, 0.0]), np.array([2.9, 0.0, 0.0, 0.0]))
    assert first_violation(fuller, sweep, 1.0) is None
    down = Segment(np.array([0.0, 1.2, 0.0, 0.0]), np.array([2.9, 1.2, 0.0, 0.0]))
    ends = [posture_clearance(fuller, q) for q in (down.first, down.last)]
    assert min(each.room for each in ends) > 0.0
    low = Obstacle('ball', Shape('sphere', (0.02,), Pose(np.eye(3), np.array([0.0, 0.6, 0.8]))))
    blocked = collision_scene(ARM, scene.chain, obstacles=[low])
    violation = first_violation(blocked, down, 1.0)
    assert violation is not None and 0.2 < violation.time < 0.8
    assert first_violation(scene, down, 1.0) is None


def test_a_kept_motion_keeps_its_margins_at_many_samples(scene, chain, rng):
    kept = 0
    for _ in range(40):
        first, last = random_postures(chain, 2, rng)
        way = Segment(first, first + 0.4 * (last - first))
        proved = first_violation(scene, way, 0.1) is None
        kept += proved
        *_, found = exact(scene, way.sample(np.linspace(0.0, 1.0, 400))[0])
        closest = np.min(found.value.reshape(400, -1) - scene.margins)
        assert proved == (closest > 0.0) or abs(closest) < 1e-3
    assert 5 < kept < 35


def test_clearance_says_what_is_lowest_and_closest(scene, chain):
    q = np.array([[0.0, 0.5, 0.5, 0.0], [0.0, 1.5, 0.9, 0.1]])
    rest = np.zeros_like(q)
    motion = Trajectory(chain.joint_names, np.array([0.0, 4.0]), q, rest, rest)
    found = clearance(scene, motion)
    *_, every = exact(scene, motion.sample(check_times(motion)).q)
    values = every.value.reshape(-1, len(scene.pairs))
    np.testing.assert_allclose(found.distance, values.min(), atol=1e-9)
    assert found.pair == scene.pair_name(int(np.argmin(values.min(axis=0))))
    floor = scene.pairs[:, 0] == FLOOR
    assert found.lowest <= values[:, floor].min() + 1e-9
    assert found.kept and 'lowest point' in str(found) and 'mm' in str(found)


def test_a_free_posture_is_near_and_has_room(scene, chain):
    wanted = np.array([0.0, 2.0, 2.0, 0.0])
    assert posture_clearance(scene, wanted).room < 0.0
    found = find_free_posture(scene, near=wanted)
    assert posture_clearance(scene, found).room > 0.5
    np.testing.assert_array_equal(found, find_free_posture(scene, near=wanted))
    other = find_free_posture(scene, near=wanted, accept=lambda q: q[0] < -0.5)
    assert other[0] < -0.5
    with pytest.raises(CollisionError, match='none of'):
        find_free_posture(scene, accept=lambda q: False)


def test_a_way_around_an_obstacle_is_found_and_slow(scene, chain):
    wall = Obstacle('wall', Shape('box', (0.9, 0.02, 0.8), Pose(np.eye(3),
                                                              np.array([0.6, 0.0, 0.4]))))
    blocked = collision_scene(ARM, chain, obstacles=[wall])
    first, last = np.array([-0.7, 1.6, 0.0, 0.0]), np.array([0.7, 1.6, 0.0, 0.0])
    assert first_violation(blocked, Segment(first, last), 0.1) is not None
    path = free_path(blocked, first, last)
    assert len(path) > 2
    np.testing.assert_array_equal(path[[0, -1]], [first, last])
    motion = slow_trajectory(blocked, path, speed=0.1)
    assert clearance(blocked, motion).kept
    speeds = np.abs(motion.sample(np.linspace(0.0, motion.duration, 500)).qd).max(axis=0)
    assert np.all(speeds <= 0.1 * chain.velocity_limits + 1e-9)
    assert len(free_path(scene, first, last)) == 2


def test_a_posture_that_is_too_close_can_be_left_but_one_that_touches_cannot(chain):
    # the lower arm, 5 cm thick, lies 1 cm over a table
    table = Obstacle('table', Shape('box', (0.3, 0.3, 0.1), Pose(
        np.eye(3), np.array([0.7, 0.0, 0.6 - 0.025 - 0.01 - 0.05]))))
    scene = collision_scene(ARM, chain, obstacles=[table])
    close, away = np.array([0.0, np.pi / 2, 0.0, 0.0]), np.array([0.0, 0.8, 0.0, 0.0])
    found = posture_clearance(scene, close)
    assert found.pair == ('table', 'lower')
    np.testing.assert_allclose(found.distance, 0.01, atol=1e-6)
    np.testing.assert_array_equal(free_path(scene, close, away), [close, away])
    with pytest.raises(CollisionError, match='touch in this posture'):
        free_path(scene, [0.0, 1.9, 0.0, 0.0], away)
