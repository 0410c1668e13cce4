# SPDX-License-Identifier: Apache-2.0
"""Where the robots and configurations of this package are installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from robot_dynamics_ros.errors import RobotDynamicsError

PACKAGE = 'robot_dynamics_ros'


def share_folder() -> Path:
    """
    Return the folder that holds urdf/ and config/.

    It is the source tree where the package runs from there, else share/robot_dynamics_ros of the
    Python or ROS installation.

    :raises RobotDynamicsError: none of these exists.
    """
    prefixes = [*os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    folders = [Path(__file__).resolve().parents[3],
               *(Path(prefix) / 'share' / PACKAGE for prefix in prefixes if prefix)]
    for folder in folders:
        if (folder / 'urdf' / 'demo_arm.urdf').is_file():
            return folder
    raise RobotDynamicsError('the robots of this package are not installed; looked in '
                             f'{", ".join(map(str, folders))}')
