# SPDX-License-Identifier: Apache-2.0
"""
Pages whose commands are run: what they print is written into the page, and compared by a test.

A page that begins with ``<!-- run -->`` has blocks of kind ``console``: lines that begin with
``$ `` are commands, the lines after them what they print; one that ends with ``# exit code 2`` is
meant to fail, one that ends with ``&`` runs until ``$ kill %1``, or the end of the page. Blocks of
kind ``python`` are one program; a block of kind ``text`` right after one is what it prints.
Everything runs in a folder with links to urdf/, config/ and examples/ of this repository.
"""

import io
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARK = '<!-- run'
LINKED = ('urdf', 'config', 'examples', 'docs')

#: Lines that say how far a command is, and how long it took.
PROGRESS = re.compile(r'^ *\d+ %  .*\n', re.MULTILINE)

#: When a line of a node's log was written.
STAMP = re.compile(r'^(\[[A-Z]+\]) \[\d+\.\d+\]', re.MULTILINE)

CONSOLE = re.compile(r'(?<=^```console\n)(.*?)(?=^```$)', re.DOTALL | re.MULTILINE)
PYTHON = re.compile(r'^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?',
                    re.DOTALL | re.MULTILINE)


@contextmanager
def inside(folder):
    """Work in a folder for a while (contextlib.chdir is there since Python 3.11 only)."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def run_page(text):
    """Return the text of a page with what its commands print now."""
    with tempfile.TemporaryDirectory() as folder:
        for name in LINKED:
            if (ROOT / name).exists():
                (Path(folder) / name).symlink_to(ROOT / name)
        with background_ends():
            text = CONSOLE.sub(lambda block: console(block[1], folder), text)
        space = {}
        return PYTHON.sub(lambda block: program(block, space, folder), text)


def console(block, folder):
    """Return a block with its commands run in a folder."""
    lines = re.findall(r'^\$ (?:.*\\\n)*.*', block, re.MULTILINE)
    return ''.join(f'{line}\n{printed(line[2:], folder)}' for line in lines)


def printed(command, folder):
    """Return what a command prints; our own one is called, the shell is asked for others."""
    expected = re.search(r'# exit code (\d+)$', command)
    words = shlex.split(command.replace('\\\n', ' '), comments=True)
    if words[-1] == '&':
        BACKGROUND.append(subprocess.Popen(
            ['bash', '-c', f'exec {command[:-1]}'], cwd=folder, env=environment(),
            start_new_session=True))
        return ''
    if words == ['kill', '%1']:
        end(BACKGROUND.pop())
        return ''
    if words[0] == 'robot-dynamics' and not set('|><') & set(command):
        text, code = called(words[1:], folder)
    else:
        text, code = in_shell(command, folder)
    text = STAMP.sub(r'\1', PROGRESS.sub('', text))
    text = text.replace(f'{folder}/', './').replace(f'{ROOT}/', './')
    if code != int(expected[1] if expected else 0) or 'Traceback' in text:
        raise RuntimeError(f'{command}\nexit code {code}\n{text}')
    return '\n'.join(line.rstrip() for line in text.splitlines()) + ('\n' if text else '')


#: Commands that run beside the others.
BACKGROUND = []


@contextmanager
def background_ends():
    """Leave no command of the page running."""
    try:
        yield
    finally:
        while BACKGROUND:
            end(BACKGROUND.pop())


def end(process):
    """End a command as Ctrl-C would, and wait for it."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=60.0)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


def environment():
    """Return the environment of a command line: ours, and a terminal of 80 columns."""
    return os.environ | {
        'PATH': f'{Path(sys.executable).parent}{os.pathsep}{os.environ["PATH"]}', 'COLUMNS': '80',
        'OPENBLAS_NUM_THREADS': '1', 'MPLBACKEND': 'Agg',
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}


def called(words, folder):
    """Return output and exit code of the robot-dynamics command, in this process."""
    from robot_dynamics_ros.cli.main import main

    out = io.StringIO()
    with inside(folder), redirect_stdout(out), redirect_stderr(out):
        code = main(words)
    return out.getvalue(), code


def in_shell(command, folder):
    """Return output and exit code of a command line."""
    done = subprocess.run(['bash', '-c', command], cwd=folder, env=environment(), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.stdout, done.returncode


def program(block, space, folder):
    """Return a block of Python, and what it prints in the block after it."""
    source, shown = block[1], block[2]
    out = io.StringIO()
    with inside(folder), redirect_stdout(out):
        exec(compile(source, 'page', 'exec'), space)
    if shown is None:
        return block[0]
    return f'```python\n{source}```\n\n```text\n{out.getvalue()}```\n'


def run_pages():
    """Return the paths of all pages that are run."""
    return [path for path in sorted((ROOT / 'docs').rglob('*.md'))
            if path.read_text(encoding='utf-8').startswith(MARK)]


def without_numbers(text):
    """
    Return a text whose numbers, and the spaces and dashes that align them, do not count.

    Nor does the number of lines that tell of progress: a busy machine skips some.
    """
    text = re.sub(r'[-+]?\d+(\.\d+)?([eE][-+]?\d+)?', '#', text)
    text = re.sub(r'(?m)^(.*: # %\n)\1+', r'\1', text)
    return re.sub(r'[-\s]+', ' ', text)
