# SPDX-License-Identifier: Apache-2.0
"""Which parameters can torques show, and how do Lin's and Khalil's names compare?"""

import numpy as np

from robot_dynamics_ros import chain_from_urdf, minimal_parameters

chain = chain_from_urdf('urdf/stanford.urdf')
lin, khalil = (minimal_parameters(chain, name) for name in ('lin', 'khalil'))
print(f'{chain.robot}: {len(lin)} of {10 * len(chain)} link parameters')
M = khalil.conversion_to(lin)
print('largest difference after conversion:',
      f'{np.max(np.abs(M @ khalil.values - lin.values)):.1e}')
for name, formula in list(zip(lin.names, lin.formulas))[:6]:
    print(f'{name:9} = {formula}')
