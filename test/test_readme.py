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
                          cwd=ROOT, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == printed
