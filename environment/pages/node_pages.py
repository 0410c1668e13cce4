# SPDX-License-Identifier: Apache-2.0
"""
One page per node: topics with their quality of service, services, parameters, what can go wrong.

Topics and services are those of started nodes (`write_policies` starts them with every optional
interface), parameters come from their declarations, failures from the calls in the source.
"""

import ast
import re
from dataclasses import fields
from pathlib import Path

import yaml
from write_config import NODES as SETTINGS
from write_policies import EXTRA, NODES, ROOT, short_name, started_nodes

PACKAGE = ROOT / 'robot_dynamics_ros'
#: Cause and remedy of what nodes count, by the words of the count.
COUNTS = yaml.safe_load((Path(__file__).parent / 'remedies.yaml').read_text())['counts']

HEAD = '<!-- Written by environment/pages from the code: make pages -->\n'

#: Made by rclpy for every node; the page of all nodes speaks of them.
COMMON = {'/rosout', '/parameter_events', '/diagnostics', '/clock', '~/transition_event'}

#: What travels on a topic, by its name.
MEANING = {
    'joint_states': 'measured positions, velocities and efforts',
    'joint_trajectory': 'motion to execute; an empty one brakes',
    'robot_description': 'URDF text; a new one rebuilds the model',
    'payload': 'what the tip carries',
    'mlc': 'learned parameters, used through a gate (`follow_mlc`)',
    'commands': 'efforts that were commanded (`effort_source: commands`)',
    'controller_state': 'state of the trajectory controller, with the effort that it carries',
    '~/joint_trajectory': 'motion for the trajectory controller',
    '~/commands': 'efforts for a forward_command_controller, in the order of the chain',
    '~/torques': 'torque of the model along the motion, for display',
    '~/joint_commands': 'efforts in float mode with joint names',
    '~/mlc': 'what was learned so far, with standard deviations',
    '~/payload': 'what the robot carries, in the form that `~/set_payload` takes',
    '~/progress': 'part of the motion that has been played, 0 to 1',
    'progress': 'part of the motion that has been played, 0 to 1',
    '~/status': 'stage of the calibration, and what it waits for',
    '~/gravity': 'gravity torque at the measured state',
    '~/coriolis': 'Coriolis and centrifugal torque at the measured state',
    '~/friction': 'friction and offset at the measured state',
    '~/residual': 'measured effort minus torque of the model',
    '~/external_torque': 'external torque, from a momentum observer',
    '/clock': 'time of the simulation',
}

#: Fields of a request in YAML, by the type of the service; {n} zeros = one per joint.
REQUESTS = {
    'std_srvs/srv/Trigger': '{}',
    'std_srvs/srv/SetBool': '{data: true}',
    'robot_dynamics_interfaces/srv/GetMlc': '{set: khalil}',
    'robot_dynamics_interfaces/srv/GetDynamics': '{position: [0.3, -0.5]}',
    'robot_dynamics_interfaces/srv/SetPayload':
        '{payload: {header: {frame_id: tool}, inertia: {m: 1.5, com: {z: 0.1}, ixx: 0.01, '
        'iyy: 0.01, izz: 0.005}}}',
}

#: What a service does, by its name.
SERVICES = {
    '~/get_mlc': 'returns the parameters in use, in a set of your choice',
    '~/get_dynamics': 'returns torques and mass matrix at one state (one number per joint)',
    '~/set_payload': 'sets what the tip carries; `m: 0` = nothing',
    '~/accept_parameters': 'uses learned parameters that wait for confirmation (`follow_mlc`)',
    '~/reset': 'discards what was learned',
    '~/save': 'writes `parameters_file`',
    '~/enable': 'starts learning or control; `data: false` = stop',
    '~/start': 'plays the motion',
    '~/stop': 'brakes the robot',
    '~/next': 'continues with the next stage',
}


def interface_rows(name, context):
    """Return rows of topics out, topics in and services of a node, by name."""
    out, come, services = {}, {}, {}
    for node in started_nodes(name, context):
        for publisher in node.publishers:
            topic = short_name(publisher.topic_name, node)
            if topic not in COMMON and '/_action/' not in topic:
                out[topic] = (type_name(publisher.msg_type), quality(publisher.qos_profile))
        for each in node.subscriptions:
            topic = short_name(each.topic_name, node)
            if topic not in COMMON and '/_action/' not in topic:
                come[topic] = (type_name(each.msg_type), quality(each.qos_profile))
        for each in node.services:
            service = short_name(node.resolve_service_name(each.srv_name), node)
            kind = type_name(each.srv_type)
            if kind in REQUESTS:
                services[service] = kind
    # seen only where control_msgs is installed
    come = {topic: each for topic, each in come.items() if not topic.endswith('controller_state')}
    for topic in EXTRA.get((name, 'topics', 'subscribe'), ()):
        come[topic] = ('control_msgs/msg/JointTrajectoryControllerState', 'best effort, 20')
    return dict(sorted(out.items())), dict(sorted(come.items())), dict(sorted(services.items()))


def type_name(kind):
    """Return package/folder/Type of a message or service class."""
    package, folder, *_ = kind.__module__.split('.')
    return f'{package}/{folder}/{kind.__name__}'


def meaning(topic):
    """Return what travels on a topic: by its whole name, or by the last word of it."""
    return MEANING.get(topic) or MEANING[topic.rpartition('/')[2]]


