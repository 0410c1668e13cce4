# SPDX-License-Identifier: Apache-2.0
"""identify(): exact on exact data, honest on noisy data, clear about data that do not suffice."""

from dataclasses import replace

import numpy as np
import pytest
from support.excitation import excitation, random_physics
from support.robots import ROBOTS, URDF_FOLDER
from support.tolerances import assert_close

from robot_dynamics_ros import EffortSemantics, chain_from_urdf, identify, minimal_parameters
from robot_dynamics_ros.dynamics.minimal.linear_forms import coefficients
from robot_dynamics_ros.dynamics.minimal.rotor_grouping import rotor_grouping
from robot_dynamics_ros.errors import IdentificationError, ParameterError, RecordingError
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error

#: Noise-free data give every parameter back, relative to the largest of its unit.
EXACT = 1e-8

UNFILTERED = {'cutoff': np.inf, 'parallel_cutoff': np.inf}


def chain_of(name, rng, **changes):
    chain = chain_from_urdf(URDF_FOLDER / f'{name}.urdf')
    return chain.with_joint_physics(random_physics(rng, len(chain), **changes))


def noisy(rng, data, position, torque):
    """Return time, positions and torques with white noise; torque noise relative per joint."""
    size = np.sqrt(np.mean(data.tau ** 2, axis=0))
    return (data.t, data.q + position * rng.normal(size=data.q.shape),
            data.tau + torque * size * rng.normal(size=data.tau.shape))


@pytest.mark.parametrize('name', ROBOTS)
def test_noise_free_data_give_back_every_parameter(name, rng):
    truth = chain_of(name, rng)
    data = excitation(rng, truth, duration=6.0, step=0.006)
    wrong = with_parameter_error(truth, 0.3, seed=2)
    result = identify(wrong, data.t, data.q, data.qd, data.tau, **UNFILTERED)
    physics = truth.joint_physics
    # the value of every parameter is that of its formula
    names = [*truth.standard_parameter_names, *(f'Ia{j + 1}' for j in range(len(truth)))]
    known = np.concatenate([truth.standard_parameters, physics.rotor_inertia])
    expected = np.array([coefficients(text, names) @ known for text in result.mlc.formulas])
    grouping = rotor_grouping(truth, minimal_parameters(truth))
    np.testing.assert_allclose(result.mlc.values, expected, rtol=EXACT,
                               atol=EXACT * np.max(np.abs(expected)))
    assert all(result.estimate.identified)
    inside = np.array(grouping.grouped)
    rails = np.array([not joint.revolute for joint in truth.joints])
    if name == 'scara':  # m4 (qdd + g), Ia4 qdd and a constant offset: one of three is too many
        inside |= rails
    rotors = result.joint_physics.rotor_inertia
    assert_close(rotors[~inside], physics.rotor_inertia[~inside], EXACT)
    assert np.all(np.isnan(rotors[inside]))
    size = np.max(np.abs(data.tau), axis=0)  # friction of 1 N m matters at 10 N m, not at 10^4
    for term in ('viscous', 'coulomb', 'offset'):
        error = (getattr(result.joint_physics, term) - getattr(physics, term)) / size
        if term == 'offset' and name == 'scara':
            error += np.where(rails, 9.81 * physics.rotor_inertia, 0.0) / size
        np.testing.assert_allclose(error, 0.0, atol=EXACT, err_msg=term)
    if name != 'scara':
        assert result.mlc.formulas == grouping.formulas
    assert result.verdict.passed and result.verdict.held_out_error < EXACT
    assert_close(result.predict(data.q, data.qd, data.qdd), data.tau, EXACT)


def test_filtered_positions_alone_are_enough_for_a_good_model(rng):
    truth = chain_of('rx90', rng)
    data = excitation(rng, truth)
    t, q, tau = noisy(rng, data, 1e-5, 0.02)
    result = identify(with_parameter_error(truth, 0.3, seed=2), t, q, None, tau)
    assert result.verdict.passed
    error = result.predict(data.q, data.qd, data.qdd) - data.tau
    assert np.sqrt(np.mean(error ** 2) / np.mean(data.tau ** 2)) < 0.01


