# SPDX-License-Identifier: Apache-2.0
"""Mutations of valid input: bits, bytes, words, numbers, lines, elements, arrays."""

import io
import re
import zipfile

NUMBERS = [b'0', b'-0.0', b'1', b'-1', b'1e308', b'-1e308', b'1e400', b'1e200', b'1e-320',
           b'5e-324', b'nan', b'.nan', b'inf', b'-.inf', b'9' * 400, b'1e15', b'1e16', b'1e-9',
           b'0x10', b'1_0', b'true', b'null', b'~', b'""', b'[]', b'{}', b'"1.0"', b'2147483648',
           b'-9223372036854775809', b'18446744073709551616', b'2001-13-45', b'1:30', b'0o7',
           b'. ', b'1.', b'e5', b'--1']
WORDS = [b'', b' ', b'a', b'name', b'base', b'format', b'None', b'__class__', b'attrib', b'nsmap',
         b'&a', b'*a', b'&a [*a]', b'<<', b'!!binary aGk=', b'!!python/object:os.system',
         b'!!timestamp x', b'!!int x', b'!!set {a, b}', b'? [a, b]', b'- - -', b': :', b'\t',
         b'"', b"'", b'\\', b'&#10;', b'&lt;', b'&x;', b'<!-- -->', b'<![CDATA[x]]>', b'<?x y?>',
         b'\xff\xfe', b'\xef\xbb\xbf', b'\0', b'\r', b'\xe2\x80\xa8', b'\xed\xa0\x80', b'\xc3',
         b'x' * 300, b'[' * 3000, b'{' * 3000, b'<a>' * 3000, b'- ' * 3000, b'a: ' * 500,
         b'../../x', b'#', b'|', b'>', b'%YAML 9.9', b'---', b'...', b'<!DOCTYPE a>',
         b'encoding="utf-16"', b';', b',', b'\n', b'\n\n']
_NUMBER = re.compile(rb'-?\d+\.?\d*(?:e[+-]?\d+)?')
_WORD = re.compile(rb'[A-Za-z_]\w*')
_LINE = re.compile(rb'[^\n]*\n?')
_ELEMENT = re.compile(rb'<[^<>]*>')
_VALUE = re.compile(rb'"[^"\n]*"|[^\s,:\[\]{}<>="]+')


def mutated(random, examples):
    """Return one example with a few mutations of any kind."""
    data = random.choice(examples)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        data = random.choice(_KINDS)(random, data, examples)
    return data


def _flip(random, data, examples):
    changed = bytearray(data or b'x')
    for _ in range(random.choice((1, 1, 4, 30))):
        place = random.randrange(len(changed))
        changed[place] = random.choice((changed[place] ^ 1 << random.randrange(8),
                                        random.randrange(256), 0, 255))
    return bytes(changed)


def _cut(random, data, examples):
    first, last = sorted(random.randrange(len(data) + 1) for _ in range(2))
    return random.choice((data[:first], data[last:], data[:first] + data[last:]))


def _repeat(random, data, examples):
    first, last = sorted(random.randrange(len(data) + 1) for _ in range(2))
    piece = data[first:min(last, first + 2000)]
    return data[:last] + piece * random.choice((1, 1, 2, 20)) + data[last:]


def _splice(random, data, examples):
    other = random.choice(examples)
    return data[:random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1):]


def _insert(random, data, examples):
    place = random.randrange(len(data) + 1)
    piece = random.choice((random.choice(WORDS), random.choice(NUMBERS),
                           random.randbytes(random.randrange(1, 20))))
    return data[:place] + piece + data[place:]


def _replacement(pattern, choose):
    """Return a mutation that replaces one piece of the data by another."""
    def mutation(random, data, examples):
        found = [match.span() for match in pattern.finditer(data) if match.group()]
        if not found:
            return data
        first, last = random.choice(found)
        piece = choose(random, data, [data[a:b] for a, b in random.sample(found, min(
            len(found), 5))], data[first:last])
        return data[:first] + piece + data[last:]
    return mutation


def _structure(random, data, pieces, piece):
    """Return a piece deleted, doubled, replaced by its like, or shifted."""
    return random.choice((b'', piece * 2, random.choice(pieces), piece + random.choice(pieces),
                          b' ' + piece, piece.lstrip(), piece[:-1]))


_KINDS = (
    _flip, _cut, _repeat, _splice, _insert,
    _replacement(_NUMBER, lambda random, data, pieces, piece: random.choice(
        (*NUMBERS, *pieces))),
    _replacement(_NUMBER, lambda random, data, pieces, piece: random.choice(NUMBERS)),
    _replacement(_WORD, lambda random, data, pieces, piece: random.choice(
        (*WORDS, *pieces * 10))),
    _replacement(_VALUE, lambda random, data, pieces, piece: random.choice(
        (*WORDS, *NUMBERS, *pieces * 10))),
    _replacement(_LINE, _structure), _replacement(_ELEMENT, _structure))


def mutated_npz(random, examples):
    """Return an archive that is damaged, or a whole one with damaged arrays."""
    if random.random() < 0.2:
        return mutated(random, examples)
    with zipfile.ZipFile(io.BytesIO(random.choice(examples))) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    for _ in range(random.choice((1, 1, 2))):
        place = random.randrange(len(members))
        name, data = members[place]
        kind = random.randrange(5)
        if kind == 0:
            del members[place]
        elif kind == 1:
            members[place] = (name, random.choice(members)[1])
        elif kind == 2:
            members[place] = (name, _header(random, data))
        else:
            members[place] = (name, mutated(random, [data]))
        if not members:
            break
    buffer = io.BytesIO()
    compression = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2))
    with zipfile.ZipFile(buffer, 'w', compression) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def _header(random, data):
    """Return an array whose header announces something else."""
    text = data[10:128]
    shape = random.choice((b'(0,)', b'(-1,)', b'()', b'(1000000000000,)', b'(2, -2)', b'(True,)',
                           b'(99999999999999999999,)', b'(0, 4294967296, 4294967296)', b'((1,),)',
                           b'("a",)', b'[1]', b'(' * 90, b'None', b'(1.0,)', b'(1,)' * 5))
    dtype = random.choice((b"'|O'", b"'<f8'", b"'<U9'", b"'<i8'", b"'<c16'", b"'|V8'",
                           b"'<M8[ns]'", b"'<U0'", b"'|S5'", b"'>f4'", b"'<f2'", b"[('a', '<f8')]",
                           b"'nothing'", b"'<U2147483647'", b"'|b1'"))
    if random.random() < 0.6:
        text = re.sub(rb"'shape': \([^)]*\)", lambda _: b"'shape': " + shape, text)
    else:
        text = re.sub(rb"'descr': '[^']*'", lambda _: b"'descr': " + dtype, text)
    text = text.rstrip()[:117].ljust(117) + b'\n'
    return data[:8] + len(text).to_bytes(2, 'little') + text + data[128:]
