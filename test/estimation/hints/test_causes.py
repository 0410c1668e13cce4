# SPDX-License-Identifier: Apache-2.0
"""A recording that does not fit: the cause is named, and its remedy, pasted, helps."""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import JointPhysics, chain_from_urdf, identify
from robot_dynamics_ros.chain.joints_file import joints_from_mapping
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

#: Findings that name a cause.
CAUSES = {'gravity_direction', 'effort_sign', 'effort_unit', 'effort_scale', 'effort_delay',
          'link_side_sensor', 'coupling'}

#: Motor 6 of a wrist also carries joint 5.
WRIST = np.eye(6)
WRIST[5, 4] = -1.0


def recorded(change=lambda data: data.tau, robot=lambda chain: chain, *, seed=11, noise=0.02):
    """Return a robot whose URDF is off by 10 %, and a changed recording of the true one."""
    rng = np.random.default_rng(seed)
    known = chain_from_urdf(URDF_FOLDER / 'rx90.urdf')
    known = known.with_joint_physics(random_physics(rng, len(known)))
    data = excitation(rng, robot(with_parameter_error(known, 0.1, rng)), duration=16.0, step=0.01)
    tau = change(data)
    tau = tau + noise * np.sqrt(np.mean(tau ** 2, axis=0)) * rng.normal(size=tau.shape)
    return known, Recording(data.t, data.q, data.qd, tau, known.joint_names)


def causes(result):
    return [finding for finding in result.findings if finding.kind in CAUSES]


def followed(chain, recording, findings, **options):
    """Return the identification with all remedies pasted into joints.yaml."""
    content = {'format': 1, 'joints': {}}
    for finding in findings:
        said = yaml.safe_load(finding.remedy)
        content['joints'] |= said.pop('joints', {})
        content |= said
    file = joints_from_mapping(content, 'joints.yaml')
    return identify(file.applied_to(chain), recording, effort=file.effort_semantics(chain),
                    **options)


def late(seconds):
    return lambda data: np.column_stack([np.interp(data.t - seconds, data.t, each)
                                         for each in data.tau.T])


def times(*factors):
    return lambda data: data.tau * np.array(factors)


def coupled(chain):
    return chain.with_joint_physics(replace(chain.joint_physics, coupling=WRIST))


def without_joint_terms(chain):
    return chain.with_joint_physics(JointPhysics.zero(len(chain)))


@pytest.mark.parametrize('noise', [0.0, 0.02, 0.2])
def test_nothing_is_said_about_good_recordings(noise):
    chain, recording = recorded(noise=noise)
    result = identify(chain, recording)
    assert result.verdict.passed and causes(result) == []


CASES = {
    'scale': (dict(change=times(1, 1, 1.5, 1, 1, 1)), 'effort_scale', 'joint_3', 1.5),
    'large scale': (dict(change=times(1, 0.3, 1, 1, 1, 1), seed=8), 'effort_scale', 'joint_2',
                    0.3),
    'sign': (dict(change=times(1, 1, 1, -1, 1, 1)), 'effort_sign', 'joint_4', -1.0),
    'delay': (dict(change=late(0.015)), 'effort_delay', '', 0.015),
    'early': (dict(change=late(-0.02), seed=7, noise=0.0), 'effort_delay', '', -0.02),
    'wrist': (dict(robot=coupled), 'coupling', 'joint_6', None),
    'wrist, torques of motors': (dict(robot=coupled, change=lambda data: data.tau @ WRIST),
                                 'coupling', 'joint_6', None),
    'link side': (dict(robot=without_joint_terms, change=lambda data: data.tau - np.array(
        [0, 0, 0, 0.6, 0, 0]) * data.qdd), 'link_side_sensor', 'joint_4', 1.0),
}


@pytest.mark.parametrize('case', CASES)
def test_the_cause_is_named_and_its_remedy_helps(case):
    changes, kind, where, value = CASES[case]
    chain, recording = recorded(**changes)
    options = {} if kind == 'effort_delay' else {'friction': 'coulomb'}  # what a delay looks like
    wrong = identify(chain, recording, **options)
    (finding,) = causes(wrong)
    assert (finding.kind, finding.where) == (kind, where)
    if value is not None:
        assert finding.value == pytest.approx(value, rel=0.06)
    if kind == 'coupling':
        np.testing.assert_array_equal(yaml.safe_load(finding.remedy)['coupling'], WRIST)
    right = followed(chain, recording, [finding], **options)
    assert right.verdict.passed and causes(right) == []
    before, after = wrong.verdict.held_out_by_joint, right.verdict.held_out_by_joint
    assert np.nanmax(after) < 0.5 * np.nanmax(before) and np.nanmax(after) < 0.02


def test_currents_are_named_with_gains_as_right_as_the_urdf():
    gains = np.array([11.0, 12.0, 9.0, 8.0, 7.0, 10.0])
    chain, recording = recorded(change=times(*1.0 / gains))
    wrong = identify(chain, recording, friction='coulomb')
    assert not wrong.verdict.passed
    findings = causes(wrong)
    assert {each.kind for each in findings} == {'effort_unit'} and len(findings) >= 4
    for each in findings:
        (entry,) = yaml.safe_load(each.remedy)['joints'].values()
        gain = gains[chain.joint_names.index(each.where)]
        assert entry['effort']['gain'] == pytest.approx(gain, rel=0.15)
    right = followed(chain, recording, findings, friction='coulomb')
    assert right.verdict.passed
    assert right.verdict.held_out_error < 0.3 * wrong.verdict.held_out_error


def test_per_cent_of_the_limits_are_named_and_the_gains_are_exact():
    limits = np.array([300.0, 250.0, 40.0, 20.0, 15.0, 15.0])
    chain, recording = recorded(change=times(*100.0 / limits))
    chain = replace(chain, joints=tuple(replace(joint, effort_limit=limit)
                                        for joint, limit in zip(chain.joints, limits)))
    findings = causes(identify(chain, recording, friction='coulomb'))
    assert [each.where for each in findings] == list(chain.joint_names)
    assert all('percent of the effort limit' in each.message for each in findings)
    right = followed(chain, recording, findings, friction='coulomb')
    np.testing.assert_allclose(right.effort.gain, limits / 100.0)
    assert right.verdict.passed and right.verdict.held_out_error < 0.01
