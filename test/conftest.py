# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all tests."""

import faulthandler
import os
import signal

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # small matrices: threads only wait

import hypothesis
import numpy as np
import pytest
import pytest_timeout
from _pytest.faulthandler import fault_handler_stderr_fd_key, get_timeout_config_value
from support.availability import ros_missing, skip_without_ros

# an example may take long on a busy machine; that is no failure
hypothesis.settings.register_profile('patient', deadline=None)
hypothesis.settings.load_profile('patient')


def pytest_addoption(parser):
    parser.addoption('--require-ros', action='store_true',
                     help='end with an error instead of skipping the tests that need ROS 2')


def pytest_configure(config):
    if config.getoption('--require-ros') and (reason := ros_missing()):
        raise pytest.UsageError(reason)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # started in the background of a script: processes of tests would not hear Ctrl-C either
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_exception_interact(node):
    """Keep the time limits of a test that has failed: what it leaves may hang in its teardown."""
    result = yield  # pytest and pytest-timeout end them here, for whoever wants to debug
    if isinstance(node, pytest.Item) and not node.config.getoption('usepdb'):
        set_time_limits(node)
    return result


def set_time_limits(item):
    settings = pytest_timeout._get_item_settings(item)
    if settings.timeout:
        item.ihook.pytest_timeout_set_timer(item=item, settings=settings)
    if seconds := get_timeout_config_value(item.config):
        faulthandler.dump_traceback_later(
            seconds, file=item.config.stash[fault_handler_stderr_fd_key],
            exit=item.config.getini('faulthandler_exit_on_timeout'))


@pytest.fixture
def rng():
    """Random numbers that are the same in every run."""
    return np.random.default_rng(1995)


@pytest.fixture
def ros(tmp_path, monkeypatch):
    """Real ROS 2 on a domain that no other test on this machine uses, loopback only."""
    skip_without_ros()
    from domain_coordinator import domain_id
    from support.ros import RosDomain

    from robot_dynamics_ros.demo.node_processes import loopback

    with domain_id() as domain:
        monkeypatch.setenv('ROS_DOMAIN_ID', str(domain))
        monkeypatch.setenv('ROS_LOG_DIR', str(tmp_path / 'ros_log'))
        for name, value in loopback().items():
            monkeypatch.setenv(name, value)
        ros_domain = RosDomain(domain, tmp_path)
        try:
            yield ros_domain
        finally:
            ros_domain.close()
