# SPDX-License-Identifier: Apache-2.0
"""Descriptions made to do harm: each is refused with one of our errors, or read in silence."""

import itertools
import warnings

import numpy as np
import pytest

from robot_dynamics_ros import RobotDynamicsError, chain_from_urdf, minimal_parameters
from robot_dynamics_ros.chain.urdf.document import MAXIMUM_LINKS
from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf_text
from robot_dynamics_ros.errors import ChainError, UrdfError
from robot_dynamics_ros.robot import MAXIMUM_JOINTS, load_robot

INERTIAL = ('<inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{mass}"/>'
            '<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{ixx}" iyz="0" izz="{ixx}"/></inertial>')
PLAIN = {'xyz': '0.1 0 0', 'rpy': '0 0 0', 'mass': '1', 'ixx': '1', 'joint_xyz': '0 0 0.2',
         'joint_rpy': '0 0 0', 'axis': '0 1 0', 'lower': '-1', 'upper': '1', 'velocity': '2',
         'effort': '10', 'damping': '0.1', 'friction': '0.2', 'reduction': '50'}


def arm(robot_name='r', attributes='', inside='', **changes):
    """Return the text of an arm of two joints, with changes."""
    values = {**PLAIN, **changes}
    inertial = INERTIAL.format(**values)
    joints = ''.join(
        f'<joint name="j{i}" type="revolute" {attributes}><parent link="l{i}" {attributes}/>'
        f'<child link="l{i + 1}"/><origin xyz="{values["joint_xyz"]}" rpy="{values["joint_rpy"]}" '
        f'{attributes}/><axis xyz="{values["axis"]}"/><limit lower="{values["lower"]}" '
        f'upper="{values["upper"]}" velocity="{values["velocity"]}" effort="{values["effort"]}"/>'
        f'<dynamics damping="{values["damping"]}" friction="{values["friction"]}"/></joint>'
        '<transmission name="t"><joint name="j0"/><actuator name="m"><mechanicalReduction>'
        f'{values["reduction"]}</mechanicalReduction></actuator></transmission>'
        for i in range(2))
    links = ''.join(f'<link name="l{i}" {attributes}>{inertial}</link>' for i in range(3))
    return f'<robot name="{robot_name}" {attributes}>{links}{joints}{inside}</robot>'


def row_of_links(count, kind='fixed'):
    """Return the text of a robot whose links hang on each other; the last joint moves."""
    links = ''.join(f'<link name="l{i}"/>' for i in range(count))
    joints = ''.join(
        f'<joint name="j{i}" type="{kind if i < count - 2 else "revolute"}">'
        f'<parent link="l{i}"/><child link="l{i + 1}"/><axis xyz="0 0 1"/></joint>'
        for i in range(count - 1))
    return f'<robot name="r">{links}{joints}</robot>'


