# SPDX-License-Identifier: Apache-2.0
"""
The ROS 2 nodes.

Each one runs as ``python -m robot_dynamics_ros.nodes.<name> --ros-args ...``. A node converts a
message, calls one function of the core and publishes the result; there is no physics here.
"""

import os
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

_NO_ROS = ('ROS 2 is not here (no module rclpy): source its setup.bash, or run `make setup` and '
           'use the Python in .venv')
#: colcon, rosdep and bloom do not descend into a package.
_NO_MESSAGES = ('the messages of this package (robot_dynamics_interfaces) are not built; in the '
                'workspace run `colcon build --base-paths src/* src/*/robot_dynamics_interfaces` '
                'and `source install/setup.bash`')


def _started_as_node() -> bool:
    """Return whether this process runs a node: by its executable, or by ``python -m``."""
    program = Path(sys.argv[0]).name if sys.argv else ''
    return ((Path(__file__).parent / f'{program}.py').exists()
            or (program == '-m'
                and any(word.startswith(f'{__name__}.') for word in sys.orig_argv)))


def _missing() -> str:
    """Return in one line what to do where no node can start; '' where all can."""
    if find_spec('rclpy') is None:
        return _NO_ROS
    try:
        spec = find_spec('robot_dynamics_interfaces.msg')
    except ModuleNotFoundError:
        spec = None
    # the source folder of the message package is found too, but holds no Python
    return _NO_MESSAGES if spec is None or spec.origin is None else ''


if _started_as_node():
    # read when numpy is loaded; threads for matrices as small as ours only wait for each other
    os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    # Python would answer Ctrl-C with a traceback while it imports; `run` takes over after that
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if reason := _missing():
        sys.exit(f'robot_dynamics_ros: {reason}')
elif reason := _missing():
    raise ImportError(reason)
