# SPDX-License-Identifier: Apache-2.0
"""Wrenches on any link, and what the joints carry, against Pinocchio."""

import numpy as np
import pinocchio
import pytest
from support.chains import random_chain, random_states
from support.oracle import Oracle
from support.robots import URDF_FOLDER
from support.tolerances import OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros import (
    Inertia,
    chain_from_urdf,
    compile_model,
    forward_dynamics,
    inverse_dynamics,
    joint_wrenches,
    wrench_torque,
)
from robot_dynamics_ros.dynamics.formulations.equations_of_motion import FORWARD_DYNAMICS
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import FORMULATIONS
from robot_dynamics_ros.errors import ParameterError, StateError


@pytest.fixture(params=range(8))
def case(request):
    """Return a chain, a state, wrenches by link, and Pinocchio's torque and joint wrenches."""
    rng = np.random.default_rng(request.param)
    n = int(rng.integers(2, 8))
    chain = random_chain(rng, n)
    state = random_states(rng, n)
    wrenches = {name: rng.normal(size=6) for name in chain.link_names[:-1]}
    oracle = Oracle(chain)
    forces = oracle.external_forces(rng.normal(size=6))
    wrenches[chain.tip] = _in_tip(chain, forces[-1])
    for place, name in enumerate(chain.link_names[:-1], start=1):
        forces[place] = pinocchio.Force(wrenches[name])
    tau = pinocchio.rnea(oracle.model, oracle.data, *state, forces).copy()
    carried = np.array([force.vector for force in oracle.data.f])[1:]
    return chain, state, wrenches, tau, carried


def _in_tip(chain, force):
    tip = pinocchio.SE3(chain.tip_pose.rotation, chain.tip_pose.translation)
    return tip.actInv(force).vector


def test_every_formulation_takes_them(case):
    chain, (q, qd, qdd), wrenches, tau, _ = case
    for formulation in FORMULATIONS:
        found = inverse_dynamics(chain, q, qd, qdd, link_wrenches=wrenches,
                                 formulation=formulation)
        assert_close(found, tau, OTHER_IMPLEMENTATION)
    for formulation in FORWARD_DYNAMICS:
        assert_close(forward_dynamics(chain, q, qd, tau, link_wrenches=wrenches,
                                      formulation=formulation), qdd, 1e-7)


@pytest.mark.parametrize('formulation', ['newton_euler', 'linear_recursion'])
def test_joints_carry_what_pinocchio_says(case, formulation):
    chain, (q, qd, qdd), wrenches, tau, carried = case
    found = joint_wrenches(chain, q, qd, qdd, wrenches=wrenches, formulation=formulation)
    assert_close(found, carried, 1e-8 if formulation == 'linear_recursion'
                 else OTHER_IMPLEMENTATION)
    along = [row[5] if joint.revolute else row[2] for row, joint in zip(found, chain.joints)]
    assert_close(along, tau, 1e-8)


def test_a_batch_is_the_same_state_by_state(case):
    chain, (q, qd, qdd), wrenches, tau, carried = case
    many = {name: np.stack([wrench, 0.0 * wrench]) for name, wrench in wrenches.items()}
    batch = [np.stack([x, x]) for x in (q, qd, qdd)]
    found = joint_wrenches(chain, *batch, wrenches=many)
    assert_close(found[0], carried, OTHER_IMPLEMENTATION)
    assert_close(found[1], joint_wrenches(chain, q, qd, qdd), OTHER_IMPLEMENTATION)
    assert_close(wrench_torque(chain, batch[0], many)[0],
                 inverse_dynamics(chain, q, qd, qdd) - tau, 1e-8)


def test_the_tip_wrench_is_the_same_by_either_name(case):
    chain, (q, qd, qdd), wrenches, *_ = case
    tip = wrenches[chain.tip]
    assert_close(inverse_dynamics(chain, q, qd, qdd, link_wrenches={chain.tip: tip}),
                 inverse_dynamics(chain, q, qd, qdd, wrench=tip), OTHER_IMPLEMENTATION)


def test_a_wrench_on_a_link_is_given_in_the_frame_of_the_urdf(rng):
    urdf = URDF_FOLDER / 'demo_arm.urdf'
    chain, wrench = chain_from_urdf(urdf), rng.normal(size=6)
    q = rng.normal(size=len(chain))
    for k, name in enumerate(chain.link_names, start=1):
        shorter = chain_from_urdf(urdf, tip=name)
        assert len(shorter) == k
        found = wrench_torque(chain, q, {name: wrench})
        assert_close(found[:k], model_torque(shorter, q[:k], wrench), OTHER_IMPLEMENTATION)
        np.testing.assert_array_equal(found[k:], 0.0)


def model_torque(chain, q, wrench):
    model, rest = compile_model(chain, 'numpy'), np.zeros(len(q))
    return (model.inverse_dynamics(q, rest, rest)
            - model.inverse_dynamics(q, rest, rest, wrench=wrench))


def test_wrong_links_sizes_and_words_are_refused(case):
    chain, (q, qd, qdd), *_ = case
    with pytest.raises(ParameterError, match="no link 'nose' on the chain; its links are link1"):
        wrench_torque(chain, q, {'nose': np.zeros(6)})
    with pytest.raises(StateError, match=r'wrench on link1 has shape \(3,\), expected \(6,\)'):
        wrench_torque(chain, q, {'link1': np.zeros(3)})
    with pytest.raises(StateError, match='wrench on link1 must be an array of real numbers'):
        wrench_torque(chain, q, {'link1': ['down'] * 6})
    with pytest.raises(ParameterError, match="unknown formulation 'kane' of the joint wrenches"):
        joint_wrenches(chain, q, qd, qdd, formulation='kane')


def test_the_recursion_of_accelerations_knows_no_wrench_of_a_joint_that_moves_no_mass(case):
    chain, state, *_ = case
    massless = chain.with_links([*chain.links[:-1], Inertia.zero()])
    for shape in ((len(chain),), (2, len(chain))):
        batch = [np.broadcast_to(each, shape) for each in state]
        assert np.all(np.isfinite(joint_wrenches(massless, *batch)))
        found = joint_wrenches(massless, *batch, formulation='linear_recursion')
        assert found.shape == (*shape, 6) and np.all(np.isnan(found))
