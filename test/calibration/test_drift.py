# SPDX-License-Identifier: Apache-2.0
"""Changes between two calibrations, and what they point to."""

import numpy as np
import pytest

from robot_dynamics_ros.calibration.drift import ParameterChange, explanations


@pytest.mark.parametrize(('before', 'after', 'deviation', 'verdict'), [
    (1.0, 1.5, 0.01, 'changed'), (1.0, 1.5, 0.2, 'same'), (1.0, 1.001, 1e-6, 'same'),
    (1.0, 2.0, np.nan, 'not known'), (1.0, 2.0, 0.0, 'not known')])
def test_a_change_is_sure_and_large(before, after, deviation, verdict):
    assert ParameterChange('Fv1', before, after, deviation).verdict == verdict


def test_changes_point_to_their_causes():
    same = ParameterChange('m1', 1.0, 1.0, 0.1)
    assert 'no change' in explanations([same], 2)[0]
    friction = ParameterChange('viscous_friction elbow', 1.0, 2.0, 0.01, 'elbow')
    [line] = explanations([same, friction], 2)
    assert line.startswith('elbow: viscous friction +100 %') and 'grease' in line
    loose = ParameterChange('coulomb_friction elbow', 2.0, 1.0, 0.01, 'elbow')
    assert 'loose' in explanations([loose], 2)[0]
    belt = ParameterChange('rotor_inertia elbow', 2.0, 1.0, 0.01, 'elbow')
    assert 'belt' in explanations([belt], 2)[0]
    zero = ParameterChange('torque_offset elbow', 0.0, 1.0, 0.01, 'elbow')
    assert 'appeared' in explanations([zero], 2)[0]
    tool = ParameterChange('k2_x', 1.0, 2.0, 0.01)
    assert 'payload:=true' in explanations([tool], 2)[0]
    inner = ParameterChange('U1_33', 1.0, 2.0, 0.01)
    assert 'link 1' in explanations([inner], 2)[0]
