# SPDX-License-Identifier: Apache-2.0
"""Generated models against Pinocchio: the same as ``robot-dynamics benchmark``."""

import sys

from robot_dynamics_ros.cli.main import main

if __name__ == '__main__':
    sys.exit(main(['benchmark', *sys.argv[1:]]))
