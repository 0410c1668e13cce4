# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics adaptive_demo: nodes over DDS, a load that appears, a table and a picture."""

import numpy as np
import pytest

from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.demo import adaptive, node_processes
from robot_dynamics_ros.errors import NodeError
from robot_dynamics_ros.motion.playing.tracked_motion import TrackedMotion
from robot_dynamics_ros.motion.trajectory import Trajectory


@pytest.mark.ros
@pytest.mark.slow
def test_a_load_over_ros_is_learned(ros, tmp_path, capsys):
    picture = tmp_path / 'errors.png'
    code = main(['adaptive_demo', '--duration', '4', '--plot', str(picture)])
    printed, errors = capsys.readouterr()
    assert code == 0, printed + errors
    assert picture.read_bytes().startswith(b'\x89PNG')
    rows = {line.rsplit(maxsplit=2)[0]: [float(word) for word in line.split()[-2:]]
            for line in printed.splitlines()[-2:]}
    assert rows['learning'][1] < 0.3 * rows['without learning'][1]


def recording(name, error):
    """Return a recording whose error jumps from 0.01 to `error` at 1 s."""
    t = np.linspace(0.0, 3.0, 31)
    still = Trajectory(('a',), [0.0, 3.0], [[0.0], [0.0]])
    return TrackedMotion(name, still, t, np.where(t < 1.0, 0.01, error)[:, None],
                           np.zeros((31, 1)))


def test_the_table_and_the_exit_code(monkeypatch, capsys, tmp_path):
    results = {'learning': 0.02, 'without learning': 0.1}
    monkeypatch.setattr(node_processes, 'import_module', lambda name: None)
    monkeypatch.setattr(adaptive, '_recorded',
                        lambda arguments, name, *_: recording(name, results[name]))
    assert main(['adaptive_demo', '--duration', '2.5']) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-2].split()[-2:] == ['10.00', '100.00']
    assert lines[-1].split()[-2:] == ['10.00', '20.00']
    results['learning'] = 0.09
    assert main(['adaptive_demo', '--duration', '2.5']) == 1
    assert 'learning did not help' in capsys.readouterr().out
    nowhere = str(tmp_path / 'no' / 'where.png')
    assert main(['adaptive_demo', '--duration', '2.5', '--plot', nowhere]) == 2


def test_without_ros_it_says_so(monkeypatch, capsys):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(node_processes, 'import_module', missing)
    assert main(['adaptive_demo']) == 2
    assert 'needs ROS 2' in capsys.readouterr().err


def test_a_controller_that_does_not_take_over_is_an_error(monkeypatch):
    class Group:
        def output(self, node):
            return f'nothing from {node}\n'

        def exit_codes(self):
            return {'simulated_robot': 1, 'adaptive_controller': None}

    with pytest.raises(NodeError, match='nothing from simulated_robot'):
        adaptive._wait_for_control(Group())
