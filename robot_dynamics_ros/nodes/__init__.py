# SPDX-License-Identifier: Apache-2.0
"""
The ROS 2 nodes.

Each one runs as ``python -m robot_dynamics_ros.nodes.<name> --ros-args ...``. A node converts a
message, calls one function of the core and publishes the result; there is no physics here.
"""

import signal
import sys
from pathlib import Path


def _started_as_node() -> bool:
    """Return whether this process runs a node: by its executable, or by ``python -m``."""
    program = Path(sys.argv[0]).name if sys.argv else ''
    return ((Path(__file__).parent / f'{program}.py').exists()
            or (program == '-m'
                and any(word.startswith(f'{__name__}.') for word in sys.orig_argv)))


if _started_as_node():
    # Python would answer Ctrl-C with a traceback while it imports; `run` takes over after that
    signal.signal(signal.SIGINT, signal.SIG_DFL)
