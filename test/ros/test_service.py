# SPDX-License-Identifier: Apache-2.0
"""A service of robot_dynamics_interfaces across two processes."""

import os

import numpy as np
import pytest

pytestmark = pytest.mark.ros

SERVER = 'support.pendulum_server'


def request(**fields):
    from robot_dynamics_interfaces.srv import GetDynamics
    return GetDynamics, 'get_dynamics', GetDynamics.Request(**fields)


def test_a_service_answers_from_another_process(ros):
    server = ros.start(SERVER)
    response = ros.call(*request(joint_names=['shoulder', 'elbow'], position=[0.0, np.pi],
                                 velocity=[1.0, -2.0], acceleration=[0.5, 0.0]))
    assert response.success, response.message
    assert response.joint_names == ['shoulder', 'elbow']
    np.testing.assert_allclose(response.torque, [2 * 0.5 + 10 + 0.5, -10 - 1], rtol=1e-12)
    np.testing.assert_allclose(response.gravity, [10, -10], rtol=1e-12)
    np.testing.assert_allclose(response.friction, [0.5, -1], rtol=1e-12)
    assert list(response.coriolis) == [0, 0]
    assert list(response.mass_matrix) == [2, 0, 0, 2]
    assert server.interrupt() == 0, server.output


def test_a_refusal_arrives_with_its_message(ros):
    ros.start(SERVER)
    response = ros.call(*request(joint_names=['shoulder'], position=[0.0, 1.0]))
    assert not response.success
    assert response.message == '1 joints, but 2 positions'
    assert list(response.torque) == []


def test_a_process_that_dies_ends_the_wait_with_its_output(ros):
    ros.start('support.no_such_module')
    with pytest.raises(AssertionError, match='No module named'):
        ros.call(*request())


def test_tests_do_not_hear_each_other(ros, tmp_path):
    from domain_coordinator import domain_id
    from support.ros import RosDomain

    ros.start(SERVER)
    ros.spin_until(lambda: services(ros), 'the server on its own domain')
    with domain_id() as domain:
        assert domain != int(os.environ['ROS_DOMAIN_ID'])
        other = RosDomain(domain, tmp_path)
        try:
            other.node.create_service(request()[0], 'other', lambda _, response: response)
            other.spin_until(lambda: services(other, 'other'), 'its own service')
            assert not services(other)
        finally:
            other.close()


def services(domain, part='get_dynamics'):
    names = [name for name, _ in domain.node.get_service_names_and_types()]
    return [name for name in names if name.endswith(f'/{part}')]
