# SPDX-License-Identifier: Apache-2.0
"""Damaged and made-up .npz files: no memory is taken for what a header only announces."""

import io
import zipfile

import numpy as np
import pytest

from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.files.checked_npz import read_npz

LIMIT = 10**6
ARRAYS = {'x': np.arange(6.0).reshape(2, 3), 'names': np.array(['a', 'é']), 'n': np.array(12),
          'empty': np.zeros((0, 3)), 'fortran': np.asfortranarray(np.arange(6).reshape(2, 3)),
          'small': np.float32([1.5]), 'swapped': np.arange(3, dtype='>i4'), 'flag': np.array(True)}


def read(path, **options):
    return read_npz(path, LIMIT, ParameterError, 'is not a checkpoint', **options)


def member(shape='(3,)', descr="'<f8'", data=bytes(24)):
    """Return an array file with a header of one's own."""
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b'\x93NUMPY\x01\x00' + (len(header) + 1).to_bytes(2, 'little') + header + b'\n' + data


def archive(path, members, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, 'w', compression) as file:
        for name, data in members:
            file.writestr(name, data)
    return path


@pytest.mark.parametrize('save', [np.savez, np.savez_compressed])
def test_arrays_come_back_as_numpy_wrote_them(save, tmp_path):
    save(tmp_path / 'a.npz', **ARRAYS)
    back = read(tmp_path / 'a.npz')
    assert set(back) == set(ARRAYS)
    for name, values in ARRAYS.items():
        np.testing.assert_array_equal(back[name], values)
        assert back[name].dtype == values.dtype and back[name].shape == values.shape
        assert back[name].flags.writeable


def test_only_what_is_wanted_is_read(tmp_path):
    archive(tmp_path / 'a.npz', [('x.npy', member()), ('y.npy', b'broken')])
    assert set(read(tmp_path / 'a.npz', wanted=('x', 'z'))) == {'x'}


HEADERS = {
    'a shape that fits no memory': {'shape': '(1000000000000,)'},
    'a negative shape': {'shape': '(-3,)'},
    'two negative shapes': {'shape': '(-1, -3)'},
    'a shape that is no integer': {'shape': '(3.0,)'},
    'a shape of nothing': {'shape': 'None'},
    'a shape beyond 64 bits': {'shape': '(0, 99999999999999999999)', 'data': b''},
    'a nested shape': {'shape': '(' * 500},
    'objects, which are programs': {'descr': "'|O'"},
    'fields': {'descr': "[('a', '<f8')]"},
    'fields of objects': {'descr': "[('a', '|O')]"},
    'raw bytes': {'descr': "'|V8'"},
    'times': {'descr': "'<M8[ns]'"},
    'an unknown type': {'descr': "'nothing'"},
    'too many data': {'data': bytes(32)},
    'too few data': {'data': bytes(23)},
    'a program as header': {'shape': '__import__("os").getpid()'},
}


@pytest.mark.parametrize('name', HEADERS)
def test_a_header_that_announces_something_else_is_refused(name, tmp_path):
    path = archive(tmp_path / 'a.npz', [('x.npy', member(**HEADERS[name]))])
    with pytest.raises(ParameterError, match=r'a\.npz: is not a checkpoint: .') as caught:
        read(path)
    assert '\n' not in str(caught.value)


def test_a_bomb_is_not_unpacked(tmp_path):
    path = archive(tmp_path / 'a.npz', [('x.npy', member('(125001,)', data=bytes(1000008)))],
                   zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 10_000
    with pytest.raises(ParameterError, match='larger than the limit of 1000000 bytes'):
        read(path)


@pytest.mark.filterwarnings('ignore:Duplicate name')
def test_an_array_that_occurs_twice_is_refused(tmp_path):
    path = archive(tmp_path / 'a.npz', [('x.npy', member()), ('x.npy', member())])
    with pytest.raises(ParameterError, match='an array twice'):
        read(path)


@pytest.mark.parametrize('content', [b'', b'text', b'PK\x03\x04', b'PK\x05\x06' + bytes(18)[:5]])
def test_what_is_no_archive_is_refused(content, tmp_path):
    path = tmp_path / 'a.npz'
    path.write_bytes(content)
    with pytest.raises(ParameterError, match='is not a checkpoint'):
        read(path)


def test_every_cut_and_every_changed_byte_is_seen(tmp_path):
    buffer = io.BytesIO()
    np.savez(buffer, x=np.arange(3.0))
    whole = buffer.getvalue()
    path = tmp_path / 'a.npz'
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ParameterError):
            read(path)
    for place in range(len(whole)):
        damaged = bytearray(whole)
        damaged[place] ^= 0xff
        path.write_bytes(damaged)
        try:
            back = read(path)
        except ParameterError:
            continue
        # what is left are times and other remarks of the archive
        assert 'x' not in back or np.array_equal(back['x'], np.arange(3.0))


def test_a_method_of_packing_that_numpy_does_not_use_is_refused(tmp_path):
    path = archive(tmp_path / 'a.npz', [('x.npy', member())], zipfile.ZIP_BZIP2)
    with pytest.raises(ParameterError, match='unknown compression'):
        read(path)
