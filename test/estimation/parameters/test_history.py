# SPDX-License-Identifier: Apache-2.0
"""What was learned over time comes back from its file."""

from dataclasses import replace

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, minimal_parameters
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState, MlcEstimate
from robot_dynamics_ros.errors import RecordingError
from robot_dynamics_ros.estimation.parameters.history import load_history, save_history


def test_estimates_come_back(tmp_path):
    chain = chain_from_urdf(URDF_FOLDER / 'planar_2r.urdf')
    first = MlcEstimate.not_estimated(chain, minimal_parameters(chain))
    later = replace(first, state=EstimateState.CONVERGED, samples=7,
                    residual_rms=np.array([1.0, 2.0]),
                    mlc=first.mlc.with_values(2.0 * first.mlc.values))
    save_history(tmp_path / 'history.npz', [(1.0, first), (2.5, later)])
    history = load_history(tmp_path / 'history.npz')
    assert history.times.tolist() == [1.0, 2.5]
    assert history.names == first.mlc.names
    np.testing.assert_array_equal(history.values, [first.mlc.values, later.mlc.values])
    assert np.isnan(history.standard_deviations).all()
    assert history.residuals[1].tolist() == [1.0, 2.0]
    assert history.samples.tolist() == [0, 7]
    assert history.states == (EstimateState.FROM_URDF, EstimateState.CONVERGED)


def test_what_is_no_history_is_refused(tmp_path):
    (tmp_path / 'text.npz').write_text('text')
    np.savez(tmp_path / 'other.npz', times=np.zeros(1))
    for name in ('text.npz', 'other.npz', 'nowhere.npz'):
        with pytest.raises(RecordingError, match=r'is not a history of estimates|No such file'):
            load_history(tmp_path / name)
