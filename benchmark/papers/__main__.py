# SPDX-License-Identifier: Apache-2.0
"""``make papers``: write docs/papers.md and its pictures."""

from pathlib import Path

from papers.figures import draw
from papers.page import page

ROOT = Path(__file__).resolve().parents[2]

if __name__ == '__main__':
    (ROOT / 'docs' / 'papers.md').write_text(page(str(ROOT)), encoding='utf-8')
    draw(ROOT / 'docs')
