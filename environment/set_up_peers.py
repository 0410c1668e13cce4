# SPDX-License-Identifier: Apache-2.0
"""
Make `.venv-peers`: a Python environment for ``make bench-identification-peers``.

Other people's identification stays out of `.venv`. Steps are those of `set_up_proof`, with other
packages.
"""

import sys

import set_up
import set_up_proof
from set_up import ROOT


def main() -> int:
    """Bring `.venv-peers` up to date; return the exit code."""
    set_up_proof.VENV = ROOT / '.venv-peers'
    set_up_proof.ENGINES = ROOT / 'benchmark' / 'peers' / 'peers.txt'
    return set_up_proof.main()


if __name__ == '__main__':
    set_up.end_with_signals()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit('\nsetup: interrupted; the next run repairs it')
