# SPDX-License-Identifier: Apache-2.0
"""
Make an environment beside `.venv` for one make target: ``set_up_tools.py docs``.

Other people's software stays out of `.venv`, which is large enough. Steps, stamps and repairs are
those of `set_up`. The package is not installed here but imported from its folder.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import set_up
from set_up import HERE, ROOT, Step


@dataclass(frozen=True)
class Tools:
    """
    What one target needs.

    :param requirements: files with what must be installed, pinned.
    :param peers: what is installed where there is a wheel; None = nothing.
    """

    requirements: tuple[Path, ...]
    peers: Path | None = None


_OF_THE_PACKAGE = HERE / 'requirements.txt', HERE / 'pip-only.txt'

#: Tools by name; the environment is `.venv-NAME`.
TOOLS = {
    'docs': Tools((HERE / 'docs.txt',)),
    'proof': Tools(_OF_THE_PACKAGE, ROOT / 'benchmark' / 'proof' / 'engines.txt'),
    'peers': Tools(_OF_THE_PACKAGE, ROOT / 'benchmark' / 'peers' / 'peers.txt'),
    'speed': Tools(_OF_THE_PACKAGE, ROOT / 'benchmark' / 'speed' / 'peers.txt'),
}


def steps(tools: Tools) -> list[Step]:
    """Return the steps; each depends on its own inputs and on all steps before it."""
    needed = [
        Step('venv', f'create {set_up.VENV.name} with {set_up.PYTHON_NAME}', (),
             set_up.create_venv),
        Step('requirements', 'install the pinned requirements', tools.requirements,
             lambda: install('requirements', tools)),
    ]
    if tools.peers is not None:
        needed.append(Step('peers', "install other people's software (1 to 3 minutes)",
                           (tools.peers,), lambda: install_peers(tools)))
    return needed


def install(name: str, tools: Tools, *more: str) -> None:
    """Install the requirements, and more beside them."""
    set_up.run(name, str(set_up.PYTHON), '-m', 'pip', 'install', '--progress-bar=off',
               '--only-binary=:all:',
               *(word for path in tools.requirements for word in ('-r', str(path))), *more)


def peers(tools: Tools) -> list[str]:
    """Return the peers with their versions, and options of pip where one needs them."""
    lines = tools.peers.read_text().splitlines() if tools.peers is not None else []
    return [line.strip() for line in lines if line.strip() and not line.strip().startswith('#')]


def install_peers(tools: Tools) -> None:
    """Install every peer for which there is a wheel, or what its line says."""
    for peer in peers(tools):
        try:
            install(f'peer_{peer.partition("=")[0]}', tools, *peer.split())
        except SystemExit as failure:
            if not isinstance(failure.code, str):  # the set-up itself was told to end
                raise
            left_out.append(peer)
            print(f'\nsetup: {peer} cannot be installed here; it goes on without it '
                  f'(log: {set_up.VENV.name}/logs) ', end='', flush=True)


#: Peers that could not be installed this time.
left_out: list[str] = []


def main(arguments: list[str]) -> int:
    """Bring an environment up to date; return the exit code."""
    parser = argparse.ArgumentParser(description='Make an environment beside .venv.')
    parser.add_argument('name', choices=TOOLS, help='what it is for')
    name = parser.parse_args(arguments).name
    set_up.VENV = ROOT / f'.venv-{name}'
    set_up.PYTHON = set_up.VENV / 'bin' / 'python'
    set_up.STAMPS, set_up.LOGS = set_up.VENV / 'stamps', set_up.VENV / 'logs'
    set_up.steps = lambda: steps(TOOLS[name])
    code = set_up.main()
    if left_out:  # tried again the next time: the network may be to blame
        (set_up.STAMPS / 'peers').unlink()
    return code


if __name__ == '__main__':
    set_up.end_with_signals()
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit('\nsetup: interrupted; the next run repairs it')
