# SPDX-License-Identifier: Apache-2.0
"""The client of the calibration node, as `robot-dynamics calibrate` uses it."""

import threading

import pytest
from support.availability import skip_without_ros

skip_without_ros()

from std_msgs.msg import Float32, String
from std_srvs.srv import Trigger

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.nodes.support import calibration_client
from robot_dynamics_ros.nodes.support.calibration_client import CalibrationClient
from robot_dynamics_ros.nodes.support.robot_node import LATCHED


class Stand:
    """What a calibration node shows and answers."""

    def __init__(self, ros):
        self._ros, self._over = ros, threading.Event()
        self.called = []
        status = ros.node.create_publisher(String, '/arm/calibration/status', LATCHED)
        status.publish(String(data='waiting'))
        self._progress = ros.node.create_publisher(Float32, '/arm/calibration/progress', 10)
        for word in ('next', 'stop'):
            ros.node.create_service(Trigger, f'/arm/calibration/{word}',
                                    lambda _, response, word=word: self._answer(word, response))
        self._thread = threading.Thread(target=self._run)

    def _answer(self, word, response):
        self.called.append(word)
        response.success, response.message = word == 'next', f'{word} heard'
        return response

    def _run(self):
        while not self._over.is_set():
            self._progress.publish(Float32(data=0.25))
            self._ros.node.executor.spin_once(timeout_sec=0.02)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        self._thread.join()


def test_it_sees_the_status_and_says_next_and_stop(ros):
    with CalibrationClient('/arm/calibration/') as client, Stand(ros) as stand:
        client.wait(30.0)
        assert client.status == 'waiting'
        assert client.call('next') == (True, 'next heard')
        assert client.call('stop') == (False, 'stop heard')
        assert stand.called == ['next', 'stop']
        for _ in range(600):
            if client.progress:
                break
            client.spin(0.05)
        assert client.progress == 0.25


def test_a_node_that_is_not_there_or_does_not_answer_is_named(ros, monkeypatch):
    monkeypatch.setattr(calibration_client, 'PATIENCE', 0.2)
    with CalibrationClient('/nobody') as client:
        with pytest.raises(RobotDynamicsError, match='no calibration node /nobody answers: start'):
            client.wait(0.2)
        with pytest.raises(RobotDynamicsError, match='/nobody does not answer: STOP THE ROBOT'):
            client.call('stop')
