# SPDX-License-Identifier: Apache-2.0
"""A short attack on every node; ``make fuzz`` is the long one."""

import ast
import importlib.util
import re

import numpy as np
import pytest
from support.availability import skip_without_ros

skip_without_ros()
pytest.importorskip('robot_dynamics_test_interfaces.action', reason='make setup')

from random import Random

from support.messages import joint_state_message

from fuzz import dds, goals, messages
from fuzz.memory import growth
from fuzz.nodes import NODES, ROOT
from fuzz.run import all_targets
from robot_dynamics_interfaces.srv import GetMlc
from robot_dynamics_ros.motion.effort_limits import EffortLimits

pytestmark = pytest.mark.ros

#: Steps of each node, in cases of equal length.
CASES, STEPS = 2, 120
#: What rclpy itself subscribes to.
OF_RCLPY = {'/clock', '/parameter_events'}
#: Needs control_msgs, which is not there where we test: handled like ``commands``.
NOT_HERE = {'controller_state'}


def target(name, ros):
    return messages.MessageTarget(name, ros.node.context)


@pytest.mark.parametrize('name', NODES)
def test_no_message_request_or_parameter_ends_a_node(ros, name):
    attacks = [target(name, ros).read(str(case).encode(), STEPS) for case in range(CASES)]
    assert sum(attack.outputs for attack in attacks) > 0


def load_policies():
    spec = importlib.util.spec_from_file_location('write_policies',
                                                  ROOT / 'environment' / 'write_policies.py')
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def described(random):
    """Make an attack start with a robot description, or without one."""
    return type('Fixed', (Random,), {'random': lambda self: random})()


def interfaces_in_the_source():
    """Return the names of all topics and services that the code of the nodes may take."""
    calls = [call for path in (ROOT / 'robot_dynamics_ros' / 'nodes').rglob('*.py')
             for call in ast.walk(ast.parse(path.read_text(encoding='utf-8')))
             if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
             and call.func.attr in ('create_subscription', 'create_service')]
    return {call.args[1].value.removeprefix('/') for call in calls
            if isinstance(call.args[1], ast.Constant)}


def test_every_interface_of_every_node_is_attacked(ros):
    script, nodes, attacked = load_policies(), set(), set()
    for name in NODES:
        for first in (0.0, 0.9):  # the description from the topic, or as a parameter
            # a namespace of its own: the graph may still hold the node before
            attack = messages.Attack(name, described(first), ros.node.context,
                                     namespace=f'{name}_{"parameter" if first else "topic"}')
            node = attack.node
            found, own = script.interfaces(node), node.get_name()
            topics, services = ({script.short_name(each, node) for each in offered}
                                for offered in (attack.subscriptions, attack.services))
            attack.close()
            assert found['topics', 'subscribe'] - OF_RCLPY == topics - OF_RCLPY, name
            not_called = found['services', 'reply'] - services
            assert all(each.endswith(messages.NOT_CALLED) for each in not_called), name
            actions = {each.replace('~', f'/{own}') for each in found['actions', 'execute']}
            assert actions == ({goals.ACTION} if name == goals.RELAY else set()), name
            nodes.add(own)
            attacked |= {each.removeprefix('/') for each in topics | services}
    listed = re.search(r'NODES = \(([^)]*)\)', (ROOT / 'setup.py').read_text()).group(1)
    assert nodes == set(re.findall(r"'(\w+)'", listed))
    # a new optional interface needs a mode in NODES: what no mode has would never be started
    wanted = interfaces_in_the_source()
    assert wanted - attacked == NOT_HERE and len(wanted) > 15


@pytest.mark.parametrize('name', ['adaptive_controller', 'identification'])
def test_an_attack_reaches_all_that_it_knows(ros, name):
    attack = messages.Attack(name, Random(7), ros.node.context)
    for _ in range(200):
        attack.step()
    assert attack.reached >= {*attack.subscriptions, *attack.services}
    attack.close()


def test_make_fuzz_attacks_everything():
    found = all_targets()
    assert {*NODES, 'urdf', 'checkpoint', 'source', 'goals', 'memory', 'dds'} <= set(found)
    assert {f'start_{name}' for name in ('excitation', 'tracking_experiment')} <= set(found)


def test_no_goal_or_cancel_request_ends_the_relay(ros):
    cell = goals.GoalTarget(ros.node.context).read(b'3', 8)
    assert len(cell.results) == len(cell.handles) > 0
    assert cell.controller.goals


def test_the_attack_on_the_relay_sees_an_effort_beyond_the_limits(ros, monkeypatch):
    monkeypatch.setattr(EffortLimits, 'limit', unlimited)
    with pytest.raises(AssertionError):
        goals.GoalTarget(ros.node.context).read(b'3', 8)


def test_the_attack_sees_what_no_handler_foresees(ros, monkeypatch):
    from robot_dynamics_ros.nodes.trajectories.controller_link import ControllerLink

    def fail(self, message):
        raise KeyError('nobody foresaw this')

    monkeypatch.setattr(ControllerLink, 'fill', fail)
    with pytest.raises(AssertionError, match='nobody foresaw this'):
        target('feedforward_trajectory', ros).read(b'1')


def unlimited(self, effort):
    return type('Unlimited', (), {'effort': np.full_like(effort, 1e3),
                                  'clamped': np.zeros(effort.shape[-1], dtype=np.int64)})()


def test_the_attack_sees_a_command_beyond_the_limits(ros, monkeypatch):
    monkeypatch.setattr(EffortLimits, 'limit', unlimited)
    with pytest.raises(AssertionError):
        for case in range(20):
            target('feedforward_stream', ros).read(str(case).encode())


def test_the_attack_sees_memory_that_is_never_given_back(ros, monkeypatch):
    from robot_dynamics_ros.nodes.live_view import LiveViewNode

    kept = []
    monkeypatch.setattr(LiveViewNode, '_on_progress',
                        lambda self, message: kept.append(b'x' * 2**22))
    assert growth('live_view', Random(1), ros.node.context, 80) > 8.0


def test_processes_stay_up_and_work_under_fire_over_dds(ros, tmp_path):
    names = ('streaming', 'dynamics_server', 'identification')
    fire = dds.Fire(ros, tmp_path, names)
    assert {'/joint_states', '/joint_trajectory', '/payload', '/mlc'} == set(fire.topics)
    fire.shoot(Random(1995), 400)
    fire.finish()
    assert fire.sent > 300 and fire.called == 10
    for name in ('identification', 'dynamics_server'):
        answer = ros.call(GetMlc, f'/{name}/get_mlc', GetMlc.Request())
        assert answer.success and np.all(np.isfinite(answer.mlc.values)), answer.message
    fire.assert_commands(joint_state_message)
