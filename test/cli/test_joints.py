# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics joints, and limits on the command line, as a user calls them."""

import re

import numpy as np
import pytest
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.cli.main import main

ARM = str(URDF_FOLDER / 'demo_arm.urdf')

#: One joint that turns, one that slides; nothing is known about the first.
BARE = """<robot name="bare">
<link name="base"/>
<link name="upper"/>
<link name="fore"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="on" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
<limit lower="0" upper="0" effort="0" velocity="0"/></joint>
<joint name="slide" type="prismatic"><parent link="upper"/><child link="fore"/>
<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="50" velocity="2"/></joint>
</robot>"""


@pytest.fixture
def bare(tmp_path):
    path = tmp_path / 'bare.urdf'
    path.write_text(BARE)
    return path


def test_what_is_written_can_be_read_and_changes_nothing(tmp_path, capsys):
    assert main(['joints', ARM]) == 0
    printed = capsys.readouterr()
    assert printed.err == ''
    path = tmp_path / 'joints.yaml'
    path.write_text(printed.out)
    chain = chain_from_urdf(ARM)
    read = read_joints_file(path).applied_to(chain)
    assert read.joints == chain.joints
    np.testing.assert_array_equal(read.joint_physics.viscous, chain.joint_physics.viscous)


def test_every_line_may_be_taken_into_use(tmp_path, capsys):
    """Without the "# " of its entries the file says what the URDF says."""
    main(['joints', ARM])
    lines = [re.sub(r'^( *)# (?=\w+: [-{\d])', r'\1', line) if not line.startswith('#')
             else line for line in capsys.readouterr().out.splitlines()]
    path = tmp_path / 'joints.yaml'
    path.write_text('\n'.join(lines))
    chain = chain_from_urdf(ARM)
    file = read_joints_file(path)
    assert all({'limits', 'rotor_inertia', 'viscous', 'coulomb', 'effort'} <= set(entry)
               for entry in file.joints.values())
    assert file.applied_to(chain).joints == chain.joints


def test_what_is_missing_is_named(bare, tmp_path, capsys):
    assert main(['joints', str(bare), '-o', str(tmp_path / 'joints.yaml')]) == 0
    missing = capsys.readouterr().err.splitlines()
    assert [line.split('(')[0] for line in missing] == [
        'missing: effort limit of on ', 'missing: velocity limit of on ',
        'missing: position limits of on ', 'missing: mass and inertia of upper ']
    text = (tmp_path / 'joints.yaml').read_text()
    assert text.count('MISSING') == 4
    assert '# effort: ?' in text and '[N m] MISSING' in text
    assert '"on":' in text  # the word alone means true in YAML
    assert '# effort: 50.0' in text and '[N] from the URDF' in text


def test_limits_that_are_given_stand_in_the_file(bare, tmp_path, capsys):
    path = tmp_path / 'joints.yaml'
    assert main(['joints', str(bare), '--effort-limit', '80', '--velocity-limit', 'slide=3',
                 '-o', str(path)]) == 0
    chain = read_joints_file(path).applied_to(chain_from_urdf(bare))
    np.testing.assert_array_equal(chain.effort_limits, [80.0, 50.0])
    np.testing.assert_array_equal(chain.velocity_limits, [np.nan, 3.0])
    assert 'effort limit' not in capsys.readouterr().err


def test_a_preset_whose_gain_is_open_asks_for_it(tmp_path, capsys):
    path = tmp_path / 'joints.yaml'
    assert main(['joints', ARM, '--preset', 'ur_driver_currents', '-o', str(path)]) == 0
    assert 'missing: torque per A of every joint' in capsys.readouterr().err
    assert main(['torque', ARM, '--trajectory', 'nothing.csv', '--joints', str(path)]) == 2
    assert 'joint_1' in capsys.readouterr().err  # 1.0 would be a guess


def test_a_limit_on_the_command_line_reaches_the_command(tmp_path, capsys):
    motion = tmp_path / 'motion.csv'
    names = chain_from_urdf(ARM).joint_names
    t = np.linspace(0.0, 1.0, 50)
    rows = [','.join(['t', *(f'q_{name}' for name in names)])]
    rows += [','.join(f'{x:.6f}' for x in (now, *np.full(7, 0.3))) for now in t]
    motion.write_text('\n'.join(rows))
    words = ['torque', ARM, '--trajectory', str(motion)]
    assert main(words) == 0
    assert 'No joint exceeds' in capsys.readouterr().out
    assert main([*words, '--effort-limit', 'joint_2=0.5']) == 0
    assert 'joint_2 exceeds its effort limit of 0.5' in capsys.readouterr().out
    assert main([*words, '--effort-limit', '0.5']) == 0  # all limits are known
    assert 'No joint exceeds' in capsys.readouterr().out


@pytest.mark.parametrize('limit, message', [
    ('elbow=3', "joint 'elbow' is not on the chain; its joints are joint_1"),
    ('much', 'is not a positive number'), ('joint_1=-3', 'is not a positive number'),
    ('nan', 'is not a positive number')])
def test_a_wrong_limit_is_one_line_and_exit_code_2(limit, message, capsys):
    try:
        code = main(['joints', ARM, '--effort-limit', limit])
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    printed = capsys.readouterr()
    assert message in printed.err and printed.err.count('\n') == 1
