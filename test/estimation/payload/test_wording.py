# SPDX-License-Identifier: Apache-2.0
"""A payload in the words of joints.yaml, our nodes and the controllers of robots."""

import re

import numpy as np
import pytest
import yaml

from robot_dynamics_ros.estimation.payload.estimate import PayloadEstimate
from robot_dynamics_ros.estimation.payload.wording import (
    controller_lines,
    joints_entry,
    payload_lines,
    service_call,
)

CENTRE = np.array([0.01, -0.02, 0.03])
TENSOR = np.array([[0.04, 0.001, 0.002], [0.001, 0.05, 0.003], [0.002, 0.003, 0.06]])


def estimate(**known):
    return PayloadEstimate(
        tip='tool', mass=2.5, mass_standard_deviation=0.1, centre=CENTRE,
        centre_standard_deviations=np.array([0.001, 0.002, 0.004]), tensor=TENSOR,
        tensor_standard_deviations=np.full((3, 3), 0.005),
        **{'mass_known': True, 'centre_known': (True, True, True), 'tensor_known': True,
           'reasons': (), 'assumptions': ('the arm is known',), **known})


def numbers(text):
    return [float(word) for word in re.findall(r'-?\d+\.?\d*(?:e-?\d+)?', text)]


def test_everything_that_is_known_is_said_with_its_confidence():
    lines = payload_lines(estimate())
    assert lines[:4] == ['mass 2.5 +- 0.1 kg', 'centre x 0.0100 +- 0.001 m',
                         'centre y -0.0200 +- 0.002 m', 'centre z 0.0300 +- 0.004 m']
    assert lines[4] == 'inertia xx 0.04 +- 0.005 kg m^2' and lines[9].startswith('inertia zz 0.06')
    assert 'assumed: the arm is known' in lines
    assert not any('not determined' in line for line in lines)
    assert lines[-5:] == controller_lines(estimate())


def test_what_is_not_known_is_not_claimed_and_no_controller_is_told():
    lines = payload_lines(estimate(centre_known=(True, False, True), tensor_known=False,
                                   reasons=('the wrist did not move',)))
    assert [line for line in lines if line.endswith('(not determined)')] == [
        lines[2], *lines[4:10]]
    assert 'not identifiable: the wrist did not move' in lines
    assert not any('URScript' in line or 'service call' in line for line in lines)


def test_every_controller_gets_its_own_order_of_the_moments():
    ur, franka, others = controller_lines(estimate())[2:]
    six = [0.04, 0.05, 0.06, 0.001, 0.002, 0.003]
    assert numbers(ur.partition('(')[2].partition('(')[2]) == [2.5, *CENTRE, *six]
    assert numbers(franka.partition('setLoad')[2]) == [2.5, *CENTRE, *TENSOR.T.ravel()]
    assert numbers(others.partition('= ')[2].partition(' kg')[0]) == six


@pytest.mark.parametrize('known', [True, False])
def test_joints_yaml_and_the_service_call_have_the_same_body(known):
    load = estimate(tensor_known=known)
    entry = joints_entry(load)
    expected = TENSOR if known else np.zeros((3, 3))
    order = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    assert entry['mass'] == 2.5
    np.testing.assert_allclose(entry['centre_of_mass'], CENTRE)
    np.testing.assert_allclose(entry['inertia'], [expected[place] for place in order], atol=1e-12)
    message = yaml.safe_load(service_call(load).partition('"')[2].rstrip('"'))['payload']
    assert message['header'] == {'frame_id': 'tool'} and message['inertia']['m'] == 2.5
    np.testing.assert_allclose(list(message['inertia']['com'].values()), CENTRE)
    np.testing.assert_allclose([message['inertia'][f'i{axes}'] for axes in
                                ('xx', 'xy', 'xz', 'yy', 'yz', 'zz')],
                               [expected[place] for place in order], atol=1e-12)
