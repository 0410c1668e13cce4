# SPDX-License-Identifier: Apache-2.0
"""Gains of the drives from a recording with a known payload."""

from dataclasses import replace

import numpy as np
import pytest
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import EffortSemantics, chain_from_urdf
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.errors import IdentificationError, ParameterError
from robot_dynamics_ros.estimation.payload.drive_gains import identify_drive_gains
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

GAINS = np.array([12.0, 11.0, 9.0, 4.0])
LOAD = Inertia.from_centre_of_mass(4.0, [0.05, 0.02, 0.1], 0.01 * np.eye(3))


@pytest.fixture
def recordings(rng):
    truth = chain_from_urdf(URDF_FOLDER / 'puma_4dof.urdf')
    truth = truth.with_joint_physics(random_physics(rng, 4))

    def recorded(chain):
        data = excitation(rng, chain, duration=15.0)
        effort = data.tau / GAINS
        effort += 0.01 * np.std(effort, axis=0) * rng.normal(size=effort.shape)
        return Recording(data.t, data.q, data.qd, effort, chain.joint_names)

    return truth, [recorded(truth)], [recorded(truth.with_payload(LOAD))]


def test_a_known_load_shows_the_gains_of_drives_that_report_currents(recordings):
    truth, unloaded, loaded = recordings
    wrong = with_parameter_error(truth, 0.2, seed=3)
    start = replace(EffortSemantics.torque(4), gain=np.full(4, 5.0))
    found = identify_drive_gains(wrong, unloaded, loaded, LOAD, effort=start)
    known = np.isfinite(found.gain)
    assert known[1] and known[2]  # the joints that carry the load
    np.testing.assert_allclose(found.gain[known], GAINS[known], rtol=0.05)
    score = (found.gain[known] - GAINS[known]) / found.standard_deviations[known]
    assert np.max(np.abs(score)) < 5.0


def test_without_a_load_the_scale_stays_open(recordings):
    truth, unloaded, loaded = recordings
    with pytest.raises(ParameterError, match='with and without a payload of known mass'):
        identify_drive_gains(truth, unloaded, loaded, Inertia.zero())
    with pytest.raises(ParameterError, match='with and without a payload of known mass'):
        identify_drive_gains(truth, unloaded, [], LOAD)


def test_a_payload_that_was_not_carried_shows_no_gain(recordings):
    truth, unloaded, _ = recordings
    with pytest.raises(IdentificationError, match='the efforts do not show the payload'):
        identify_drive_gains(truth, unloaded, unloaded, LOAD)


def test_efforts_of_coupled_motors_are_refused(recordings):
    truth, unloaded, loaded = recordings
    meaning = replace(EffortSemantics.torque(4), coupling=np.eye(4), side=('motor',) * 4)
    with pytest.raises(ParameterError, match='coupled motors are not supported'):
        identify_drive_gains(truth, unloaded, loaded, LOAD, effort=meaning)
