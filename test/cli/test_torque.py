# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics torque, as a user calls it."""

import re

import numpy as np
import pytest
from support.oracle import Oracle
from support.robots import URDF_FOLDER
from support.tolerances import OTHER_IMPLEMENTATION, assert_close

from robot_dynamics_ros import (
    ElasticModel,
    JointPhysics,
    MlcEstimate,
    chain_from_urdf,
    compile_model,
    minimal_parameters,
    read_joints_file,
    write_parameters,
)
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.files.csv_table import read_csv_table, write_csv_table

ROBOT = URDF_FOLDER / 'rx90.urdf'
NAMES = [f'joint_{i}' for i in range(1, 7)]


@pytest.fixture
def swing():
    """Return times and a smooth motion with its derivatives."""
    t = np.linspace(0.0, 2.0, 401)
    amplitude, w = np.linspace(0.3, 0.8, 6), np.linspace(2.0, 4.0, 6)
    return (t, amplitude * np.sin(np.outer(t, w)), amplitude * w * np.cos(np.outer(t, w)),
            -amplitude * w**2 * np.sin(np.outer(t, w)))


def write(path, t, **arrays):
    """Write a trajectory file."""
    columns = {f'{prefix}_{name}': values[:, i] for prefix, values in arrays.items()
               for i, name in enumerate(NAMES)}
    write_csv_table(path, {'t': t, **columns})
    return str(path)


def torques(tmp_path, *words):
    """Run the command and return its table."""
    out = tmp_path / 'tau.csv'
    assert main(['torque', str(ROBOT), '-o', str(out), *words]) == 0
    return read_csv_table(out).required_joints('tau', NAMES)


def test_torques_are_those_of_pinocchio_and_the_friction_of_the_urdf(tmp_path, swing, capsys):
    t, q, qd, qdd = swing
    tau = torques(tmp_path, '--trajectory', write(tmp_path / 'a.csv', t, q=q, qd=qd, qdd=qdd))
    chain = chain_from_urdf(ROBOT)
    oracle = Oracle(chain)
    expected = np.array([oracle.inverse_dynamics(*each) for each in zip(q, qd, qdd)])
    expected += compile_model(chain).friction_torque(qd)
    assert_close(tau, expected, OTHER_IMPLEMENTATION)
    assert 'peak' in capsys.readouterr().out


def test_missing_derivatives_come_from_a_spline(tmp_path, swing):
    t, q, qd, qdd = swing
    whole = torques(tmp_path, '--trajectory', write(tmp_path / 'a.csv', t, q=q, qd=qd, qdd=qdd))
    without_qdd = torques(tmp_path, '--trajectory', write(tmp_path / 'b.csv', t, q=q, qd=qd))
    only_q = torques(tmp_path, '--trajectory', write(tmp_path / 'c.csv', t, q=q))
    inside = slice(5, -5)  # ends of a spline are less exact
    assert_close(without_qdd[inside], whole[inside], 1e-4)
    assert_close(only_q[inside], whole[inside], 1e-3)


def test_a_joint_beyond_its_limit_is_named_with_its_times(tmp_path, swing, capsys):
    t, q, qd, qdd = swing
    path = write(tmp_path / 'a.csv', t, q=q, qd=qd, qdd=30.0 * qdd)
    torques(tmp_path, '--trajectory', path)
    assert 'joint_2 exceeds its effort limit of 280 at' in capsys.readouterr().out


def test_the_joints_file_is_taken_into_account(tmp_path, swing):
    t, q, qd, qdd = swing
    path = write(tmp_path / 'a.csv', t, q=q, qd=qd, qdd=qdd)
    plain = torques(tmp_path, '--trajectory', path)
    joints = tmp_path / 'joints.yaml'
    joints.write_text('joints: {joint_3: {rotor_inertia: 2.0}}')
    changed = torques(tmp_path, '--trajectory', path, '--joints', str(joints))
    assert_close(changed - plain, 2.0 * qdd * (np.array(NAMES) == 'joint_3'), 1e-9)


def test_identified_parameters_replace_those_of_the_description(tmp_path, swing, capsys):
    t, q, qd, qdd = swing
    path = write(tmp_path / 'a.csv', t, q=q, qd=qd, qdd=qdd)
    chain = chain_from_urdf(ROBOT)
    heavy = chain.with_standard_parameters(2.0 * chain.standard_parameters)
    learned = heavy.with_joint_physics(JointPhysics(viscous=np.full(6, 5.0)))
    file = tmp_path / 'parameters.yaml'
    write_parameters(file, MlcEstimate.not_estimated(learned, minimal_parameters(learned)))
    tau = torques(tmp_path, '--trajectory', path, '--parameters', str(file))
    assert_close(tau, compile_model(learned).torque(q, qd, qdd), OTHER_IMPLEMENTATION)
    joints = tmp_path / 'joints.yaml'
    joints.write_text('joints: {joint_2: {stiffness: 900.0, rotor_inertia: 0.4}}\n')
    assert main(['torque', str(ROBOT), '--trajectory', path, '--joints', str(joints),
                 '--parameters', str(file)]) == 2
    assert 'are those of rigid joints' in capsys.readouterr().err


def test_a_plot_is_drawn(tmp_path, swing):
    t, q, _, _ = swing
    picture = tmp_path / 'tau.png'
    torques(tmp_path, '--trajectory', write(tmp_path / 'a.csv', t, q=q), '--plot', str(picture))
    assert picture.read_bytes().startswith(b'\x89PNG')


