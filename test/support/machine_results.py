# SPDX-License-Identifier: Apache-2.0
"""
What the package calculates from given input, for comparison with another machine.

``python -m support.machine_results <input.npz> <output.npz>``
"""

import sys

import numpy as np

from robot_dynamics_ros import (
    OnlineEstimator,
    chain_from_urdf,
    compile_model,
    identify,
    minimal_parameters,
)
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

from .robots import URDF_FOLDER

#: Robot that is calculated, and the one that is identified.
ROBOT, LEARNED = 'demo_arm', 'puma_4dof'


def learned_chain():
    """Return the description that identification starts from."""
    return with_parameter_error(chain_from_urdf(URDF_FOLDER / f'{LEARNED}.urdf'), 0.3, seed=2)


def calculated(states):
    """Yield name and value of what a model calculates."""
    q, qd, qdd = states
    chain = chain_from_urdf(URDF_FOLDER / f'{ROBOT}.urdf')
    model = compile_model(chain)
    yield 'minimal parameters', minimal_parameters(chain).values
    yield 'numeric set', minimal_parameters(chain, 'numeric').values
    yield 'torque', model.torque(q, qd, qdd)
    yield 'gravity', model.gravity_torque(q)
    yield 'mass matrix', model.mass_matrix(q)
    yield 'regressor', model.regressor(q, qd, qdd)
    yield 'forward dynamics', model.forward_dynamics(q, qd, model.torque(q, qd, qdd))


def identified(t, q, qd, tau):
    """Yield name and value of what a recording tells, at once and sample by sample."""
    chain = learned_chain()
    model = compile_model(chain)
    result = identify(chain, t, q, qd, tau)
    yield 'identified parameters', result.mlc.values
    yield 'stated deviations', result.estimate.standard_deviations
    model.swap(result.mlc.values, result.joint_physics)
    yield 'identified torque', model.torque(q, qd, 0.0 * q)
    estimator = OnlineEstimator(chain)
    for sample in zip(t, q, qd, tau):
        estimator.feed(*sample)
    learned = estimator.estimate()
    yield 'online parameters', learned.mlc.values
    model.swap(learned.mlc.values, learned.joint_physics)
    yield 'online torque', model.torque(q, qd, 0.0 * q)


def main():
    """Calculate and write."""
    given = np.load(sys.argv[1])
    results = {**dict(calculated(given['states'])),
               **dict(identified(*(given[name] for name in ('t', 'q', 'qd', 'tau'))))}
    np.savez(sys.argv[2], **results)


if __name__ == '__main__':
    main()
