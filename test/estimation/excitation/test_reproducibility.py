# SPDX-License-Identifier: Apache-2.0
"""A seeded design: the same bits on one machine, the same quality on others."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.estimation.excitation.design import design_excitation

#: What other processors do: another kernel of OpenBLAS, and other last bits of sin and exp.
OTHER_MACHINES = {
    'Prescott': {'OPENBLAS_CORETYPE': 'Prescott'},
    'no AVX2 in libm': {'GLIBC_TUNABLES': 'glibc.cpu.hwcaps=-AVX2,-FMA'},
}
SCRIPT = """
import sys
from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.estimation.excitation.design import design_excitation
design = design_excitation(chain_from_urdf(sys.argv[1]), unchecked=True, seed=int(sys.argv[2]))
print(design.condition_number, design.trajectory.sine.tobytes().hex())
"""


def designed_elsewhere(path, seed, **environment):
    """Return condition number and coefficients of a design in another process."""
    done = subprocess.run([sys.executable, '-c', SCRIPT, str(path), str(seed)], check=True,
                          env={**os.environ, **environment}, capture_output=True, text=True,
                          cwd=Path(__file__).parents[3], timeout=500)
    number, coefficients = done.stdout.split()
    return float(number), coefficients


def test_a_seed_gives_the_same_bits_in_every_process():
    path = URDF_FOLDER / 'planar_2r.urdf'
    assert designed_elsewhere(path, 1) == designed_elsewhere(path, 1)


@pytest.mark.parametrize(('name', 'seed'), [('angeles_6r', 0), ('demo_arm', 2)])
def test_a_seed_gives_the_same_quality_on_other_machines(name, seed):
    path = URDF_FOLDER / f'{name}.urdf'
    here, _ = designed_elsewhere(path, seed)
    for environment in OTHER_MACHINES.values():
        there, _ = designed_elsewhere(path, seed, **environment)
        np.testing.assert_allclose(there, here, rtol=0.1)


@pytest.mark.parametrize('seed', range(3))
def test_a_start_near_an_effort_limit_still_has_a_motion_for_every_seed(seed):
    # the RX-90 starts stretched out: smaller motions around this posture need more effort
    design = design_excitation(chain_from_urdf(URDF_FOLDER / 'rx90.urdf'), unchecked=True,
                               seed=seed)
    assert np.max(design.utilisation) < 1.0
    assert design.condition_number < 10.0
