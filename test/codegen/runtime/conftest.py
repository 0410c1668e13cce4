# SPDX-License-Identifier: Apache-2.0
"""Robots with every kind of joint terms, and their models in every backend."""

import pytest
from support.models import BACKENDS, CHAINS

from robot_dynamics_ros import compile_model


@pytest.fixture(scope='session', params=CHAINS)
def chain(request):
    return CHAINS[request.param]


@pytest.fixture(scope='session')
def models(chain):
    return {backend: compile_model(chain, backend) for backend in BACKENDS}
