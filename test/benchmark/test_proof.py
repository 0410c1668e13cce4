# SPDX-License-Identifier: Apache-2.0
"""The proof: what it asks and how it judges, with an engine of our own in place of others'."""

import importlib.util
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import proof.__main__ as command
import pytest
from proof.description import impossible_link, rigid_links, root_link, with_rounder_inertias
from proof.engine import JUDGES, EngineArm, Judge, Refused
from proof.joint_forces import joint_step
from proof.judgement import Finding, misses, torque_table, tracking_table
from proof.parity import disagreement, disagreements
from proof.tracking import (
    TrackingErrors,
    controlled,
    learn,
    tracked,
    true_chain,
    with_efforts,
    wrong_robot,
)
from support.tolerances import OTHER_IMPLEMENTATION, SAME_ALGEBRA, assert_close

from robot_dynamics_ros import JointPhysics, StateError, chain_from_urdf, compile_model
from robot_dynamics_ros.chain.joints_file import JointsFile
from robot_dynamics_ros.motion.playing.lively_motion import lively_motion
from robot_dynamics_ros.motion.playing.player import repeated
from robot_dynamics_ros.robot import Robot
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

ROOT = Path(__file__).resolve().parent.parent.parent
STEP = 0.002


class OwnEngine:
    """An engine as the proof asks for it, with the physics of this package."""

    def __init__(self, chain):
        self.model, self.n = compile_model(chain), len(chain)
        self.place(np.zeros(self.n))

    def inverse_dynamics(self, q, qd, qdd):
        return self.model.inverse_dynamics(q, qd, qdd)

    def place(self, q):
        self.q, self.qd = np.array(q), np.zeros(self.n)

    def state(self):
        return self.q, self.qd

    def advance(self, tau):
        physics = self.model.joint_physics
        mass = self.model.mass_matrix(self.q) - np.diag(physics.rotor_inertia)
        bias = self.inverse_dynamics(self.q, self.qd, np.zeros(self.n))
        self.qd = joint_step(mass, bias, self.qd, tau, physics, STEP).velocity
        self.q = self.q + STEP * self.qd


def urdf(name):
    return (ROOT / 'urdf' / f'{name}.urdf').read_text()


def as_loader(change=lambda text: text):
    """Return a library that is this package, on a changed URDF."""
    return lambda text, names, physics, step: OwnEngine(chain_from_urdf(change(text)))


# URDFs for other readers

@pytest.mark.parametrize('name', ['demo_arm', 'scara', 'puma_4dof'])
def test_the_torque_of_the_links_is_all_that_is_left(name):
    links = rigid_links(urdf(name))
    assert not any(f'<{tag}' in links for tag in ('dynamics', 'visual', 'collision'))
    assert disagreement(as_loader(), urdf(name)) < SAME_ALGEBRA


def test_robots_with_joints_that_follow_others_are_not_compared():
    found = disagreements(as_loader(), [ROOT / 'urdf' / 'demo_two_arms.urdf'])
    assert found == {'demo_two_arms': 'has joints that follow others'}


def test_a_frame_at_the_end_is_left_out_and_a_flange_with_mass_is_not():
    text = urdf('demo_arm')
    frame = ('<joint name="f" type="fixed"><parent link="flange"/><child link="tool"/></joint>'
             '<link name="tool"/></robot>')
    links = rigid_links(text.replace('</robot>', frame))
    assert 'name="flange"' in links and 'name="tool"' not in links


def test_the_root_link_is_nobodys_child():
    assert root_link(urdf('scara')) == 'base_link'


def test_a_link_that_cannot_exist_is_named():
    assert impossible_link(urdf('angeles_6r')) == 'link_1'
    assert impossible_link(urdf('demo_arm')) == impossible_link(urdf('stanford')) == ''


def test_rounder_inertias_change_no_torque_that_counts():
    error = disagreement(as_loader(lambda text: with_rounder_inertias(text, 1e-13)),
                         urdf('stanford'))
    assert 0.0 < error < SAME_ALGEBRA
    assert disagreement(as_loader(lambda text: with_rounder_inertias(text, 1e-6)),
                        urdf('stanford')) > OTHER_IMPLEMENTATION


# torques

@pytest.mark.parametrize(('judge', 'module'), [('mujoco', 'mujoco'), ('pinocchio', 'pinocchio')])
@pytest.mark.parametrize('name', ['demo_arm', 'planar_2r', 'stanford'])
def test_the_judges_of_the_test_environment_agree(judge, module, name):
    pytest.importorskip(module)
    assert disagreement(JUDGES[judge].loader(), urdf(name)) < OTHER_IMPLEMENTATION


