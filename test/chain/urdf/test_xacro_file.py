# SPDX-License-Identifier: Apache-2.0
"""Robot descriptions written with xacro, expanded by xacro itself."""

import sys

import pytest

from robot_dynamics_ros import XacroFile, chain_from_urdf
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.errors import UrdfError

TEXT = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="half" default="0.25"/>
<xacro:property name="length" value="${2 * $(arg half)}"/>
<link name="base"/><link name="a"/>
<link name="b"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0"
izz="0.1"/></inertial></link>
<joint name="j1" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
</joint>
<joint name="j2" type="continuous"><parent link="a"/><child link="b"/>
<origin xyz="${length} 0 0"/><axis xyz="0 0 1"/></joint></robot>"""


@pytest.fixture
def xacro_file(tmp_path):
    path = tmp_path / 'arm.urdf.xacro'
    path.write_text(TEXT)
    return path


def test_a_xacro_file_is_expanded(xacro_file):
    assert chain_from_urdf(xacro_file).joints[1].b == 0.5


def test_arguments_reach_xacro(xacro_file):
    assert chain_from_urdf(XacroFile(xacro_file, {'half': '0.4'})).joints[1].b == 0.8


def test_arguments_are_given_on_the_command_line_as_in_ros(xacro_file, capsys):
    assert main(['inspect', 'half:=0.4', str(xacro_file)]) == 0
    assert '0.8' in capsys.readouterr().out
    assert main(['inspect', str(xacro_file)]) == 0
    assert '0.8' not in capsys.readouterr().out


def test_an_argument_that_is_missing_is_asked_for_once(tmp_path, capsys):
    path = tmp_path / 'arm.urdf.xacro'
    path.write_text(TEXT.replace('<xacro:arg name="half" default="0.25"/>', ''))
    assert main(['inspect', str(path)]) == 2
    printed = capsys.readouterr().err
    assert printed.count('Undefined') == 1 and 'argument half' in printed
    assert printed.endswith('; give arguments as NAME:=VALUE\n')


@pytest.mark.parametrize('prefix', ['', 'a workspace'])
def test_a_package_that_is_not_found_is_named_once(xacro_file, tmp_path, monkeypatch, capsys,
                                                   prefix):
    monkeypatch.setenv('AMENT_PREFIX_PATH', prefix and str(tmp_path))
    xacro_file.write_text(TEXT.replace(
        '<xacro:arg', '<xacro:include filename="$(find arm_parts)/parts.xacro"/><xacro:arg', 1))
    assert main(['inspect', str(xacro_file)]) == 2
    printed = capsys.readouterr().err
    assert printed.count("'arm_parts' not found" if prefix else 'AMENT_PREFIX_PATH') == 1
    assert '<class' not in printed and 'where their workspace is sourced' in printed


def test_a_command_without_a_robot_takes_no_arguments_of_xacro(capsys):
    with pytest.raises(SystemExit) as ended:
        main(['presets', 'half:=0.4'])
    assert ended.value.code == 2
    assert 'presets takes no xacro arguments (half)' in capsys.readouterr().err


def test_a_plain_urdf_takes_no_arguments(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text('<robot name="r"/>')
    with pytest.raises(UrdfError, match=r'arm\.urdf: takes no xacro arguments \(half\)'):
        chain_from_urdf(XacroFile(path, {'half': '0.4'}))


def test_a_xacro_file_needs_the_xacro_module(xacro_file, monkeypatch):
    monkeypatch.setitem(sys.modules, 'xacro', None)
    with pytest.raises(UrdfError, match='the xacro module is not installed'):
        chain_from_urdf(xacro_file)


@pytest.mark.parametrize(('old', 'new', 'reason'), [
    ('${2 *', '${lenght *', "name 'lenght' is not defined"),
    ('<link name="base"/>', '<xacro:bogus/>', 'unknown macro name: xacro:bogus'),
    ('</robot>', '', ''),
])
def test_a_xacro_file_that_cannot_be_expanded_is_refused_in_one_line(xacro_file, old, new, reason,
                                                                     capfd):
    xacro_file.write_text(TEXT.replace(old, new))
    assert main(['inspect', str(xacro_file)]) == 2
    printed = capfd.readouterr()
    assert printed.err.startswith('robot-dynamics inspect: arm.urdf.xacro: xacro failed: ')
    assert printed.err.count('\n') == 1 and reason in printed.err and not printed.out
