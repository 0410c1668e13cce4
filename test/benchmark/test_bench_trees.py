# SPDX-License-Identifier: Apache-2.0
"""Every URDF of example-robot-data, whole, against Pinocchio, as benchmark/bench_trees.py does."""

import numpy as np
import pytest

pytest.importorskip('pinocchio')

from bench_trees import Judge, error, rank_of_regressor, robots, whole_robot

from robot_dynamics_ros import minimal_parameters
from robot_dynamics_ros.dynamics.formulations.equations_of_motion import (
    forward_dynamics,
    mass_matrix,
)
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import inverse_dynamics
from robot_dynamics_ros.errors import RobotDynamicsError

#: Axes that are rounded in the file are made parallel, which changes the robot by that much.
ROUNDED_AXES = {'icub': 1e-4, 'icub_reduced': 1e-4, 'allegro_right_hand': 1e-8}
#: Links without mass behind a joint: no forward dynamics, Pinocchio's is not finite either.
SINGULAR = {'romeo', 'romeo_laas_small'}
#: Files that hold no robot, or one that cannot move.
REFUSED = {'iris_simple': 'no moving joint', 'quadrotor_base': 'no moving joint',
           'ur3': 'has no <link>'}
#: The regressor of a longer robot takes seconds.
LARGEST = 50


@pytest.mark.parametrize('path', robots(), ids=lambda path: path.stem)
def test_a_whole_robot_agrees_with_pinocchio(path):
    if path.stem in REFUSED:
        with pytest.raises(RobotDynamicsError, match=REFUSED[path.stem]):
            whole_robot(path)
        return
    chain, frozen = whole_robot(path)
    judge = Judge(path, chain, frozen)
    q, qd, qdd = np.random.default_rng(0).uniform(-1.0, 1.0, (3, len(chain)))
    tau, A = judge.torque(q, qd, qdd), judge.mass(q)
    bound = ROUNDED_AXES.get(path.stem, 1e-9)
    assert error(inverse_dynamics(chain, q, qd, qdd), tau) < bound
    assert error(mass_matrix(chain, q), A) < bound
    if path.stem not in SINGULAR:
        # as the torque that the error amounts to
        found = A @ forward_dynamics(chain, q, qd, tau)
        assert error(found, A @ qdd) < (10.0 * bound if path.stem in ROUNDED_AXES else bound)
    if len(chain) <= LARGEST:
        assert len(minimal_parameters(chain)) == rank_of_regressor(chain)


def test_all_files_are_there():
    assert len(robots()) == 70, 'ours and 69 of example-robot-data'
