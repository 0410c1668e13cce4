# SPDX-License-Identifier: Apache-2.0
"""Exciting motions that touch nothing: judged by MuJoCo, and by distances at many samples."""

import re

import numpy as np
import pytest
from support.robots import URDF_FOLDER, example_robots

from robot_dynamics_ros import (
    CollisionError,
    ExcitationError,
    Obstacle,
    Pose,
    chain_from_urdf,
    collision_scene,
    design_excitation,
    posture_clearance,
)
from robot_dynamics_ros.chain.urdf.shapes import Shape
from robot_dynamics_ros.collision.distance import Postures
from robot_dynamics_ros.estimation.excitation.room import RoomBarrier

pytest.importorskip('coal')

URDF = URDF_FOLDER / 'demo_arm.urdf'
START = [0.0, 0.2, 0.0, -1.2, 0.0, 0.5, 0.0]


@pytest.fixture(scope='module')
def chain():
    return chain_from_urdf(URDF)


@pytest.fixture(scope='module')
def scene(chain):
    return collision_scene(URDF, chain)


@pytest.fixture(scope='module')
def checked(chain, scene):
    return design_excitation(chain, scene=scene, candidates=60, iterations=30, home=START)


@pytest.fixture(scope='module')
def unchecked(chain):
    return design_excitation(chain, unchecked=True, candidates=60, iterations=30)


def all_distances(scene, q):
    postures = Postures(scene, q)
    sample, pair = (x.ravel() for x in np.indices((len(q), len(scene.pairs))))
    found = postures.distances(sample, pair, np.full(len(sample), np.inf))
    return found.value.reshape(len(q), -1)


def contacts_in_mujoco(q, names):
    """Return the number of postures in which MuJoCo finds a contact of links, or of the floor."""
    mujoco = pytest.importorskip('mujoco')
    text = re.sub('<visual>.*?</visual>', '', URDF.read_text(), flags=re.DOTALL)
    text = text.replace('<robot name="demo_arm">', '<robot name="demo_arm"><mujoco><compiler '
                        'balanceinertia="true" fusestatic="false"/></mujoco>')
    spec = mujoco.MjSpec.from_string(text)
    spec.worldbody.add_geom(name='floor', type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 1])
    model = spec.compile()
    data = mujoco.MjData(model)
    place = [model.joint(name).qposadr[0] for name in names]
    touching = 0
    for posture in q:
        data.qpos[place] = posture
        mujoco.mj_forward(model, data)
        touching += any(contact.dist < 0.0 for contact in data.contact)
    return touching


def test_mujoco_finds_contacts_of_the_unchecked_motion_only(checked, unchecked, chain):
    times = checked.trajectory.times(100.0)
    assert contacts_in_mujoco(unchecked.trajectory.sample(times).q, chain.joint_names) > 0
    assert contacts_in_mujoco(checked.trajectory.sample(times).q, chain.joint_names) == 0
    way = np.concatenate([np.linspace(a, b, 200) for a, b in zip(checked.way, checked.way[1:])])
    assert contacts_in_mujoco(way, chain.joint_names) == 0


def test_all_margins_are_kept_at_many_samples(checked, scene):
    q = checked.trajectory.sample(checked.trajectory.times(300.0)).q
    distances = all_distances(scene, q)
    assert np.min(distances - scene.margins) >= 0.0
    assert checked.clearance.kept
    np.testing.assert_allclose(checked.clearance.distance, distances.min(), atol=1e-3)
    assert checked.clearance.lowest >= 0.02


def test_the_parameters_are_excited_almost_as_well_as_without_checks(checked, unchecked):
    assert checked.condition_number < 1.5 * unchecked.condition_number
    assert np.max(checked.utilisation) < 1.0


