# SPDX-License-Identifier: Apache-2.0
"""
Write security/policies.xml: what each node may publish, subscribe, answer and call.

The nodes are started with every optional interface, and the ROS graph says what they have. Names
below a node's namespace are written without it, so that the policy holds in any namespace.
"""

import os
from pathlib import Path
from xml.sax.saxutils import escape

import rclpy
from rclpy.action import (
    get_action_client_names_and_types_by_node,
    get_action_server_names_and_types_by_node,
)
from rclpy.parameter import Parameter

from robot_dynamics_ros.nodes.adaptive_controller import AdaptiveControllerNode
from robot_dynamics_ros.nodes.calibration import CalibrationNode
from robot_dynamics_ros.nodes.dynamics_server import DynamicsServerNode
from robot_dynamics_ros.nodes.excitation import ExcitationNode
from robot_dynamics_ros.nodes.feedforward import FeedforwardNode
from robot_dynamics_ros.nodes.identification import IdentificationNode
from robot_dynamics_ros.nodes.live_view import LiveViewNode
from robot_dynamics_ros.nodes.payload_identification import PayloadIdentificationNode
from robot_dynamics_ros.nodes.simulated_robot import SimulatedRobotNode

ROOT = Path(__file__).resolve().parent.parent
POLICIES = ROOT / 'security' / 'policies.xml'
#: Namespace in which the nodes are looked at; the policy does not hold it.
NAMESPACE = 'policy'
#: Where a relayed action goes, as in the README.
CONTROLLER = 'joint_trajectory_controller/follow_joint_trajectory'


class RelayingNode(FeedforwardNode):
    """The relay of actions, where control_msgs is not installed."""

    def action_type(self):
        """Return a type that is always there; a policy knows names only."""
        from robot_dynamics_test_interfaces.action import FollowJointTrajectory

        return FollowJointTrajectory


#: Name, and per choice of settings: class and parameters; together they have all interfaces.
NODES = {
    'adaptive_controller': [(AdaptiveControllerNode, {})],
    'calibration': [(CalibrationNode, {'effort_source': 'commands'})],
    'dynamics_server': [(DynamicsServerNode, {'publish_shares': True, 'follow_mlc': True,
                                              'effort_source': 'commands'})],
    'excitation': [(ExcitationNode, {'unchecked': True})],  # this arm has no geometry
    'feedforward': [(RelayingNode, {'follow_mlc': True, 'controller_action': CONTROLLER}),
                    (FeedforwardNode, {'mode': 'stream'}), (FeedforwardNode, {'mode': 'float'})],
    'identification': [(IdentificationNode, {'effort_source': 'commands'})],
    'live_view': [(LiveViewNode, {'interval': 10.0})],
    'payload_identification': [(PayloadIdentificationNode, {'effort_source': 'commands'})],
    'simulated_robot': [(SimulatedRobotNode, {}), (SimulatedRobotNode, {'publish_clock': True})],
}
#: Needs control_msgs to be seen: the third source of efforts, and what the controller does.
EXTRA = {**{(name, 'topics', 'subscribe'): {'controller_state'}
            for name in ('calibration', 'dynamics_server', 'identification',
                         'payload_identification')},
         ('feedforward', 'topics', 'subscribe'): {
             'controller_state', CONTROLLER.replace('follow_joint_trajectory',
                                                    'controller_state')}}
#: What a policy speaks of, and the right it gives.
KINDS = (('topics', 'publish'), ('topics', 'subscribe'), ('services', 'reply'),
         ('services', 'request'), ('actions', 'execute'), ('actions', 'call'))


def interfaces(node):
    """Return the names of everything that a started node has, by kind and right."""
    name, namespace = node.get_name(), node.get_namespace()
    found = {
        ('topics', 'publish'): node.get_publisher_names_and_types_by_node(name, namespace),
        ('topics', 'subscribe'): node.get_subscriber_names_and_types_by_node(name, namespace),
        ('services', 'reply'): node.get_service_names_and_types_by_node(name, namespace),
        ('services', 'request'): node.get_client_names_and_types_by_node(name, namespace),
        ('actions', 'execute'): get_action_server_names_and_types_by_node(node, name, namespace),
        ('actions', 'call'): get_action_client_names_and_types_by_node(node, name, namespace)}
    return {kind: {short_name(each, node) for each, _ in names if '/_action/' not in each}
            for kind, names in found.items()}


def short_name(full, node):
    """Return a name as in the code of a node: ~/x, x, or /x where it is global."""
    own, namespace = f'{node.get_fully_qualified_name()}/', f'{node.get_namespace()}/'
    if full.startswith(own):
        return f'~/{full.removeprefix(own)}'
    return full.removeprefix(namespace)


def started_nodes(name, context):
    """Give a node again and again, so that all its optional interfaces are seen."""
    description = (ROOT / 'urdf' / 'planar_2r.urdf').read_text(encoding='utf-8')
    for make, parameters in NODES[name]:
        for source in ({'robot_description': description}, {}):  # or from the topic
            values = {**parameters, **source}
            if not values.get('publish_clock'):
                values['use_sim_time'] = True
            node = make(context=context, namespace=NAMESPACE, parameter_overrides=[
                Parameter(key, value=value) for key, value in values.items()])
            node.trigger_configure()
            node.trigger_activate()
            yield node
            node.trigger_deactivate()
            node.destroy_node()


def node_interfaces(name, context):
    """Return everything that a node may have, with all its optional interfaces."""
    total = {kind: set(EXTRA.get((name, *kind), ())) for kind in KINDS}
    for node in started_nodes(name, context):
        for kind, names in interfaces(node).items():
            total[kind] |= names
    return total


def policy_text(every):
    """Return the policy file of nodes with their interfaces."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>',
             '<!-- SPDX-License-Identifier: Apache-2.0 -->',
             '<!-- Written by environment/write_policies.py from started nodes; see '
             'docs/security.md. -->',
             '<policy version="0.2.0">', '  <enclaves>']
    for name, rights in sorted(every.items()):
        lines += [f'    <enclave path="/robot_dynamics/{name}">', '      <profiles>',
                  f'        <profile ns="/" node="{name}">']
        for kind, right in KINDS:
            if rights[kind, right]:
                lines += [f'          <{kind} {right}="ALLOW">',
                          *(f'            <{kind[:-1]}>{escape(each)}</{kind[:-1]}>'
                            for each in sorted(rights[kind, right])),
                          f'          </{kind}>']
        lines += ['        </profile>', '      </profiles>', '    </enclave>']
    return '\n'.join([*lines, '  </enclaves>', '</policy>', ''])


def main():
    """Write the file."""
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'OFF'
    context = rclpy.Context()
    rclpy.init(context=context)
    every = {name: node_interfaces(name, context) for name in NODES}
    POLICIES.write_text(policy_text(every), encoding='utf-8')
    rclpy.shutdown(context=context)


if __name__ == '__main__':
    main()
