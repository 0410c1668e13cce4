# SPDX-License-Identifier: Apache-2.0
"""Presets of what efforts mean: usable in joints.yaml, with sources, never guessing a gain."""

import re
from pathlib import Path

import numpy as np
import pytest
from support.chains import random_chain

from robot_dynamics_ros.chain.effort_presets import PRESETS
from robot_dynamics_ros.chain.joints_file import joints_from_mapping
from robot_dynamics_ros.errors import ParameterError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def chain(rng):
    return random_chain(rng, 2)


def semantics(chain, preset, **joints):
    content = {'preset': preset, 'joints': {name: {'effort': effort}
                                            for name, effort in joints.items()}}
    return joints_from_mapping(content, 'joints.yaml').effort_semantics(chain)


@pytest.mark.parametrize('name', PRESETS)
def test_a_preset_holds_for_every_joint(chain, name):
    preset = PRESETS[name]
    gains = {} if preset.gain is not None else {
        joint: {'gain': 3.0} for joint in chain.joint_names}
    effort = semantics(chain, name, **gains)
    assert effort.sign.tolist() == [preset.sign] * 2
    assert effort.gain.tolist() == [preset.gain or 3.0] * 2
    assert effort.gravity_removed == (preset.gravity_removed,) * 2
    assert effort.side == ('joint',) * 2 and effort.offset.tolist() == [0.0, 0.0]


def test_what_a_joint_says_overrides_the_preset(chain):
    effort = semantics(chain, 'ur_driver_torques', joint2={
        'sign': -1, 'gain': 2.5, 'offset': 0.1, 'side': 'motor', 'gravity_removed': False})
    np.testing.assert_array_equal(effort.sign, [1, -1])
    np.testing.assert_array_equal(effort.gain, [1, 2.5])
    np.testing.assert_array_equal(effort.offset, [0, 0.1])
    assert effort.side == ('joint', 'motor') and effort.gravity_removed == (True, False)


def test_a_preset_in_amperes_asks_for_the_gain_of_every_joint(chain):
    with pytest.raises(ParameterError, match=r'ur_driver_currents.*"A".*joint joint2 needs'):
        semantics(chain, 'ur_driver_currents', joint1={'gain': 11.9})


@pytest.mark.parametrize('preset', ['ur5', 5, ['franka_ros2'], True])
def test_an_unknown_preset_is_refused_with_the_known_ones(chain, preset):
    with pytest.raises(ParameterError, match=r'joints\.yaml: preset .* known are ur_driver_cur'):
        semantics(chain, preset)


@pytest.mark.parametrize('name', PRESETS)
def test_every_preset_has_sources_and_is_documented(name):
    preset = PRESETS[name]
    assert preset.sources and all(source.startswith('https://') for source in preset.sources)
    text = (ROOT / 'docs' / 'efforts.md').read_text()
    [row] = re.findall(rf'^\| `{name}` \|(.*)$', text, re.MULTILINE)
    for source in preset.sources:
        assert f'({source})' in row
    assert f'| {preset.unit} |' in row and f'| {preset.sign:+g} |' in row
    assert ('to be given' if preset.gain is None else f'{preset.gain:g}') in row
    assert ('removed' if preset.gravity_removed else 'included') in row
