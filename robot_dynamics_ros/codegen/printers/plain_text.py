# SPDX-License-Identifier: Apache-2.0
"""Text that comes from outside, made so plain that it can stand in any comment or docstring."""

from __future__ import annotations

import re

#: What could end a comment or a string, join two lines, or hide from a reader: all but printable
#: ASCII, and of that the double quote, the backslash and its trigraph `??/`, `*/` and `/*`.
_SPECIAL = re.compile(r'[^ -~]|["\\]|\*(?=/)|/(?=\*)|\?(?=\?)')


def plain(text: str) -> str:
    """
    Return one line of printable ASCII that ends no comment and no docstring, in Python and in C.

    :param text: anything; a special character becomes its number, e.g. ``<U+000A>``.
    """
    return _SPECIAL.sub(lambda match: f'<U+{ord(match[0]):04X}>', text)
