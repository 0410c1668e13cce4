# SPDX-License-Identifier: Apache-2.0
"""Pictures of README and docs: all there, all made by `make pictures`, none left over."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def pictures():
    spec = importlib.util.spec_from_file_location(
        'make_pictures', ROOT / 'environment' / 'make_pictures.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PICTURES


def test_every_picture_of_a_page_is_there_and_made_by_the_script():
    made = {(ROOT / 'docs' / name).resolve() for name in pictures()}
    shown = {(page.parent / name).resolve() for page in (ROOT / 'README.md', *(
        ROOT / 'docs').rglob('*.md')) for name in re.findall(
            r'!\[[^\]]*\]\(([^)\s]+\.png)', page.read_text(encoding='utf-8'))}
    assert shown
    assert {path for path in shown if not path.is_file()} == set()
    assert shown - made == set()


def test_every_picture_that_is_kept_is_made_by_the_script():
    kept = {path.relative_to(ROOT / 'docs').as_posix()
            for path in (ROOT / 'docs').rglob('*.png') if '_build' not in path.parts}
    assert kept == set(pictures())


def test_the_first_picture_shows_a_robot_before_and_after():
    first = re.search(r'!\[[^\]]*\]\(([^)\s]+\.png)',
                      (ROOT / 'README.md').read_text(encoding='utf-8')).group(1)
    assert first == 'docs/demo.png'


def test_pictures_are_small():
    assert all(path.stat().st_size < 400_000 for path in (ROOT / 'docs').rglob('*.png'))


def test_the_script_uses_public_names_only():
    """A private name was changed once, and the script broke unseen."""
    text = (ROOT / 'environment' / 'make_pictures.py').read_text(encoding='utf-8')
    assert re.findall(r'\b(?!self\b)\w+\._[a-z]\w*', text) == []
