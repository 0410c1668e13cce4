# SPDX-License-Identifier: Apache-2.0
"""Tables that are damaged or made to do harm."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import TableError
from robot_dynamics_ros.files import csv_table
from robot_dynamics_ros.files.csv_table import read_csv_table

BAD = {
    'no file name': (None, 'cannot be read'),
    'empty': (b'', 'no samples'),
    'a header alone': (b't,q\n', 'no samples'),
    'another encoding': ('t,é\n1,2'.encode('latin-1'), 'cannot be read'),
    'a NUL': (b't,q\n1,\0', r'cannot be read|must be numbers'),
    'a cell of a megabyte': (b't,q\n1,' + b'1' * 2**20, 'cannot be read: field larger'),
    'a quote that does not end': (b't,q\n1,"' + b'\na' * 1000, 'must be numbers'),
    'ragged lines': (b't,q\n1,2,3', '3 cells, the header has 2'),
    'words': (b't,q\n1,two', 'all cells below the header must be numbers'),
    'a word with line ends': (b't,q\n1,"a\nb"', 'all cells below the header must be numbers'),
    'a column twice': (b't,q,q\n1,2,3', 'column q occurs twice'),
    '50,000 columns twice': (b','.join([b'q%d' % i for i in range(50000)] * 2) + b'\n1', 'twice'),
}


@pytest.mark.parametrize('name', BAD)
def test_a_bad_table_is_refused_in_one_line(name, tmp_path):
    content, message = BAD[name]
    path = tmp_path / 'table.csv'
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(TableError, match=message) as caught:
        read_csv_table(path)
    assert '\n' not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_one_long_cell_does_not_cost_its_length_in_every_row(tmp_path):
    path = tmp_path / 'table.csv'
    rows = 20_000  # as text of equal width: 2 columns x 20,000 rows x 400 kB
    path.write_text('t,q\n0,' + '0' * 100_000 + '.5\n' + '1,2\n' * rows)
    table = read_csv_table(path)
    assert table.columns['q'][0] == 0.5
    assert table.columns['q'].size == rows + 1


def test_a_table_over_the_limit_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_table, 'MAXIMUM_SIZE', 5)
    path = tmp_path / 'table.csv'
    path.write_text('t,q\n1,2\n')
    with pytest.raises(TableError, match='more than the limit of 5'):
        read_csv_table(path)


def test_a_byte_order_mark_and_foreign_letters_are_read(tmp_path):
    path = tmp_path / 'table.csv'
    path.write_bytes('t,q_é\r\n1,\r\n'.encode('utf-8-sig'))
    table = read_csv_table(path)
    assert list(table.columns) == ['t', 'q_é']
    assert np.isnan(table.columns['q_é'][0])
