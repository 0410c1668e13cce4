# SPDX-License-Identifier: Apache-2.0
"""The static test tells what efforts mean, and is never sure of what is wrong."""

import os
from pathlib import Path

import numpy as np
import pytest
import yaml
from support.effort_tests import static_test

from robot_dynamics_ros import EffortSemantics, chain_from_urdf
from robot_dynamics_ros.calibration.efforts.joint_meaning import Certainty
from robot_dynamics_ros.calibration.efforts.meaning import effort_meaning
from robot_dynamics_ros.calibration.efforts.proposal import (
    meaning_lines,
    proposed_joints_file,
    stated_efforts,
)
from robot_dynamics_ros.chain.joints_file import JointsFile, joints_from_mapping
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.estimation.recordings.files import read_recording

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get('ROBOT_DYNAMICS_DATA', ROOT.parent / 'shared' / 'data'))
ROBOTS = ('demo_arm', 'rx90', 'stanford', 'angeles_6r', 'planar_2r')


def simulated(robot, seed=1, **options):
    return static_test(ROOT / 'urdf' / f'{robot}.urdf', seed, **options)


@pytest.fixture(scope='module')
def tests():
    return {robot: simulated(robot) for robot in ROBOTS}


def kinds(meaning):
    return [joint.kind for joint in meaning.joints]


def heavy(test):
    """Return the joint with the largest changing weight."""
    return int(np.argmax(np.std(test.weight, axis=0)))


@pytest.mark.parametrize('robot', ROBOTS)
def test_torques_are_told(tests, robot):
    test = tests[robot]
    meaning = effort_meaning(test.chain, test.recording(test.torque))
    assert meaning.certain and not meaning.checks
    assert set(kinds(meaning)) == {'torque'}
    np.testing.assert_array_equal(meaning.semantics.gain, 1.0)
    np.testing.assert_array_equal(meaning.semantics.sign, 1.0)


@pytest.mark.parametrize('robot', ROBOTS)
def test_a_reversed_sign_is_told_and_asked_for(tests, robot):
    test, sign = tests[robot], np.ones(len(tests[robot].chain))
    sign[heavy(test)] = -1.0
    meaning = effort_meaning(test.chain, test.recording(sign * test.torque))
    assert not meaning.certain and not meaning.refused
    np.testing.assert_array_equal(meaning.semantics.sign, sign)