def test_standard_deviations_are_honest(rng):
    truth = chain_of('puma_4dof', rng)
    data = excitation(rng, truth, duration=6.0, step=0.005)
    expected = minimal_parameters(truth)
    expected = expected.values + rotor_grouping(
        truth, expected).matrix @ truth.joint_physics.rotor_inertia
    scores = []
    for _ in range(12):
        t, q, tau = noisy(rng, data, 0.0, 0.05)
        result = identify(truth, t, q, data.qd, tau, friction='coulomb', prior_strength=1e-6)
        scores.append((result.mlc.values - expected) / result.standard_deviations)
    spread = np.sqrt(np.mean(np.square(scores)))
    assert 0.7 < spread < 1.4


def test_stribeck_friction_is_found_where_it_is(rng):
    n = 4
    static, speed = rng.uniform(3, 6, n), 0.3 * np.ones(n)
    truth = chain_of('puma_4dof', rng, coulomb=np.full(n, 2.0), static=static,
                     stribeck_velocity=speed)
    data = excitation(rng, truth)
    t, q, tau = noisy(rng, data, 0.0, 0.01)
    plain = truth.with_joint_physics(replace(truth.joint_physics, static=None,
                                             stribeck_velocity=None))
    with_it = identify(plain, t, q, data.qd, tau)
    without = identify(plain, t, q, data.qd, tau, friction='coulomb')
    assert with_it.joint_physics.static is not None
    assert with_it.verdict.held_out_error < 0.7 * without.verdict.held_out_error
    assert without.joint_physics.static is None
    # and it is not made up where there is none
    data = excitation(rng, plain)
    t, q, tau = noisy(rng, data, 0.0, 0.01)
    assert identify(plain, t, q, data.qd, tau).joint_physics.static is None


def test_a_robot_without_friction_can_be_told_so(rng):
    truth = chain_of('planar_2r', rng, viscous=np.zeros(2), coulomb=np.zeros(2))
    data = excitation(rng, truth)
    result = identify(truth, data.t, data.q, data.qd, data.tau, friction='none', **UNFILTERED)
    names = {line.name for line in result.parameters}
    assert {'U1_33', 'offset1', 'Ia2'} <= names and not names & {'Fv1', 'Fc1', 'Fv2', 'Fc2'}
    assert result.verdict.held_out_error < EXACT


def test_a_joint_that_never_moves_is_said_and_its_terms_keep_the_urdf_values(rng):
    truth = chain_of('puma_4dof', rng)
    data = excitation(rng, truth)
    still = [data.q.copy(), data.qd.copy(), data.qdd.copy()]
    for values in still:
        values[:, 2] = values[0, 2] if values is still[0] else 0.0
    from robot_dynamics_ros import compile_model
    tau = compile_model(truth).torque(*still)
    _, _, tau = noisy(rng, replace(data, q=still[0], tau=tau), 0.0, 0.01)
    wrong = with_parameter_error(truth, 0.2, seed=1)
    result = identify(wrong, data.t, still[0], still[1], tau)
    kinds = {finding.kind: finding for finding in result.findings}
    assert kinds['joint_never_moves'].where == truth.joint_names[2]
    assert 'Fv3' in kinds['not_excited'].message
    states = {line.name: line.state for line in result.parameters}
    assert states['Fv3'] == states['Fc3'] == 'prior' and states['Fv1'] == 'excited'
    assert_close(result.joint_physics.viscous[2], wrong.joint_physics.viscous[2], EXACT)


def test_missing_efforts_of_one_joint_do_not_block_the_others(rng):
    truth = chain_of('puma_4dof', rng)
    data = excitation(rng, truth)
    tau = data.tau.copy()
    tau[200:600, 1] = np.nan
    tau[900:1300, 3] = np.nan
    result = identify(truth, data.t, data.q, data.qd, tau, **UNFILTERED)
    assert result.cut_out.missing_effort == 800
    assert result.verdict.held_out_error < EXACT
    tau[:, 3] = 0.0
    result = identify(truth, data.t, data.q, data.qd, tau, **UNFILTERED)
    assert [f.where for f in result.findings if f.kind == 'no_effort'] == [truth.joint_names[3]]


