# SPDX-License-Identifier: Apache-2.0
"""The page of messages and services: their files, which say meaning and unit of every field."""

from write_policies import ROOT

HEAD = '<!-- Written by environment/pages from the code: make pages -->\n'


def pages():
    """Return the page by its path below docs/."""
    parts = [HEAD, '# Messages and services\n',
             'Package `robot_dynamics_interfaces`. Fields are only ever added at the end. A value '
             'that does not apply or is not known is NaN.\n']
    folder = ROOT / 'robot_dynamics_interfaces'
    for path in [*sorted((folder / 'msg').glob('*.msg')), *sorted((folder / 'srv').glob('*.srv'))]:
        lines = path.read_text(encoding='utf-8').splitlines()[1:]
        text = '\n'.join(lines).strip('\n')
        full = f'robot_dynamics_interfaces/{path.suffix[1:]}/{path.stem}'
        parts.append(f'## {path.stem}\n\n`{full}`\n\n```text\n{text}\n```\n')
    return {'reference/messages.md': '\n'.join(parts)}
