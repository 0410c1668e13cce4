# SPDX-License-Identifier: Apache-2.0
"""
Make `.venv-docs`: Sphinx and its theme for ``make docs``, outside of `.venv`.

Steps, stamps and repairs are those of `set_up`. What pages show of the package was written by
environment/pages in `.venv`; Sphinx only turns Markdown into a site.
"""

import sys

import set_up
from set_up import HERE, ROOT, Step

VENV = ROOT / '.venv-docs'
REQUIREMENTS = HERE / 'docs.txt'


def steps() -> list[Step]:
    """Return the steps; each depends on its own inputs and on all steps before it."""
    return [
        Step('venv', f'create {VENV.name} with {set_up.PYTHON_NAME}', (), set_up.create_venv),
        Step('requirements', 'install Sphinx', (REQUIREMENTS,), install),
    ]


def install() -> None:
    """Install the pinned requirements."""
    set_up.run('requirements', str(set_up.PYTHON), '-m', 'pip', 'install', '--progress-bar=off',
               '--only-binary=:all:', '-r', str(REQUIREMENTS))


def main() -> int:
    """Bring `.venv-docs` up to date; return the exit code."""
    set_up.VENV, set_up.PYTHON = VENV, VENV / 'bin' / 'python'
    set_up.STAMPS, set_up.LOGS = VENV / 'stamps', VENV / 'logs'
    set_up.steps = steps
    return set_up.main()


if __name__ == '__main__':
    set_up.end_with_signals()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit('\nsetup: interrupted; the next run repairs it')
