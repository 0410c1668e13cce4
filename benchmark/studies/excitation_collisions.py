# SPDX-License-Identifier: Apache-2.0
"""
Exciting motions of the robots of example-robot-data: designed with collision checks, and judged.

``make collisions`` (``ARGS='--seeds 3 --robots panda,ur5'``): every motion, and the way to its
start from another posture, is replayed at 100 samples per second. MuJoCo looks for contacts of
hulls, FCL for those of triangles (`collision_judges`). One line per run is appended to a CSV file
beside this one; runs that are in it are not repeated: delete it where the design has changed. At
the end a table.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from robot_dynamics_ros import (
    CollisionScene,
    Excitation,
    ExcitationError,
    RobotDynamicsError,
    chain_from_urdf,
    collision_scene,
    design_excitation,
    find_free_posture,
    slow_trajectory,
)
from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.collision.distance import FLOOR
from studies.collision_judges import Contacts, Judges

#: What was found so far.
RESULTS = Path(__file__).with_suffix('.csv')

#: Samples per second of the replay.
RATE = 100.0

FIELDS = ('robot', 'joints', 'seed', 'unchecked', 'checked', 'ratio', 'lowest', 'distance', 'pair',
          'kept', 'proposed_start', 'way', 'mujoco', 'exact', 'mujoco_unchecked',
          'exact_unchecked', 'seconds', 'seconds_unchecked', 'error')


class Case(NamedTuple):
    """
    A robot of example-robot-data.

    :param path: URDF below ``robots/``.
    :param base: base link; None = root.
    :param tip: tip link; None = found.
    :param floor: height of the floor over the base [m]; None = none (arms that hang on a torso).
    :param srdf: SRDF below ``robots/`` for descriptions whose links overlap; None = none.
    """

    path: str
    base: str | None = None
    tip: str | None = None
    floor: float | None = 0.0
    srdf: str | None = None


CASES = {
    'panda': Case('panda_description/urdf/panda.urdf', None, 'panda_hand'),
    'ur3': Case('ur_description/urdf/ur3_robot.urdf'),
    'ur5': Case('ur_description/urdf/ur5_robot.urdf'),
    'ur10': Case('ur_description/urdf/ur10_robot.urdf'),
    'ur5_gripper': Case('ur_description/urdf/ur5_gripper.urdf'),
    'so100': Case('so_arm_description/urdf/so100.urdf'),
    'so101': Case('so_arm_description/urdf/so101.urdf'),
    'z1': Case('z1_description/urdf/z1.urdf'),
    'kinova': Case('kinova_description/robots/kinova.urdf'),
    'xarm7': Case('xarm_description/urdf/xarm7.urdf'),
    'talos_arm': Case('talos_data/robots/talos_left_arm.urdf', None, 'arm_left_7_link', None,
                      'talos_data/srdf/talos.srdf'),
    'tiago': Case('tiago_description/robots/tiago_no_hand.urdf', 'torso_lift_link', 'arm_7_link',
                  None),
    'tiago_pro': Case('tiago_pro_description/robots/tiago_pro.urdf', 'torso_lift_link',
                      'arm_left_7_link', None),
    'baxter': Case('baxter_description/urdf/baxter.urdf', None, 'left_wrist', None,
                   'baxter_description/srdf/baxter_manipulation.srdf'),
    'pr2': Case('pr2_description/urdf/pr2.urdf', 'torso_lift_link', 'r_wrist_roll_link', None,
                'pr2_description/srdf/pr2_manipulation.srdf'),
    'centauro': Case('centauro_description/urdf/centauro.urdf', 'torso_2', 'arm1_6', None),
    'icub': Case('icub_description/robots/icub.urdf', 'chest', 'l_hand', None,
                 'icub_description/srdf/icub.srdf'),
    'romeo': Case('romeo_description/urdf/romeo.urdf', 'torso', 'l_wrist', None,
                  'romeo_description/srdf/romeo_moveit.srdf'),
    'g1': Case('g1_description/urdf/g1_29dof_rev_1_0.urdf', 'torso_link', 'left_wrist_yaw_link',
               None),
    'alex': Case('alex_description/urdf/alex_nub_hands.urdf', None, 'LeftGripperYawLink', None),
    'hextilt': Case('hextilt_description/urdf/hextilt_flying_arm_5.urdf', floor=None),
    'anymal_kinova': Case('anymal_b_simple_description/robots/anymal-kinova.urdf', None,
                          'j2s6s200_link_6', None),
}


class Robot(NamedTuple):
    """A robot that is ready to be studied."""

    chain: Chain
    scene: CollisionScene
    judges: Judges
    unchecked: Excitation
    seconds_unchecked: float
    seconds_scene: float
    contacts_unchecked: Contacts


def robots_folder() -> Path:
    """Return where example-robot-data keeps its robots."""
    for place in map(Path, sys.path):
        found = place / 'cmeel.prefix' / 'share' / 'example-robot-data' / 'robots'
        if found.is_dir():
            return found
    raise SystemExit('example-robot-data is missing: pip install example-robot-data')


def prepared(case: Case) -> Robot:
    """Return a robot with its scene, its judges and its unchecked design."""
    folder = robots_folder()
    path = folder / case.path
    folders = [folder, folder.parent.parent]
    chain = chain_from_urdf(path, base=case.base, tip=case.tip)
    begin = time.process_time()
    scene = collision_scene(path, chain, folders=folders, floor=case.floor,
                            srdf=None if case.srdf is None else folder / case.srdf)
    seconds_scene = time.process_time() - begin
    judges = Judges(path, folders, chain.joint_names, case.floor, chain.base)
    begin = time.process_time()
    try:
        unchecked = design_excitation(chain, unchecked=True)
    except ExcitationError:  # the robot cannot hold the default start: compare from a free one
        start = design_excitation(chain, scene=scene, candidates=30, iterations=0).limits.start
        begin = time.process_time()
        unchecked = design_excitation(chain, unchecked=True, start=start)
    seconds = time.process_time() - begin
    trajectory = unchecked.trajectory
    contacts = judged(scene, judges, trajectory.sample(trajectory.times(RATE)).q)
    return Robot(chain, scene, judges, unchecked, seconds, seconds_scene, contacts)


def run(robot: Robot, seed: int) -> dict[str, Any]:
    """Design, replay and judge one motion."""
    scene = robot.scene
    home = find_free_posture(scene, seed=seed + 1000)
    begin = time.process_time()
    found = design_excitation(robot.chain, scene=scene, seed=seed, home=home)
    seconds = time.process_time() - begin + robot.seconds_scene
    assert found.clearance is not None and found.way is not None
    way = slow_trajectory(scene, found.way)
    q = np.concatenate([found.trajectory.sample(found.trajectory.times(RATE)).q,
                        way.sample(np.linspace(0.0, way.duration, 300)).q])
    contacts, before = judged(scene, robot.judges, q), robot.contacts_unchecked
    return {'joints': len(robot.chain), 'seed': seed,
            'unchecked': f'{robot.unchecked.condition_number:.2f}',
            'checked': f'{found.condition_number:.2f}',
            'ratio': f'{found.condition_number / robot.unchecked.condition_number:.2f}',
            'lowest': f'{found.clearance.lowest:.3f}',
            'distance': f'{1000 * found.clearance.distance:.1f}',
            'pair': ' - '.join(found.clearance.pair), 'kept': found.clearance.kept,
            'proposed_start': bool(found.start_note), 'way': len(found.way),
            'mujoco': sum(contacts.mujoco.values()), 'exact': sum(contacts.fcl.values()),
            'mujoco_unchecked': sum(before.mujoco.values()),
            'exact_unchecked': sum(before.fcl.values()),
            'seconds': f'{seconds:.1f}', 'seconds_unchecked': f'{robot.seconds_unchecked:.1f}'}


def judged(scene: CollisionScene, judges: Judges, q: Array) -> Contacts:
    """Return what the judges find among the pairs that the scene keeps apart."""
    numbers = range(len(scene.pairs))
    names = [frozenset(scene.pair_name(k)) for k in numbers]
    inner = {names[k] for k in numbers if scene.pairs[k, 0] != FLOOR}
    exact = {names[k] for k in numbers if scene.exact[k]}
    floor = {scene.pair_name(k)[1] for k in numbers if scene.pairs[k, 0] == FLOOR}
    return judges.judge(q, inner, inner - exact, floor)


def table(path: Path) -> Iterator[str]:
    """Yield a table over the robots of a CSV file: medians, and the worst where it counts."""
    with path.open(encoding='utf-8') as file:
        rows = list(csv.DictReader(file))
    yield ('| robot | joints | motions | unchecked | checked, median (worst) | ratio, median '
           '(worst) | lowest point [m] | smallest distance [mm] | its pair | contacts MuJoCo | '
           'contacts triangles | both, unchecked | design [s] | unchecked [s] |')
    yield '|---' * 14 + '|'
    for name in dict.fromkeys(row['robot'] for row in rows):
        good = [row for row in rows if row['robot'] == name and not row['error']]
        if not good:
            continue

        def of(key: str, good: list[dict[str, str]] = good) -> Array:
            return np.array([float(row[key]) for row in good])

        closest = good[int(np.argmin(of('distance')))]
        yield (f'| {name} | {good[0]["joints"]} | {len(good)} | {np.median(of("unchecked")):.1f} '
               f'| {np.median(of("checked")):.1f} ({of("checked").max():.1f}) '
               f'| {np.median(of("ratio")):.2f} ({of("ratio").max():.2f}) '
               f'| {of("lowest").min():.3f} | {closest["distance"]} | {closest["pair"]} '
               f'| {int(of("mujoco").sum())} | {int(of("exact").sum())} '
               f'| {good[0]["mujoco_unchecked"]}, {good[0]["exact_unchecked"]} '
               f'| {np.median(of("seconds")):.1f} | {np.median(of("seconds_unchecked")):.1f} |')
    errors = [row for row in rows if row['error']]
    yield f'\n{len(rows) - len(errors)} motions, {len(errors)} errors'
    yield from (f'{row["robot"]} seed {row["seed"]}: {row["error"]}' for row in errors)


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--robots', default=','.join(CASES))
    parser.add_argument('--seeds', type=int, default=25)
    parser.add_argument('-o', '--output', type=Path, default=RESULTS)
    parser.add_argument('--table', action='store_true', help='only print the table')
    arguments = parser.parse_args()
    path = arguments.output
    if not arguments.table:
        done = set()
        if path.exists():
            with path.open(encoding='utf-8') as file:
                done = {(row['robot'], int(row['seed'])) for row in csv.DictReader(file)}
        else:
            path.write_text(','.join(FIELDS) + '\n', encoding='utf-8')
        ready: dict[str, Robot] = {}
        for seed in range(arguments.seeds):
            for name in arguments.robots.split(','):
                if (name, seed) in done:
                    continue
                try:
                    if name not in ready:
                        ready[name] = prepared(CASES[name])
                    row = run(ready[name], seed)
                except RobotDynamicsError as error:
                    row = {'seed': seed, 'error': f'{type(error).__name__}: {error}'}
                with path.open('a', encoding='utf-8', newline='') as file:
                    csv.DictWriter(file, FIELDS).writerow({'error': '', **row, 'robot': name})
                print(name, seed, row, flush=True)
    print('\n'.join(table(path)))
    return 0


if __name__ == '__main__':
    sys.exit(main())
