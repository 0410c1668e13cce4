# SPDX-License-Identifier: Apache-2.0
"""docs/papers.md is what `make papers` writes, and what it points to exists."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from papers import angeles, mutation
from papers.figures import ANGELES, FRICTION, draw
from papers.page import page
from studies.filtered_identification import CUTOFFS, RESULTS, compare, recorded_robots

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / 'docs' / 'papers.md').read_text(encoding='utf-8')
DATA = Path(os.environ.get('ROBOT_DYNAMICS_DATA', ROOT.parent / 'shared' / 'data'))


def test_every_number_of_the_page_comes_out_again():
    made = page(str(ROOT))
    assert 'DOES NOT AGREE' not in made
    differences = [f'{old!r} is now {new!r}' for old, new in zip(TEXT.splitlines(),
                                                                 made.splitlines()) if old != new]
    assert not differences, differences[:5]
    assert made == TEXT, 'run make papers'


def test_its_evidence_exists():
    """Errata and audit name tests and files."""
    tests = {name for path in (ROOT / 'test').rglob('test_*.py')
             for name in re.findall(r'^def (test_\w+)', path.read_text(), re.MULTILINE)}
    named = set(re.findall(r'`(test_\w+)`', TEXT))
    assert len(named) > 50 and named <= tests, named - tests
    files = set(re.findall(r'`((?:dynamics|codegen|chain|estimation|control)/[\w/]+\.py)`', TEXT))
    missing = [file for file in files if not (ROOT / 'robot_dynamics_ros' / file).is_file()]
    assert len(files) > 20 and not missing


def test_every_place_of_the_audit_has_a_test():
    rows = [line.split(' | ') for line in TEXT.partition('## Appendix')[2].splitlines()
            if line.startswith('| ')][1:]
    assert len(rows) > 45 and all('`test_' in row[2] for row in rows)


def test_the_curves_of_the_examples_pass_the_reference_points():
    rows = angeles.REFERENCE['stanford']['torques_main_d3_minus_b3']
    _, q, tau = angeles.first_motion(np.array([row['t'] for row in rows]))
    np.testing.assert_allclose(q, [row['q'] for row in rows], atol=1e-9)
    np.testing.assert_allclose(tau, [row['tau'] for row in rows], atol=1e-9)
    rows = angeles.REFERENCE['example2']['rows']
    _, q, printed, distal = angeles.second_motion(np.array([row['t'] for row in rows]))
    np.testing.assert_allclose(np.degrees(q), [row['q_deg'] for row in rows], atol=1e-6)
    np.testing.assert_allclose(printed, [row['tau'] for row in rows], atol=1e-3)
    np.testing.assert_allclose(distal, [row['tau_distal_read'] for row in rows], atol=1e-3)


def test_the_pictures_are_drawn_and_shown(tmp_path):
    draw(tmp_path)
    for name in (FRICTION, ANGELES):
        assert (tmp_path / name).stat().st_size > 10_000
        assert (ROOT / 'docs' / name).is_file() and f'({name})' in TEXT


def test_every_slip_that_no_test_sees_is_explained():
    runs = mutation.runs()
    survivors = [one for run in runs for one in run['survivors']]
    slips = {(one['module'], one['slip']) for one in survivors}
    places = {(one['module'], one['slip'], one.get('line')) for one in survivors}
    assert slips <= {key[:2] for key in mutation.VERDICTS} and set(mutation.VERDICTS) <= (
        slips | places)
    for run in runs:
        tried = sum(run['modules'].values())
        assert 0 < len(run['survivors']) + 1 < tried and run['commit']
        assert f"| {run['commit']} |" in TEXT and f'| {tried} | ' in TEXT
        for one in run['survivors']:
            assert (ROOT / 'robot_dynamics_ros' / 'dynamics' / one['module']).is_file(), one


@pytest.mark.skipif(not DATA.is_dir(), reason=f'no recordings in {DATA}')
def test_a_recording_gives_the_stored_errors():
    stored = json.loads(RESULTS.read_text(encoding='utf-8'))['Panda']
    found = compare(*recorded_robots(DATA)['Panda'], CUTOFFS)
    assert found.smoothed == pytest.approx(stored['smoothed'], rel=0.02)
    assert found.chosen == stored['chosen']
    for cutoff, error in found.filtered.items():
        assert error == pytest.approx(stored['filtered'][str(cutoff)], rel=0.02)
