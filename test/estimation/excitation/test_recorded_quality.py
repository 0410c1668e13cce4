# SPDX-License-Identifier: Apache-2.0
"""A planned motion and its recording have one condition number; a start that can be held."""

import warnings

import numpy as np
import pytest
from support.robots import URDF_FOLDER, example_robot

from robot_dynamics_ros import chain_from_urdf, compile_model, design_excitation, identify
from robot_dynamics_ros.errors import ExcitationError
from robot_dynamics_ros.estimation.excitation.limits import motion_limits

#: The filters of one and the smooth sign of friction in the other leave this much between them.
SAME_MOTION = 0.3


@pytest.mark.parametrize('name', ['planar_2r', 'scara'])
def test_the_recording_of_a_planned_motion_has_its_condition_number(name, rng):
    """SCARA: only one of the two told mass and offset of the joint along gravity apart."""
    chain = chain_from_urdf(URDF_FOLDER / f'{name}.urdf')
    design = design_excitation(chain, unchecked=True, candidates=20, iterations=10,
                               acceleration=20.0)
    t = design.trajectory.times(200.0)
    motion = design.trajectory.sample(t)
    tau = compile_model(chain).torque(*motion)
    tau = tau + 0.001 * np.max(np.abs(tau), axis=0) * rng.normal(size=tau.shape) * [
        1.0, *[10.0] * (len(chain) - 1)]  # other joints are noisier: that must not count
    result = identify(chain, t, motion.q, motion.qd, tau, friction='coulomb')
    assert result.estimate.condition_number == pytest.approx(design.condition_number,
                                                             rel=SAME_MOTION)


def test_talos_gets_a_start_that_its_motors_can_hold():
    chain = chain_from_urdf(example_robot('talos_left_arm'))
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        design = design_excitation(chain, unchecked=True, candidates=4, iterations=0)
    assert 'holding the start needs 21.7 of the 17.9' in design.start_note
    gravity = compile_model(chain).gravity_torque(design.limits.start)
    assert np.all(np.abs(gravity) < design.limits.effort)


def test_a_start_that_was_asked_for_is_not_replaced():
    chain = chain_from_urdf(example_robot('talos_left_arm'))
    with pytest.raises(ExcitationError, match='holding the start needs'):
        design_excitation(chain, unchecked=True, start=motion_limits(chain).start)


def test_a_continuous_joint_raises_no_warning():
    text = (URDF_FOLDER / 'planar_2r.urdf').read_text().replace('type="revolute"',
                                                                'type="continuous"')
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        design = design_excitation(chain_from_urdf(text), unchecked=True, candidates=2,
                                   iterations=0)
    assert np.all(np.isfinite(design.trajectory.sample(design.trajectory.times(50.0)).q))
    assert np.isfinite(design.condition_number)