def quality(profile):
    """Return reliability, durability and depth in words."""
    words = profile.reliability.name.lower().replace('_', ' ')
    if profile.durability.name == 'TRANSIENT_LOCAL':
        words += ', latched'
    return f'{words}, {profile.depth}'


def parameter_rows(kind):
    """Return name, default, description with unit, and values that are allowed."""
    from robot_dynamics_ros.nodes.support.config_file import _allowed

    rows = []
    for each in fields(kind):
        default = yaml.safe_dump(each.default, default_flow_style=True).split('\n')[0]
        if each.default in ((), ''):
            default = 'none' if each.default == () else "''"
        changeable = '' if each.metadata['changeable'] else ' *'
        text = (each.metadata['description'] + _allowed(each.metadata)).replace('|', 'or')
        rows.append((f'`{each.name}`{changeable}', f'`{default}`', text))
    rows += [(f'`{each.name}.<joint>` *', '', each.description) for each in kind.of_joints]
    return rows


def failures(module):
    """Return the words under which a node counts what it warns of, from its source."""
    found, seen, waiting = set(), set(), [module]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        tree = ast.parse(path.read_text(encoding='utf-8'))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or '').startswith(
                    'robot_dynamics_ros.nodes.'):
                inner = PACKAGE.parent / (node.module.replace('.', '/') + '.py')
                if inner.is_file() and inner.parent != PACKAGE / 'nodes':
                    waiting.append(inner)
            if (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
                    and node.func.attr in ('warn', 'error') and len(node.args) >= 2
                    and 'diagnostics' in ast.unparse(node.func.value)
                    and isinstance(node.args[0], ast.Constant)):
                found.add(node.args[0].value)
    return sorted(found)


def table(header, rows):
    """Return a Markdown table."""
    lines = ['| ' + ' | '.join(header) + ' |', '|' + '---|' * len(header)]
    return '\n'.join(lines + ['| ' + ' | '.join(row) + ' |' for row in rows])


def page(name, context):
    """Return the page of one node."""
    kind = SETTINGS[name]
    module = PACKAGE / 'nodes' / f'{name}.py'
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding='utf-8')))
    text = re.sub(r'``(.+?)``', r'`\1`', docstring.replace('{', '').replace('}', ''))
    out, come, services = interface_rows(name, context)
    parts = [HEAD, f'# {name}\n', text + '\n',
             f'```bash\nros2 run robot_dynamics_ros {name} --ros-args --params-file '
             f'{name}.yaml\npython -m robot_dynamics_ros.nodes.{name} --ros-args --params-file '
             f'{name}.yaml\n```\n',
             f'All its parameters with their defaults are in '
             f'[config/{name}.yaml](../../../config/{name}.yaml).\n']
    for title, topics in (('Subscribed topics', come), ('Published topics', out)):
        if not topics:
            continue
        parts.append(f'## {title}\n')
        parts.append('\n'.join(f'- `{topic}`: {meaning(topic)}<br>`{each[0]}`, {each[1]}'
                               for topic, each in topics.items()) + '\n')
    if name == 'feedforward':
        parts.append('## Action\n\n`~/follow_joint_trajectory` '
                     '(`control_msgs/action/FollowJointTrajectory`), with `controller_action`: '
                     'relays goals of MoveIt to the controller, with efforts.\n')
    if services:
        parts.append('## Services\n')
        for service, each in services.items():
            full = service.replace('~', f'/{name}')
            parts.append(f'`{service}`: {SERVICES[service]}.\n\n```bash\nros2 service call {full} '
                         f'{each} "{REQUESTS[each]}"\n```\n')
    parts.append('## Parameters\n')
    parts.append('Parameters with * can be changed only while the node is not configured.\n')
    parts.append(table(['parameter', 'default', 'meaning, unit and allowed values'],
                       parameter_rows(kind.settings_type)) + '\n')
    parts.append('## What can go wrong\n')
    parts.append('The node stays up. It counts these events on `/diagnostics` and logs each at '
                 'most every two seconds. [Troubleshooting](../../troubleshooting.md) lists all '
                 'error messages.\n')
    parts.append(table(['count', 'cause', 'what to do'], [
        (key, COUNTS[key]['cause'], COUNTS[key]['remedy'].replace('](', '](../../'))
        for key in failures(module)]) + '\n')
    return '\n'.join(parts)


def pages():
    """Return the pages of all nodes by path below docs/."""
    import os

    import rclpy

    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'OFF'
    context = rclpy.Context()
    rclpy.init(context=context)
    try:
        found = {f'reference/nodes/{name}.md': page(name, context) for name in NODES}
    finally:
        rclpy.shutdown(context=context)
    return found | {'reference/nodes/index.md': index()}


def index():
    """Return the page about all nodes."""
    rows = []
    for name in NODES:
        path = PACKAGE / 'nodes' / f'{name}.py'
        line = ast.get_docstring(ast.parse(path.read_text(encoding='utf-8'))).split('\n')[0]
        rows.append((f'[{name}]({name}.md)', line.partition(': ')[2] or line))
    text = (Path(__file__).parent / 'all_nodes.md').read_text(encoding='utf-8')
    return '\n'.join([HEAD, '# Nodes\n', table(['node', 'what it does'], rows) + '\n', text,
                      '```{toctree}\n:hidden:\n\n' + '\n'.join(NODES) + '\n```\n'])
