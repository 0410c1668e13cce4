# SPDX-License-Identifier: Apache-2.0
"""Lu & Meng's W and Z of compiled models."""

import numpy as np
import pytest
from support.chains import random_chain, random_states
from support.tolerances import OTHER_FORMULATION, assert_close

from robot_dynamics_ros import compile_model

FINITE_DIFFERENCE = 1e-6


@pytest.mark.parametrize('types', ['RRR', 'RPR'])
@pytest.mark.parametrize('backend', ['llvm', 'numpy'])
def test_the_regressor_is_the_rate_of_w_plus_z(rng, types, backend):
    chain = random_chain(rng, 3, types=types)
    model = compile_model(chain, backend)
    q, qd, qdd = random_states(rng, 3, 20)
    h = 1e-6
    after, before = (model.momentum_split(q + d * qd, qd + d * qdd)[:, 0] for d in (h, -h))
    Z = model.momentum_split(q, qd)[:, 1]
    assert_close((after - before) / (2.0 * h) + Z, model.regressor(q, qd, qdd), FINITE_DIFFERENCE)


def test_w_is_the_momentum_of_the_links(rng):
    chain = random_chain(rng, 4)
    model = compile_model(chain)
    q, qd = random_states(rng, 4, 20)[:2]
    momentum = np.einsum('kij,kj->ki', model.mass_matrix(q), qd)
    assert_close(model.momentum_split(q, qd)[:, 0] @ model.parameters, momentum, OTHER_FORMULATION)
