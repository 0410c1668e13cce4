# SPDX-License-Identifier: Apache-2.0
"""Lu & Meng 1993: the regressor of section III-C, figures 4 and 5, the filtered regressor."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
from studies.filtered_identification import CUTOFFS, RESULTS, compare
from studies.lu_meng_case_study import DURATION, CaseLaw, case_study, first_state

from papers.markdown import table, verdict
from robot_dynamics_ros import (
    chain_from_urdf,
    compile_model,
    filtered_regressor,
    inverse_dynamics,
    lu_meng_regressor,
    minimal_parameters,
    mlc_columns,
    standard_regressor,
)
from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.chain.inertia import payload_inertia
from robot_dynamics_ros.chain.joints_file import read_joints_file
from robot_dynamics_ros.chain.pose import Pose
from robot_dynamics_ros.control.adaptive.choice import AdaptiveSettings, make_adaptive_controller
from robot_dynamics_ros.estimation.recordings.recording import Recording
from robot_dynamics_ros.motion.effort_limits import EffortLimits
from robot_dynamics_ros.motion.playing.lively_motion import lively_motion
from robot_dynamics_ros.simulation.closed_loop import LoadChange, run_closed_loop
from robot_dynamics_ros.simulation.controlled_robot import SensorNoise
from robot_dynamics_ros.simulation.parameter_error import with_parameter_error
from robot_dynamics_ros.simulation.robot import SimulatedRobot

STEP = 1e-3


def two_joints() -> str:
    """Return the regressor (61) at one state: as printed, corrected, and by both methods here."""
    l1, l2, g = 0.5, 0.4, 9.81
    (q1, q2), (v1, v2), (a1, a2) = (0.3, 0.7), (0.5, -0.8), (1.1, 0.6)
    c1, c2, s2, c12 = np.cos(q1), np.cos(q2), np.sin(q2), np.cos(q1 + q2)
    corrected = np.array([
        [l1**2 * a1 + l1 * c1 * g,
         (l1**2 + 2 * l1 * l2 * c2 + l2**2) * a1 + l2 * (l1 * c2 + l2) * a2
         - l1 * l2 * s2 * v2 * (2 * v1 + v2) + (l1 * c1 + l2 * c12) * g,
         2 * (l1 * c2 + l2) * a1 + (l1 * c2 + 2 * l2) * a2 - l1 * s2 * v2 * (2 * v1 + v2)
         + c12 * g, a1 + a2, a1 + a2],
        [0.0, l2 * (l1 * c2 + l2) * a1 + l2**2 * a2 + l1 * l2 * s2 * v1**2 + l2 * c12 * g,
         (l1 * c2 + 2 * l2) * a1 + 2 * l2 * a2 + l1 * s2 * v1**2 + c12 * g, a1 + a2, a1 + a2]])
    printed = corrected.copy()
    printed[0, 0] = l1 * (a1 + c1 * g)
    printed[0, 1] += 2 * l1 * l2 * (1 - c2) * a1 - l1 * l2 * s2 * v2 * (q2 - v2)
    printed[1, 2] += (2 * l2**2 - 2 * l2) * a2
    chain = chain_from_dh('RR', beta=[0, 0], b=[0, l1], d=[0, 0], theta=[0, 0],
                          gravity=[0, -g, 0])
    Y = lu_meng_regressor(chain, [q1, q2], [v1, v2], [a1, a2],
                          payload=Pose(np.eye(3), np.array([l2, 0.0, 0.0])))
    found = Y[:, [16, 32, 33, 36, 44]]
    names = ('m2', 'm3', 'm3 px', 'm3 px^2', 'Izz')
    rows = [(f'Y_{i + 1}{j + 1} ({names[j]})', f'{printed[i, j]:.4f}', f'{corrected[i, j]:.4f}',
             f'{found[i, j] + 0.0:.4f}') for i in (0, 1) for j in range(5)]
    agrees = bool(np.max(np.abs(found - corrected)) < 1e-12)
    return (table(['entry', 'printed (61)', 'corrected', 'here'], rows)
            + f'\n\nCorrected and here: {verdict(agrees)}. State: l1 = 0.5, l2 = 0.4 m, q = (0.3, '
            '0.7), qd = (0.5, -0.8), qdd = (1.1, 0.6), gravity along -y.')


def case(root: str) -> str:
    """Return what figures 4 and 5 show, in numbers."""
    chain = chain_from_urdf(f'{root}/urdf/puma_4dof.urdf')
    laws: tuple[tuple[CaseLaw, str], ...] = (
        ('modified', 'modified Slotine-Li (94)-(96) (fig. 4)'),
        ('modified_constant', 'modified Slotine-Li (88), (89)'), ('craig', 'Craig (fig. 5)'))
    rows = []
    for law, title in laws:
        run = case_study(chain, law).run(*first_state(), DURATION, STEP)
        m4 = 0.5 + run.theta[:, 0]
        wrong = np.abs(m4 - 1.0)
        rows.append((title, f'{run.settling_time(0.01):.2f} / {run.settling_time(0.001):.2f} s',
                     f'{run.time_below(wrong, 0.05):.2f} / {run.time_below(wrong, 0.01):.2f} s',
                     f'{m4.min():.2f} .. {m4.max():.2f}'))
    return table(['law', 'error below 0.01 / 0.001 rad after', 'm4 within 5 % / 1 % after',
                  'range of m4 [kg]'], rows)


def filtered(root: str) -> str:
    """Return what the filtered regressor finds from positions, velocities and torques alone."""
    chain = chain_from_urdf(f'{root}/urdf/rx90.urdf')
    mlc = minimal_parameters(chain)
    rows = []
    for noise in (0.0, 0.01):
        q, qd, qdd, t = _motion(len(chain))
        rng = np.random.default_rng(1)
        tau = inverse_dynamics(chain, q, qd, qdd)
        measured = qd + noise * rng.normal(size=qd.shape)
        Y, tau_f = filtered_regressor(chain, q, measured, tau, cutoff=20.0, period=t[1] - t[0])
        differentiated = np.gradient(measured, t, axis=0)
        plain = standard_regressor(chain, q, measured, differentiated)
        checks = _motion(len(chain), seed=9)[:3]
        expected = inverse_dynamics(chain, *checks)
        Y_check = mlc_columns(standard_regressor(chain, *checks), mlc)
        errors = []
        for regressor, torque in ((Y, tau_f), (plain, tau)):
            w = _fit(mlc_columns(regressor, mlc)[200:-200], torque[200:-200])
            errors.append(float(np.linalg.norm(Y_check @ w - expected)
                                / np.linalg.norm(expected)))
        rows.append((f'{noise:g}', *(f'{100 * error:.2g} %' for error in errors)))
    return table(['noise of the velocity [rad/s]', 'filtered regressor, no acceleration',
                  'difference quotients as accelerations'], rows)


def identified(root: str) -> str:
    """Return held-out errors of identification by the filtered regressor and by smoothing."""
    chain = chain_from_urdf(f'{root}/urdf/rx90.urdf')
    q, qd, qdd, t = _motion(len(chain))
    rng, tau = np.random.default_rng(1), inverse_dynamics(chain, q, qd, qdd)
    recording = Recording(t, q, qd + 0.01 * rng.normal(size=q.shape), tau * (
        1.0 + 0.02 * rng.normal(size=q.shape)), chain.joint_names)
    found = {'RX-90, simulated: 0.01 rad/s and 2 % of the torque as noise': asdict(
        compare(chain, recording, CUTOFFS, truth=tau))}
    found |= json.loads(RESULTS.read_text(encoding='utf-8'))
    rows = []
    for name, each in found.items():
        errors = {float(cutoff): f'{100 * error:.2f} %'
                  for cutoff, error in each['filtered'].items()}
        chosen = float(each['chosen'])
        rows.append((name, f'{100 * each["smoothed"]:.2f} %', f'{errors[chosen]} ({chosen:g})',
                     *(errors[cutoff] for cutoff in CUTOFFS)))
    return table(['', 'smoothed forward and backward', 'filtered regressor, chosen cut-off',
                  *(f'{cutoff:g} rad/s' for cutoff in CUTOFFS)], rows)


def composite(root: str) -> str:
    """Return tracking errors of the adaptive laws with and without the filtered regressor."""
    joints = read_joints_file(f'{root}/config/demo_arm_joints.yaml')
    chain = joints.applied_to(chain_from_urdf(f'{root}/urdf/demo_arm.urdf'))
    true = with_parameter_error(chain, 0.1, 1)
    model, true_model = compile_model(chain), compile_model(true)
    motion, payload = lively_motion(chain, duration=4.0), payload_inertia(3.0, [0, 0, 0.1],
                                                                          np.zeros((3, 3)))
    rows = []
    for title, noise, settings in (
            ('default', 0.0, {}), ('learning time 0.1 s, noise 0.005 rad/s', 0.005,
                                   {'learning_time': 0.1}),
            ('all of the payload, noise 0.02 rad/s', 0.02,
             {'learn': ('load', 'Fv', 'Fc', 'offset')})):
        errors = []
        for law in ('slotine_li', 'slotine_li_composite'):
            true_model.parameters = true_model.mlc.values
            run = run_closed_loop(
                make_adaptive_controller(model, EffortLimits.of_chain(chain),
                                         AdaptiveSettings(law=law, **settings)),
                SimulatedRobot(true, true_model, q=motion.positions[0], step=0.001), motion,
                loads=[LoadChange(2.0, payload)], noise=SensorNoise(velocity=noise), seed=1)
            errors += [1e3 * run.error_between(*span) for span in ((0.0, 2.0), (2.0, 4.0))]
        rows.append((title, *(f'{error:.2f}' if error < 10.0 else 'unstable' for error in errors)))
    return table(['', 'slotine_li, 0-2 s', '2-4 s', 'slotine_li_composite, 0-2 s', '2-4 s'], rows)


def _motion(n: int, seed: int = 3) -> tuple[Array, Array, Array, Array]:
    """Return q, qd, qdd (N, n) of sums of sines, and the times."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, 10.0, 0.002)
    q, qd, qdd = np.zeros((3, t.size, n))
    for _ in range(4):
        w, a, phase = rng.uniform(1.0, 5.0, n), rng.uniform(0.1, 0.4, n), rng.uniform(0, 6, n)
        angle = np.outer(t, w) + phase
        q, qd, qdd = (q + a * np.sin(angle), qd + a * w * np.cos(angle),
                      qdd - a * w**2 * np.sin(angle))
    return q, qd, qdd, t


def _fit(Y: Array, tau: Array) -> Array:
    A = Y.reshape(-1, Y.shape[-1])
    return np.asarray(np.linalg.lstsq(A, tau.ravel(), rcond=None)[0])
