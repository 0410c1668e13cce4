# SPDX-License-Identifier: Apache-2.0
"""Changing an XML text in a few places; every other byte stays what it was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from robot_dynamics_ros.errors import UrdfError

#: A quoted text, or the end of a tag.
_QUOTED_OR_END = re.compile(rb'"[^"]*"|\'[^\']*\'|>')


@dataclass(eq=False)
class Element:
    """
    An element and where it is in the text.

    :param tag: its name.
    :param attributes: by name.
    :param start: first byte of its start tag.
    :param tag_end: byte after its start tag.
    :param end: byte after the whole element.
    :param children: elements directly inside.
    """

    tag: str
    attributes: dict[str, str]
    start: int
    tag_end: int
    end: int = 0
    children: list[Element] = field(default_factory=list)

    def child(self, tag: str) -> Element | None:
        """Return the first child with a name, if there is one."""
        return next(self.named(tag), None)

    def named(self, tag: str) -> Iterator[Element]:
        """Return the children with a name."""
        return (child for child in self.children if child.tag == tag)


class XmlText:
    """
    A text, the places of its elements, and the changes to be made.

    New text is plain ASCII, so the encoding must be one that extends ASCII.
    """

    def __init__(self, text: bytes, label: str) -> None:
        """
        Find all elements.

        :param text: well-formed XML.
        :param label: what to call it in messages.
        :raises UrdfError: not well-formed, or in an encoding such as UTF-16.
        """
        if b'\x00' in text or b'<' not in text:
            raise UrdfError(f'{label}: only texts in UTF-8 or a similar encoding can be changed; '
                            'save the file as UTF-8')
        self.text = text
        self._changes: list[tuple[int, int, bytes]] = []
        self._newline = b'\r\n' if b'\r\n' in text else b'\n'
        open_elements: list[Element] = []
        roots: list[Element] = []
        parser = expat.ParserCreate()

        def begin(tag: str, attributes: dict[str, str]) -> None:
            start = parser.CurrentByteIndex
            element = Element(tag, attributes, start, self._tag_end(start))
            (open_elements[-1].children if open_elements else roots).append(element)
            open_elements.append(element)

        def finish(tag: str) -> None:
            element = open_elements.pop()
            if self.empty(element):
                element.end = element.tag_end
            else:
                element.end = text.index(b'>', parser.CurrentByteIndex) + 1

        parser.StartElementHandler = begin
        parser.EndElementHandler = finish
        try:
            parser.Parse(text, True)
        except expat.ExpatError as error:
            raise UrdfError(f'{label}: not well-formed XML: {error}') from None
        self.root = roots[0]

    def _tag_end(self, start: int) -> int:
        for match in _QUOTED_OR_END.finditer(self.text, start):
            if match.group() == b'>':
                return match.end()
        raise UrdfError('a tag is not closed')  # expat has refused this already

    def empty(self, element: Element) -> bool:
        """Return whether the element is written as one tag, ``<a/>``."""
        return self.text[element.tag_end - 2:element.tag_end] == b'/>'

    def replace(self, element: Element, lines: list[str]) -> None:
        """Write other lines instead of an element, indented as it is."""
        self._changes.append((element.start, element.end,
                              self._block(lines, self._indentation(element))))

    def remove(self, element: Element) -> None:
        """Remove an element, with its lines where nothing else is on them."""
        start = element.start - len(self._indentation(element))
        end = element.end
        alone_before = start == 0 or self.text[start - 1:start] == b'\n'
        rest = re.compile(rb'[ \t]*\r?\n').match(self.text, end)
        if alone_before and rest:
            end = rest.end()
        else:
            start = element.start
        self._changes.append((start, end, b''))

    def insert_first(self, parent: Element, lines: list[str]) -> None:
        """Write lines before the first child of an element."""
        outer = self._indentation(parent)
        inner = self._indentation(parent.children[0]) if parent.children else outer + b'  '
        block = self._newline + inner + self._block(lines, inner)
        if self.empty(parent):
            name = parent.tag.encode()
            head = self.text[parent.start:parent.tag_end - 2].rstrip()
            block = head + b'>' + block + self._newline + outer + b'</' + name + b'>'
            self._changes.append((parent.start, parent.end, block))
        else:
            self._changes.append((parent.tag_end, parent.tag_end, block))

    def set_attribute(self, element: Element, name: str, value: str) -> None:
        """Give an attribute another value, or add it."""
        tag = self.text[element.start:element.tag_end]
        match = re.search(rb'\s' + re.escape(name.encode()) + rb'\s*=\s*("[^"]*"|\'[^\']*\')', tag)
        if match:
            start, end = (element.start + place for place in match.span(1))
            self._changes.append((start, end, f'"{value}"'.encode('ascii')))
        else:
            end = element.tag_end - (2 if self.empty(element) else 1)
            space = b'' if self.text[end - 1:end].isspace() else b' '
            self._changes.append((end, end, space + f'{name}="{value}"'.encode('ascii')))

    def changed(self) -> bytes:
        """Return the text with all changes."""
        text = self.text
        # later places first; of insertions at one place, the one asked for first comes first
        order = sorted(range(len(self._changes)), key=lambda k: (self._changes[k][0], k))
        for k in reversed(order):
            start, end, new = self._changes[k]
            text = text[:start] + new + text[end:]
        return text

    def _indentation(self, element: Element) -> bytes:
        """Return the blanks before an element, if there is nothing else before it on its line."""
        line = self.text[self.text.rfind(b'\n', 0, element.start) + 1:element.start]
        return line if not line.strip() else b''

    def _block(self, lines: list[str], indentation: bytes) -> bytes:
        separator = self._newline + indentation
        return separator.join(line.encode('ascii', 'xmlcharrefreplace') for line in lines)