def test_mujoco_refuses_a_body_that_cannot_exist():
    pytest.importorskip('mujoco')
    found = disagreements(JUDGES['mujoco'].loader(), [ROOT / 'urdf' / 'angeles_6r.urdf'])
    assert 'link_1' in found['angeles_6r']


def test_a_heavier_link_is_a_disagreement():
    heavier = as_loader(lambda text: text.replace('<mass value="2.5"/>', '<mass value="2.6"/>'))
    assert disagreement(heavier, urdf('planar_2r')) > 1e-3


def test_a_refused_robot_is_a_reason():
    def load(*_):
        raise Refused('too heavy')
    found = disagreements(load, [ROOT / 'urdf' / 'planar_2r.urdf'])
    assert found == {'planar_2r': 'too heavy'}


# rotors and friction

def frictional(rng, n):
    factor = rng.normal(size=(n, n))
    physics = JointPhysics(rng.uniform(0, 1, n), rng.uniform(0, 1, n), rng.uniform(0, 2, n),
                           np.zeros(n))
    return factor @ factor.T + 0.1 * np.eye(n), physics


def test_a_joint_step_obeys_newton_and_coulomb(rng):
    held = 0
    for _ in range(50):
        mass, physics = frictional(rng, 4)
        bias, qd, tau = rng.normal(size=(3, 4))
        qd *= 1e-3  # many joints stop in this step
        found = joint_step(mass, bias, qd, tau, physics, 1e-3)
        inertia = mass + np.diag(physics.rotor_inertia)
        assert_close(inertia @ found.acceleration,
                     tau - bias - physics.viscous * found.velocity - found.dry, 1e-9)
        sliding = np.abs(found.velocity) > 1e-9
        held += np.count_nonzero(~sliding)
        assert np.all(np.abs(found.dry) <= physics.coulomb * (1.0 + 1e-12))
        assert_close(found.dry[sliding],
                     (physics.coulomb * np.sign(found.velocity))[sliding], SAME_ALGEBRA)
    assert held > 20


def test_a_joint_at_rest_stays_at_rest_below_the_limit_of_its_friction():
    physics = replace(JointPhysics.zero(1), coulomb=np.array([2.0]))
    found = joint_step(np.eye(1), np.zeros(1), np.zeros(1), np.array([1.9]), physics, 1e-3)
    assert abs(found.velocity[0]) < 1e-15 and found.dry[0] == pytest.approx(1.9)
    found = joint_step(np.eye(1), np.zeros(1), np.zeros(1), np.array([2.5]), physics, 1e-3)
    assert found.acceleration[0] == pytest.approx(0.5) and found.dry[0] == pytest.approx(2.0)


# the closed loop

def small_robot():
    chain = chain_from_urdf(urdf('planar_2r'))
    physics = JointPhysics(np.array([0.3, 0.1]), np.array([1.0, 0.5]), np.array([2.0, 1.0]),
                           np.zeros(2))
    return Robot(chain.with_joint_physics(physics), JointsFile('none'))


def test_what_was_learned_tracks_better_than_pid_and_than_the_urdf():
    robot, told = small_robot(), small_robot()
    truth = with_parameter_error(robot.chain, 0.25, 1)

    def cell():
        return controlled(EngineArm(truth, OwnEngine(truth), STEP, np.zeros(2)), told, seed=1)

    learn(cell(), robot, repeated(lively_motion(robot.chain, duration=5.0), 2))
    assert robot.estimate.samples > 0
    motion = lively_motion(robot.chain, duration=3.0, reach=0.3)  # another one
    pid, by_urdf, learned, exact = (
        tracked(cell(), robot.chain, motion, fill).total_rms for fill in (
            lambda trajectory: trajectory, with_efforts(told), with_efforts(robot),
            with_efforts(Robot(truth, JointsFile('none')))))
    assert learned < 0.2 * pid and learned < by_urdf
    assert learned < 1.1 * exact  # what is left is not the model's fault


def test_a_loop_that_leaves_the_motion_ends_with_the_reason():
    robot = small_robot()
    engine = OwnEngine(robot.chain)
    engine.advance = lambda tau: None  # a robot that does not move
    cell = controlled(EngineArm(robot.chain, engine, STEP, np.ones(2)), robot, seed=1)
    with pytest.raises(StateError, match=r'stopped: joint joint_. (is|does not)'):
        tracked(cell, robot.chain, lively_motion(robot.chain), lambda trajectory: trajectory)


