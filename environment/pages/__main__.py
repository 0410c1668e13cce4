# SPDX-License-Identifier: Apache-2.0
"""Write all pages that the code writes: make pages (ARGS=--quick leaves out what is run)."""

import os
import sys
from pathlib import Path

os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')  # as the command itself does
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]


def main():
    """Write the pages that have changed."""
    import command_page
    import error_page
    import message_page
    import node_pages
    import run_pages

    docs = run_pages.ROOT / 'docs'
    found = {}
    for kind in (command_page, message_page, error_page, node_pages):
        found |= kind.pages()
    for name, text in found.items():
        write(docs / name, text)
    if '--quick' not in sys.argv:
        for path in run_pages.run_pages():
            write(path, run_pages.run_page(path.read_text(encoding='utf-8')))


def write(path, text):
    """Write a page if it is new."""
    if not path.is_file() or path.read_text(encoding='utf-8') != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding='utf-8')
        print(f'written: {path}')


if __name__ == '__main__':
    main()
