# SPDX-License-Identifier: Apache-2.0
"""
Held-out torque errors on recordings of real robots, with the split and filter of their baseline.

The recordings are not part of the package: the folder is named by ROBOT_DYNAMICS_DATA.
"""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

from robot_dynamics_ros import JointPhysics, chain_from_urdf, identify
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.estimation.recordings.files import read_recording

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get('ROBOT_DYNAMICS_DATA', ROOT.parent / 'shared' / 'data'))

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f'no recordings in {DATA}; set ROBOT_DYNAMICS_DATA')

#: Viscous and Coulomb friction that came with the TX40 data, joints 1 to 4.
TX40_VISCOUS, TX40_COULOMB = [8.05, 5.53, 1.97, 1.11], [7.14, 8.26, 6.34, 2.48]


def chain_of(folder, urdf, coulomb_velocity, coupling=None):
    chain = chain_from_urdf(DATA / folder / urdf)
    physics = replace(JointPhysics.zero(len(chain)), coulomb_velocity=coulomb_velocity,
                      coupling=coupling)
    return chain.with_joint_physics(physics)


@pytest.fixture(scope='module')
def ur10():
    chain = chain_of('ur10_unisa', 'ur10.urdf', 0.03)
    return chain, read_recording(DATA / 'ur10_unisa' / 'exciting_trajectory.db3', chain)


@pytest.fixture(scope='module')
def panda():
    chain = chain_of('panda_unisa', 'panda.urdf', 0.01)
    return chain, read_recording(DATA / 'panda_unisa' / 'exciting_trajectory.db3', chain,
                                 rename=[('fer_', 'panda_')])


@pytest.fixture(scope='module')
def tx40():
    coupling = np.eye(6)
    coupling[5, 4] = -1.0  # motor 6 also carries joint 5: q6 = q_motor6 - q_motor5
    chain = chain_of('tx40', 'tx40.urdf', 0.05, coupling)
    return chain, read_recording(DATA / 'tx40' / 'tx40.npz', chain)


def test_ur10(ur10):
    chain, recording = ur10
    result = identify(chain, recording, cutoff=10.0, parallel_cutoff=np.inf)
    assert result.verdict.passed
    assert result.verdict.held_out_error < 0.055  # baseline 0.061
    assert 0.40 < result.verdict.urdf_error < 0.50  # baseline 0.45


def test_panda(panda):
    chain, recording = panda
    result = identify(chain, recording, cutoff=3.0, parallel_cutoff=np.inf, last_part=0.3)
    assert result.verdict.passed
    assert result.verdict.held_out_error < 0.018  # baseline 0.020


def test_tx40_with_its_coupled_wrist(tx40):
    chain, recording = tx40
    result = identify(chain, recording, cutoff=30.0, parallel_cutoff=10.0)
    assert result.verdict.passed
    assert result.verdict.held_out_error < 0.050  # baseline 0.0553
    assert result.cut_out.standstill > 6000  # it stands still at the end
    plain = identify(chain, recording, cutoff=30.0, parallel_cutoff=10.0, friction='coulomb')
    np.testing.assert_allclose(plain.joint_physics.viscous[:4], TX40_VISCOUS, rtol=0.3)
    np.testing.assert_allclose(plain.joint_physics.coulomb[:4], TX40_COULOMB, rtol=0.3)
    uncoupled = identify(chain.with_joint_physics(replace(chain.joint_physics, coupling=None)),
                         recording, cutoff=30.0, parallel_cutoff=10.0)
    assert uncoupled.verdict.held_out_by_joint[4] > 1.5 * result.verdict.held_out_by_joint[4]
    assert 'coupling' not in [finding.kind for finding in result.findings]
    (finding,) = (each for each in uncoupled.findings if each.kind == 'coupling')
    np.testing.assert_array_equal(yaml.safe_load(finding.remedy)['coupling'],
                                  chain.joint_physics.coupling)


@pytest.mark.parametrize('robot, error', [('ur10', 0.055), ('panda', 0.020), ('tx40', 0.055)])
def test_automatic_filters_do_as_well_and_nothing_is_blamed(robot, error, request):
    chain, recording = request.getfixturevalue(robot)
    result = identify(chain, recording)
    assert result.verdict.passed and result.verdict.held_out_error < error
    hints = [finding.kind for finding in result.findings if finding.remedy]
    # a Franka arm has torque sensors behind its gears
    assert hints == (['link_side_sensor'] if robot == 'panda' else [])


def test_the_causal_estimator_predicts_the_ur10_one_sample_ahead(ur10):
    chain, recording = ur10
    estimator = OnlineEstimator(chain, cutoff=10.0)
    errors, torques = [], []
    for k in range(len(recording)):
        error = estimator.feed(recording.t[k], recording.q[k], recording.qd[k], recording.tau[k])
        if error is not None and k > len(recording) // 2:
            errors.append(error)
            torques.append(recording.tau[k - round(estimator.lag / 0.008)])
    relative = np.sqrt(np.sum(np.square(errors)) / np.sum(np.square(torques)))
    assert relative < 0.052  # baseline of a causal recursion: 0.052
    assert len(errors) > 400


def test_a_bare_bag_on_the_command_line(tmp_path, capsys):
    folder = DATA / 'ur10_unisa'
    assert main(['identify', str(folder / 'exciting_trajectory.db3'), '--urdf',
                 str(folder / 'ur10.urdf'), '-o', str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith('PASSED')
    assert (tmp_path / 'report.html').exists() and (tmp_path / 'parameters.yaml').exists()
