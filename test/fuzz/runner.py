# SPDX-License-Identifier: Apache-2.0
"""Runs one target: every try is made from the seed and its number, so that it can be repeated."""

import contextlib
import gc
import io
import math
import resource
import signal
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from robot_dynamics_ros import RobotDynamicsError

#: Real time over processor time of a try that only waits: others may use the machine, too.
_WAITING = 6.0

#: So many failures of one target are enough.
_MOST_FAILURES = 20

#: More memory than caches and the allocator take [MB].
_MOST_GROWTH = 100.0


class Hang(BaseException):
    """A try took too long."""


@dataclass
class Result:
    """
    What became of the tries of one target.

    :param accepted: number of inputs that were read.
    :param refused: number of inputs that were refused with one of our errors.
    :param slowest: longest time of a try [s].
    :param growth: growth of the resident memory from a quarter of the tries, or of their time,
        to the end [MB]; NaN = not measured.
    :param failures: one text per failure, with the file that holds the input.
    """

    name: str
    accepted: int = 0
    refused: int = 0
    slowest: float = 0.0
    growth: float = math.nan
    failures: list[str] = field(default_factory=list)

    @property
    def tries(self):
        return self.accepted + self.refused + len(self.failures)


def run(target, folder, *, seed=1, tries=None, seconds=float('inf')):
    """
    Attack one target.

    :param folder: folder for the inputs; the one being read is in ``<target>.current``.
    :param tries: number of tries; None = until the time is over.
    :param seconds: time for all tries [s].
    """
    examples = list(target.examples())
    result = Result(target.name)
    current = Path(folder) / f'{target.name}.current'
    begin, number, early = time.monotonic(), 0, math.nan
    while (tries is None or number < tries) and time.monotonic() - begin < seconds:
        part = max((time.monotonic() - begin) / seconds, number / tries if tries else 0.0)
        if math.isnan(early) and part >= 0.25:
            early = resident_memory()
        # the examples themselves come first: what is valid must be accepted
        case = (examples[number] if number < len(examples) else
                target.mutate(Random(f'{seed}/{target.name}/{number}'), examples))
        current.write_bytes(case)
        start, refused = time.monotonic(), result.refused
        failure = attempt(target, case, result)
        result.slowest = max(result.slowest, time.monotonic() - start)
        if number < len(examples) and result.refused > refused:
            failure, result.refused = 'a valid example was refused', refused
        if failure:
            kept = Path(folder) / f'{target.name}-{seed}-{number}'
            kept.write_bytes(case)
            result.failures.append(f'{target.name}: seed {seed}, try {number}, {kept}\n{failure}')
            if len(result.failures) >= _MOST_FAILURES:
                break
        number += 1
    current.unlink(missing_ok=True)
    result.growth = resident_memory() - early
    if result.growth > _MOST_GROWTH:
        result.failures.append(f'{target.name}: seed {seed}, {number} tries: the memory has grown '
                               f'by {result.growth:.0f} MB since a quarter of them')
    return result


def resident_memory():
    """Return the resident memory of this process [MB]."""
    gc.collect()
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def attempt(target, case, result):
    """Read one input and count it; return what is wrong, or None."""
    output = io.StringIO()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(output), \
                contextlib.redirect_stderr(output), _alarm(target.hang):
            warnings.simplefilter('error')
            target.read(case)
    except RobotDynamicsError as error:
        text = str(error)
        if '\n' in text or len(text) > 5000:
            return f'not one clear line: {text[:200]!r}'
        result.refused += 1
        return None
    except (Exception, Hang):
        return traceback.format_exc()
    if output.getvalue():
        return f'printed: {output.getvalue()[:200]}'
    result.accepted += 1
    return None


@contextlib.contextmanager
def _alarm(hang):
    """Stop what takes too long, as soon as Python is asked."""
    def ring(*_):
        raise Hang(f'more than {hang:g} s')

    timers = ((signal.SIGPROF, signal.ITIMER_PROF, hang),
              (signal.SIGALRM, signal.ITIMER_REAL, _WAITING * hang))
    handlers = [signal.signal(number, ring) for number, _, _ in timers]
    begin = time.monotonic()
    before = [signal.setitimer(timer, seconds) for _, timer, seconds in timers]
    try:
        yield
    finally:
        passed = time.monotonic() - begin
        for (number, timer, _), handler, (rest, interval) in zip(timers, handlers, before):
            signal.setitimer(timer, 0.0)
            signal.signal(number, handler)
            if rest:  # the time limit of the whole test goes on
                signal.setitimer(timer, max(rest - passed, 1e-3), interval)
