# SPDX-License-Identifier: Apache-2.0
"""Troubleshooting: every error text of the package, collected from its source, with a remedy."""

import ast
from pathlib import Path

import yaml
from node_pages import PACKAGE, table, template

HEAD = '<!-- Written by environment/pages from the code: make pages -->\n'

TEXTS = yaml.safe_load((Path(__file__).parent / 'remedies.yaml').read_text(encoding='utf-8'))
FIRST, ROOMS, SYMPTOMS = TEXTS['first'], TEXTS['rooms'], TEXTS['symptoms']


def room_of(folder):
    """Return the room in ROOMS that a folder belongs to."""
    while folder not in ROOMS:
        if '/' not in folder:
            raise LookupError(f'{folder}: add its cause and remedy to remedies.yaml')
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


#: Errors that a user can meet.
KINDS = ('UrdfError', 'ChainError', 'ParameterError', 'StateError', 'TrajectoryError',
         'RecordingError', 'IdentificationError', 'ExcitationError', 'CollisionError',
         'TableError', 'NodeError', 'ViewError', 'RobotDynamicsError',
         'argparse.ArgumentTypeError')


def pages():
    """Return the page by its path below docs/."""
    texts = error_texts()
    parts = [HEAD, '# Troubleshooting\n',
             'Errors of this package are one line that says what was found, where, and what to '
             'do. In Python all derive from `RobotDynamicsError`. `...` below stands for names '
             'and numbers.\n', '## First\n']
    parts += [f'**{each["text"]} ...**<br>{each["cause"]} {each["remedy"]}\n' for each in FIRST]
    parts += ['## When nothing is wrong, but it does not work\n',
              table(['what you see', 'look at'],
                    [(each['see'], each['look']) for each in SYMPTOMS]) + '\n']
    room = None
    for folder, name, text in texts:
        if folder != room:
            room = folder
            about = ROOMS[folder]
            parts.append(f'## {about["title"]}\n\n*Cause:* {about["cause"]} *Remedy:* '
                         f'{about["remedy"]}\n')
        parts.append(f'- `{name}`: {escaped(text)}')
    return {'troubleshooting.md': '\n'.join(parts).replace('\n## ', '\n\n## ') + '\n'}


def escaped(text):
    """Return a text as Markdown that shows it as it is, in one line."""
    return ' '.join(text.split()).replace('`', "'").replace('<', '&lt;').replace(
        '*', '\\*').replace('_', '\\_').replace('[', '\\[').replace('|', '\\|')
