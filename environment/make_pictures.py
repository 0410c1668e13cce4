# SPDX-License-Identifier: Apache-2.0
"""
Make the pictures of the README and of docs/ anew: `make pictures`, or some: ARGS='view live'.

Pages are taken from a headless Chromium (apt install chromium). The demo takes some minutes; its
output is kept in output/pictures, and taken from there with --keep.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
ROOT = Path(__file__).resolve().parents[1]
DOCS, OUTPUT = ROOT / 'docs', ROOT / 'output' / 'pictures'
sys.path.insert(0, str(ROOT / 'test'))

import numpy as np
from support.browser import Browser, browser_path
from support.robots import example_robots

from robot_dynamics_ros import load_robot, robot_picture
from robot_dynamics_ros.cli.main import main as command
from robot_dynamics_ros.estimation.online import OnlineEstimator
from robot_dynamics_ros.motion.joint_state import JointSample
from robot_dynamics_ros.picture.drawn_robot import drawn_robot
from robot_dynamics_ros.simulation.compared_controllers import CONTROLLERS
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error
from robot_dynamics_ros.view.guarded_server import GuardedServer
from robot_dynamics_ros.view.live_page import BUTTONS, LivePage
from robot_dynamics_ros.view.live_state import LiveState
from robot_dynamics_ros.view.live_text import LiveText
from robot_dynamics_ros.view.robot_page import RobotPage
from robot_dynamics_ros.view.viewed_robot import ViewedRobot

ARM = ROOT / 'urdf' / 'demo_arm.urdf'
JOINTS = ROOT / 'config' / 'demo_arm_joints.yaml'
POSTURE = {'joint_1': 0.5, 'joint_2': 0.5, 'joint_4': -1.5, 'joint_6': 0.9}

#: Robots of the gallery: file below the robots of example-robot-data, and a posture.
GALLERY = {
    'panda': ('panda_description/urdf/panda.urdf', {
        'panda_joint2': 0.3, 'panda_joint4': -1.9, 'panda_joint6': 2.2}),
    'ur5': ('ur_description/urdf/ur5_robot.urdf', {
        'shoulder_lift_joint': -1.2, 'elbow_joint': 1.4, 'wrist_1_joint': -1.8,
        'wrist_2_joint': -1.57}),
    'ur10': ('ur_description/urdf/ur10_robot.urdf', {
        'shoulder_lift_joint': -0.9, 'elbow_joint': 1.2, 'wrist_1_joint': -1.9,
        'wrist_2_joint': -1.57}),
    'so101': ('so_arm_description/urdf/so101.urdf', {}),
    'z1': ('z1_description/urdf/z1.urdf', {'joint2': 1.2, 'joint3': -1.4, 'joint4': 0.4}),
    'kinova': ('kinova_description/robots/kinova.urdf', {}),
    'tiago_dual': ('tiago_description/robots/tiago_dual.urdf', {}),
    'talos': ('talos_data/robots/talos_full_v2.urdf', {}),
    'g1': ('g1_description/urdf/g1_29dof_rev_1_0.urdf', {}),
    'anymal': ('anymal_c_simple_description/urdf/anymal.urdf', {}),
    'allegro_hand': ('allegro_hand_description/urdf/allegro_right_hand.urdf', {}),
    'baxter': ('baxter_description/urdf/baxter.urdf', {}),
}


@contextmanager
def stepping(page):
    """Let a page live for a while."""
    def live(seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            page.step()
            time.sleep(0.05)
    yield live


def shot(browser, path, live):
    """Take a picture of a page once it is whole."""
    live(3.0)
    browser.evaluate('document.querySelectorAll("[class*=Notification-closeButton]")'
                     '.forEach(each => each.click())')
    live(2.0)
    browser.screenshot(path)


def view(path):
    """Take the page of `robot-dynamics view`."""
    from robot_dynamics_ros.chain.joints_file import read_joints_file
    from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf

    chain = read_joints_file(JOINTS).applied_to(chain_from_urdf(ARM))
    with GuardedServer(port=0) as server, Browser() as browser:
        page = RobotPage(server, ViewedRobot(drawn_robot(ARM), chain), None, ('axes', 'gravity'))
        page.move(POSTURE)
        with stepping(page) as live:
            live(0.2)
            browser.open(server.url)
            browser.wait(lambda: live(0.1) or 'Torque against' in browser.text())
            page.select('link_4')
            shot(browser, path, live)


def learning_state():
    """Return a robot that has worked and learned for a while."""
    robot = load_robot(ARM.read_text(encoding='utf-8'), joints_file=JOINTS)
    truth = load_robot(ARM.read_text(encoding='utf-8'), joints_file=JOINTS).model
    wrong = with_parameter_error(robot.chain, 0.25, 1)
    truth.swap(truth.mlc.of(wrong), wrong.joint_physics)
    state, estimator = LiveState(robot), OnlineEstimator(robot.chain,
                                                         effort=robot.effort_semantics)
    rng, n = np.random.default_rng(1), len(robot.chain)
    w, phase = 0.6 + 0.23 * np.arange(n), 0.4 * np.arange(n)
    middle = np.array([POSTURE.get(name, 0.0) for name in robot.chain.joint_names])
    text = LiveText(robot.estimate)
    for k in range(2000):
        t = 0.01 * k
        q = middle + 0.5 * np.sin(w * t + phase)
        qd, qdd = 0.5 * w * np.cos(w * t + phase), -0.5 * w**2 * np.sin(w * t + phase)
        tau = truth.torque(q, qd, qdd) + rng.normal(0.0, 0.1, n)
        state.observe(JointSample(t, t, q, qd, tau))
        estimator.feed_many(np.array([t]), q[None], qd[None], tau[None])
        if k % 100 == 99:
            estimate = estimator.estimate()
            state.learn(t, estimate)
            text.take(estimate)
    state.hear('identification', {'state': state.estimate.state.name, **{
        f'excitation of {name}': f'{100 * part:.0f} %' for name, part in
        zip(robot.chain.joint_names, estimator.excitation)}})
    state.hear('feedforward', {'learned parameters': 'they predict the last motion better'})
    return state, text


def live_page(tab=None):
    """Return a function that takes the live page, with one of its tabs open."""
    def take(path):
        state, _ = learning_state()
        with GuardedServer(port=0) as server, Browser() as browser:
            page = LivePage(server, ViewedRobot(drawn_robot(ARM), state.robot.chain), state,
                            tuple(BUTTONS))
            with stepping(page) as lively:
                browser.open(server.url)
                browser.wait(lambda: lively(0.1) or 'Error of the predicted' in browser.text())
                if tab is not None:
                    browser.click(tab)
                shot(browser, path, lively)
    return take


def terminal(path):
    """Take the live view on a terminal of 80 columns."""
    state, text = learning_state()
    lines = text.lines(state.estimate, 20.0, 0.5)
    ruler = ('<pre style="font:15px/1.35 monospace;background:#14181e;color:#e6e9ee;'
             'display:inline-block;margin:0;padding:14px;width:80ch;overflow:hidden">')
    with tempfile.NamedTemporaryFile('w', suffix='.html', encoding='utf-8') as file:
        file.write('<meta charset="utf-8"><body style="margin:0;overflow:hidden">' + ruler
                   + '\n'.join(lines) + '</pre>')
        file.flush()
        with Browser(752, 30 + round(20.25 * len(lines))) as browser:  # of whole lines
            browser.open(f'file://{file.name}')
            browser.wait_for('parameter')
            browser.screenshot(path)


def demo_output(keep=False):
    """Return the folder of a demo, which is run where there is none."""
    if not (keep and (OUTPUT / 'report.html').is_file()):
        subprocess.run([sys.executable, '-m', 'robot_dynamics_ros.cli.main', 'demo', '-o',
                        str(OUTPUT)], check=True, cwd=ROOT)
    return OUTPUT


def page_of(name, width, dark=False):
    """Return a function that takes a picture of the beginning of a report."""
    def take(path):
        page = demo_output(keep=True) / name
        with Browser(width, 1100 if width > 500 else 1500, 1.0 if width > 500 else 1.5,
                     dark) as browser:
            browser.open(f'file://{page}')
            browser.wait_for('Changes from the URDF')
            browser.evaluate('document.head.insertAdjacentHTML("beforeend", "<style>html '
                             '{overflow:hidden} html::-webkit-scrollbar {display:none}</style>")')
            browser.screenshot(path)
    return take


def demo(path):
    """Take the robot of the demo, before and after."""
    path.write_bytes((demo_output(keep=True) / 'tracking.png').read_bytes())


def adaptive_payload(path):
    """Compare controllers on an arm whose payload changes."""
    words = [word for law in CONTROLLERS for word in ('--controller', law)]
    command(['simulate', str(ARM), '--joints', str(JOINTS), *words, '--payload', '3,0,0,0.1@4',
             '--plot', str(path)])


def adaptive_case_study(path):
    """Draw the case study of Lu and Meng."""
    subprocess.run([sys.executable, 'benchmark/adaptive_case_study.py', str(path)], check=True,
                   cwd=ROOT)


def papers_figures(path):
    """Draw the figures of the papers, all at once."""
    subprocess.run([sys.executable, '-c', 'import sys; from pathlib import Path; '
                    'from papers.figures import draw; draw(Path(sys.argv[1]))',
                    str(path.parent)], check=True, cwd=ROOT,
                   env={**os.environ, 'PYTHONPATH': f'benchmark{os.pathsep}test'})


def gallery(name):
    """Return a function that draws a robot of the gallery."""
    file, posture = GALLERY[name]

    def draw(path):
        [urdf] = [each for each in example_robots() if each.as_posix().endswith(file)]
        path.write_bytes(robot_picture(urdf, posture, width=480, height=400))
    return draw


#: Every picture below docs/, and what makes it.
PICTURES = {
    'demo.png': demo,
    'view.png': view,
    'live.png': live_page(),
    'live_parameters.png': live_page('Parameters'),
    'terminal.png': terminal,
    'report.png': page_of('calibration/report.html', 1280),
    'report_phone.png': page_of('calibration/report.html', 390),
    'report_dark.png': page_of('calibration/report.html', 1280, dark=True),
    'demo_report.png': page_of('report.html', 1280),
    'demo_report_phone.png': page_of('report.html', 390),
    'adaptive_payload.png': adaptive_payload,
    'adaptive_case_study.png': adaptive_case_study,
    'papers_angeles.png': papers_figures,
    'papers_friction.png': papers_figures,
    **{f'gallery/{name}.png': gallery(name) for name in GALLERY},
}


def main():
    """Make the pictures that are asked for, or all."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('names', nargs='*', metavar='NAME',
                        help='part of the name of a picture (default: all)')
    parser.add_argument('--keep', action='store_true',
                        help='take the output of the last demo, where there is one')
    arguments = parser.parse_args()
    if browser_path() is None:
        sys.exit('pictures: no Chromium here; apt install chromium')
    chosen = [name for name in PICTURES
              if not arguments.names or any(part in name for part in arguments.names)]
    if not arguments.keep and any('demo' in name or 'report' in name for name in chosen):
        demo_output()
    for name in chosen:
        (DOCS / name).parent.mkdir(exist_ok=True)
        PICTURES[name](DOCS / name)
        print(f'docs/{name}: {(DOCS / name).stat().st_size / 1024:.0f} kB', flush=True)


if __name__ == '__main__':
    main()
