# SPDX-License-Identifier: Apache-2.0
"""Same input, same result: bit for bit on one machine, in stated digits on others."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.excitation import excitation, random_physics
from support.machine_results import LEARNED, ROBOT
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf

TEST_FOLDER = Path(__file__).resolve().parent
#: Machines that this one can be made to be: without AVX2 and FMA anywhere; without AVX-512.
OTHER_MACHINES = {
    'plain x86-64': {'OPENBLAS_CORETYPE': 'Prescott', 'NUMBA_CPU_NAME': 'x86-64',
                     'NUMBA_CPU_FEATURES': '+sse2',
                     'GLIBC_TUNABLES': 'glibc.cpu.hwcaps=-AVX2,-FMA'},
    'Haswell': {'OPENBLAS_CORETYPE': 'Haswell', 'NUMBA_CPU_NAME': 'haswell',
                'NUMBA_CPU_FEATURES': '+avx,+avx2,+fma,+sse4.2'},
}
if 'avx2' not in Path('/proc/cpuinfo').read_text():
    del OTHER_MACHINES['Haswell']
#: Largest difference between machines, relative to the largest entry (docs/reliability.md).
DIGITS = {
    'minimal parameters': 1e-14, 'numeric set': 1e-13, 'torque': 1e-14, 'gravity': 1e-14,
    'mass matrix': 1e-14, 'regressor': 1e-14, 'forward dynamics': 1e-12,
    'identified parameters': 1e-10, 'stated deviations': 1e-8, 'identified torque': 1e-10,
    'online parameters': 1e-11, 'online torque': 1e-11,
}


def results(folder, name, **environment):
    """Return what another process calculates from the input in this folder."""
    path = folder / f'{name}.npz'
    search = os.pathsep.join([str(TEST_FOLDER), os.environ.get('PYTHONPATH', '')])
    subprocess.run([sys.executable, '-m', 'support.machine_results', str(folder / 'input.npz'),
                    str(path)], check=True, cwd=TEST_FOLDER.parent, timeout=600,
                   env={**os.environ, 'PYTHONPATH': search, **environment})
    return dict(np.load(path))


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with states of one robot, and a noisy recording of another."""
    rng = np.random.default_rng(1995)
    n = len(chain_from_urdf(URDF_FOLDER / f'{ROBOT}.urdf'))
    truth = chain_from_urdf(URDF_FOLDER / f'{LEARNED}.urdf')
    truth = truth.with_joint_physics(random_physics(rng, len(truth)))
    data = excitation(rng, truth, duration=20.0, step=0.01)
    noise = 0.02 * np.sqrt(np.mean(data.tau ** 2, axis=0)) * rng.normal(size=data.tau.shape)
    path = tmp_path_factory.mktemp('machines')
    np.savez(path / 'input.npz', states=rng.uniform(-3.0, 3.0, (3, 200, n)), t=data.t, q=data.q,
             qd=data.qd, tau=data.tau + noise)
    return path


@pytest.fixture(scope='module')
def here(folder):
    """Return the results of this machine."""
    return results(folder, 'here')


def test_the_same_input_gives_the_same_bits_in_another_process(folder, here):
    home = folder / 'home'
    home.mkdir()
    again = results(folder, 'again', HOME=str(home), XDG_CACHE_HOME=str(home / 'cache'),
                    NUMBA_CACHE_DIR=str(home / 'numba'))
    assert list(home.rglob('*')) == []  # no compiled code that others could replace
    assert list(again) == list(here) == list(DIGITS)
    assert {name: value.tobytes() for name, value in again.items()} == {
        name: value.tobytes() for name, value in here.items()}


@pytest.mark.parametrize('name', OTHER_MACHINES)
def test_other_machines_give_the_same_digits(folder, here, name):
    there = results(folder, name, **OTHER_MACHINES[name])
    differences = {key: np.max(np.abs(there[key] - value)) / np.max(np.abs(value))
                   for key, value in here.items()}
    assert {key: each for key, each in differences.items() if not each <= DIGITS[key]} == {}