def test_an_arm_refuses_what_is_not_finite():
    robot = small_robot()
    engine = OwnEngine(robot.chain)
    arm = EngineArm(robot.chain, engine, STEP, np.zeros(2))
    with pytest.raises(StateError, match='finite'):
        arm.advance([np.nan, 0.0])
    engine.qd = np.full(2, np.inf)
    with pytest.raises(StateError, match='diverged'):
        arm.advance([0.0, 0.0])


def test_the_arm_in_the_engines_is_not_the_one_of_the_urdf():
    urdf_mass = [link.mass for link in wrong_robot().chain.links]
    true_mass = [link.mass for link in true_chain(1).links]
    assert np.all(np.abs(np.log(np.divide(true_mass, urdf_mass))) > 0.001)


# the judgement

GOOD = {name: Finding(judge.title, '1.0', bool(judge.joints), '', {'arm': 1e-14, 'odd': 'refused'},
                      TrackingErrors(0.02, 0.004, 0.001) if judge.joints else None)
        for name, judge in JUDGES.items()}


def with_finding(**changes):
    """Return good findings but for one of Drake's."""
    return list({**GOOD, 'drake': replace(GOOD['drake'], **changes)}.values())


def test_nothing_is_missed_where_all_aims_are_reached():
    assert misses(list(GOOD.values())) == []


@pytest.mark.parametrize(('changes', 'said'), [
    ({'torques': {'arm': 2e-9}}, 'Drake, arm: the torques differ by 2.0e-09'),
    ({'torques': {'arm': float('nan')}}, 'Drake, arm: the torques differ by nan'),
    ({'torques': {'arm': 'refused'}}, 'Drake takes none of the robots'),
    ({'tracking': TrackingErrors(0.02, 0.004, 0.0021)},
     'Drake: the tracking error is 9.5 times smaller'),
    ({'tracking': TrackingErrors(0.02, 0.004, float('nan'))},
     'Drake: the tracking error is nan times smaller'),
    ({'tracking': None}, 'Drake: the tracking error is no times smaller'),
    ({'problem': 'exit code -11'}, 'Drake failed: exit code -11'),
])
def test_an_aim_that_is_missed_is_named(changes, said):
    assert misses(with_finding(**changes)) == [said]


def test_one_engine_may_be_missing_but_not_two():
    missing = {'version': '', 'problem': 'not installed', 'torques': {}, 'tracking': None}
    assert misses(with_finding(**missing)) == []
    two = [replace(finding, **missing) if finding.title in ('Drake', 'DART') else finding
           for finding in GOOD.values()]
    assert misses(two) == ['torques: 3 libraries are there, 4 are needed',
                           'tracking: 2 engines are there, 3 are needed']


def test_the_tables_have_a_line_for_every_judge():
    findings = with_finding(version='', problem='not installed', torques={}, tracking=None)
    torques, tracking = torque_table(findings), tracking_table(findings)
    assert [line.split()[0] for line in torques.splitlines()[2:]] == [
        finding.title for finding in findings]
    assert 'MuJoCo 1.0' in tracking and '20.00' in tracking and '20.0\n' in tracking
    assert 'Drake (not installed)' in torques and 'Drake (not installed)' in tracking
    assert 'Pinocchio' not in tracking


def test_the_exit_code_is_that_of_the_aims(capsys):
    assert command.report(list(GOOD.values()), 1.0) == 0
    assert 'all aims are reached' in capsys.readouterr().out
    assert command.report(with_finding(torques={'arm': 1e-3}), 1.0) == 1
    assert 'the torques differ' in capsys.readouterr().out


def test_a_finding_survives_its_file():
    for finding in GOOD.values():
        assert Finding.from_data(json.loads(json.dumps(finding.as_data()))) == finding


# the processes of the judges

def test_a_judge_that_is_not_installed_is_a_finding(monkeypatch, tmp_path):
    monkeypatch.setitem(JUDGES, 'drake', Judge('Drake', 'no-such-thing-on-pypi', 'in_drake', 'x'))
    found = command.ask_in_process('drake', command.Task(tmp_path / 'motion.npz', 1), tmp_path)
    assert not found.installed and found.problem == 'not installed' and found.simulates


@pytest.mark.parametrize(('stderr', 'problem'), [
    ('Traceback\nRuntimeError: no such mesh\n', 'RuntimeError: no such mesh'),
    ('', 'exit code -11')])
