# SPDX-License-Identifier: Apache-2.0
"""What the README shows is what happens."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_python_example_prints_what_the_readme_says():
    text = (ROOT / 'README.md').read_text()
    example, printed = re.search(r'```python\n(.*?)```\n\nprints\n\n```\n(.*?)```', text,
                                 re.DOTALL).groups()
    done = subprocess.run([sys.executable, '-c', example], capture_output=True, text=True,
                          cwd=ROOT, timeout=500)
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed


def test_no_line_of_a_table_is_wider_than_a_screen():
    rows = [line for line in (ROOT / 'README.md').read_text().splitlines() if line[:1] == '|']
    assert len(rows) > 40 and max(map(len, rows)) <= 120


def test_every_command_and_node_is_named():
    from robot_dynamics_ros.cli.main import COMMANDS

    text = (ROOT / 'README.md').read_text()
    nodes = re.search(r'NODES = \(([^)]*)\)', (ROOT / 'setup.py').read_text()).group(1)
    for name in [*(command.name for command in COMMANDS), *re.findall(r"'(\w+)'", nodes)]:
        assert f'`{name}`' in text or name == 'tracking_experiment', name  # that of the demo