def test_a_reversed_sign_is_told_by_friction_where_the_weight_does_not_turn_a_joint(tests):
    test = tests['demo_arm']
    sign = np.array([-1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    meaning = effort_meaning(test.chain, test.recording(sign * test.torque))
    assert not meaning.certain
    assert meaning.joints[0].sign == -1.0 and meaning.joints[0].certainty is Certainty.PROPOSED


@pytest.mark.parametrize('robot', ROBOTS)
def test_currents_and_motor_torques_are_told_with_their_gain(tests, robot):
    test = tests[robot]
    gain = np.linspace(8.0, 100.0, len(test.chain))
    meaning = effort_meaning(test.chain, test.recording(test.torque / gain))
    assert not meaning.certain
    shown = [j for j, kind in enumerate(kinds(meaning)) if kind.startswith('current')]
    assert heavy(test) in shown
    for j in shown:
        assert meaning.joints[j].certainty is Certainty.PROPOSED
        assert abs(np.log(meaning.joints[j].gain / gain[j])) < np.log(1.4)
    for j in set(range(len(test.chain))) - set(shown):
        assert meaning.joints[j].certainty is Certainty.AMBIGUOUS


@pytest.mark.parametrize('robot', ROBOTS)
@pytest.mark.parametrize('unit', [100.0, 1000.0, 1.0])
def test_parts_of_the_effort_limit_are_told(tests, robot, unit):
    test = tests[robot]
    limits = test.chain.effort_limits
    meaning = effort_meaning(test.chain, test.recording(unit * test.torque / limits))
    assert not meaning.certain
    told = np.array([joint.certainty is Certainty.PROPOSED for joint in meaning.joints])
    assert told[heavy(test)] and told.sum() >= len(told) - 1  # the small weight of one may be open
    np.testing.assert_allclose(meaning.semantics.gain[told], (limits / unit)[told], rtol=1e-6)


@pytest.mark.parametrize('robot', ROBOTS)
def test_swapped_efforts_are_told_and_refused(tests, robot):
    test, effort = tests[robot], tests[robot].torque.copy()
    j = heavy(test)
    k = j + 1 if j + 1 < len(test.chain) else j - 1
    effort[:, [j, k]] = effort[:, [k, j]]
    meaning = effort_meaning(test.chain, test.recording(effort))
    names = test.chain.joint_names
    assert meaning.refused
    assert set(meaning.swapped) == {(names[j], names[k]), (names[k], names[j])}


@pytest.mark.parametrize('robot', ROBOTS)
def test_removed_gravity_is_told_and_accepted_where_it_is_stated(tests, robot):
    test, n = tests[robot], len(tests[robot].chain)
    recording = test.recording(test.torque - test.weight)
    meaning = effort_meaning(test.chain, recording)
    assert meaning.refused
    assert set(kinds(meaning)) == {'torque without gravity'}
    assert 'gravity_removed: true' in meaning.checks[0]
    removed = EffortSemantics(np.ones(n), np.ones(n), np.zeros(n), ('joint',) * n, None,
                              (True,) * n)
    assert effort_meaning(test.chain, recording, given=removed, stated=(True,) * n).certain
    wrong = effort_meaning(test.chain, test.recording(test.torque), given=removed,
                           stated=(True,) * n)
    assert wrong.refused and 'follows the weight' in wrong.checks[0]


@pytest.mark.parametrize('robot', ROBOTS)
def test_a_constant_offset_is_told(tests, robot):
    test = tests[robot]
    j = heavy(test)
    offset = 0.8 * np.std(test.torque[:, j])
    effort = test.torque.copy()
    effort[:, j] += offset
    found = effort_meaning(test.chain, test.recording(effort)).joints[j].offset
    assert found == 0.0 or 0.5 * offset < found < 1.5 * offset
    if robot != 'rx90':  # its postures do not tell an offset from a mass
        assert found > 0.0


@pytest.mark.parametrize('robot', ROBOTS)
def test_the_friction_band_is_told(tests, robot):
    test = simulated(robot, error=0.0, noise=0.0)
    meaning = effort_meaning(test.chain, test.recording(test.torque))
    size = np.std(test.weight, axis=0)
    for joint, each in zip(meaning.joints, np.maximum(size, 0.05 * size.max())):
        assert 0.15 * each < joint.friction < 0.3 * each


def test_a_tool_that_the_urdf_does_not_have_is_not_taken_for_a_unit():
    test = simulated('demo_arm', tool=2.5)
    meaning = effort_meaning(test.chain, test.recording(test.torque))
    assert meaning.refused
    assert 1.5 < meaning.payload < 3.5
    assert any('tool or payload' in text for text in meaning.checks)
    assert not any(joint.certainty is Certainty.PROPOSED for joint in meaning.joints)


def test_gravity_the_other_way_round_is_a_contradiction():
    test = simulated('demo_arm', gravity=-1.0)
    meaning = effort_meaning(test.chain, test.recording(test.torque))
    assert meaning.refused
    assert any('direction of gravity' in text for text in meaning.checks)


def test_a_reversed_axis_is_a_contradiction(tests):
    test, flip = tests['planar_2r'], np.array([-1.0, -1.0])
    meaning = effort_meaning(test.chain, test.recording(
        flip * test.torque, q=flip * test.q, qd=flip * test.qd))
    assert not meaning.certain


def test_reversed_efforts_without_friction_are_refused_unless_stated():
    test, n = simulated('demo_arm', friction=0.0), 7
    recording = test.recording(-test.torque)
    assert effort_meaning(test.chain, recording).refused
    stated = EffortSemantics(-np.ones(n), np.ones(n), np.zeros(n), ('joint',) * n, None,
                             (False,) * n)
    meaning = effort_meaning(test.chain, recording, given=stated, stated=(True,) * n)
    assert meaning.certain
    np.testing.assert_array_equal(meaning.semantics.sign, -1.0)


def test_a_dead_effort_and_noise_are_refused(tests, rng):
    test = tests['demo_arm']
    for column in (0.0, 3.0, np.nan, rng.normal(size=len(test.t))):
        effort = test.torque.copy()
        effort[:, 1] = column
        meaning = effort_meaning(test.chain, test.recording(effort))
        assert meaning.joints[1].certainty is Certainty.AMBIGUOUS


def test_a_stated_gain_is_checked(tests):
    test, n = tests['demo_arm'], 7
    for gain, certain in ((12.0, True), (4.0, False)):
        stated = EffortSemantics(np.ones(n), np.full(n, gain), np.zeros(n), ('joint',) * n, None,
                                 (False,) * n)
        meaning = effort_meaning(test.chain, test.recording(test.torque / 12.0), given=stated,
                                 stated=(True,) * n)
        assert meaning.certain is certain and meaning.refused is not certain


def test_one_strange_joint_among_torques_is_refused(tests):
    test, effort = tests['demo_arm'], tests['demo_arm'].torque.copy()
    effort[:, 3] /= 10.0
    assert effort_meaning(test.chain, test.recording(effort)).joints[3].certainty is (
        Certainty.AMBIGUOUS)


def test_too_little_motion_is_an_error(tests):
    test = tests['planar_2r']
    short = test.recording(test.torque)
    with pytest.raises(RobotDynamicsError):
        effort_meaning(test.chain, type(short)(short.t[:50], short.q[:50], short.qd[:50],
                                               short.tau[:50], short.joint_names))


MEANINGS = {
    'torque': lambda e, w, n: e,
    'reversed': lambda e, w, n: -e,
    'one reversed': lambda e, w, n: e * np.where(np.arange(n) == n // 2, -1.0, 1.0),
    'current': lambda e, w, n: e / np.linspace(3.0, 15.0, n),
    'milliamperes': lambda e, w, n: e * 80.0,
    'without gravity': lambda e, w, n: e - w,
    'without most of gravity': lambda e, w, n: e - 0.85 * w,
    'swapped': lambda e, w, n: e[:, ::-1],
}


@pytest.mark.parametrize('robot', ROBOTS)
@pytest.mark.parametrize('friction', [0.0, 0.05, 0.5])
def test_it_is_never_sure_of_a_wrong_meaning(robot, friction):
    for seed in range(3):
        test = simulated(robot, seed, error=0.2, friction=friction, noise=0.05)
        n = len(test.chain)
        for name, meant in MEANINGS.items():
            meaning = effort_meaning(test.chain,
                                     test.recording(meant(test.torque, test.weight, n)))
            if name != 'torque':
                assert not meaning.certain, f'{name}, seed {seed}: {meaning_lines(meaning)}'
            else:
                assert not any(joint.certainty is Certainty.PROPOSED
                               for joint in meaning.joints), meaning_lines(meaning)


def test_the_proposal_is_a_joints_file_that_states_everything(tests):
    test = tests['demo_arm']
    effort = 100.0 * test.torque / test.chain.effort_limits
    meaning = effort_meaning(test.chain, test.recording(effort))
    given = {'format': 1, 'preset': 'feetech_sts', 'coulomb_velocity': 0.02,
             'joints': {'joint_2': {'rotor_inertia': 0.4}}}
    text = proposed_joints_file(meaning, given)
    assert '# joint_2: percent of the effort limit (proposed)' in text
    file = joints_from_mapping(yaml.safe_load(text), 'proposal')
    assert file.preset is None and file.coulomb_velocity == 0.02
    assert file.joints['joint_2']['rotor_inertia'] == 0.4
    assert all(stated_efforts(file, test.chain.joint_names))
    assert not any(stated_efforts(JointsFile('none'), test.chain.joint_names))
    again = effort_meaning(test.chain, test.recording(effort),
                           given=file.effort_semantics(test.chain), stated=(True,) * 7)
    assert again.certain


@pytest.mark.skipif(not DATA.is_dir(), reason=f'no recordings in {DATA}; set ROBOT_DYNAMICS_DATA')
class TestRealRecordings:
    def test_ur10_reports_torques(self):
        chain = chain_from_urdf(DATA / 'ur10_unisa' / 'ur10.urdf')
        meaning = effort_meaning(chain, read_recording(
            DATA / 'ur10_unisa' / 'exciting_trajectory.db3', chain))
        assert meaning.certain and set(kinds(meaning)) == {'torque'}

    def test_the_hand_in_the_urdf_of_the_panda_is_found_out(self):
        chain = chain_from_urdf(DATA / 'panda_unisa' / 'panda.urdf')
        meaning = effort_meaning(chain, read_recording(
            DATA / 'panda_unisa' / 'exciting_trajectory.db3', chain, rename=[('fer_', 'panda_')]))
        assert meaning.refused and not meaning.swapped
        assert kinds(meaning)[1:4] == ['torque'] * 3
        assert -1.2 < meaning.payload < -0.5  # a Franka hand has 0.73 kg
        assert any('is in the URDF and not mounted' in text for text in meaning.checks)

    def test_tx40_reports_torques_where_its_coupled_wrist_does_not_hide_them(self):
        chain = chain_from_urdf(DATA / 'tx40' / 'tx40.urdf')
        meaning = effort_meaning(chain, read_recording(DATA / 'tx40' / 'tx40.npz', chain))
        assert kinds(meaning)[:4] == ['torque'] * 4
        assert meaning.refused and [joint.certainty for joint in meaning.joints].count(
            Certainty.AMBIGUOUS) == 1
