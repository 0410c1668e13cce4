# SPDX-License-Identifier: Apache-2.0
"""Lin's Newton-Euler in terms of the minimal parameters."""

import numpy as np
import pytest
from support.cases import random_cases
from support.chains import reference_chains
from support.tolerances import OTHER_FORMULATION, OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import inverse_dynamics
from robot_dynamics_ros.dynamics.formulations.lin import (
    GENERAL,
    LinConstants,
    d_tensors,
    lin_newton_euler,
)
from robot_dynamics_ros.dynamics.minimal.lin_set import lin_forms
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.minimal.structure import structure
from robot_dynamics_ros.dynamics.recursions.composite import inertia_constants
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector
from robot_dynamics_ros.dynamics.scalars.pair import wrench_at_last_joint
from robot_dynamics_ros.dynamics.scalars.samples import Samples

REFERENCES = reference_chains()


def torque(chain, values, state, groups=None):
    """Return the torque from named minimal parameters."""
    wrench = wrench_at_last_joint(chain, state['wrench']) if 'wrench' in state.scalars else None
    constants = LinConstants.from_names(len(chain), values)
    return state.vector(lin_newton_euler(state.frames, constants, groups or structure(chain),
                                         state['qd'], state['qdd'], gravity_vector(chain),
                                         wrench))


@pytest.mark.parametrize('reference', REFERENCES, ids=lambda reference: reference.name)
def test_the_stored_minimal_parameters_give_the_stored_torque(reference):
    data = reference.data
    values = dict(zip(data['lin_names'], data['lin_values']))
    state = Samples.of(reference.chain, q=data['q'], qd=data['qd'], qdd=data['qdd'])
    assert_close(torque(reference.chain, values, state), data['tau'], OTHER_IMPLEMENTATION)
    state = Samples.of(reference.chain, q=data['q'], qd=data['qd'], qdd=data['qdd'],
                       wrench=reference.wrench)
    assert_close(torque(reference.chain, values, state), data['tau_ext'], OTHER_IMPLEMENTATION)


@pytest.mark.parametrize('name', ['V13', 'V22', 'V26', 'V29', 'V36'])
def test_minimal_parameters_by_name_give_the_torque(name):
    """The whole way: names and values of `minimal_parameters`, nothing else."""
    reference = next(each for each in REFERENCES if each.name == name)
    mlc = minimal_parameters(reference.chain)
    data = reference.data
    state = Samples.of(reference.chain, q=data['q'], qd=data['qd'], qdd=data['qdd'])
    assert_close(torque(reference.chain, dict(zip(mlc.names, mlc.values)), state), data['tau'],
                 OTHER_IMPLEMENTATION)


def test_equal_minimal_parameters_need_equal_torque():
    """Change the link parameters by anything that the minimal parameters do not see."""
    rng = np.random.default_rng(5)
    for case in random_cases()[:40]:
        chain = case.chain
        B = lin_forms(chain, structure(chain)).matrix
        change = rng.normal(size=B.shape[1])
        change -= np.linalg.lstsq(B, B @ change, rcond=None)[0]
        other = chain.with_standard_parameters(chain.standard_parameters + change)
        assert np.linalg.norm(change) > 1.0
        state = case.q[0], case.qd[0], case.qdd[0]
        assert_close(inverse_dynamics(other, *state), inverse_dynamics(chain, *state),
                     OTHER_FORMULATION)


def test_representative_constants_need_the_same_torque_by_the_general_form():
    for case in random_cases()[:80]:
        chain, groups = case.chain, structure(case.chain)
        forms = lin_forms(chain, groups)
        values = dict(zip(forms.names, forms.matrix @ chain.standard_parameters))
        constants = LinConstants.from_names(len(chain), values)
        everywhere = LinConstants.of_all_joints(constants.representative(groups))
        state = Samples.of(chain, q=case.q[0], qd=case.qd[0], qdd=case.qdd[0])
        tau = lin_newton_euler(state.frames, everywhere, GENERAL, state['qd'], state['qdd'],
                               gravity_vector(chain))
        assert_close(tau, inverse_dynamics(chain, case.q[0], case.qd[0], case.qdd[0]),
                     OTHER_FORMULATION)


def test_d_is_khalils_grouped_tensor_of_a_revolute_chain():
    """D_i = [XX XY XZ; XY 0 YZ; XZ YZ ZZ] of the grouped standard parameters."""
    chain = next(each for each in REFERENCES if each.name == 'V29').chain
    grouped = minimal_parameters(chain, 'khalil')
    khalil = dict(zip(grouped.names, grouped.values))
    state = Samples.of(chain, q=np.ones(6))
    constants = LinConstants.of_all_joints(inertia_constants(
        state.frames, [link.standard_parameters for link in chain.links]))
    D = d_tensors(state.frames, constants, structure(chain))
    for i in range(2, 7):
        expected = [khalil.get(f'{name}{i}', 0.0) for name in ('XX', 'XY', 'XZ', 'YY', 'YZ', 'ZZ')]
        assert_close(D[i], expected, OTHER_FORMULATION)


def test_a_prismatic_joint_has_no_d():
    chain = next(each for each in REFERENCES if each.name == 'V26').chain
    state = Samples.of(chain, q=np.ones(6))
    constants = LinConstants.from_names(6, {'U2_33': 1.0})
    D = d_tensors(state.frames, constants, structure(chain))
    assert D[3] == ()
    assert D[2][5] == 1.0
