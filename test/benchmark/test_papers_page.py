# SPDX-License-Identifier: Apache-2.0
"""docs/papers.md is what `make papers` writes, and what it points to exists."""

import re
from pathlib import Path

from papers.page import page

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / 'docs' / 'papers.md').read_text(encoding='utf-8')


def test_every_number_of_the_page_comes_out_again():
    made = page(str(ROOT))
    assert 'DOES NOT AGREE' not in made
    differences = [f'{old!r} is now {new!r}' for old, new in zip(TEXT.splitlines(),
                                                                 made.splitlines()) if old != new]
    assert not differences, differences[:5]
    assert made == TEXT, 'run make papers'


def test_its_evidence_exists():
    """Errata and audit name tests and files."""
    tests = {name for path in (ROOT / 'test').rglob('test_*.py')
             for name in re.findall(r'^def (test_\w+)', path.read_text(), re.MULTILINE)}
    named = set(re.findall(r'`(test_\w+)`', TEXT))
    assert len(named) > 50 and named <= tests, named - tests
    files = set(re.findall(r'`((?:dynamics|codegen|chain|estimation|control)/[\w/]+\.py)`', TEXT))
    missing = [file for file in files if not (ROOT / 'robot_dynamics_ros' / file).is_file()]
    assert len(files) > 20 and not missing


def test_every_place_of_the_audit_has_a_test():
    rows = [line.split(' | ') for line in TEXT.partition('## Appendix')[2].splitlines()
            if line.startswith('| ')][1:]
    assert len(rows) > 45 and all('`test_' in row[2] for row in rows)