def test_several_recordings_are_one_identification(rng):
    truth = chain_of('puma_4dof', rng)
    parts = [excitation(rng, truth, duration=4.0) for _ in range(2)]
    recordings = [Recording(part.t, part.q[:, ::-1], part.qd[:, ::-1], part.tau[:, ::-1],
                            truth.joint_names[::-1]) for part in parts]
    result = identify(truth, recordings, **UNFILTERED)
    assert result.verdict.held_out_error < EXACT
    assert set(result.comparison.stretch) == {0, 1}


def test_effort_semantics_are_used_both_ways(rng):
    truth = chain_of('puma_4dof', rng)
    data = excitation(rng, truth)
    J = np.eye(4)
    J[3, 2] = -1.0
    meaning = EffortSemantics(np.array([1, -1, 1, 1]), np.array([10.0, 2.0, 1.0, 0.5]),
                              np.array([0.0, 0.1, 0.0, 0.0]), ('joint', 'joint', 'motor', 'motor'),
                              J, (False,) * 4)
    motors = data.tau.copy()
    motors[:, 2:] = data.tau[:, 2:] @ J[2:, 2:]  # torque_motor = J^T torque_joint
    recorded = meaning.sign * motors / meaning.gain + meaning.offset
    result = identify(truth, data.t, data.q, data.qd, recorded, effort=meaning, **UNFILTERED)
    assert result.verdict.held_out_error < EXACT
    assert_close(result.predict_effort(data.q, data.qd, data.qdd), recorded, EXACT)


def test_effort_without_the_weight_of_the_arm_keeps_the_first_moments_of_the_urdf(rng):
    from robot_dynamics_ros import compile_model
    truth = chain_of('planar_2r', rng)
    truth = replace(truth, gravity=np.array([5.0, 6.0, -7.0]))
    data = excitation(rng, truth)
    lighter = data.tau - compile_model(truth).gravity_torque(data.q)
    meaning = replace(EffortSemantics.torque(2), gravity_removed=(True, True))
    result = identify(truth, data.t, data.q, data.qd, lighter, effort=meaning, **UNFILTERED)
    assert_close(result.predict_effort(data.q, data.qd, data.qdd), lighter, EXACT)
    assert_close(result.predict(data.q, data.qd, data.qdd), data.tau, EXACT)
    assert not all(result.estimate.identified)


def test_outliers_hardly_matter_for_the_robust_method(rng):
    truth = chain_of('puma_4dof', rng)
    data = excitation(rng, truth)
    t, q, tau = noisy(rng, data, 0.0, 0.02)
    for start in rng.integers(0, len(t) - 60, 12):
        tau[start:start + 20, rng.integers(4)] += rng.choice([-1, 1]) * 40.0  # a push by hand
    errors = {}
    for method in ('weighted', 'robust'):
        result = identify(truth, t, q, data.qd, tau, method=method, friction='coulomb')
        error = result.predict(data.q, data.qd, data.qdd) - data.tau
        errors[method] = np.sqrt(np.mean(error ** 2))
    assert errors['robust'] < 0.6 * errors['weighted']


def test_a_repeated_cycle_is_never_trained_and_tested(rng):
    truth = chain_of('planar_2r', rng)
    data = excitation(rng, truth, duration=40.0, step=0.01)  # base 0.1 Hz: four equal cycles
    t, q, tau = noisy(rng, data, 0.0, 0.02)
    result = identify(truth, t, q, data.qd, tau)
    assert result.periods == pytest.approx([10.0], abs=0.1)
    assert [f.kind for f in result.findings].count('periodic') == 1
    assert np.all(np.isfinite(result.comparison.held_out))


