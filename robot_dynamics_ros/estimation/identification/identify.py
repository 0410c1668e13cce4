# SPDX-License-Identifier: Apache-2.0
"""identify(): named minimal parameters with their accuracy and a verdict, from recordings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.dynamics.minimal.estimate import MlcEstimate
from robot_dynamics_ros.errors import IdentificationError, ParameterError
from robot_dynamics_ros.estimation.hints.causes import cause_findings
from robot_dynamics_ros.estimation.hints.efforts import effort_findings
from robot_dynamics_ros.estimation.hints.gravity import gravity_findings
from robot_dynamics_ros.estimation.hints.trial import WORTH
from robot_dynamics_ros.estimation.identification.result import (
    FrictionComparison,
    Identification,
    IdentifiedParameter,
    ParameterState,
    TorqueComparison,
)
from robot_dynamics_ros.estimation.identification.study import INNER, Study, StudyFit
from robot_dynamics_ros.estimation.identification.verdict import judged, relative_errors
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.estimation.regression.friction_signals import FrictionSignals
from robot_dynamics_ros.estimation.regression.instruments import half_samples
from robot_dynamics_ros.estimation.regression.jackknife import jackknifed
from robot_dynamics_ros.estimation.regression.least_squares import essential_parameters
from robot_dynamics_ros.estimation.regression.lin_recursion import lin_recursion
from robot_dynamics_ros.estimation.regression.motion_quality import recorded_condition_number
from robot_dynamics_ros.estimation.regression.recorded_torque import RecordedTorque
from robot_dynamics_ros.estimation.regression.rows import RowFilter, regression_rows
from robot_dynamics_ros.estimation.regression.time_blocks import block_numbers, folds_of, last_part
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms, Unknowns
from robot_dynamics_ros.estimation.settings import IdentificationSettings
from robot_dynamics_ros.estimation.smoothing.preparation import Prepared, prepare
from robot_dynamics_ros.estimation.smoothing.zero_phase import SmoothedSamples

StageDone = Callable[[float, str], None]

#: Typical velocity assumed for a joint that hardly moves [rad/s, m/s].
_SLOWEST = 0.01

#: Negative friction below this part of the torque of its joint is no sign of a wrong sign.
_LEAST_FRICTION = 0.01


def identify(chain: Chain, t: ArrayLike | Recording | Sequence[Recording],
             q: ArrayLike | None = None, qd: ArrayLike | None = None,
             tau: ArrayLike | None = None, *, wrench: ArrayLike | None = None,
             effort: EffortSemantics | None = None,
             progress: StageDone | None = None, **options: Any) -> Identification:
    """
    Identify the minimal parameters, rotor inertias and friction of a robot.

    :param chain: the robot; its URDF inertias are the prior and the baseline to beat.
    :param t: (N,) time [s]; or one or many recordings, then q, qd and tau are left out.
    :param q: (N, n) positions [rad, m].
    :param qd: (N, n) velocities [rad/s, m/s]; None = from the positions.
    :param tau: (N, n) efforts as the robot reports them; NaN = none.
    :param wrench: (N, 6) force and moment of the environment on the tip link, at its origin, in
        its frame [N, N m], as a sensor at the tip measures; None = nothing touches it.
    :param effort: meaning of the efforts; None = joint torques [N m, N].
    :param progress: function that is called with the part that is done and the current step.
    :param options: fields of `IdentificationSettings`.
    :raises RecordingError: data that cannot be used.
    :raises IdentificationError: nothing can be identified.
    """
    try:
        settings = IdentificationSettings(**options)
    except TypeError as error:
        raise ParameterError(f'identify: {error}') from error
    recordings = _recordings(chain, t, q, qd, tau, wrench)
    meaning = effort or EffortSemantics.torque(len(chain))
    report = progress or (lambda part, text: None)
    report(0.0, 'smoothing')
    prepared = prepare(chain, recordings, meaning, settings)
    terms = TorqueTerms(chain, gravity_removed=meaning.gravity_removed,
                        friction=settings.friction != 'none')
    rows = regression_rows(terms, prepared.samples, prepared.moving, prepared.parallel_cutoff,
                           lambda part: report(0.1 + 0.5 * part, 'regressor'))
    if not np.any(rows.usable):
        raise IdentificationError('not identifiable: no usable sample is left '
                                  f'({prepared.cut_out})')
    report(0.6, 'least squares')
    signals, halves = _friction_signals(terms, prepared, prepared.samples), None
    if settings.refinement == 'instruments':
        parts = [half_samples(prepared.stretches, prepared.samples, prepared.cutoff, start)
                 for start in (0, 1)]
        halves = [(regression_rows(terms, part, prepared.moving, prepared.parallel_cutoff),
                   _friction_signals(terms, prepared, part)) for part in parts]
    inner, periods = block_numbers(rows.stretch, rows.states[:, :len(chain)],
                                   INNER * settings.folds)
    blocks = inner // INNER
    study = Study(terms, rows, signals, np.maximum(prepared.velocity, _SLOWEST),
                  prepared.acceleration, settings, inner, meaning.side, halves)
    final = study.fitted(np.ones(len(rows), dtype=np.bool_))
    if settings.method != 'lin':  # that has its own
        final = replace(final, fit=jackknifed(final.fit, final.rows, final.prior,
                                              settings.method))
    tested: Sequence[int] = range(settings.folds)
    if settings.last_part is not None:
        blocks, tested = last_part(len(rows), settings.last_part), [1]
    held_out = np.full(rows.tau.shape, np.nan)
    for k, (training, test) in enumerate(folds_of(blocks, rows.states, tested)):
        report(0.7 + 0.3 * k / settings.folds, 'held-out test')
        if np.sum(rows.usable[training]) > 2 * len(final.unknowns):
            held_out[test] = study.fitted(training).torque[test]
    step = float(np.median(np.diff(rows.t)))
    result = _result(study, final, held_out, prepared, meaning,
                     tuple(length * step for length in periods))
    report(1.0, 'done')
    return result


def _friction_signals(terms: TorqueTerms, prepared: Prepared,
                      samples: Sequence[SmoothedSamples]) -> FrictionSignals:
    """Return what friction is multiplied with, at the rows of these samples."""
    return FrictionSignals(terms, RowFilter(samples, prepared.moving, prepared.parallel_cutoff))


def _recordings(chain: Chain, t: ArrayLike | Recording | Sequence[Recording],
                q: ArrayLike | None, qd: ArrayLike | None, tau: ArrayLike | None,
                wrench: ArrayLike | None) -> list[Recording]:
    """Return recordings from either form of the arguments."""
    if isinstance(t, Recording):
        return [t]
    if q is None:
        recordings = list(t) if isinstance(t, (list, tuple)) else []
        if not recordings or not all(isinstance(each, Recording) for each in recordings):
            raise ParameterError('identify: give recordings, or t, q, qd and tau')
        return recordings
    if tau is None:
        raise ParameterError('identify: tau is missing')
    return [Recording(np.asarray(t), np.asarray(q), None if qd is None else np.asarray(qd),
                      np.asarray(tau), chain.joint_names,
                      wrench=None if wrench is None else np.asarray(wrench))]


def _result(study: Study, final: StudyFit, held_out: Array, prepared: Prepared,
            effort: EffortSemantics, periods: tuple[float, ...]) -> Identification:
    """Assemble the result."""
    chain, rows, unknowns = study.terms.chain, study.rows, final.unknowns
    x_urdf = unknowns.values(unknowns.mlc.of(chain), chain.joint_physics)
    comparison = TorqueComparison(rows.t, rows.tau, final.torque, held_out,
                                  final.rows.Y @ x_urdf, rows.usable, rows.stretch, rows.states)
    excited = final.excited
    parameters = _parameters(unknowns, final, x_urdf, excited)
    p = len(unknowns.mlc)
    known = (rows, rows.Y[:, :, :p] @ unknowns.mlc.of(chain),
             rows.Y[:, :, p:p + 4 * len(chain)], chain)
    # a wrong gravity makes signs look wrong, too: they are judged only when it is right
    effort_odd = ([] if any(effort.gravity_removed) else gravity_findings(*known)
                  ) or effort_findings(*known, effort)
    tested = rows.usable & np.isfinite(held_out)
    turning = np.array([joint.revolute for joint in chain.joints])
    errors = relative_errors(rows.tau, np.nan_to_num(held_out), tested, turning, prepared.torque)
    doubtful = not effort_odd and not np.all(errors.by_joint < WORTH)
    causes = cause_findings(study.trial(final, effort)) if doubtful else []
    findings = [*prepared.findings, *unknowns.mlc.findings, *effort_odd, *causes,
                *_parameter_findings(parameters), *_period_findings(periods)]
    against = [f'{finding}' for finding in effort_odd]
    if not np.any(tested):
        against.append('no data are left to test on: the motion is too short or repeats itself')
    if negative := _negative_friction(final):
        against.append(negative)
    verdict = judged(errors,
                     relative_errors(rows.tau, comparison.urdf, tested, turning).total,
                     study.settings.error_limit, against, chain.joint_names)
    _, diagnosis = lin_recursion(final.rows, unknowns.blocks, unknowns.names,
                                 chain.joint_names, x_urdf)
    mlc = replace(unknowns.mlc, formulas=unknowns.formulas).with_values(
        unknowns.minimal(final.fit.x))
    physics = unknowns.physics(final.fit.x, final.law)
    sure = dict(zip(unknowns.names, excited.tolist()))
    residual = np.sqrt(np.sum(np.where(rows.usable, rows.tau - comparison.predicted, 0.0) ** 2,
                              axis=0) / rows.counts())
    estimate = MlcEstimate(chain.robot, chain.base, chain.tip, mlc, physics,
                           tuple(sure.get(name, False) for name in mlc.names), unknowns.names,
                           final.fit.covariance, len(rows),
                           recorded_condition_number(rows, study.terms),
                           residual)
    friction = None if final.law is None else study.friction(final)
    study.terms.model.swap(mlc.values, physics)
    return Identification(chain, estimate, verdict, parameters, tuple(findings),
                          prepared.cut_out, comparison, diagnosis, periods, prepared.cutoff,
                          prepared.parallel_cutoff, study.settings, effort, study.terms.model,
                          RecordedTorque.of_rows(rows.Y[:, :, :p], rows.tau,
                                                 comparison.predicted, rows.usable),
                          None if friction is None else FrictionComparison(
                              friction.signals.velocity,
                              np.where(friction.weights > 0.0, friction.torque, np.nan),
                              friction.load))


def _parameters(unknowns: Unknowns, final: StudyFit, x_urdf: Array,
                excited: Mask) -> tuple[IdentifiedParameter, ...]:
    formulas = dict(zip(unknowns.mlc.names, unknowns.formulas))
    essential = essential_parameters(final.fit)
    lines = []
    for k, name in enumerate(unknowns.names):
        state: ParameterState = 'excited' if excited[k] else 'prior'
        lines.append(IdentifiedParameter(
            name, formulas.get(name, ''), unknowns.units[k], float(final.fit.x[k]),
            float(final.fit.standard_deviations[k]), float(x_urdf[k]),
            'zero' if final.fit.fixed[k] else state, bool(essential[k])))
    return tuple(lines)


def _parameter_findings(parameters: Sequence[IdentifiedParameter]) -> list[Finding]:
    unsure = [line.name for line in parameters if line.state == 'prior']
    zero = [line.name for line in parameters if line.state == 'zero']
    findings = []
    if unsure:
        findings.append(Finding('not_excited', '', 'not identifiable from these data, held near '
                                f'the URDF value by the prior: {", ".join(unsure)}',
                                float(len(unsure))))
    if zero:
        findings.append(Finding('held_at_zero', '', 'held at zero, because a negative value is '
                                f'impossible: {", ".join(zero)}', float(len(zero))))
    return findings


def _negative_friction(final: StudyFit) -> str:
    """
    Return a reason against the result if most joints seem to be driven by their friction.

    Friction counts that was held at zero where the residuals still ask for a negative one, and
    that would be a part of the torque worth speaking of.
    """
    rows, names = final.rows, final.unknowns.names
    residual = np.where(rows.usable, rows.residuals(final.fit.x), 0.0)
    driven = 0
    for k in np.flatnonzero(final.fit.fixed):
        if not names[k].startswith('Fc'):
            continue
        sign = rows.Y[:, :, k] * rows.usable
        wanted = float(np.sum(residual * sign)) / max(float(np.linalg.norm(sign)), 1e-300)
        j = int(names[k][2:]) - 1
        torque = np.linalg.norm(np.where(rows.usable[:, j], rows.tau[:, j], 0.0))
        driven += int(wanted < -_LEAST_FRICTION * torque)
    if 2 * driven <= rows.tau.shape[1]:
        return ''
    return ('the friction of most joints would have to be negative: the sign of the efforts or '
            'the direction of gravity is wrong')


def _period_findings(periods: Sequence[float]) -> list[Finding]:
    return [Finding('periodic', '', f'the motion repeats every {period:.3g} s; the same part of '
                    'every cycle is held out together', period) for period in sorted(set(periods))]
