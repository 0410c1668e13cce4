# SPDX-License-Identifier: Apache-2.0
"""How much better is a designed motion than random ones?"""

import numpy as np

from robot_dynamics_ros import chain_from_urdf, design_excitation

chain = chain_from_urdf('urdf/scara.urdf')
design = design_excitation(chain, unchecked=True, acceleration=20.0, candidates=40, iterations=20)
print(f'{len(design.columns)} parameters in {design.trajectory.duration:g} s')
print(f'condition number: designed {design.condition_number:.1f}, '
      f'random {np.median(design.random_condition_numbers):.1f} (median)')
print('use of the velocity limits:', (100 * design.utilisation[1]).round().astype(int), '%')
