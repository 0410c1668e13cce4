# SPDX-License-Identifier: Apache-2.0
"""Parameters from two parts of a recording agree within the standard deviations they state."""

import numpy as np
import pytest
from estimation.identification.test_real_recordings import (  # noqa: F401
    DATA,
    panda,
    tx40,
    ur10,
)
from studies.coverage import SPLITS, differences, part, simulated, within_two

#: Too small and too large are both wrong. 95 % would be perfect.
LOWEST, HIGHEST = 0.90, 0.985

#: The TX40 stands still in the last 15 % of its recording.
MOVES = {'ur10': 1.0, 'panda': 1.0, 'tx40': 0.85}


@pytest.mark.skipif(not DATA.is_dir(), reason=f'no recordings in {DATA}')
@pytest.mark.parametrize('robot', MOVES)
def test_parts_of_a_real_recording_agree(robot, request):
    chain, recording = request.getfixturevalue(robot)
    found = differences(chain, part(recording, 0.0, MOVES[robot]))
    assert set(found) == set(SPLITS)
    assert LOWEST <= within_two(np.concatenate(list(found.values()))) <= HIGHEST


@pytest.mark.parametrize('noise, duration', [
    ('coloured', 30.0), ('friction', 15.0), ('friction', 40.0), ('heavy tails', 40.0)])
def test_parts_of_a_simulated_recording_agree(noise, duration):
    scores = [each for robot in ('puma_4dof', 'rx90') for seed in (1, 2)
              for each in differences(*simulated(robot, noise, duration, seed)[1:],
                                      splits=('halves', 'thirds 1 and 3')).values()]
    assert LOWEST <= within_two(np.concatenate(scores)) <= HIGHEST