def test_periodic_jitter_of_the_stamps_does_no_harm(rng):
    truth = chain_of('planar_2r', rng)
    data = excitation(rng, truth, duration=20.0, step=0.001)
    t, q, tau = noisy(rng, data, 1e-5, 0.02)
    stamps = t + 3e-4 * np.sin(2.0 * np.pi * 187.3 * t)
    for qd in (data.qd, None):
        even, odd = identify(truth, t, q, qd, tau), identify(truth, stamps, q, qd, tau)
        assert odd.cutoff == pytest.approx(even.cutoff, rel=0.1)
        assert odd.verdict.held_out_error < 1.2 * even.verdict.held_out_error


def test_pauses_that_the_motion_does_not_notice_do_not_split_a_recording(rng):
    truth = chain_of('planar_2r', rng)
    data = excitation(rng, truth, duration=40.0, step=0.001)  # base 0.1 Hz: four equal cycles
    kept = np.ones(data.t.size, dtype=bool)
    for first in rng.integers(0, data.t.size - 10, 60):
        kept[first:first + 8] = False
    result = identify(truth, data.t[kept], data.q[kept], data.qd[kept], data.tau[kept])
    assert result.cut_out.gaps == 0
    assert result.periods == pytest.approx([10.0], abs=0.1)


def test_a_rate_that_is_hardly_enough_is_said(rng):
    truth = chain_of('planar_2r', rng)
    data = excitation(rng, truth, duration=60.0, step=0.25)
    result = identify(truth, data.t, data.q, data.qd, data.tau)
    assert 'low_rate' in [finding.kind for finding in result.findings]


@pytest.mark.parametrize('part', [0.0, 0.01], ids=['none', 'a hundredth'])
def test_a_urdf_without_or_with_small_inertials_is_no_obstacle(part, rng):
    truth = chain_of('rx90', rng)
    data = excitation(rng, truth, duration=20.0, step=0.005)
    t, q, tau = noisy(rng, data, 0.0, 0.03)
    light = replace(truth, links=tuple(
        replace(link, mass=part * link.mass, first_moment=part * link.first_moment,
                tensor=part * link.tensor) for link in truth.links))
    right, result = (identify(chain, t, q, data.qd, tau) for chain in (truth, light))
    assert result.verdict.held_out_error < 1.2 * right.verdict.held_out_error
    unsure = {line.name for line in result.parameters if line.state == 'prior'}
    assert unsure.isdisjoint(line.name for line in right.parameters
                             if line.unit == 'kg m' and line.state == 'excited')


def test_a_large_rotor_in_a_light_wrist_is_found(rng):
    truth = chain_of('rx90', rng)
    rotors = np.array([*truth.joint_physics.rotor_inertia[:-1], 0.4])
    truth = truth.with_joint_physics(replace(truth.joint_physics, rotor_inertia=rotors))
    data = excitation(rng, truth, duration=20.0, step=0.005)
    t, q, tau = noisy(rng, data, 0.0, 0.03)
    known = truth.with_joint_physics(replace(truth.joint_physics, rotor_inertia=np.zeros(6)))
    result = identify(known, t, q, data.qd, tau)
    assert result.verdict.held_out_by_joint[-1] < 0.02
    assert result.joint_physics.rotor_inertia[-1] == pytest.approx(0.4, rel=0.05)


def test_the_verdict_fails_for_a_wrong_sign_or_unit(rng):
    truth = chain_of('rx90', rng)
    data = excitation(rng, truth)
    urdf = with_parameter_error(truth, 0.3, seed=3)
    good = identify(urdf, data.t, data.q, data.qd, data.tau)
    assert good.verdict.passed and not any(f.kind.startswith('effort') for f in good.findings)
    for factor, kind in ((-1.0, 'effort_sign'), (1000.0, 'effort_unit'), (0.08, 'effort_unit')):
        result = identify(urdf, data.t, data.q, data.qd, factor * data.tau)
        assert not result.verdict.passed
        assert kind in {finding.kind for finding in result.findings}


