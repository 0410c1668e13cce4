# SPDX-License-Identifier: Apache-2.0
"""
A bad network cable: two network interfaces, and a process between them that loses and delays.

``python -m soak.wire <interface> <interface> <loss> <delay [s]>`` makes the interfaces, prints
``ready``, carries Ethernet frames until SIGTERM, and prints how many it has carried and lost. The
interfaces may be moved into network namespaces meanwhile. Needs root and /dev/net/tun; unlike
netem, which many kernels lack.
"""

import fcntl
import os
import random
import select
import signal
import struct
import sys
import time
from collections import deque

TUNSETIFF = 0x400454ca
TAP_WITHOUT_HEADER = 0x0002 | 0x1000
LARGEST_FRAME = 65536


def interface(name):
    """Make an Ethernet interface and return its other end as a file descriptor."""
    end = os.open('/dev/net/tun', os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, TUNSETIFF, struct.pack('16sH22x', name.encode(), TAP_WITHOUT_HEADER))
    return end


def carry(ends, loss, delay, stopped, rng):
    """
    Carry frames from each end to the other one.

    :param loss: share of the frames that are lost.
    :param delay: time that a frame takes [s].
    :param stopped: list that is filled when it is time to stop.
    :returns: numbers of frames carried and lost.
    """
    other = {ends[0]: ends[1], ends[1]: ends[0]}
    waiting, carried, lost = deque(), 0, 0
    while not stopped:
        due = waiting[0][0] - time.monotonic() if waiting else 0.1
        for end in select.select(ends, [], [], max(0.0, min(due, 0.1)))[0]:
            frame = os.read(end, LARGEST_FRAME)
            if rng.random() < loss:
                lost += 1
            else:
                waiting.append((time.monotonic() + delay, other[end], frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, end, frame = waiting.popleft()
            try:
                os.write(end, frame)
                carried += 1
            except OSError:
                pass  # the other host is not up yet
    return carried, lost


def main():
    """Make the wire, carry and tell."""
    one, two, loss, delay = sys.argv[1:]
    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    ends = [interface(name) for name in (one, two)]
    print('ready', flush=True)
    print(*carry(ends, float(loss), float(delay), stopped, random.Random(1)), flush=True)


if __name__ == '__main__':
    main()
