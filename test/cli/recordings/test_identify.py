# SPDX-License-Identifier: Apache-2.0
"""robot-dynamics identify and compare, as a user calls them."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
import yaml
from support.excitation import excitation, random_physics
from support.robots import URDF_FOLDER

from robot_dynamics_ros import chain_from_urdf, minimal_parameters
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.estimation.parameters.parameters_file import read_parameters
from robot_dynamics_ros.files.csv_table import write_csv_table
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

URDF = str(URDF_FOLDER / 'puma_4dof.urdf')


@pytest.fixture(scope='module')
def truth():
    chain = chain_from_urdf(URDF)
    physics = random_physics(np.random.default_rng(5), len(chain), coulomb_velocity=0.01)
    return with_parameter_error(chain, 0.2, seed=4).with_joint_physics(physics)


@pytest.fixture(scope='module')
def recording(truth, tmp_path_factory):
    rng = np.random.default_rng(6)
    data = excitation(rng, truth, duration=8.0)
    tau = data.tau * (1 + 0.01 * rng.normal(size=data.tau.shape))
    columns = {'t': data.t}
    for prefix, values in (('q', data.q), ('qd', data.qd), ('tau', tau)):
        columns |= {f'{prefix}_{name}': values[:, j]
                    for j, name in enumerate(truth.joint_names)}
    path = tmp_path_factory.mktemp('recording') / 'run.csv'
    write_csv_table(path, columns)
    return path


@pytest.fixture(scope='module')
def output(recording, tmp_path_factory):
    folder = tmp_path_factory.mktemp('output') / 'new'
    assert main(['identify', str(recording), '--urdf', URDF, '-o', str(folder)]) == 0
    return folder


class Page(HTMLParser):
    """Collects what a page refers to, and checks that elements are closed in order."""

    VOID = ('meta', 'line', 'br', 'img')

    def __init__(self):
        super().__init__()
        self.open, self.references, self.text = [], [], ''

    def handle_starttag(self, tag, attrs):
        self.references += [value for key, value in attrs if key in ('src', 'href', 'srcset')]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.references += [value for key, value in attrs if key in ('src', 'href', 'xlink:href')]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_report_is_one_whole_page_without_outside_resources(output, truth):
    text = (output / 'report.html').read_text(encoding='utf-8')
    page = Page()
    page.feed(text)
    assert page.open == []
    picture, = page.references  # of the robot
    assert picture.startswith('data:image/png;base64,')
    assert not re.search(r'url\(|@import|<script|https?:', text)
    assert text.index('Passed') < text.index('<svg')  # the verdict comes first
    for word in (*truth.joint_names, 'U2_33', 'Fc1', 'Excitation', 'Excluded data', 'Findings'):
        assert word in page.text, word
    # torque, residual and the friction curve over the measured points; changes from the URDF
    assert text.count('<svg viewBox="0 0 900') == 3 * len(truth) + 1
    assert text.count('<svg viewBox="0 0 450') == 2 * len(truth)  # residuals over q and qd
    assert text.count('<circle class="point"') > 60 * len(truth)
    for word in ('time [s]', 'velocity [rad/s]', 'position [rad]', 'torque [N m]', 'change [%]'):
        assert word in page.text, word


def test_the_report_can_be_read_on_a_phone_and_in_the_dark(output):
    text = (output / 'report.html').read_text(encoding='utf-8')
    assert '<meta name="viewport" content="width=device-width' in text
    assert 'prefers-color-scheme: dark' in text
    assert text.count('<div class="scroll"><table>') == text.count('<table>')


def test_the_report_does_not_call_uncertain_parameters_known(output):
    text = (output / 'report.html').read_text(encoding='utf-8')
    rows = re.findall(r'<tr class="(\w+)">.*?<td>(?:[^<]*)</td><td>([^<]*)</td><td>([^<]*)</td>'
                      r'.*?<span class="tag (\w+)">', text)
    assert len(rows) > 10
    for state, sigma, relative, tag in rows:
        part = float(relative[:-2]) / 100.0 if relative != '–' else float('inf')
        uncertain = state == 'excited' and part > 0.5
        assert tag == ('uncertain' if uncertain else state), (sigma, relative)
    tags = [tag for *_, tag in rows]
    known = tags.count('excited') + tags.count('uncertain')
    assert f'<b>{known} of {len(rows)}</b>' in text
    everything = 'All parameters are determined by the data.' in text
    assert everything == (tags.count('excited') == len(rows))


def test_the_parameters_are_those_of_the_robot(output, truth):
    estimate = read_parameters(output / 'parameters.yaml', chain_from_urdf(URDF))
    expected = truth.joint_physics
    np.testing.assert_allclose(estimate.joint_physics.coulomb, expected.coulomb, rtol=0.1)
    np.testing.assert_allclose(estimate.joint_physics.viscous, expected.viscous, rtol=0.1)


def test_a_failed_verdict_is_exit_code_1(recording, tmp_path, capsys):
    words = ['identify', str(recording), '--urdf', URDF, '-o', str(tmp_path),
             '--error-limit', '1e-6', '--cutoff', '10', '--method', 'weighted', '--folds', '3']
    assert main(words) == 1
    printed = capsys.readouterr().out
    assert printed.startswith('NOT PASSED: held-out torque error')
    assert 'above the limit of 0.0001 %' in printed
    assert 'Not passed' in (tmp_path / 'report.html').read_text(encoding='utf-8')


def test_a_joints_file_says_what_the_efforts_are(recording, truth, tmp_path, capsys):
    rows = recording.read_text().splitlines()
    place = rows[0].split(',').index(f'tau_{truth.joint_names[1]}')
    changed = [rows[0]]
    for row in rows[1:]:
        cells = row.split(',')
        cells[place] = str(-float(cells[place]) / 12.0)
        changed.append(','.join(cells))
    path = tmp_path / 'current.csv'
    path.write_text('\n'.join(changed))
    command = ['identify', str(path), '--urdf', URDF, '-o', str(tmp_path)]
    assert main(command) == 1
    assert 'has the wrong sign' in capsys.readouterr().out
    joints = tmp_path / 'joints.yaml'
    joints.write_text(yaml.safe_dump({'joints': {truth.joint_names[1]: {
        'effort': {'sign': -1, 'gain': 12.0}}}}))
    assert main([*command, '--joints', str(joints)]) == 0


@pytest.mark.parametrize('words, message', [
    (['nowhere.csv', '--urdf', URDF], 'nowhere.csv: no such file'),
    (['nowhere.csv'], 'nowhere.csv: no such file'),
    (['{}'], '--urdf is needed'),
    (['{}', '--urdf', URDF, '--rename', 'joint_=axis_'], 'was not recorded'),
    (['{}', '--urdf', URDF, '--rename', 'joint_'], 'not of the form OLD=NEW'),
    (['{}', '--urdf', URDF, '--cutoff', 'fast'], 'not a frequency'),
    (['{}', '--urdf', URDF, '--cutoff', '-3'], 'cutoff must be positive'),
    (['{}', '--urdf', URDF, '-o', '{}'], 'cannot be written'),
])
def test_wrong_input_is_one_line_and_exit_code_2(words, message, recording, capsys):
    try:
        code = main(['identify', *(word.format(recording) for word in words)])
    except SystemExit as stop:  # argparse ends the program itself
        code = stop.code
    assert code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def as_set(path, chain, name, target):
    """Write the parameters of a file in another minimal set."""
    content = yaml.safe_load(path.read_text())
    source = minimal_parameters(chain, content['set'])
    other = minimal_parameters(chain, name)
    values = source.conversion_to(other) @ [line['value'] for line in content['parameters']]
    content['set'], content['model_hash'] = other.set, other.model_hash
    content['parameters'] = [
        {'name': names, 'formula': formula, 'unit': unit, 'value': float(value),
         'standard_deviation': float('nan'), 'identified': True}
        for names, formula, unit, value in zip(other.names, other.formulas, other.units, values)]
    target.write_text(yaml.safe_dump(content))
    return target


def test_a_file_agrees_with_itself_in_another_set(output, tmp_path, capsys):
    path = output / 'parameters.yaml'
    other = as_set(path, chain_from_urdf(URDF), 'khalil', tmp_path / 'khalil.yaml')
    for pair in ((path, path), (path, other), (other, path)):
        assert main(['compare', *map(str, pair)]) == 0
        printed = capsys.readouterr().out
        assert 'no change beyond the uncertainty' in printed
        lines = printed.splitlines()[3:-2]
        assert len(lines) > 20
        for line in lines:
            numbers = line.removesuffix('not known').removesuffix('same').split()
            a, _, difference = (float(word.replace('unknown', 'nan'))
                                for word in numbers[-4:-1])
            assert abs(difference) <= 1e-5 * max(abs(a), 1.0), line


def test_parameters_of_different_robots_are_not_compared(output, tmp_path, capsys):
    path = output / 'parameters.yaml'
    content = yaml.safe_load(path.read_text())
    content['joint_names'][0] = 'other'
    (tmp_path / 'b.yaml').write_text(yaml.safe_dump(content))
    assert main(['compare', str(path), str(tmp_path / 'b.yaml')]) == 2
    assert 'different robots' in capsys.readouterr().err
    (tmp_path / 'c.yaml').write_text('format: 1')
    assert main(['compare', str(path), str(tmp_path / 'c.yaml')]) == 2
    assert 'robot is missing' in capsys.readouterr().err
