# SPDX-License-Identifier: Apache-2.0
"""What an effort may mean."""

from dataclasses import replace

import numpy as np
import pytest

from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.errors import ParameterError

PLAIN = EffortSemantics.torque(2)


def test_the_plain_meaning_is_a_torque_of_the_joint():
    np.testing.assert_array_equal(PLAIN.sign * PLAIN.gain * (np.array([3.0, -4.0]) - PLAIN.offset),
                                  [3.0, -4.0])
    assert PLAIN.side == ('joint', 'joint') and PLAIN.coupling is None
    assert PLAIN.gravity_removed == (False, False)


def test_values_are_copied_and_read_only():
    gain, coupling = np.ones(2), np.eye(2)
    meaning = replace(PLAIN, gain=gain, coupling=coupling, side=['motor', 'joint'])
    gain[0] = coupling[0, 0] = 9.0
    assert meaning.gain[0] == meaning.coupling[0, 0] == 1.0
    assert meaning.side == ('motor', 'joint')
    with pytest.raises(ValueError, match='read-only'):
        meaning.coupling[0, 0] = 2.0


@pytest.mark.parametrize(('changes', 'message'), [
    ({'gain': [1.0]}, r'one value per joint \(2\)'),
    ({'gain': 1.0}, r'one value per joint \(2\)'),
    ({'offset': np.zeros((2, 1))}, r'one value per joint \(2\)'),
    ({'sign': np.ones((2, 1))}, r'one value per joint \(2\)'),
    ({'side': ('joint',)}, r'one value per joint \(2\)'),
    ({'gravity_removed': (True,)}, r'one value per joint \(2\)'),
    ({'sign': [1.0, 0.5]}, 'sign must be 1 or -1'),
    ({'gain': [1.0, -2.0]}, 'gain must be positive and finite.*use sign'),
    ({'gain': [1.0, np.inf]}, 'gain must be positive and finite'),
    ({'offset': [0.0, np.nan]}, 'offset must be finite'),
    ({'gain_deviation': [0.1]}, r'one value per joint \(2\)'),
    ({'gain_deviation': [0.1, -0.1]}, 'gain_deviation must be finite and not negative'),
    ({'gain_deviation': [0.1, np.inf]}, 'gain_deviation must be finite and not negative'),
    ({'side': ('joint', 'gear')}, 'side must be one of joint, motor, link, got joint, gear'),
    ({'coupling': [[1.0, 0.0], [np.nan, 1.0]]}, '^coupling matrix has non-finite entries$'),
    ({'coupling': [[1.0, 0.0], [-np.inf, 1.0]]}, '^coupling matrix has non-finite entries$'),
    ({'coupling': [[1.0, 2.0], [2.0, 4.0]]}, 'singular: the motors of joints number 1, number 2'),
    ({'coupling': np.zeros((2, 2))}, '^coupling matrix is singular'),
    ({'coupling': np.eye(3)}, r'coupling has shape \(3, 3\), expected \(2, 2\)'),
])
def test_meanings_that_cannot_be_are_refused(changes, message):
    with pytest.raises(ParameterError, match=message):
        replace(PLAIN, **changes)


def test_a_gain_of_unknown_deviation_gets_that_of_torques_or_of_currents():
    assert np.isnan(PLAIN.gain_deviation).all()
    assert PLAIN.assumed_gain_deviation.tolist() == [0.05, 0.05]
    meaning = replace(PLAIN, gain=[11.9, 1.0])
    assert meaning.assumed_gain_deviation.tolist() == [0.1, 0.05]
    meaning = replace(meaning, gain_deviation=[0.03, np.nan])
    assert meaning.assumed_gain_deviation.tolist() == [0.03, 0.05]
    assert replace(PLAIN, gain_deviation=np.zeros(2)).assumed_gain_deviation.tolist() == [0, 0]


def test_it_refuses_to_be_changed():
    with pytest.raises(AttributeError, match=r'EffortSemantics\.gain cannot be changed'):
        PLAIN.gain = np.ones(2)
