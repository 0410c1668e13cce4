# SPDX-License-Identifier: Apache-2.0
"""
Bodies identified from recordings of real robots: inside their links, at little cost of torque.

The recordings are not part of the package: the folder is named by ROBOT_DYNAMICS_DATA.
"""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robot_dynamics_ros import JointPhysics, chain_from_urdf, identified_urdf, identify
from robot_dynamics_ros.estimation.consistency.body_space import pseudo_inertia
from robot_dynamics_ros.estimation.recordings.files import read_recording

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get('ROBOT_DYNAMICS_DATA', ROOT.parent / 'shared' / 'data'))

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f'no recordings in {DATA}; set ROBOT_DYNAMICS_DATA')

COUPLED_WRIST = np.eye(6)
COUPLED_WRIST[5, 4] = -1.0


@pytest.mark.parametrize('urdf, recording, coupling, cost', [
    ('ur10_unisa/ur10.urdf', 'exciting_trajectory.db3', None, 0.001),
    ('panda_unisa/panda.urdf', 'exciting_trajectory.db3', None, 0.003),
    ('tx40/tx40.urdf', 'tx40.npz', COUPLED_WRIST, 0.002),
], ids=['ur10', 'panda', 'tx40'])
def test_bodies_are_inside_their_links(urdf, recording, coupling, cost):
    path = DATA / urdf
    chain = chain_from_urdf(path)
    chain = chain.with_joint_physics(replace(JointPhysics.zero(len(chain)), coupling=coupling,
                                             coulomb_velocity=0.03))
    result = identify(chain, read_recording(path.parent / recording, chain,
                                            rename=[('fer_', 'panda_')]))
    written = identified_urdf(path, chain, result.estimate, recorded=result.recorded)
    again = chain_from_urdf(written.text.decode())
    for name, link, hull in zip(again.link_names, again.links, written.inertias.hulls):
        assert np.linalg.eigvalsh(pseudo_inertia(link))[0] > 0.0, name
        assert hull.distance_outside(link.centre_of_mass) == 0.0, name
        assert hull.holds(link), name
    mass = sum(link.mass for link in again.links) / sum(link.mass for link in chain.links)
    assert 0.7 <= mass <= 1.3
    identified, consistent = written.inertias.recorded_errors
    assert consistent < identified + cost
    assert 'costly_bounds' not in {each.kind for each in written.findings}
