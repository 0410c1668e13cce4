# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics inspect, as a user calls it."""

import json

import numpy as np
import pytest
from support.robots import ROBOTS, URDF_FOLDER, example_robot

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.chain.chain import Finding
from robot_dynamics_ros.cli.inspect import Inspection
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.cli.support.findings import grouped_findings
from robot_dynamics_ros.cli.support.terminal import shortened

DEMO = str(URDF_FOLDER / 'demo_arm.urdf')


@pytest.mark.parametrize('name', ROBOTS)
def test_every_bundled_robot_can_be_inspected(name, capsys):
    assert main(['inspect', str(URDF_FOLDER / f'{name}.urdf')]) == 0
    printed = capsys.readouterr()
    assert name in printed.out
    assert ('E_parent' if name == 'demo_two_arms' else 'beta=alpha [deg]') in printed.out
    assert max(map(len, printed.out.splitlines())) <= 80
    assert printed.err == ''


def test_json_has_the_promised_keys(capsys):
    assert main(['inspect', DEMO, '--json', '--tip', 'flange']) == 0
    report = json.loads(capsys.readouterr().out)
    assert {'robot', 'base', 'tip', 'joints', 'findings'} <= set(report)
    assert report['tip'] == 'flange'
    assert [joint['name'] for joint in report['joints']] == [f'joint_{i}' for i in range(1, 8)]
    assert report['joints'][2]['d'] == 0.37
    assert report['joints'][0]['link']['mass'] == 3.6


def test_joints_of_a_tree_have_parents():
    inspection = Inspection(chain_from_urdf(URDF_FOLDER / 'demo_two_arms.urdf'))
    lines = inspection.as_text().splitlines()
    assert not any('E_(i-1)' in line for line in lines)
    rows = [line.split() for line in lines if ' P  ' in line or ' R  ' in line]
    assert ['11', 'R', 'right_joint_1', '1', '0', '90', '0.32', '0'] in rows
    assert ['10', 'P', 'left_other_finger_joint', '8', '0', '90', '0', '0'] in rows
    assert ['11', 'R', 'right_joint_1', '-2.9', '2.9', '2.4', '150'] in rows
    joint = inspection.as_data()['joints'][9]
    assert (joint['name'], joint['parent'], joint['link']['name']) == (
        'right_joint_1', 1, 'right_link_1')


@pytest.mark.parametrize(('group', 'joints'), [('left_arm', 7), ('arms', 14)])
def test_a_group_of_an_srdf_chooses_joints(group, joints, tmp_path, capsys):
    file = tmp_path / 'robot.srdf'
    file.write_text("""<robot name="demo_two_arms">
      <group name="left_arm"><chain base_link="torso" tip_link="left_hand"/></group>
      <group name="right_arm"><chain base_link="torso" tip_link="right_hand"/></group>
      <group name="arms"><group name="left_arm"/><group name="right_arm"/></group>
    </robot>""")
    words = ['inspect', str(URDF_FOLDER / 'demo_two_arms.urdf'), '--group', group]
    assert main([*words, '--srdf', str(file), '--set', 'lin']) == 0
    assert f'of {10 * joints} link parameters' in capsys.readouterr().out
    assert main(words) == 2
    assert '--group NAME needs --srdf FILE' in capsys.readouterr().err


def test_minimal_parameters_and_the_self_check_are_reported(capsys):
    assert main(['inspect', str(URDF_FOLDER / 'rx90.urdf'), '--json']) == 0
    report = json.loads(capsys.readouterr().out)
    minimal = report['minimal_parameters']
    assert minimal['counts'] == {'lin': 36, 'khalil': 36, 'numeric': 36, 'gravity': 10,
                                 'inertia_matrix': 34}
    assert (minimal['r'], minimal['s']) == (1, 2)
    assert minimal['separate_rotor_inertias'] == ['Ia3', 'Ia4', 'Ia5', 'Ia6']
    k2_x = next(entry for entry in minimal['entries'] if entry['name'] == 'k2_x')
    assert k2_x['formula'] == 'MX2 + 0.45*M3 + 0.45*M4 + 0.45*M5 + 0.45*M6'
    assert k2_x['unit'] == 'kg m'
    assert len(report['self_check']) >= 10
    assert max(report['self_check'].values()) < 1e-10


def test_the_text_says_where_the_groups_of_joints_begin(capsys):
    assert main(['inspect', str(URDF_FOLDER / 'scara.urdf')]) == 0
    printed = capsys.readouterr().out
    assert 'joints r = 1, s = none' in printed
    assert 'formulations agree' in printed


def test_a_large_robot_fits_80_columns_and_its_wrong_inertia_comes_first(capsys):
    assert main(['inspect', str(example_robot('tiago')), '--tip', 'arm_7_link']) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    findings = text[text.index('Findings (61'):].splitlines()
    assert findings[1].startswith('Wrong') and 'base_antenna_left_link' in findings[2]
    assert len(findings) < 20
    assert 'hand_index_abd_joint and 32 more: is not on the chain' in ' '.join(text.split())
    assert '16 lengths and angles were taken as 0 or a multiple of pi/2' in text
    assert 'rounded to' not in text
    assert '0000000' not in text  # 0.02, not 0.0200000000013


