# SPDX-License-Identifier: Apache-2.0
"""The nodes that are attacked, each in the modes that together have all its interfaces."""

import os
import tempfile
from pathlib import Path

import rclpy
from robot_dynamics_test_interfaces.action import FollowJointTrajectory

from robot_dynamics_ros.nodes.adaptive_controller import AdaptiveControllerNode
from robot_dynamics_ros.nodes.calibration import CalibrationNode
from robot_dynamics_ros.nodes.dynamics_server import DynamicsServerNode
from robot_dynamics_ros.nodes.excitation import ExcitationNode
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.identification import IdentificationNode
from robot_dynamics_ros.nodes.live_view import LiveViewNode
from robot_dynamics_ros.nodes.payload_identification import PayloadIdentificationNode
from robot_dynamics_ros.nodes.simulated_robot import SimulatedRobotNode
from robot_dynamics_ros.nodes.tracking_experiment import TrackingExperimentNode

ROOT = Path(__file__).resolve().parent.parent.parent
PLANAR = (ROOT / 'urdf' / 'planar_2r.urdf').read_text(encoding='utf-8')
#: Action of the controller behind the relay.
CONTROLLER = 'controller/follow'
#: A file that cannot be written.
NOWHERE = str(Path(tempfile.gettempdir()) / 'nowhere' / 'x.npz')


class RelayingNode(FeedforwardNode):
    """The relay of actions, where control_msgs is not installed."""

    def action_type(self):
        return FollowJointTrajectory


#: Class and parameters by a name for the mode.
NODES = {
    'feedforward_trajectory': (FeedforwardNode, {'follow_mlc': True, 'swap_duration': 0.02}),
    'feedforward_relay': (RelayingNode, {'controller_action': CONTROLLER}),
    'feedforward_stream': (FeedforwardNode, {'mode': 'stream'}),
    'feedforward_float': (FeedforwardNode, {'mode': 'float'}),
    'computed_torque': (FeedforwardNode, {'mode': 'stream', 'feedback_frequency': 10.0,
                                          'follow_mlc': True}),
    'dynamics_server': (DynamicsServerNode, {'publish_shares': True, 'follow_mlc': True}),
    'adaptive_controller': (AdaptiveControllerNode, {'largest_error': float('inf')}),
    'calibration': (CalibrationNode, {'unchecked': True, 'duration': 2.0, 'harmonics': 2}),
    'excitation': (ExcitationNode, {'duration': 2.0, 'harmonics': 2, 'approach_duration': 0.1,
                                    'unchecked': True}),
    'identification': (IdentificationNode, {}),
    'commands_identification': (IdentificationNode, {'effort_source': 'commands',
                                                     'force_sensor': True}),
    'payload_identification': (PayloadIdentificationNode, {}),
    'simulated_robot': (SimulatedRobotNode, {'simulation_rate': 200.0}),
    'live_view': (LiveViewNode, {'history_file': NOWHERE, 'page_port': 0}),
    'tracking_experiment': (TrackingExperimentNode, {
        'output': NOWHERE,
        'motion_duration': 1.0, 'approach_duration': 0.5}),
}


def settings_of(name):
    """Return the parameters of a node that is to have a robot."""
    # a folder that holds a calibration already is refused: every life has one of its own
    folder = ({'folder': tempfile.mkdtemp(prefix='fuzz-calibration-')} if name == 'calibration'
              else {})
    return {'robot_description': PLANAR, **NODES[name][1], **folder}


def context_of_its_own():
    """Return a context of rclpy that no other process sees."""
    os.environ.setdefault('ROS_LOG_DIR', tempfile.mkdtemp(prefix='fuzz-log-'))
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'OFF'
    context = rclpy.Context()
    rclpy.init(context=context, signal_handler_options=rclpy.SignalHandlerOptions.NO)
    return context
