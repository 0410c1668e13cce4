# SPDX-License-Identifier: Apache-2.0
"""Machine code for this processor, or for the one that the environment names."""

import os
import subprocess
import sys

import numpy as np
import pytest
from support.chains import random_chain

from robot_dynamics_ros import compile_model
from robot_dynamics_ros.codegen.llvm import machine

TORQUES = """
import numpy as np
from support.chains import random_chain
from robot_dynamics_ros import compile_model
from robot_dynamics_ros.codegen.llvm.machine import this_machine
rng = np.random.default_rng(5)
model = compile_model(random_chain(rng, 6))
print(this_machine().width, *model.torque(*rng.normal(size=(3, 40, 6))).ravel().tolist())
"""


@pytest.mark.parametrize('name, features, width', [
    ('x86-64', '+sse2', 2), ('nehalem', '+sse4.2,+ssse3', 2), ('sandybridge', '+avx', 4)])
def test_another_processor_can_be_named(name, features, width):
    environment = {**os.environ, 'NUMBA_CPU_NAME': name, 'NUMBA_CPU_FEATURES': features,
                   'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    printed = subprocess.run([sys.executable, '-c', TORQUES], env=environment, check=True,
                             capture_output=True, text=True).stdout.split()
    rng = np.random.default_rng(5)
    model = compile_model(random_chain(rng, 6))
    torques = model.torque(*rng.normal(size=(3, 40, 6)))
    assert int(printed[0]) == width
    np.testing.assert_allclose([float(text) for text in printed[1:]], torques.ravel(),
                               rtol=1e-12, atol=1e-12 * np.max(np.abs(torques)))


def test_features_without_a_processor_are_not_used(monkeypatch):
    monkeypatch.delenv('NUMBA_CPU_NAME', raising=False)
    monkeypatch.delenv('NUMBA_CPU_FEATURES', raising=False)
    own = machine.Machine().width
    monkeypatch.setenv('NUMBA_CPU_FEATURES', '+avx512f' if own < 8 else '')
    assert machine.Machine().width == own


def test_the_same_robot_is_compiled_once(rng, monkeypatch):
    chain = random_chain(rng, 3)
    state = rng.normal(size=(3, 3))
    compile_model(chain).torque(*state)
    monkeypatch.setattr(machine.Machine, 'compile', None)  # would fail
    model = compile_model(chain)
    assert np.all(np.isfinite(model.torque(*state)))
    with pytest.raises(TypeError):
        model.torque(*rng.normal(size=(3, 100, 3)))
