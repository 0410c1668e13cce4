# SPDX-License-Identifier: Apache-2.0
"""Troubleshooting: every error text of the package, collected from its source, with a remedy."""

import ast
from pathlib import Path

import yaml
from node_pages import COUNTS, PACKAGE, table

HEAD = '<!-- Written by environment/pages from the code: make pages -->\n'

TEXTS = yaml.safe_load((Path(__file__).parent / 'remedies.yaml').read_text(encoding='utf-8'))
FIRST, LOGS, ROOMS = TEXTS['first'], TEXTS['logs'], TEXTS['rooms']
SYMPTOMS = TEXTS['symptoms']


def room_of(folder):
    """Return the room in ROOMS that a folder belongs to."""
    while folder not in ROOMS:
        if '/' not in folder:
            raise LookupError(f'{folder}: add its texts to remedies.yaml')
        folder = folder.rpartition('/')[0]
    return folder


def error_texts():
    """Return (room, class, text) of everything that is raised with a text."""
    found = set()
    for path in sorted(PACKAGE.rglob('*.py')):
        folder = path.parent.relative_to(PACKAGE).as_posix()
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)):
                continue
            call = node.exc
            name = ast.unparse(call.func)
            if name.endswith('.error') and len(call.args) > 1:  # of a document, with its place
                name, texts = 'UrdfError', call.args[1:2]
            elif name in KINDS and call.args:
                texts = call.args[:1]
            else:
                continue
            text = template(texts[0]).strip()
            if text.strip('. :;'):
                found.add((room_of(folder), name, text))
    return sorted(found)


def template(node):
    """Return a text of the source with ... for what is filled in."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return ''.join(part.value if isinstance(part, ast.Constant) else '...'
                       for part in node.values)
    if isinstance(node, ast.BinOp):
        return template(node.left) + template(node.right)
    return '...'


#: Errors that a user can meet.
KINDS = ('UrdfError', 'ChainError', 'ParameterError', 'StateError', 'TrajectoryError',
         'RecordingError', 'IdentificationError', 'ExcitationError', 'CollisionError',
         'TableError', 'NodeError', 'ViewError', 'RobotDynamicsError',
         'argparse.ArgumentTypeError')


def entry_of(room, text):
    """Return the entry of remedies.yaml that answers a text: the first that has a part of it."""
    line = ' '.join(text.split())
    for entry in ROOMS[room]['texts']:
        if any(part in line for part in entry['like']):
            return entry
    raise LookupError(f'{line}: add its cause and remedy to remedies.yaml, room {room}')


def first_entries():
    """Yield (part of a text, entry) of what people meet first."""
    for part in FIRST:
        found = [entry for room in ROOMS.values() for entry in room['texts']
                 if part in entry['like']]
        found += [entry for entry in LOGS if part == entry['text']]
        yield part, found[0]


def pages():
    """Return the page by its path below docs/."""
    parts = [HEAD, '# Troubleshooting\n',
             'Every error message of this package is one line. It says what was found, where, and '
             'what to do. Search this page for words of the message; `...` stands for names and '
             'numbers. In Python, all errors derive from `RobotDynamicsError`.\n',
             '## The most frequent errors\n']
    parts += [f'**{escaped(part)} ...**<br>{entry["cause"]} {entry["remedy"]}\n'
              for part, entry in first_entries()]
    parts += ['## Problems without an error message\n',
              table(['symptom', 'check'],
                    [(each['see'], each['look']) for each in SYMPTOMS]) + '\n',
              '## Events that nodes count on /diagnostics\n',
              table(['count', 'cause', 'remedy'],
                    [(key, each['cause'], each['remedy']) for key, each in COUNTS.items()]) + '\n']
    texts = error_texts()
    for room, about in ROOMS.items():
        parts.append(f'## {about["title"]}\n')
        answered = [(entry_of(room, text), name, text) for where, name, text in texts
                    if where == room]
        for entry in about['texts']:
            parts += sorted({f'- {escaped(text)} (`{name}`)' for each, name, text in answered
                             if each is entry})
            parts.append(f'\n  {entry["cause"]} **{entry["remedy"]}**\n')
    return {'troubleshooting.md': '\n'.join(parts).replace('\n## ', '\n\n## ') + '\n'}


def escaped(text):
    """Return a text as Markdown that shows it as it is, in one line."""
    return ' '.join(text.split()).replace('`', "'").replace('<', '&lt;').replace(
        '*', '\\*').replace('_', '\\_').replace('[', '\\[').replace('|', '\\|')
