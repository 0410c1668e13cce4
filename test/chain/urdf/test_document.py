# SPDX-License-Identifier: Apache-2.0
"""Bad input: each gives one clear line that names the source, the element and what to do."""


import pytest

from robot_dynamics_ros import RobotDynamicsError, chain_from_urdf
from robot_dynamics_ros.chain.urdf import document
from robot_dynamics_ros.errors import ChainError, UrdfError

LINKS = '<link name="base"/><link name="a"/><link name="b"/>'


def joint(name='j1', parent='base', child='a', kind='revolute', inside='<axis xyz="0 0 1"/>'):
    """Return the text of a joint."""
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/>{inside}</joint>')


def robot(inside):
    """Return the text of a robot."""
    return f'<robot name="r">{inside}</robot>'


TWO_JOINTS = LINKS + joint() + joint('j2', 'a', 'b')

BAD = {
    'empty text': ('', UrdfError, 'the file is empty'),
    'blank text': ('  \n ', UrdfError, 'the file is empty'),
    'not XML': ('<robot', UrdfError, 'not well-formed XML'),
    'plain text with a bracket': ('a < b', UrdfError, 'not well-formed XML'),
    'not a URDF': ('<sdf version="1.6"/>', UrdfError, 'root element is <sdf>'),
    'no link': (robot(''), UrdfError, 'has no <link>'),
    'document type': ('<!DOCTYPE robot><robot name="r"/>', UrdfError, 'DOCTYPE'),
    'entity': ('<!DOCTYPE robot [<!ENTITY a "b">]><robot name="&a;"/>', UrdfError, 'DOCTYPE'),
    'external entity': ('<!DOCTYPE robot [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
                        '<robot name="r"><link name="x"/>&a;</robot>', UrdfError, 'DOCTYPE'),
    'xacro text': ('<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'
                   '<xacro:property name="a" value="1"/></robot>', UrdfError, 'xacro'),
    'two roots': (robot(LINKS + joint()), UrdfError, 'has 2 root links .base, b.'),
    'loop': (robot(LINKS + joint() + joint('j2', 'b', 'a')), UrdfError, 'two parent joints'),
    'ring': (robot(LINKS + joint('j1', 'b', 'a') + joint('j2', 'a', 'b')), UrdfError,
             'part of a loop'),
    'unknown type': (robot(LINKS + joint(kind='hinge')), UrdfError,
                     "joint 'j1': type 'hinge' is unknown"),
    'unknown parent': (robot(LINKS + joint(parent='x')), UrdfError, "parent link 'x'"),
    'unknown child': (robot(LINKS + joint(child='x')), UrdfError, "child link 'x'"),
    'no parent': (robot(LINKS + '<joint name="j" type="fixed"><child link="a"/></joint>'),
                  UrdfError, "joint 'j': <parent link"),
    'zero axis': (robot(LINKS + joint(inside='<axis xyz="0 0 0"/>')), UrdfError,
                  "<axis> of joint 'j1': the axis is zero"),
    'short axis': (robot(LINKS + joint(inside='<axis xyz="0 1"/>')), UrdfError,
                   'must be 3 finite numbers'),
    'NaN in an origin': (robot(LINKS + joint(inside='<origin xyz="0 nan 0"/>')), UrdfError,
                         "<origin> of joint 'j1': xyz='0 nan 0' must be 3 finite numbers"),
    'text in a limit': (robot(LINKS + joint(inside='<limit effort="much" velocity="1"/>')),
                        UrdfError, "<limit> of joint 'j1': effort='much'"),
    'infinite damping': (robot(LINKS + joint(inside='<dynamics damping="inf"/>')), UrdfError,
                         "damping='inf' must be one finite number"),
    'NaN in a mass': (robot('<link name="a"><inertial><mass value="nan"/></inertial></link>'),
                      UrdfError, "<mass> of link 'a': value='nan'"),
    'no tensor': (robot('<link name="a"><inertial><mass value="1"/></inertial></link>'),
                  UrdfError, "<inertial> of link 'a': <inertia> is missing"),
    'half a tensor': (robot('<link name="a"><inertial><mass value="1"/><inertia ixx="1"/>'
                            '</inertial></link>'), UrdfError, "'ixy' is missing"),
    'two inertials': (robot('<link name="a">' + 2 * '<inertial><mass value="1"/><inertia ixx="1" '
                            'ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>' + '</link>'),
                      UrdfError, 'occurs twice'),
    'same link twice': (robot(LINKS + '<link name="a"/>'), UrdfError, 'names must be unique'),
    'same joint twice': (robot(LINKS + joint() + joint(child='b')), UrdfError,
                         'names must be unique'),
    'link without a name': (robot('<link/>'), UrdfError, 'has no name'),
    'mimic without a joint': (robot(LINKS + joint(inside='<mimic/>')), UrdfError,
                              "<mimic> of joint 'j1': attribute 'joint' is missing"),
    'no moving joint': (robot(LINKS + joint(kind='fixed') + joint('j2', 'a', 'b', 'fixed')),
                        ChainError, 'no moving joint'),
    'floating joint': (robot(LINKS + joint(kind='floating') + joint('j2', 'a', 'b')), ChainError,
                       "joint 'j1' on the chain is floating; choose base='a'"),
    'planar joint': (robot(LINKS + joint(kind='planar') + joint('j2', 'a', 'b')), ChainError,
                     "joint 'j1' on the chain is planar"),
    'mimic of itself': (robot(LINKS + joint(inside='<mimic joint="j2"/>')
                              + joint('j2', 'a', 'b', inside='<mimic joint="j1"/>')),
                        ChainError, "joint 'j1' mimics itself"),
    'mimics whose ratios multiply': (robot(
        LINKS + joint() + joint('j2', 'a', 'b', inside='<mimic joint="j1" multiplier="1e12"/>')
        + '<link name="c"/>'
        + joint('j3', 'b', 'c', inside='<mimic joint="j2" multiplier="1e12"/>')),
        ChainError, "joint 'j3' mimics 'j1' by a ratio larger than"),
}


