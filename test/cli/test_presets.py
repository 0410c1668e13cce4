# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics presets``."""

import pytest

from robot_dynamics_ros.chain.effort_presets import PRESETS
from robot_dynamics_ros.cli.main import main


def test_all_presets_are_listed(capsys):
    assert main(['presets']) == 0
    text = capsys.readouterr().out
    for name, preset in PRESETS.items():
        assert f'{name}: {preset.meaning}' in text
    assert 'https://' not in text


def test_one_preset_shows_its_sources(capsys):
    assert main(['presets', 'ur_driver_currents']) == 0
    text = capsys.readouterr().out
    assert all(source in text for source in PRESETS['ur_driver_currents'].sources)
    assert 'of each joint' in text and 'franka' not in text


def test_an_unknown_name_is_one_line(capsys):
    with pytest.raises(SystemExit) as ended:
        main(['presets', 'ur5'])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count('\n') == 1
