# SPDX-License-Identifier: Apache-2.0
"""The gains of the stock controller in Gazebo: parameters that it knows from Jazzy to Rolling."""

from pathlib import Path

import pytest
import yaml

from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf

ROOT = Path(__file__).resolve().parent.parent.parent
CONTROLLER = yaml.safe_load((ROOT / 'config' / 'demo_arm_controllers.yaml').read_text())['/**'][
    'joint_trajectory_controller']['ros__parameters']
GAINS = CONTROLLER['gains']
#: Of joint_trajectory_controller, in Jazzy (4.27 and later), Kilted and Rolling alike.
KNOWN = {'p', 'i', 'd', 'ff_velocity_scale', 'i_clamp_max', 'i_clamp_min', 'u_clamp_max',
         'u_clamp_min', 'antiwindup_strategy', 'tracking_time_constant', 'error_deadband'}
STRATEGIES = {'back_calculation', 'conditional_integration', 'none'}


def test_every_joint_of_the_demo_arm_has_gains():
    chain = chain_from_urdf((ROOT / 'urdf' / 'demo_arm.urdf').read_text())
    assert CONTROLLER['joints'] == list(GAINS) == list(chain.joint_names)


@pytest.mark.parametrize('joint', GAINS)
def test_the_integral_is_bounded_by_parameters_that_every_release_knows(joint):
    gains = GAINS[joint]
    assert set(gains) <= KNOWN
    assert 0.0 < gains['i_clamp_max'] == -gains['i_clamp_min']
    assert gains['antiwindup_strategy'] in STRATEGIES - {'none'}
