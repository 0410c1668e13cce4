# SPDX-License-Identifier: Apache-2.0
"""The live page in a real browser, and what it leaves behind."""

import gc
import threading
import time

import numpy as np
import pytest

viser = pytest.importorskip('viser', reason='viser is not installed')
from support.browser import Browser, browser_path  # noqa: E402
from support.robots import URDF_FOLDER  # noqa: E402
from websockets.sync.client import connect  # noqa: E402

from robot_dynamics_ros import chain_from_urdf  # noqa: E402
from robot_dynamics_ros.picture.drawn_robot import drawn_robot  # noqa: E402
from robot_dynamics_ros.view import live_page  # noqa: E402
from robot_dynamics_ros.view.guarded_server import GuardedServer  # noqa: E402
from robot_dynamics_ros.view.live_page import BUTTONS, LivePage  # noqa: E402
from robot_dynamics_ros.view.robot_page import RobotPage  # noqa: E402
from robot_dynamics_ros.view.viewed_robot import ShownMotion, ViewedRobot  # noqa: E402

URDF = URDF_FOLDER / 'planar_2r.urdf'
needs_browser = pytest.mark.skipif(browser_path() is None,
                                   reason='no Chromium here; apt install chromium')


@pytest.fixture
def server():
    with GuardedServer(port=0) as running:
        yield running


@pytest.fixture
def page(server, state):
    return LivePage(server, ViewedRobot(drawn_robot(URDF), state.robot.chain), state,
                    tuple(BUTTONS))


def press(page, word):
    """Press a button as a page does."""
    page.press(word)


@needs_browser
@pytest.mark.timeout(900)  # drawing without a graphics card on a busy machine
def test_the_live_page_in_a_browser(server, page, state, work, monkeypatch):
    monkeypatch.setattr(live_page, '_CONFIRM', 1e6)
    work(state, state.robot.model, 4.0)
    state.learn(1.0, state.robot.estimate)
    state.hear('identification', {'excitation of joint_1': '37 %'})
    state.hear('feedforward', {'learned parameters': 'they predict better'})
    stop = threading.Event()

    def serve():
        while not stop.wait(0.05):
            page.step()
    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with Browser(860, 480, fps=8) as browser:
            browser.open(server.url.replace(server.token, 'wrong'))
            browser.wait_for('Open the whole address')
            assert not server.viser.get_clients()
            for _ in range(2):  # the second time is a reload
                browser.open(server.url)
                browser.wait_for('excitation 37 %')
            for text in ('planar_2r, live', 'they predict better', 'URDF 0.', 'joint_2 [N m]'):
                assert text in browser.text(), text
            browser.click(BUTTONS['save'])
            browser.wait(lambda: page.orders() == ['save'])
            page.answer('save', True, 'a.yaml <b>')
            browser.wait_for('a.yaml <b>')
            browser.click(BUTTONS['start'])
            browser.wait_for('press again')
            assert page.orders() == [], 'one click does not move a robot'
            browser.click('The robot will move: press again')
            browser.wait(lambda: page.orders() == ['start'])
            browser.click('Parameters')
            browser.wait_for('learned ± 2 σ')
            assert browser.errors == []
    finally:
        stop.set()
        thread.join()
    end = time.monotonic() + 240.0
    while server.viser.get_clients() and time.monotonic() < end:
        time.sleep(0.05)
    assert not server.viser.get_clients()


def resident_memory():
    """Return the memory of this process [MB]."""
    with open('/proc/self/statm') as file:
        return int(file.read().split()[1]) * 4096 / 2**20


def test_a_hundred_reloads_leave_nothing_behind(server, page, state, work):
    work(state, state.robot.model, 4.0)
    address = server.url.replace('http', 'ws').rstrip('/')

    def reload(times):
        for _ in range(times):
            with connect(address, subprotocols=[f'viser-v{viser.__version__}']) as page:
                page.recv(240.0)
        end = time.monotonic() + 240.0
        infra = server.viser._websock_server
        while infra._client_state_from_id and time.monotonic() < end:
            time.sleep(0.02)
        assert not infra._client_state_from_id and not server.viser.get_clients()
        gc.collect()
        return resident_memory(), threading.active_count()

    early, threads = reload(30)
    late, threads_at_the_end = reload(100)
    assert late - early < 8.0  # [MB]
    assert threads_at_the_end <= threads


