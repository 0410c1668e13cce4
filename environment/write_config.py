# SPDX-License-Identifier: Apache-2.0
"""Write config/<node>.yaml of every node from the declarations of its parameters."""

from pathlib import Path

from robot_dynamics_ros.nodes.adaptive_controller import AdaptiveControllerNode
from robot_dynamics_ros.nodes.calibration import CalibrationNode
from robot_dynamics_ros.nodes.dynamics_server import DynamicsServerNode
from robot_dynamics_ros.nodes.excitation import ExcitationNode
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.identification import IdentificationNode
from robot_dynamics_ros.nodes.live_view import LiveViewNode
from robot_dynamics_ros.nodes.payload_identification import PayloadIdentificationNode
from robot_dynamics_ros.nodes.simulated_robot import SimulatedRobotNode
from robot_dynamics_ros.nodes.support.config_file import config_text

CONFIG = Path(__file__).resolve().parent.parent / 'config'
#: All nodes that a launch file may start; a module has the name of its node.
NODES = {kind.__module__.rpartition('.')[2]: kind for kind in (
    AdaptiveControllerNode, CalibrationNode, DynamicsServerNode, ExcitationNode, FeedforwardNode,
    IdentificationNode, LiveViewNode, PayloadIdentificationNode, SimulatedRobotNode)}


def main():
    """Write the files."""
    for name, kind in NODES.items():
        (CONFIG / f'{name}.yaml').write_text(config_text(name, kind.settings_type),
                                             encoding='utf-8')


if __name__ == '__main__':
    main()