def test_the_verdict_fails_when_the_torque_has_nothing_to_do_with_the_motion(rng):
    truth = chain_of('planar_2r', rng)
    data = excitation(rng, truth)
    result = identify(truth, data.t, data.q, data.qd, np.cumsum(rng.normal(size=data.tau.shape),
                                                                axis=0))
    assert not result.verdict.passed
    assert 'above the limit of 10 %' in ' '.join(result.verdict.reasons)


@pytest.mark.parametrize('change, error, message', [
    (lambda d: (d.t, d.q, d.qd, 0 * d.tau), RecordingError, 'no efforts were recorded'),
    (lambda d: (d.t, d.q, d.qd, np.nan * d.tau), RecordingError, 'no efforts were recorded'),
    (lambda d: (d.t[:0], d.q[:0], d.qd[:0], d.tau[:0]), RecordingError, 'is empty'),
    (lambda d: (d.t[:3], d.q[:3], d.qd[:3], d.tau[:3]), RecordingError, 'never 25 in a row'),
    (lambda d: (1000 * d.t, d.q, d.qd, d.tau), RecordingError, 'in another unit'),
    (lambda d: (d.t, np.degrees(d.q), None, d.tau), RecordingError, 'look like degrees'),
    (lambda d: (d.t, np.nan * d.q, d.qd, d.tau), RecordingError, 'has no finite position'),
    (lambda d: (d.t, d.q, np.nan * d.qd, d.tau), RecordingError, 'velocities are not finite'),
    (lambda d: (0 * d.t, d.q, d.qd, d.tau), RecordingError, 'time does not advance'),
    (lambda d: (d.t, 0 * d.q, 0 * d.qd, d.tau), IdentificationError, 'no joint moves'),
    (lambda d: (d.t, d.q[:, :1], d.qd, d.tau), RecordingError, 'q has shape'),
    (lambda d: (d.t, d.q, d.qd, None), ParameterError, 'tau is missing'),
])
def test_bad_input_is_a_clear_message(change, error, message, rng):
    chain = chain_of('planar_2r', rng)
    joints = tuple(replace(joint, velocity_limit=3.0) for joint in chain.joints)
    chain = replace(chain, joints=joints)
    data = excitation(rng, chain, duration=2.0)
    with pytest.raises(error, match=message):
        identify(chain, *change(data))


@pytest.mark.parametrize('options, message', [
    ({'cutoff': -1.0}, 'cutoff must be positive'), ({'method': 'magic'}, "'magic' is not known"),
    ({'folds': 1}, 'folds must be at least 2'), ({'colour': 1}, 'colour'),
    ({'last_part': 2.0}, 'between 0 and 1'), ({'friction': 'wet'}, "'wet' is not known"),
])
def test_bad_options_are_refused(options, message, rng):
    chain = chain_of('planar_2r', rng)
    with pytest.raises(ParameterError, match=message):
        identify(chain, [0.0], [[0.0, 0.0]], None, [[0.0, 0.0]], **options)


def test_wrong_joints_are_named(rng):
    chain = chain_of('planar_2r', rng)
    data = excitation(rng, chain, duration=2.0)
    recording = Recording(data.t, data.q, data.qd, data.tau, ('left', 'right'))
    with pytest.raises(RecordingError, match=r'was not recorded; recorded are left, right'):
        identify(chain, recording)


def test_without_independent_data_the_verdict_fails(rng):
    truth = chain_of('planar_2r', rng)
    data = excitation(rng, truth, duration=4.0)
    recording = Recording(data.t, data.q, data.qd, data.tau, truth.joint_names)
    result = identify(truth, [recording, recording], folds=2)  # each block is seen in training
    assert not result.verdict.passed and np.isnan(result.verdict.held_out_error)
    assert result.verdict.reasons[0].startswith('no data are left to test on')


@pytest.mark.parametrize('given', [np.arange(10.0), [], ['a.csv']])
def test_neither_recordings_nor_arrays_are_refused(given, rng):
    with pytest.raises(ParameterError, match='give recordings, or t, q, qd and tau'):
        identify(chain_of('planar_2r', rng), given)