def test_a_judge_that_crashes_is_a_finding(monkeypatch, tmp_path, stderr, problem):
    monkeypatch.setitem(JUDGES, 'drake', Judge('Drake', 'numpy', 'in_drake', 'x'))
    monkeypatch.setattr(subprocess, 'run', lambda command, **_: subprocess.CompletedProcess(
        command, -11, '', stderr))
    found = command.ask_in_process('drake', command.Task(tmp_path / 'motion.npz', 1), tmp_path)
    assert found.installed and found.problem == problem and misses([found])[0].startswith('Drake')


def test_a_motion_survives_its_file(tmp_path):
    motion = lively_motion(small_robot().chain)
    command.save_motion(tmp_path / 'motion.npz', motion)
    again = command.load_motion(tmp_path / 'motion.npz')
    assert again.joint_names == motion.joint_names
    for name in ('times', 'positions', 'velocities', 'accelerations'):
        np.testing.assert_array_equal(getattr(again, name), getattr(motion, name))


# the environment

@pytest.fixture
def set_up_tools(monkeypatch, tmp_path):
    """Return the set-up of tools as a module, on an empty folder."""
    monkeypatch.syspath_prepend(str(ROOT / 'environment'))
    monkeypatch.delitem(sys.modules, 'set_up', raising=False)
    spec = importlib.util.spec_from_file_location(
        'set_up_tools', ROOT / 'environment' / 'set_up_tools.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, 'ROOT', tmp_path)
    monkeypatch.setattr(module.set_up, 'check_machine', lambda: None)
    module.ran, module.commands = [], {}

    def run(name, *words):
        module.ran.append(name)
        module.commands[name] = words
        if name == 'venv':
            module.set_up.PYTHON.parent.mkdir(exist_ok=True)
            module.set_up.PYTHON.touch()
        if name in module.failing:
            sys.exit('no matching distribution')

    module.failing = set()
    monkeypatch.setattr(module.set_up, 'run', run)
    yield module
    sys.modules.pop('set_up', None)


@pytest.mark.parametrize(('name', 'installed'), [
    ('docs', []), ('proof', ['dartpy', 'drake', 'pin']), ('peers', ['figaroh']),
    ('speed', ['casadi', 'adam-robotics']),
])
def test_every_target_gets_an_environment_of_its_own(set_up_tools, tmp_path, name, installed):
    assert set_up_tools.main([name]) == 0
    assert set_up_tools.ran[:2] == ['venv', 'venv'] and set_up_tools.ran[2] == 'requirements'
    assert [path.name for path in tmp_path.iterdir()] == [f'.venv-{name}']
    peers = {each.removeprefix('peer_') for each in set_up_tools.ran[3:]}
    assert bool(peers) == bool(installed) and set(installed) <= peers
    makefile = (ROOT / 'Makefile').read_text()
    assert f'set_up_tools.py {name}\n' in makefile and f'.venv-{name}/bin/python' in makefile


def test_a_peer_whose_own_requirement_has_no_wheel_gets_it_from_source(set_up_tools):
    assert set_up_tools.main(['peers']) == 0
    words = set_up_tools.commands['peer_figaroh']
    assert words[-1] == '--no-binary=picos' and words[-2].startswith('figaroh==')


def test_an_engine_that_cannot_be_installed_is_left_out_and_tried_again(set_up_tools, capsys):
    set_up_tools.failing = {'peer_drake'}
    assert set_up_tools.main(['proof']) == 0
    assert 'drake' in capsys.readouterr().out
    assert set_up_tools.ran[-1] == 'peer_pin'  # the ones after it were installed all the same
    set_up_tools.failing, set_up_tools.ran[:] = set(), []
    set_up_tools.left_out.clear()  # a new process
    assert set_up_tools.main(['proof']) == 0
    assert set_up_tools.ran[0] == 'peer_dartpy'
    set_up_tools.ran.clear()
    assert set_up_tools.main(['proof']) == 0
    assert set_up_tools.ran == []


def test_requirements_that_cannot_be_installed_end_the_set_up(set_up_tools):
    set_up_tools.failing = {'requirements'}
    with pytest.raises(SystemExit, match='no matching'):
        set_up_tools.main(['proof'])


def test_pinocchio_is_the_one_of_the_tests(set_up_tools):
    wanted = (ROOT / 'environment' / 'development.txt').read_text().splitlines()
    peers = set_up_tools.peers(set_up_tools.TOOLS['proof'])
    assert next(line for line in peers if line.startswith('pin==')) in wanted


def test_every_judge_is_installed_by_its_set_up(set_up_tools):
    lines = set_up_tools.peers(set_up_tools.TOOLS['proof']) + (
        ROOT / 'environment' / 'pip-only.txt').read_text().splitlines()
    assert {judge.distribution for judge in JUDGES.values()} <= {
        line.partition('==')[0] for line in lines}
