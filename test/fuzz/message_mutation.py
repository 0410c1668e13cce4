# SPDX-License-Identifier: Apache-2.0
"""Messages that nobody should send: valid ones with a few fields changed, or filled at random."""

import copy
import importlib
import re
from array import array

NUMBERS = (0.0, -0.0, 1.0, -1.0, float('nan'), float('inf'), -float('inf'), 1e308, -1e308, 1e155,
           -1e155, 1e20, 1e9, -1e9, 1e4, 1e-9, 1e-155, 1e-320, 5e-324)
TEXTS = ('', ' ', 'joint_1', 'joint_2', 'joint_3', 'x' * 100_000, 'é\u4e2d\U0001f916', '\n', '\0',
         'a/b', '/', '~', '%s%n', '{}', '<robot', 'lin', 'khalil', '../..', "';--")
WHOLE = {'int8': (-2**7, 2**7 - 1), 'uint8': (0, 2**8 - 1), 'int16': (-2**15, 2**15 - 1),
         'uint16': (0, 2**16 - 1), 'int32': (-2**31, 2**31 - 1), 'uint32': (0, 2**32 - 1),
         'int64': (-2**63, 2**63 - 1), 'uint64': (0, 2**64 - 1)}
_SEQUENCE = re.compile(r'sequence<(.+?)(?:, \d+)?>')
_ARRAY = re.compile(r'(.+)\[(\d+)\]')


def mutated(random, message):
    """Return a message with some of its fields changed."""
    result = copy.deepcopy(message)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        _mutate(random, result)
    return result


def _mutate(random, message):
    fields = list(message.get_fields_and_field_types().items())
    if not fields:
        return
    name, kind = random.choice(fields)
    setattr(message, name, _changed(random, kind, getattr(message, name)))


def _changed(random, kind, value):
    """Return another value of a field."""
    if sequence := _SEQUENCE.fullmatch(kind):
        return _like(sequence[1], _changed_list(random, sequence[1], list(value)))
    if fixed := _ARRAY.fullmatch(kind):
        items = list(value)
        place = random.randrange(len(items))
        items[place] = _changed(random, fixed[1], items[place])
        return items
    if kind in ('double', 'float'):
        return random.choice((*NUMBERS, value * random.uniform(-2.0, 2.0),
                              random.gauss(0.0, 10.0)))
    if kind == 'boolean':
        return not value
    if kind.startswith('string') or kind.startswith('wstring'):
        return random.choice(TEXTS)
    if kind in WHOLE:
        low, high = WHOLE[kind]
        return random.choice((low, high, 0, 1, low + 1, high // 2, random.randint(low, high)))
    if kind == 'octet':
        return bytes([random.randrange(256)])
    nested = copy.deepcopy(value)
    _mutate(random, nested)
    return nested


def _changed_list(random, kind, items):
    way = random.randrange(8)
    if way == 0:
        return []
    if way == 1:
        return items[:random.randrange(len(items) + 1)]
    if way == 2:
        return items * random.choice((2, 3, 50))
    if way == 3:
        random.shuffle(items)
        return items
    item = random.choice(items) if items else _nothing(kind)
    if way == 4:
        return [*items, _changed(random, kind, item)]
    if way == 5 and items:
        return [item] * len(items)
    if not items:
        return [_changed(random, kind, item) for _ in range(random.randrange(9))]
    for _ in range(random.choice((1, 1, len(items)))):
        place = random.randrange(len(items))
        items[place] = _changed(random, kind, items[place])
    return items


def _nothing(kind):
    if kind in ('double', 'float'):
        return 0.0
    if kind == 'boolean':
        return False
    if 'string' in kind:
        return ''
    if kind in WHOLE or kind == 'octet':
        return 0 if kind in WHOLE else b'\0'
    package, *_, name = kind.split('/')
    return getattr(importlib.import_module(f'{package}.msg'), name)()


def _like(kind, items):
    """Return numbers in the form in which messages arrive."""
    return array('d', items) if kind == 'double' else items
