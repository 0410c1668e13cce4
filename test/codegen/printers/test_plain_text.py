# SPDX-License-Identifier: Apache-2.0
"""Names of a robot are data: whatever they are, the generated source stays the same program."""

import ast
import os
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.chains import random_chain

from robot_dynamics_ros.codegen.printers.plain_text import plain
from robot_dynamics_ros.codegen.printers.standalone import standalone_source

COMPILER = shutil.which(os.environ.get('CC', 'cc'))
FUNCTION = 'gravity_torque'

#: Names that left the comment or the docstring once, or would in a careless escape.
ATTACKS = ['"""\nraise SystemExit("owned")\n"""', '*/ int owned; /*', '*\\\n/ int owned; /*',
           '*??/\n/ int owned; /*', '\\', '\\N{x}', '\\x', '\\u12', '"', '""', '*', '/', '?',
           '??/', '\r', '\0', '\f', '\x85', '\u2028int owned;', '\u2029', '\u202e', '\ufeff',
           '²x', 'ª', '', 'if', '9', 'é', '%:define', '# coding: utf-7', '-*- coding: rot13 -*-',
           '\n#error owned', '\n_Pragma("x")']
PIECES = ['"""', '"', "'", '\\', '*', '/', '*/', '/*', '?', '??/', '\n', '\r', '\0', '\u2028',
          '\x85', '\x0b', '\x0c', '#', '%:', '//', 'x;', ' ']
names = st.lists(st.one_of(st.sampled_from(PIECES), st.text(
    st.characters(exclude_categories=['Cs'])))).map(''.join)


@pytest.fixture(scope='module')
def pendulum():
    return random_chain(np.random.default_rng(3), 1, types='R', gravity=(0.0, -9.81, 0.0))


def named(chain, name, robot):
    """Return the chain with a name everywhere; the robot's own name makes the identifiers."""
    joint = replace(chain.joints[0], name=name)
    return replace(chain, joints=(joint,), link_names=(name,), base=name, tip=name, robot=robot)


@pytest.fixture(scope='module')
def harmless(pendulum):
    return named(pendulum, 'harmless', 'arm')


def python_tree(chain):
    """Return the program as Python sees it, without its docstring."""
    module = ast.parse(standalone_source(chain, FUNCTION, 'python').encode())
    assert ast.get_docstring(module) is not None
    return ast.dump(ast.Module(module.body[1:], []))


def c_tokens(source, *standard):
    """Return the program as the preprocessor sees it, all comments gone."""
    body = source.replace('#include <math.h>', '')
    done = subprocess.run([COMPILER, *standard, '-x', 'c', '-E', '-P', '-'], input=body.encode(),
                          check=True, capture_output=True)
    assert done.stderr == b''
    return done.stdout.decode().split()


@given(text=st.text())
@example(text='\ud800')
def test_plain_text_is_one_line_of_printable_ascii_that_ends_nothing(text):
    result = plain(text)
    assert result.isascii() and (result.isprintable() or not result)
    assert not any(end in result for end in ('"', '\\', '*/', '/*', '??'))


def test_an_ordinary_name_stays_as_it_is():
    assert plain('panda_link-7 (left) [kg m^2] 2*x, 1/y?') == (
        'panda_link-7 (left) [kg m^2] 2*x, 1/y?')


def test_different_names_stay_different_in_the_header():
    assert plain('a\nb') == 'a<U+000A>b'
    assert plain('a"b') == 'a<U+0022>b'


@pytest.mark.parametrize('name', ATTACKS)
def test_a_name_that_ran_code_when_generated_python_was_imported(pendulum, harmless, name):
    assert python_tree(named(pendulum, name, 'arm')) == python_tree(harmless)
    exec(compile(standalone_source(named(pendulum, name, name), FUNCTION, 'python'), 'x', 'exec'),
         {})


@given(name=names)
def test_no_name_changes_the_generated_python(pendulum, harmless, name):
    assert python_tree(named(pendulum, name, 'arm')) == python_tree(harmless)


@given(robot=names)
def test_no_name_of_a_robot_is_anything_but_an_identifier(pendulum, robot):
    module = ast.parse(standalone_source(replace(pendulum, robot=robot), FUNCTION, 'python'))
    functions = [each.name for each in module.body if isinstance(each, ast.FunctionDef)]
    assert len(functions) == 2
    for function in functions:
        assert function.isascii() and function[0].isalpha() and f'_{FUNCTION}' in function


@pytest.mark.skipif(COMPILER is None, reason='no C compiler on this machine')
@pytest.mark.parametrize('standard', ['-std=c99', '-std=gnu17'])
def test_names_that_left_the_comment_of_generated_c(pendulum, harmless, standard):
    expected = c_tokens(standalone_source(harmless, FUNCTION, 'c'), standard)
    # all in one file: the compiler is started once, not once per name
    sources = [standalone_source(named(pendulum, name, 'arm'), FUNCTION, 'c') for name in ATTACKS]
    tokens = c_tokens('\n'.join(sources), standard, '-Wall', '-Wextra', '-Werror')
    assert tokens == expected * len(ATTACKS)


@pytest.mark.skipif(COMPILER is None, reason='no C compiler on this machine')
@settings(max_examples=5)
@given(many=st.lists(names, min_size=100, max_size=200))
def test_no_name_changes_the_tokens_of_generated_c(pendulum, harmless, many):
    expected = c_tokens(standalone_source(harmless, FUNCTION, 'c'), '-std=c99')
    sources = [standalone_source(named(pendulum, name, 'arm'), FUNCTION, 'c') for name in many]
    tokens = c_tokens('\n'.join(sources), '-std=c99', '-Wall', '-Wextra', '-Werror')
    assert tokens == expected * len(many)


@pytest.mark.skipif(COMPILER is None, reason='no C compiler on this machine')
@pytest.mark.parametrize('name', ['\u00e9\u00b2', '9\n', '"*/', 'if'])
def test_a_robot_with_an_odd_name_compiles(pendulum, name, tmp_path):
    source = standalone_source(named(pendulum, name, name), FUNCTION, 'c')
    done = subprocess.run([COMPILER, '-std=c99', '-Wall', '-Wextra', '-Werror', '-pedantic', '-x',
                           'c', '-c', '-o', tmp_path / 'model.o', '-'], input=source.encode(),
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / 'model.o').stat().st_size > 0

