# SPDX-License-Identifier: Apache-2.0
"""security/policies.xml against what started nodes really have."""

import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from support.availability import skip_without_ros

skip_without_ros()

pytestmark = pytest.mark.ros

ROOT = Path(__file__).resolve().parents[2]


def load_script():
    spec = importlib.util.spec_from_file_location('write_policies',
                                                  ROOT / 'environment' / 'write_policies.py')
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


SCRIPT = load_script()


def allowed(text):
    """Return the names by node, kind and right."""
    return {profile.get('node'): {(group.tag, right): {each.text for each in group}
                                  for group in profile for right in group.attrib}
            for profile in ElementTree.fromstring(text).iter('profile')}


POLICY = allowed(SCRIPT.POLICIES.read_text(encoding='utf-8'))


@pytest.mark.parametrize('name', SCRIPT.NODES)
def test_the_policy_allows_what_a_started_node_has_and_nothing_else(ros, name):
    pytest.importorskip('robot_dynamics_test_interfaces.action', reason='make setup')
    found = SCRIPT.node_interfaces(name, ros.node.context)
    assert {kind: names for kind, names in found.items() if names} == POLICY[name], \
        'environment/write_policies.py'


def test_every_node_has_a_policy_but_that_of_the_demo():
    nodes = re.search(r'NODES = \(([^)]*)\)', (ROOT / 'setup.py').read_text()).group(1)
    assert set(POLICY) == set(re.findall(r"'(\w+)'", nodes)) - {'tracking_experiment'}


def test_every_node_has_parameters_lifecycle_diagnostics_and_clock():
    for name, rights in POLICY.items():
        assert {'~/get_parameters', '~/set_parameters', '~/change_state',
                '~/get_state'} <= rights['services', 'reply'], name
        assert {'/diagnostics', '/rosout', '~/transition_event'} <= rights['topics', 'publish']
        assert '/clock' in rights['topics', 'subscribe'], name


def test_only_four_nodes_may_send_torques_or_motions_and_only_buttons_call_another():
    sends = {name for name, rights in POLICY.items()
             if {'~/commands', '~/joint_trajectory'} & rights['topics', 'publish']}
    assert sends == {'adaptive_controller', 'calibration', 'excitation', 'feedforward'}
    calls = {name: rights['services', 'request'] for name, rights in POLICY.items()
             if ('services', 'request') in rights}
    assert calls == {'live_view': {'reset', 'save', 'start', 'stop'}}  # buttons of its page


def test_the_text_of_a_policy_is_read_back():
    names = {kind: {f'~/{kind[1]}', '/a&b'} for kind in SCRIPT.KINDS}
    assert allowed(SCRIPT.policy_text({'some_node': names})) == {'some_node': names}
