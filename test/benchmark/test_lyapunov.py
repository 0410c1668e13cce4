# SPDX-License-Identifier: Apache-2.0
"""The proofs at work: the Lyapunov function of simulated closed loops, on 20 random robots."""

import numpy as np
import pytest
from studies.continuous_loop import ContinuousLoop
from studies.lyapunov import (
    coriolis_matrix,
    damping_margin,
    lyapunov_function,
)
from support.adaptive import sines
from support.chains import random_chain, random_states
from support.oracle import Oracle
from support.tolerances import OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.control.adaptive.adaptation import Adaptation
from robot_dynamics_ros.control.adaptive.choice import balanced_gains, typical_inertia
from robot_dynamics_ros.control.adaptive.laws import SlotineLi
from robot_dynamics_ros.control.adaptive.learned_model import LearnedModel
from robot_dynamics_ros.control.adaptive.unknown_parameters import minimal_unknowns

#: Growth of V allowed, relative to its start.
GROWTH = 1e-9
ROBOTS = 20


def simulated(seed, *, modified, bandwidth=5.0, speed=1.0, constant=False, duration=0.4):
    """Return V (N,) over V(0), and the margin (N,), of a robot whose parameters are wrong."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 5
    chain = random_chain(rng, n)
    plant, known = (compile_model(chain, backend='python') for _ in range(2))
    known.parameters = plant.parameters * rng.uniform(0.7, 1.3, len(plant.mlc))
    damping = bandwidth * typical_inertia(plant)
    law = SlotineLi(np.full(n, bandwidth), damping if constant else None, modified)
    learned = LearnedModel(known, minimal_unknowns(known))
    gains = balanced_gains(learned, SlotineLi(np.full(n, bandwidth), damping), 3.0)
    adaptation = Adaptation(learned.unknowns, gains, np.zeros(n))
    motion = sines(rng, n, speed)
    first = motion(0.0)
    run = ContinuousLoop(plant, law, learned, adaptation, motion).run(
        first.q + 0.1 * rng.normal(size=n), first.qd, duration, 2e-3)
    V = lyapunov_function(plant, adaptation, run, plant.parameters)
    return V / V[0], damping_margin(plant, law, run)


@pytest.mark.parametrize('seed', range(ROBOTS))
def test_with_the_original_law_it_never_grows(seed):
    V, _ = simulated(seed, modified=False, constant=seed % 2 == 0)
    assert np.max(V - np.minimum.accumulate(V)) <= GROWTH
    assert V[-1] < 0.99


@pytest.mark.parametrize('seed', range(ROBOTS))
def test_with_the_modified_law_it_does_not_grow_where_there_is_a_margin(seed):
    V, margin = simulated(seed, modified=True, constant=seed % 2 == 0)
    sure = (margin[:-1] > 0.0) & (margin[1:] > 0.0)
    assert np.mean(sure) > 0.9
    assert np.max(np.diff(V)[sure]) <= GROWTH


def test_without_a_margin_the_modified_law_can_fail_and_the_original_does_not():
    """Quick motion, low bandwidth: V grows somewhere, but only where the margin is lost."""
    grown = 0.0
    for seed in (4, 8, 9):
        fast = {'bandwidth': 1.0, 'speed': 6.0, 'duration': 0.2}
        V, margin = simulated(seed, modified=True, **fast)
        sure = (margin[:-1] > 0.0) & (margin[1:] > 0.0)
        assert np.max(np.diff(V)[sure], initial=0.0) <= GROWTH
        grown = max(grown, np.max(V - np.minimum.accumulate(V)))
        V, _ = simulated(seed, modified=False, **fast)
        assert np.max(V - np.minimum.accumulate(V)) <= GROWTH
    assert grown > 1e4 * GROWTH


def test_the_coriolis_matrix_equals_pinocchio(rng):
    for n in range(1, 7):
        chain = random_chain(rng, n)
        q, qd, _ = random_states(rng, n, 3)
        found = coriolis_matrix(compile_model(chain, backend='python'), q, qd)
        oracle = Oracle(chain)
        expected = [oracle.coriolis_matrix(*state) for state in zip(q, qd)]
        assert_close(found, np.array(expected), OTHER_IMPLEMENTATION)


def test_the_function_on_paper(rng):
    """One joint with H = 0.5, s = 2, a parameter wrong by 0.3 at Gamma = 0.1."""
    from types import SimpleNamespace

    from robot_dynamics_ros.control.adaptive.unknown_parameters import UnknownParameters

    unknowns = UnknownParameters(('a', 'b'), ('kg', 'kg'), np.zeros((1, 2)), (-1, -1),
                                 [1.0, 5.0], [0.0, 0.0], [9.0, 9.0])
    adaptation = Adaptation(unknowns, [0.1, 0.0], [0.0])
    plant = SimpleNamespace(mass_matrix=lambda q: np.full((1, 1, 1), 0.5))
    run = SimpleNamespace(q=np.zeros((1, 1)), s=np.array([[2.0]]), theta=np.array([[1.3, 5.0]]))
    V = lyapunov_function(plant, adaptation, run, [1.0, 2.0])
    np.testing.assert_allclose(V, [0.5 * (0.5 * 4.0 + 0.09 / 0.1)])
