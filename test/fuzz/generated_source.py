# SPDX-License-Identifier: Apache-2.0
"""Generated source of a robot with hostile names: always the same program."""

import ast
from dataclasses import replace
from functools import cache
from random import Random

import numpy as np
from support.chains import random_chain

from fuzz.target import Target
from robot_dynamics_ros.codegen.printers.standalone import standalone_source

_FUNCTION = 'gravity_torque'
_PIECES = ('"""', '"', "'", '\\', '*', '/', '*/', '/*', '?', '??/', '\n', '\r', '\0', '\u2028',
           '\x85', '\x0b', '\x0c', '#', '%:', '//', 'x;', ' ', '\\N{x}', '\\u12', '\ufeff', 'if',
           '9', '\xe9', '# coding: utf-7', '\n#error owned', '\n_Pragma("x")', 'import os\n')


@cache
def _pendulum():
    return random_chain(np.random.default_rng(3), 1, types='R', gravity=(0.0, -9.81, 0.0))


def _programs(name):
    """Return the Python and the C of a robot with this name everywhere, without comments."""
    chain = _pendulum()
    chain = replace(chain, joints=(replace(chain.joints[0], name=name),), link_names=(name,),
                    base=name, tip=name, robot='arm')
    module = ast.parse(standalone_source(chain, _FUNCTION, 'python').encode())
    return (ast.dump(ast.Module(module.body[1:], [])),
            _without_comments(standalone_source(chain, _FUNCTION, 'c')))


@cache
def _expected():
    return _programs('harmless')


def _without_comments(source):
    """Return C without comments, which must not hold anything that joins or ends lines."""
    rest, result = source, []
    while '/*' in rest:
        before, _, rest = rest.partition('/*')
        comment, end, rest = rest.partition('*/')
        assert end and '??' not in comment and '\\' not in comment, comment
        result.append(before)
    return ''.join([*result, rest]).split()


def _read(case):
    assert _programs(case.decode('utf-8', 'replace')) == _expected()


def _mutate(random: Random, examples):
    return ''.join(random.choice((*_PIECES, chr(random.randrange(0xd800))))
                   for _ in range(random.randrange(12))).encode()


TARGETS = [Target('source', lambda: [b'shoulder', b'*/ int owned; /*'], _read, _mutate)]
