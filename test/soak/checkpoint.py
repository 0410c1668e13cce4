# SPDX-License-Identifier: Apache-2.0
"""What was learned stays: kill -9, a full or read-only disk, two nodes on one checkpoint."""

import os
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from robot_dynamics_interfaces.srv import GetMlc
from soak.measuring import NODES, PLANAR, Counters, Row, parameters, spin_for, stop


def _identification(ros, folder, checkpoint, node='identification'):
    return ros.start(f'{NODES}identification', *parameters(
        folder, robot_description=PLANAR, checkpoint_file=str(checkpoint),
        checkpoint_period=0.5), '-r', f'__node:={node}')


def _samples(ros, node='identification'):
    return ros.call(GetMlc, f'{node}/get_mlc', GetMlc.Request()).mlc.samples


def kills(ros, folder, duration, seed=1):
    """Kill -9 at random times: what was learned until the last checkpoint is there again."""
    rng, checkpoint = np.random.default_rng(seed), Path(folder) / 'kills.npz'
    source = ros.start('soak.joint_state_source', '200', '')
    node = _identification(ros, folder, checkpoint)
    ros.spin_until(checkpoint.exists, 'the first checkpoint')
    rounds = lost = 0
    end = time.monotonic() + duration
    while rounds == 0 or time.monotonic() < end:
        spin_for(ros, rng.uniform(0.3, 2.0))
        known = _samples(ros)
        spin_for(ros, 1.0)  # two checkpoints later it is on the disk
        spin_for(ros, rng.uniform(0.0, 0.5))
        ros.kill(node)
        node = _identification(ros, folder, checkpoint)
        ros.spin_until(lambda node=node: 'robot planar_2r' in node.output, 'the restart')
        rounds += 1
        lost += 'resumed from' not in node.output or _samples(ros) < known
    return [Row('kill -9 with checkpoint', f'{rounds} kills, {lost} times more lost than the last '
                'interval', stop(ros, source, node) and lost == 0)]


@contextmanager
def small_disk(folder, size='96k'):
    """Mount a small disk; gives None where that is not allowed."""
    place = Path(tempfile.mkdtemp(dir=folder))
    made = os.geteuid() == 0 and subprocess.run(
        ['mount', '-t', 'tmpfs', '-o', f'size={size}', 'none', str(place)],
        capture_output=True).returncode == 0
    try:
        yield place if made else None
    finally:
        if made:
            subprocess.run(['umount', '-l', str(place)], check=False, capture_output=True)


def bad_disk(ros, folder, *, full):
    """Take the disk away from a checkpoint: full, or read-only."""
    name = 'disk full' if full else 'read-only folder'
    with small_disk(folder) as disk:
        if disk is None:
            return [Row(name, 'skipped: mounting a small disk needs root')]
        checkpoint, counters = disk / 'state.npz', Counters(ros)
        source = ros.start('soak.joint_state_source', '200', '')
        node = _identification(ros, folder, checkpoint)
        ros.spin_until(checkpoint.exists, 'the first checkpoint')
        spin_for(ros, 1.0)
        if full:
            with (disk / 'filler').open('wb', buffering=0) as filler:
                try:
                    while filler.write(bytes(1024)):
                        pass
                except OSError:
                    pass  # that is what was wanted
        else:
            subprocess.run(['mount', '-o', 'remount,ro', str(disk)], check=True)
        kept, known = checkpoint.read_bytes(), _samples(ros)
        spin_for(ros, 3.0)
        moment = time.monotonic()
        ros.spin_until(lambda: counters.heard_since('identification', moment), 'diagnostics')
        learns, whole = _samples(ros) > known, checkpoint.read_bytes() == kept
        if not full:
            subprocess.run(['mount', '-o', 'remount,rw', str(disk)], check=True)
        else:
            (disk / 'filler').unlink()
        ros.spin_until(lambda: checkpoint.read_bytes() != kept, 'a checkpoint after the trouble')
        clean = stop(ros, source, node)
    return [Row(name, f'learning goes on: {learns}; the old checkpoint stays whole: {whole}; '
                'written again when there is room', learns and whole and clean)]


def shared_checkpoint(ros, folder, duration=5.0):
    """Two nodes write one checkpoint: it is always whole."""
    checkpoint = Path(folder) / 'shared.npz'
    source = ros.start('soak.joint_state_source', '200', '')
    nodes = [_identification(ros, folder, checkpoint, node) for node in ('one', 'two')]
    ros.spin_until(checkpoint.exists, 'the first checkpoint')
    end, looks, broken = time.monotonic() + duration, 0, 0
    while time.monotonic() < end:
        spin_for(ros, 0.05)
        looks += 1
        try:
            with np.load(checkpoint, allow_pickle=False) as state:
                broken += not state.files
        except Exception:  # whatever is wrong with it
            broken += 1
    clean = stop(ros, source, *nodes)
    again = _identification(ros, folder, checkpoint)
    ros.spin_until(lambda: 'resumed from' in again.output, 'the resumed node')
    left = [path.name for path in Path(folder).glob('*.tmp*')]
    return [Row('two nodes on one checkpoint', f'{looks} looks, {broken} broken; a third node '
                f'resumes; files left over: {len(left)}',
                clean and stop(ros, again) and not broken and not left)]
