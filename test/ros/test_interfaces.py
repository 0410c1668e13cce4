# SPDX-License-Identifier: Apache-2.0
"""The messages are the published contract: other people's programs depend on every field."""

import pytest
from support.availability import skip_without_ros

skip_without_ros()
pytestmark = pytest.mark.ros

from robot_dynamics_interfaces.msg import MlcSet  # noqa: E402
from robot_dynamics_interfaces.srv import GetDynamics, GetMlc, SetPayload  # noqa: E402

TEXT, TEXTS, NUMBER, NUMBERS = 'string', 'sequence<string>', 'double', 'sequence<double>'
OUTCOME = {'success': 'boolean', 'message': TEXT}

FIELDS = {
    MlcSet: {
        'header': 'std_msgs/Header', 'robot': TEXT, 'model_hash': TEXT, 'base_link': TEXT,
        'tip_links': TEXTS, 'set': TEXT, 'joint_names': TEXTS, 'parents': 'sequence<int32>',
        'names': TEXTS, 'formulas': TEXTS, 'units': TEXTS, 'values': NUMBERS,
        'standard_deviations': NUMBERS,
        'identified': 'sequence<boolean>', 'rotor_inertia': NUMBERS, 'viscous_friction': NUMBERS,
        'coulomb_friction': NUMBERS, 'torque_offset': NUMBERS, 'coulomb_velocity': NUMBER,
        'static_friction': NUMBERS, 'stribeck_velocity': NUMBERS, 'load_friction': NUMBERS,
        'viscous_asymmetry': NUMBERS, 'presliding_distance': NUMBERS, 'coupling': NUMBERS,
        'samples': 'uint64', 'condition_number': NUMBER, 'residual_rms': NUMBERS,
        'state': 'uint8'},
    GetMlc.Request: {'set': TEXT},
    GetMlc.Response: {**OUTCOME, 'mlc': 'robot_dynamics_interfaces/MlcSet'},
    GetDynamics.Request: {'joint_names': TEXTS, 'position': NUMBERS, 'velocity': NUMBERS,
                          'acceleration': NUMBERS},
    GetDynamics.Response: {**OUTCOME, 'joint_names': TEXTS, 'torque': NUMBERS,
                           'gravity': NUMBERS, 'coriolis': NUMBERS, 'friction': NUMBERS,
                           'mass_matrix': NUMBERS},
    SetPayload.Request: {'payload': 'geometry_msgs/InertiaStamped'},
    SetPayload.Response: OUTCOME,
}


@pytest.mark.parametrize('message', FIELDS, ids=lambda message: message.__name__)
def test_a_message_has_exactly_the_agreed_fields(message):
    assert list(message.get_fields_and_field_types().items()) == list(FIELDS[message].items())


def test_the_states_of_an_mlc_set_are_numbered_as_agreed():
    states = (MlcSet.FROM_URDF, MlcSet.FROM_FILE, MlcSet.LEARNING, MlcSet.FROZEN, MlcSet.CONVERGED)
    assert states == (0, 1, 2, 3, 4)
