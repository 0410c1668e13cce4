# SPDX-License-Identifier: Apache-2.0
"""Newton-Euler with the fewest operations equals the plain one."""

import numpy as np
import pytest
from support.chains import random_chain, random_states
from support.oracle import Oracle
from support.tolerances import OTHER_FORMULATION, OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros.dynamics.recursions.customized import (
    ELIMINATIONS,
    customized_motion,
    customized_newton_euler,
    regrouped,
)
from robot_dynamics_ros.dynamics.recursions.motion import link_motion
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector
from robot_dynamics_ros.dynamics.scalars.pair import wrench_at_last_joint
from robot_dynamics_ros.dynamics.scalars.samples import Samples


def random_case(seed, n=7, count=4, **options):
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, n, **options)
    q, qd, qdd = random_states(rng, n, count)
    return chain, Samples.of(chain, q=q, qd=qd, qdd=qdd, wrench=rng.normal(size=(count, 6))), rng


def torque(chain, state, parameters, **options):
    wrench = wrench_at_last_joint(chain, state['wrench'])
    return state.vector(customized_newton_euler(
        state.frames, parameters, state['qd'], state['qdd'], gravity_vector(chain), wrench,
        **options))


@pytest.mark.parametrize('seed', range(30))
def test_torque_of_any_chain_is_pinocchios(seed):
    chain, state, _ = random_case(seed)
    tau = torque(chain, state, [link.standard_parameters for link in chain.links])
    oracle = Oracle(chain)
    columns = (np.array(state[name]).T for name in ('q', 'qd', 'qdd', 'wrench'))
    expected = [oracle.inverse_dynamics(*sample) for sample in zip(*columns)]
    assert_close(tau, expected, OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('seed', range(10))
def test_the_choice_of_the_column_does_not_change_the_motion(seed):
    chain, state, rng = random_case(seed)
    plain = link_motion(state.frames, state['qd'], state['qdd'], gravity_vector(chain))
    for choice in (None, [True] * 7, [False] * 7, list(rng.random(7) < 0.5)):
        motion = customized_motion(state.frames, state['qd'], state['qdd'],
                                   gravity_vector(chain), choice)
        for ours, theirs in zip(motion[1:], plain[1:]):
            for name in ('omega', 'omega_dot', 'acceleration', 'U', 'products'):
                a, b = _rows(getattr(ours, name)), _rows(getattr(theirs, name))
                assert_close(a, b, OTHER_FORMULATION, name)


def _rows(value):
    """Return nested tuples of scalars and rows as one array."""
    flat = [row for part in value for row in (part if isinstance(part, tuple) else (part,))]
    return np.array(np.broadcast_arrays(*flat, np.zeros(4)))


@pytest.mark.parametrize('choice', ELIMINATIONS)
@pytest.mark.parametrize('seed', range(5))
def test_regrouped_parameters_have_the_same_torque(seed, choice):
    chain, state, _ = random_case(seed)
    parameters = [link.standard_parameters for link in chain.links]
    other = regrouped(state.frames, parameters, [choice] * len(chain))
    assert_close(torque(chain, state, other), torque(chain, state, parameters),
                 OTHER_FORMULATION)


@pytest.mark.parametrize(('choice', 'vanishes'), [
    ('YY = ZZ', lambda XX, YY, ZZ: YY - ZZ), ('XX = ZZ', lambda XX, YY, ZZ: XX - ZZ),
    ('XX = 0', lambda XX, YY, ZZ: XX)])
def test_regrouping_does_what_its_name_says(choice, vanishes):
    chain, state, _ = random_case(1, types='RRRRRRR')
    parameters = [link.standard_parameters for link in chain.links]
    for own in regrouped(state.frames, parameters, [choice] * len(chain))[1:]:
        assert abs(vanishes(own[0], own[3], own[5])) < 1e-14
