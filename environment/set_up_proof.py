# SPDX-License-Identifier: Apache-2.0
"""
Make `.venv-proof`: a Python environment for ``make proof``, with other people's physics engines.

The engines stay out of `.venv`, which is large enough. Steps, stamps and repairs are those of
`set_up`. The package is not installed here but imported from its folder.
"""

import sys

import set_up
from set_up import HERE, ROOT, Step

VENV = ROOT / '.venv-proof'
ENGINES = ROOT / 'benchmark' / 'proof' / 'engines.txt'
#: Engines that could not be installed this time.
left_out: list[str] = []


def steps() -> list[Step]:
    """Return the steps; each depends on its own inputs and on all steps before it."""
    requirements = (HERE / 'requirements.txt', HERE / 'pip-only.txt')
    return [
        Step('venv', f'create {VENV.name} with {set_up.PYTHON_NAME}', (), set_up.create_venv),
        Step('requirements', 'install the pinned requirements', requirements,
             lambda: install('requirements')),
        Step('engines', "install other people's software (1 to 3 minutes)", (ENGINES,),
             install_engines),
    ]


def install(name: str, *more: str) -> None:
    """Install the requirements of the package, and more beside them."""
    set_up.run(name, str(set_up.PYTHON), '-m', 'pip', 'install', '--progress-bar=off',
               '--only-binary=:all:', '-r', str(HERE / 'requirements.txt'), *more)


def engines() -> list[str]:
    """Return the engines with their versions."""
    lines = (line.strip() for line in ENGINES.read_text().splitlines())
    return [line for line in lines if line and not line.startswith('#')]


def install_engines() -> None:
    """Install every engine for which there is a wheel."""
    for engine in engines():
        try:
            install(f'engine_{engine.partition("=")[0]}', engine)
        except SystemExit as failure:
            if not isinstance(failure.code, str):  # the set-up itself was told to end
                raise
            left_out.append(engine)
            print(f'\nsetup: {engine} cannot be installed here; it goes on without it '
                  f'(log: {VENV.name}/logs) ', end='', flush=True)


def main() -> int:
    """Bring `.venv-proof` up to date; return the exit code."""
    set_up.VENV, set_up.PYTHON = VENV, VENV / 'bin' / 'python'
    set_up.STAMPS, set_up.LOGS = VENV / 'stamps', VENV / 'logs'
    set_up.steps = steps
    code = set_up.main()
    if left_out:  # tried again the next time: the network may be to blame
        (set_up.STAMPS / 'engines').unlink()
    return code


if __name__ == '__main__':
    set_up.end_with_signals()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit('\nsetup: interrupted; the next run repairs it')