@pytest.mark.parametrize('text, message', [
    ('', 'no samples'),
    ('t,q_joint_1\n', 'no samples'),
    ('t,t\n0,1\n', 'column t occurs twice'),
    ('q_joint_1\n0\n', "no column 't'"),
    ('t,q_a\n0,0\n1,0\n', 'columns q_joint_1 ... are missing; columns are t, q_a'),
    ('t,q_joint_1\n0,0\n1,0\n', 'column q_joint_2 is missing'),
    ('t,q_joint_1\n0,0\n0,0\n', 'bad.csv:3: time must be finite and increase'),
    ('t,q_joint_1\n0,zero\n', 'must be numbers'),
    ('t,q_joint_1\n0,0,0\n', 'bad.csv:2: 3 cells, the header has 2'),
    ('t,' + ','.join(f'q_{n}' for n in NAMES) + '\n0' + ',0' * 6 + '\n', 'too few'),
    ('t,' + ','.join(f'q_{n}' for n in NAMES) + '\n0' + ',0' * 5 + ',nan\n1' + ',0' * 6 + '\n',
     'bad.csv:2: q_joint_6 is not a finite number'),
])
def test_a_bad_table_is_one_line_and_exit_code_2(tmp_path, capsys, text, message):
    path = tmp_path / 'bad.csv'
    path.write_text(text)
    assert main(['torque', str(ROBOT), '--trajectory', str(path)]) == 2
    printed = capsys.readouterr()
    assert message in printed.err and printed.err.count('\n') == 1 and printed.out == ''


def test_a_missing_table_and_an_unwritable_place_are_named(tmp_path, swing, capsys):
    t, q, _, _ = swing
    path = write(tmp_path / 'a.csv', t, q=q)
    assert main(['torque', str(ROBOT), '--trajectory', str(tmp_path / 'none.csv')]) == 2
    assert 'none.csv: cannot be read' in capsys.readouterr().err
    nowhere = str(tmp_path / 'no' / 'where.csv')
    assert main(['torque', str(ROBOT), '--trajectory', path, '-o', nowhere]) == 2
    assert 'cannot be written' in capsys.readouterr().err


@pytest.fixture
def without_mass(tmp_path):
    """Write the planar arm without any <inertial>, and only without the first one."""
    text = (URDF_FOLDER / 'planar_2r.urdf').read_text()
    for name, count in (('all', 0), ('first', 1)):
        changed = re.sub(r'<inertial>.*?</inertial>', '', text, count=count, flags=re.DOTALL)
        (tmp_path / f'{name}.urdf').write_text(changed)
    t = np.linspace(0.0, 1.0, 11)
    write_csv_table(tmp_path / 'motion.csv', {'t': t, 'q_joint_1': t, 'q_joint_2': t * t})
    return tmp_path


@pytest.mark.parametrize('command', ['torque', 'simulate'])
def test_a_robot_without_any_mass_has_no_torques(without_mass, command, capsys):
    assert main([command, str(without_mass / 'all.urdf'),
                 '--trajectory', str(without_mass / 'motion.csv')]) == 2
    assert 'no moving link has mass or inertia' in capsys.readouterr().err


def test_a_link_without_mass_is_warned_about(without_mass, capsys):
    assert main(['torque', str(without_mass / 'first.urdf'),
                 '--trajectory', str(without_mass / 'motion.csv')]) == 0
    assert 'warning: link_1 moves but has no mass' in capsys.readouterr().err
    assert main(['generate', str(without_mass / 'all.urdf')]) == 0
    assert capsys.readouterr().err.count('warning:') == 2


def test_elastic_joints_need_the_torque_of_their_motors(tmp_path, swing, capsys):
    t, q, qd, qdd = swing
    joints = tmp_path / 'joints.yaml'
    joints.write_text('joints:\n  joint_2: {stiffness: 900.0, rotor_inertia: 0.4}\n')
    file = write(tmp_path / 'motion.csv', t, q=q, qd=qd, qdd=qdd)
    tau = torques(tmp_path, '--trajectory', file, '--joints', str(joints))
    assert 'Elastic joints, largest deflection: joint_2 ' in capsys.readouterr().out
    w = np.linspace(2.0, 4.0, 6)
    chain = read_joints_file(joints).applied_to(chain_from_urdf(ROBOT))
    stiffness = np.array([np.inf, 900.0, *[np.inf] * 4])
    exact = ElasticModel(chain, stiffness).inverse(q, qd, qdd, -w**2 * qd, -w**2 * qdd)
    assert np.max(np.abs(tau - exact.torque)) < 1e-4 * np.max(np.abs(exact.torque))
    rigid = compile_model(chain).torque(q, qd, qdd)
    assert np.max(np.abs(tau - rigid)) > 0.01 * np.max(np.abs(rigid))
    motor = read_csv_table(tmp_path / 'tau.csv').required_joints('q_motor', ['joint_2'])
    assert_close(motor[:, 0], exact.position[:, 1], OTHER_IMPLEMENTATION)


def test_an_elastic_joint_without_a_rotor_is_refused(tmp_path, swing, capsys):
    joints = tmp_path / 'joints.yaml'
    joints.write_text('joints: {joint_2: {stiffness: 900.0}}\n')
    file = write(tmp_path / 'motion.csv', swing[0], q=swing[1])
    assert main(['torque', str(ROBOT), '--trajectory', file, '--joints', str(joints)]) != 0
    assert 'joint_2: an elastic joint needs a rotor_inertia' in capsys.readouterr().err