def test_what_is_sent_does_not_pile_up(server, page, state, work, monkeypatch):
    monkeypatch.setattr(server.viser, 'get_clients', lambda: {0: None})
    buffer = server.viser._websock_server._broadcast_buffer
    counts = []
    for k in range(60):
        work(state, state.robot.model, 0.2, begin=0.2 * k)
        state.learn(float(k), state.robot.estimate)
        page.step(now=float(k))
        counts.append(len(buffer.message_from_id))
    assert counts[-1] <= counts[10] + 2


def test_nothing_is_sent_while_nobody_looks_and_never_too_often(server, page, state, monkeypatch):
    shown = []
    monkeypatch.setattr(page.scene, 'place', lambda positions: shown.append(positions))
    page.step(now=1.0)
    assert shown == []
    monkeypatch.setattr(server.viser, 'get_clients', lambda: {0: None})
    for k in range(1000):
        page.step(now=2.0 + 0.001 * k)
    assert 10 <= len(shown) <= 21


def test_orders_are_few_and_stop_comes_alone(page, monkeypatch):
    for word in ('save', 'reset', 'save', 'save'):
        press(page, word)
    assert page.orders() == ['save', 'reset'] and page.orders() == []
    for word in ('save', 'stop'):
        press(page, word)
    assert page.orders() == ['stop']
    monkeypatch.setattr(live_page, '_CONFIRM', -1.0)
    for _ in range(3):
        press(page, 'start')
    assert page.orders() == [], 'too late for the second press'


def test_the_page_of_a_description_shows_weights_links_and_a_motion(server, state):
    chain = state.robot.chain
    motion = ShownMotion(np.array([0.0, 2.0]), chain.joint_names, np.array([[0.0, 0.0], [1, 0.5]]))
    page = RobotPage(server, ViewedRobot(drawn_robot(URDF), chain), motion, ('axes', 'inertia'))
    page.step(now=10.0)
    page.step(now=11.0)
    assert page.scene.positions == {'joint_1': 0.5, 'joint_2': 0.25}
    assert 'Torque against gravity' in page.panel.content
    page.select('link_2')
    page.step(now=11.0)
    assert 'Minimal parameters of link_2' in page.link_panel.content
    page.select('base_link')
    page.step(now=11.0)
    assert 'does not move' in page.link_panel.content


def test_sliders_move_the_robot_and_the_button_takes_it_back(server, state):
    page = RobotPage(server, ViewedRobot(drawn_robot(URDF), state.robot.chain))
    page.sliders['joint_1'].value = 0.7
    page.slide()
    page.step()
    assert page.scene.positions['joint_1'] == 0.7
    page.move({'joint_1': 0.0})
    page.step()
    assert page.scene.positions['joint_1'] == 0.0


def test_links_of_a_hand_whose_fingers_follow_can_be_clicked(server, tmp_path):
    joint = ('<joint name="{0}" type="prismatic"><parent link="palm"/><child link="{0}_link"/>'
             '<axis xyz="0 1 0"/><limit lower="0" upper="1" velocity="1" effort="9"/>{1}</joint>'
             '<link name="{0}_link"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" '
             'iyy="1" iyz="0" izz="1"/></inertial></link>')
    text = ('<robot name="hand"><link name="palm"/>' + joint.format('left', '')
            + joint.format('right', '<mimic joint="left" multiplier="-1"/>') + '</robot>')
    robot = ViewedRobot(drawn_robot(text), chain_from_urdf(text))
    page = RobotPage(server, robot, None, ('axes', 'inertia'))
    for link in ('left_link', 'right_link'):
        page.select(link)
        page.step()
        assert link.removesuffix('_link') in page.link_panel.content