def test_a_whole_robot_fits_80_columns_and_joints_can_be_told_apart(capsys):
    assert main(['inspect', str(example_robot('tiago'))]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    joints = text[text.index('Joints: frame'):text.index('Limits [rad')]
    assert 'wheel_right_joint' in joints
    parts = joints.split('gamma and epsilon; they are 0 for all other joints\n')
    assert 'hand_thumb_abd_joint' in parts[1] and 'wheel_right_joint' not in parts[1]


def test_the_letters_are_explained(capsys):
    assert main(['inspect', DEMO]) == 0
    text = ' '.join(capsys.readouterr().out.split())
    for words in ('R revolute, P prismatic', 'b, beta are a, alpha of modified DH',
                  'first moments MXi, MYi, MZi', 'Iai is the inertia of rotor i',
                  'Joint r is the first revolute one'):
        assert words in text


def test_a_long_name_loses_its_middle():
    assert shortened('left_shoulder_very_long_joint', 16) == 'left_sh..g_joint'
    assert shortened('elbow', 8) == 'elbow'


def test_findings_of_one_kind_share_a_line():
    findings = [Finding('unknown_effort_limit', name, 'limit unknown') for name in 'abcdefgh']
    findings.append(Finding('negative_mass', 'hand', 'mass is -1 kg'))
    text = grouped_findings(findings)
    assert text.index('hand: mass is -1 kg') < text.index('a, b, c, d, e, f and 2 more: limit')
    assert grouped_findings([]) == 'No findings.'


def test_gravity_and_locks_are_taken(capsys):
    words = ['inspect', DEMO, '--json', '--gravity=0,9.81,0', '--lock', 'joint_7=0.5',
             '--lock', 'joint_6']
    assert main(words) == 0
    report = json.loads(capsys.readouterr().out)
    assert report['gravity'] == [0.0, 9.81, 0.0]
    assert len(report['joints']) == 5


def test_json_has_null_for_what_is_unknown(tmp_path, capsys):
    path = tmp_path / 'r.urdf'
    path.write_text('<robot name="r"><link name="a"/><link name="b"/><joint name="j" '
                    'type="continuous"><parent link="a"/><child link="b"/></joint></robot>')
    assert main(['inspect', str(path), '--json']) == 0
    joint = json.loads(capsys.readouterr().out)['joints'][0]
    assert joint['effort_limit'] is None and joint['upper'] is None


@pytest.mark.parametrize('words, message', [
    (['inspect', 'nowhere.urdf'], 'nowhere.urdf: no such file'),
    (['inspect', DEMO, '--tip', 'hand'], "tip link 'hand' does not exist"),
    (['inspect', DEMO, '--lock', 'elbow=1'], "joint 'elbow' to be locked does not exist"),
    (['inspect', DEMO, '--lock', 'joint_1=much'], 'is not of the form JOINT=VALUE'),
    (['inspect', DEMO, '--gravity', '1,2'], 'is not of the form X,Y,Z'),
    (['inspect'], 'the following arguments are required: ROBOT'),
    (['explode'], "invalid choice: 'explode'"),
])
def test_wrong_input_is_one_line_and_exit_code_2(words, message, capsys):
    try:
        code = main(words)
    except SystemExit as stop:  # argparse ends the program itself
        code = stop.code
    printed = capsys.readouterr()
    assert code == 2
    assert message in printed.err
    assert printed.err.count('\n') == 1 and printed.out == ''


@pytest.mark.parametrize(('name', 'count'), [
    ('lin', 33), ('khalil', 33), ('numeric', 33), ('gravity', 9), ('inertia_matrix', 31)])
def test_one_set_alone(name, count, capsys):
    robot = str(URDF_FOLDER / 'stanford.urdf')
    assert main(['inspect', robot, '--set', name]) == 0
    assert f'set {name}: {count} of 60 link parameters' in capsys.readouterr().out
    assert main(['inspect', robot, '--set', name, '--json']) == 0
    data = json.loads(capsys.readouterr().out)
    assert data['set'] == name and len(data['entries']) == count and not data['findings']


def test_the_conversion_matrix_between_sets(capsys):
    robot = str(URDF_FOLDER / 'stanford.urdf')
    assert main(['inspect', robot, '--set', 'khalil', '--conversion', 'lin']) == 0
    text = capsys.readouterr().out
    assert 'Conversion from khalil to lin, 33 x 33 (Lin 1994, Corollary 6)' in text
    assert 'U2_11-22  XX2 - ZZ4 + ZZ5 - ZZ6\n' in text
    assert main(['inspect', robot, '--set', 'khalil', '--conversion', 'lin', '--json']) == 0
    conversion = json.loads(capsys.readouterr().out)['conversion']
    assert np.linalg.matrix_rank(conversion['matrix']) == 33
    assert main(['inspect', robot, '--set', 'gravity', '--conversion', 'lin']) != 0
    assert 'set of a part of the torque' in capsys.readouterr().err
    assert main(['inspect', robot, '--conversion', 'khalil', '--latex']) == 2
    assert '--conversion is printed as text or with --json' in capsys.readouterr().err


def test_formulas_with_rotors_for_other_programs(capsys):
    robot = str(URDF_FOLDER / 'stanford.urdf')
    assert main(['inspect', robot, '--latex']) == 0
    assert r'I_{a1} \\' in capsys.readouterr().out
    assert main(['inspect', robot, '--set', 'khalil', '--sympy']) == 0
    assert "'ZZ1': ZZ1 + YY2 + 0.2*MZ2 + 0.01*M2 + ZZ3 + Ia1," in capsys.readouterr().out