def test_a_start_that_is_held_with_most_of_the_effort_is_not_proposed():
    # the shoulder of this arm is weak: near its default start, every motion exceeds the efforts
    path, = (each for each in example_robots() if each.name == 'talos_left_arm.urdf')
    arm = chain_from_urdf(path, tip='arm_left_7_link')
    found = design_excitation(arm, scene=collision_scene(
        path, arm, floor=None, folders=[path.parents[2], path.parents[4]],
        srdf=path.parents[1] / 'srdf' / 'talos.srdf'))
    free = design_excitation(arm, unchecked=True, start=found.limits.start)
    assert found.clearance.kept
    assert found.condition_number < 1.5 * free.condition_number


def test_the_same_seed_gives_the_same_checked_motion(chain, scene):
    first, second = (design_excitation(chain, scene=scene, candidates=6, iterations=2, seed=4)
                     for _ in range(2))
    np.testing.assert_array_equal(first.trajectory.sine, second.trajectory.sine)


def test_another_start_is_proposed_where_the_default_one_is_not_free(chain):
    box = Obstacle('box', Shape('box', (0.3, 0.3, 0.3), Pose(
        np.eye(3), chain.tip_pose_at(np.zeros(7)).translation)))
    scene = collision_scene(URDF, chain, obstacles=[box])
    found = design_excitation(chain, scene=scene, candidates=12, iterations=2)
    assert found.start_note.startswith('the default start is not feasible (box and ')
    assert posture_clearance(scene, found.limits.start).room > 0.0
    assert found.clearance.kept
    with pytest.raises(CollisionError, match=r'the start is not free: box and .* touch; a free '
                                             r'one near it is --start=[-0-9.]+,'):
        design_excitation(chain, scene=scene, start=np.zeros(7))


def test_an_unchecked_motion_must_be_asked_for(chain, scene):
    with pytest.raises(ExcitationError, match=r'scene=collision_scene\(urdf, chain\), or un'):
        design_excitation(chain)
    other = chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')
    with pytest.raises(ExcitationError, match='another robot'):
        design_excitation(other, scene=scene)


def test_what_was_far_a_little_while_ago_is_not_looked_at_and_nothing_near_is_missed(
        chain, scene, rng):
    barrier = RoomBarrier.around(scene, np.zeros(7))
    q = rng.uniform(*chain.position_limits, (40, 7))
    q = np.array([posture for posture in q if barrier.look(posture[None]) is not None])
    looked = 0
    for _ in range(5):
        q = q + rng.uniform(-0.003, 0.003, q.shape)
        fresh = RoomBarrier.around(scene, np.zeros(7)).look(q)
        known = barrier.last.bounds(q) if looked else None
        again = barrier.look(q)
        assert (fresh is None) == (again is None)
        if fresh is None:
            continue
        if known is not None:
            assert np.any(np.isfinite(known) & (known > scene.margins + scene.rooms))
        looked += 1
        np.testing.assert_array_equal(fresh.sample, again.sample)
        np.testing.assert_array_equal(fresh.pair, again.pair)
        np.testing.assert_allclose(fresh.room, again.room, atol=1e-5)
    assert looked > 2


def test_the_slope_of_the_barrier_is_that_of_its_value(chain, scene, rng):
    barrier = RoomBarrier.around(scene, np.zeros(7))
    agree = []
    for q in rng.uniform(*chain.position_limits, (300, 7)):
        near = barrier.look(q[None])
        if near is None or barrier.value(near) < 1e-9:  # nothing but rounding
            continue
        slope = barrier.slope(near)[0]
        step, numeric = 1e-6, np.empty(7)
        for j in range(7):
            shift = step * (np.arange(7) == j)
            looks = [barrier.look((q + sign * shift)[None]) for sign in (1.0, -1.0)]
            if any(look is None for look in looks):
                break
            numeric[j] = (barrier.value(looks[0]) - barrier.value(looks[1])) / (2.0 * step)
        else:
            agree.append(np.allclose(slope, numeric, atol=1e-2 * np.abs(numeric).max()))
    # distances of cylinders have kinks
    assert len(agree) > 30 and np.mean(agree) > 0.9