def outcome(text):
    """Return the error class of reading a text, or None; a warning is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        try:
            chain = chain_from_urdf_text(text)
            assert len(chain) > 10 or np.all(np.isfinite(minimal_parameters(chain).values))
        except RobotDynamicsError as error:
            assert '\n' not in str(error)
            assert str(error).isprintable()
            assert len(str(error)) < 2000
            return type(error)
    return None


def bomb(levels=9, width=10):
    """Return a document type whose last entity has width^levels letters."""
    entities = '<!ENTITY e0 "ha">' + ''.join(
        f'<!ENTITY e{i} "{f"&e{i - 1};" * width}">' for i in range(1, levels + 1))
    return f'<!DOCTYPE robot [{entities}]>'


WHOLE = {
    'entities in an attribute': bomb() + '<robot name="&e9;"/>',
    'entities in a text': bomb() + '<robot name="r">&e9;</robot>',
    'quadratic entities': f'<!DOCTYPE robot [<!ENTITY a "{"x" * 100000}">]><robot name="r">'
                          + '<link name="&a;"/>' * 1000 + '</robot>',
    'parameter entities': '<!DOCTYPE robot [<!ENTITY % p SYSTEM "file:///dev/zero">%p;]>'
                          '<robot name="r"/>',
    'DTD that is fetched': '<!DOCTYPE robot SYSTEM "http://127.0.0.1:9/x.dtd"><robot name="r"/>',
    '10,000 nested elements': '<robot name="r">' + '<a>' * 10000 + '</a>' * 10000 + '</robot>',
    '10,000 nested elements in a joint': arm(inside='<joint name="k" type="fixed">'
                                             + '<origin>' * 10000 + '</origin>' * 10000
                                             + '</joint>'),
    'NUL': '<robot name="r\0"/>',
    'NUL by number': '<robot name="r&#0;"/>',
    'half a character': '<robot name="\ud800"/>',
    'no XML at all': 'x' * 5000,
    'a path': '/etc/passwd',
    'many attributes': '<robot ' + ' '.join(f'a{i}="1"' for i in range(100000)) + ' name="r"/>',
    'an attribute of a megabyte': arm(mass='9' * 2**20),
    'a number of a megabyte': arm(reduction='1' * 2**20),
    'a name of a megabyte': arm('r' * 2**20),
    'a tag of a megabyte': f'<{"r" * 2**20}/>',
    'line ends in a name': arm('a&#10;[FATAL] all is well'),
    'terminal codes in a name': arm('a&#x9b;2J'),
    'line ends in a type': arm().replace('"revolute"', '"a&#10;b"'),
    '100,000 different elements': arm(inside=''.join(f'<x{i}/>' for i in range(100000))),
    '100,000 transmissions': arm(inside='<transmission/>' * 100000),
    'transmissions in transmissions': arm(inside=('<transmission>' * 200 + '<a/>' * 1000
                                                  + '</transmission>' * 200) * 50),
    '100,000 visuals': arm(inside='<link name="v">' + '<visual/>' * 100000 + '</link>'),
    'blanks in the declaration': '<?xml' + ' ' * 2**20 + '?><robot name="r"/>',
    'a link that carries itself': '<robot name="r"><link name="a"/><joint name="j" type="fixed">'
                                  '<parent link="a"/><child link="a"/></joint></robot>',
    'the longest row of links': row_of_links(MAXIMUM_LINKS),
    'the longest row of joints': row_of_links(MAXIMUM_LINKS, 'revolute'),
    'a mimic of itself': arm(inside='<link name="m"/><joint name="k" type="revolute"><parent '
                                    'link="l2"/><child link="m"/><mimic joint="k"/></joint>'),
    'text in an origin of a fixed joint': arm(
        inside='<link name="m"/><joint name="k" type="fixed"><parent link="l2"/><child link="m"/>'
               '<axis xyz="a"/><axis xyz="b"/></joint>'),
}


@pytest.mark.parametrize('name', WHOLE)
def test_a_hostile_text_is_refused_or_read(name):
    assert outcome(WHOLE[name]) in (None, UrdfError, ChainError), 'an error of another stage'


@pytest.mark.parametrize('encoding', ['utf-16', 'utf-7', 'latin-1', 'EBCDIC-US', 'no-such', ''])
def test_the_encoding_that_a_text_declares_means_nothing(encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?>' + arm('é')
    assert chain_from_urdf_text(text).robot == 'é'


@pytest.mark.parametrize('encoding', ['utf-16', 'utf-8-sig', 'latin-1', 'cp500'])
def test_a_file_in_another_encoding_is_read_or_refused(encoding, tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_bytes(arm('é').encode(encoding))
    try:
        assert chain_from_urdf(path).robot == 'é'
    except UrdfError:
        assert encoding in ('latin-1', 'cp500')


@pytest.mark.parametrize('name', ['attrib', 'nsmap', '_tag', '_parent', 'xml:base', 'self', 'cls',
                                  'element', 'tag', 'mass', 'filename', 'type_', 'robot'])
def test_unknown_attributes_do_not_become_keyword_arguments(name):
    assert chain_from_urdf_text(arm(attributes=f'{name}="x"')).joint_names == ('j0', 'j1')


@pytest.mark.parametrize(('key', 'value'), list(itertools.product(
    [key for key in PLAIN if key not in ('rpy', 'joint_rpy')],
    ['1e308', '-1e308', '1e200', '1e16', '1e-320', '5e-324', '1e-160', '-0.0', '1e400', 'inf',
     'nan', '1_0', '\u0661', '0x10', '1e', ''])))
def test_an_extreme_number_gives_an_error_or_silence(key, value):
    text = f'{value} 0 {value}' if key in ('xyz', 'joint_xyz', 'axis') else value
    assert outcome(arm(**{key: text})) in (None, UrdfError)


@pytest.mark.parametrize('value', ['1e15', '1e308', '1e-320'])
def test_extreme_angles_give_an_error_or_silence(value):
    assert outcome(arm(rpy=f'{value} 0 {value}', joint_rpy=f'0 {value} 0')) in (None, UrdfError)


@pytest.mark.parametrize('value', ['1e16', '1.7976931348623157e+308'])
def test_limits_too_large_for_any_robot_mean_that_there_are_none(value):
    joint = chain_from_urdf_text(arm(lower=f'-{value}', upper=value, velocity=value,
                                     effort=value)).joints[0]
    assert (joint.lower, joint.upper) == (-float('inf'), float('inf'))
    assert joint.velocity_limit != joint.velocity_limit
    assert joint.effort_limit != joint.effort_limit


def test_a_description_is_text_and_never_opens_a_file(tmp_path):
    path = tmp_path / 'arm.urdf'
    path.write_text(arm())
    assert len(chain_from_urdf(path)) == len(chain_from_urdf(str(path))) == 2
    for read in (chain_from_urdf_text, load_robot):
        with pytest.raises(UrdfError, match='URDF text: not well-formed XML'):
            read(str(path))


def test_a_description_of_5000_letters_is_refused():
    with pytest.raises(UrdfError, match='not well-formed'):
        load_robot('x' * 5000)


@pytest.mark.parametrize('path', ['x' * 5000, 'a\0b', '/', '/dev/zero', '/proc/self/mem', '.'])
def test_a_path_that_cannot_be_read_is_a_urdf_error(path):
    with pytest.raises(UrdfError) as caught:
        chain_from_urdf(path)
    assert len(str(caught.value)) < 500


def test_a_robot_with_too_many_links_is_refused():
    with pytest.raises(UrdfError, match=f'more than {MAXIMUM_LINKS} links'):
        chain_from_urdf(row_of_links(MAXIMUM_LINKS + 1))


def test_a_chain_too_long_to_compile_is_refused():
    with pytest.raises(ChainError, match=f'more than the limit of {MAXIMUM_JOINTS}'):
        load_robot(row_of_links(MAXIMUM_JOINTS + 2, 'revolute'))


def test_a_robot_that_describes_itself_with_many_unknown_elements_gives_few_findings():
    text = arm(inside=''.join(f'<x{i}/>' for i in range(1000)))
    assert len(chain_from_urdf(text).findings) < 50