@pytest.mark.parametrize('name', BAD)
def test_bad_text_is_refused_with_one_clear_line(name):
    text, error, message = BAD[name]
    with pytest.raises(error, match=message) as caught:
        chain_from_urdf(text)
    assert isinstance(caught.value, RobotDynamicsError)
    assert '\n' not in str(caught.value)


@pytest.mark.parametrize('options, message', [
    ({'base': 'x'}, "base link 'x' does not exist; links: base, a, b"),
    ({'tip': 'x'}, "tip link 'x' does not exist"),
    ({'base': 'b', 'tip': 'a'}, "base link 'b' is not an ancestor of tip link 'a'"),
    ({'tip': 'a', 'tips': ['b']}, 'give tip or tips, not both'),
    ({'tips': ['a', 'x']}, "tip link 'x' does not exist"),
    ({'locked': ['k*']}, "joint 'k\\*' to be locked matches no joint"),
    ({'tip': 'base'}, "no moving joint between 'base' and 'base'"),
    ({'locked': {'x': 0.0}}, "joint 'x' to be locked does not exist; joints: j1, j2"),
    ({'locked': {'j1': float('nan')}}, 'cannot be locked at nan'),
    ({'gravity': (0.0, 0.0)}, 'gravity must be three finite numbers'),
    ({'gravity': (0.0, 0.0, float('inf'))}, 'gravity must be three finite numbers'),
])
def test_a_chain_that_does_not_exist_is_refused(options, message):
    with pytest.raises(ChainError, match=message):
        chain_from_urdf(robot(TWO_JOINTS), **options)


def test_a_missing_file_is_named():
    with pytest.raises(UrdfError, match=r'missing\.urdf: no such file'):
        chain_from_urdf('missing.urdf')


def test_errors_name_file_and_line(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text('<robot name="r">\n<link name="a"/>\n<link name="b"/>\n<joint name="j" '
                    'type="revolute"><parent link="a"/><child link="b"/>\n<axis xyz="0 0 0"/>'
                    '</joint>\n</robot>')
    with pytest.raises(UrdfError, match=r"^arm\.urdf:5: <axis> of joint 'j'"):
        chain_from_urdf(path)


def test_a_text_over_the_limit_is_refused_before_it_is_parsed(tmp_path, monkeypatch):
    monkeypatch.setattr(document, 'MAXIMUM_SIZE', 100)
    text = robot(TWO_JOINTS)
    with pytest.raises(UrdfError, match='more than the limit of 100'):
        chain_from_urdf(text)
    path = tmp_path / 'large.urdf'
    path.write_text(text)
    with pytest.raises(UrdfError, match=r'large\.urdf: \d+ bytes is more than'):
        chain_from_urdf(path)


def test_an_external_entity_is_never_read(tmp_path):
    secret = tmp_path / 'secret'
    secret.write_text('xyzzy')
    text = (f'<!DOCTYPE robot [<!ENTITY a SYSTEM "{secret.as_uri()}">]>'
            '<robot name="r">&a;</robot>')
    with pytest.raises(UrdfError) as caught:
        chain_from_urdf(text)
    assert 'xyzzy' not in str(caught.value)


def test_what_dynamics_does_not_need_never_matters():
    odd = ('<material name="m"/><material name="m"/>'
           '<transmission name="t"><joint/></transmission><transmission/>'
           '<gazebo><plugin filename="x"/></gazebo><sensor name="s"/>')
    links = LINKS.replace('<link name="a"/>', (
        '<link name="a"><visual><geometry><mesh filename="package://no/where.dae"/></geometry>'
        '<material name="z"><texture filename="nowhere.png"/></material></visual>'
        '<collision><geometry><box size="a b c"/></geometry></collision></link>'))
    chain = chain_from_urdf(robot(odd + links + joint() + joint('j2', 'a', 'b')))
    assert chain.joint_names == ('j1', 'j2')
    ignored = [str(finding) for finding in chain.findings if finding.kind == 'ignored_element']
    assert ignored == ['<gazebo> is not used (1 times)', '<sensor> is not used (1 times)']


@pytest.mark.parametrize('tag', ['mechanicalReduction', 'mechanical_reduction'])
def test_the_reduction_of_a_transmission_is_kept(tag):
    gear = (f'<transmission name="t"><joint name="j1"/><actuator name="m"><{tag}>-50</{tag}>'
            '</actuator></transmission>')
    chain = chain_from_urdf(robot(TWO_JOINTS + gear))
    assert chain.joints[0].reduction == -50.0
    assert chain.joints[1].reduction != chain.joints[1].reduction


@pytest.mark.parametrize('value', ['fifty', '0', 'nan'])
def test_a_reduction_that_is_no_number_is_a_finding(value):
    gear = (f'<transmission name="t"><joint name="j1"/><actuator name="m"><mechanicalReduction>'
            f'{value}</mechanicalReduction></actuator></transmission>')
    chain = chain_from_urdf(robot(TWO_JOINTS + gear))
    assert 'ignored_transmission' in {finding.kind for finding in chain.findings}
    assert chain.joints[0].reduction != chain.joints[0].reduction
