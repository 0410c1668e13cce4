# SPDX-License-Identifier: Apache-2.0
"""Make `.venv-speed`: an environment for ``make bench-peers``, as `set_up_proof` makes its own."""

import sys

import set_up
import set_up_proof
from set_up import ROOT

if __name__ == '__main__':
    set_up_proof.VENV = ROOT / '.venv-speed'
    set_up_proof.ENGINES = ROOT / 'benchmark' / 'speed' / 'peers.txt'
    set_up.end_with_signals()
    try:
        sys.exit(set_up_proof.main())
    except KeyboardInterrupt:
        sys.exit('\nsetup: interrupted; the next run repairs it')
