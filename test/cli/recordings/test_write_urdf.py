# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics identify --write-urdf, as a user calls it."""

import numpy as np
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, compile_model
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.estimation.recordings.files import write_recording
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

ARM = URDF_FOLDER / 'rx90.urdf'


def test_identified_urdf_has_the_torque_of_the_robot(tmp_path, rng, capsys):
    chain = chain_from_urdf(ARM)
    physics = random_physics(rng, len(chain), coulomb_velocity=0.01)
    truth = with_parameter_error(chain, 0.2, seed=4).with_joint_physics(physics)
    data = excitation(rng, truth, duration=8.0)
    tau = data.tau * (1.0 + 0.01 * rng.normal(size=data.tau.shape))
    write_recording(tmp_path / 'run.npz', Recording(data.t, data.q, data.qd, tau,
                                                    chain.joint_names))
    assert main(['identify', str(tmp_path / 'run.npz'), '--urdf', str(ARM), '-o', str(tmp_path),
                 '--write-urdf']) == 0
    printed = capsys.readouterr().out
    assert 'identified.urdf: ' in printed and 'torque error on the recording ' in printed
    assert '(URDF: 94.5 kg)' in printed
    identified = chain_from_urdf(tmp_path / 'identified.urdf')
    # a rotor inertia inside a minimal parameter is part of the link in a URDF
    states = rng.uniform(-1.0, 1.0, (3, 50, len(chain)))
    weight = [compile_model(robot).gravity_torque(states[0])
              for robot in (truth, identified, chain)]
    error, before = (np.sqrt(np.mean((each - weight[0])**2)) for each in weight[1:])
    assert error < 0.1 * before
    np.testing.assert_allclose(identified.joint_physics.viscous, physics.viscous, rtol=0.1)


def test_a_place_that_cannot_be_written_is_named(tmp_path, rng, capsys):
    chain = chain_from_urdf(ARM)
    data = excitation(rng, chain, duration=6.0)
    write_recording(tmp_path / 'run.npz', Recording(data.t, data.q, data.qd, data.tau,
                                                    chain.joint_names))
    (tmp_path / 'identified.urdf').mkdir()
    assert main(['identify', str(tmp_path / 'run.npz'), '--urdf', str(ARM), '-o', str(tmp_path),
                 '--write-urdf']) == 2
    assert 'identified.urdf: cannot be written' in capsys.readouterr().err


def test_a_stated_mass_and_a_recording_that_contradicts_it(tmp_path, rng, capsys):
    chain = chain_from_urdf(ARM)
    data = excitation(rng, chain, duration=6.0)
    write_recording(tmp_path / 'run.npz', Recording(data.t, data.q, data.qd, data.tau,
                                                    chain.joint_names))
    main(['identify', str(tmp_path / 'run.npz'), '--urdf', str(ARM), '-o', str(tmp_path),
          '--write-urdf', '--mass', '10', '--mass-tolerance', '0.1'])
    printed = capsys.readouterr().out
    assert 'possible bodies do not explain the data: the torque error grows by' in printed
    identified = chain_from_urdf(tmp_path / 'identified.urdf')
    assert 9.0 <= sum(link.mass for link in identified.links) <= 11.0
