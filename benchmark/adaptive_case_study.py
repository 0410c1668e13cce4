# SPDX-License-Identifier: Apache-2.0
"""The case study of Lu & Meng (1993), section V-B: the table and picture of the docs."""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from studies.lu_meng_case_study import (
    DURATION,
    GAMMA,
    case_study,
    desired_motion,
    first_state,
)
from studies.lyapunov import damping_margin

from robot_dynamics_ros import chain_from_urdf
from robot_dynamics_ros.cli.support.output import save_figure
from robot_dynamics_ros.errors import StateError

ROOT = Path(__file__).parents[1]
STEP = 5e-4
COLUMNS = {'modified': 'modified, K = λ Ĥ (94)-(96)', 'modified_constant': 'modified, constant K',
           'original': 'Slotine & Li, K = λ Ĥ', 'craig': 'Craig'}


def simulate(chain):
    """Return the loops and runs by name; 'bounded' and 'still' are the modified law."""
    loops = {name: case_study(chain, name) for name in COLUMNS}
    loops['bounded'] = case_study(chain, 'modified', bounded=True)
    loops['still'] = case_study(chain, 'modified', gamma=0.0)
    return loops, {name: loop.run(*first_state(), DURATION, STEP) for name, loop in loops.items()}


def print_table(loops, runs):
    """Print the rows of the table in the docs."""
    names = {**COLUMNS, 'bounded': 'modified, K = λ Ĥ, m4 kept in 0.5..1.5 kg',
             'still': 'modified, without learning'}
    print('| law | error < 0.01 / 0.001 rad after | m4 within 5 % / 1 % after | error at 2 s '
          '| range of m4 [kg] | largest torque [N m] | margin lost |')
    print('|---|---|---|---|---|---|---|')
    for name, title in names.items():
        run, m4 = runs[name], 0.5 + runs[name].theta[:, 0]
        wrong = np.abs(m4 - 1.0)
        times = [run.settling_time(0.01), run.settling_time(0.001), run.time_below(wrong, 0.05),
                 run.time_below(wrong, 0.01)]
        a, b, c, d = ('never' if np.isinf(t) else f'{t:.2f} s' for t in times)
        margin = '-'
        if name != 'craig':
            lost = damping_margin(loops[name].plant, loops[name].law, run) <= 0.0
            margin = f'{1e3 * STEP * np.sum(lost):.0f} ms'
        peaks = ', '.join(f'{x:.0f}' for x in np.abs(run.torque).max(axis=0))
        print(f'| {title} | {a} / {b} | {c} / {d} | {np.abs(run.errors[-1]).max():.1e} rad '
              f'| {m4.min():.2f}..{m4.max():.2f} | {peaks} | {margin} |')


def print_sensitivity(chain):
    """Print when the error stays below 0.01 rad, for other gains than the chosen ones."""
    factors = (0.1, 0.3, 1.0, 3.0, 10.0)
    print('| error < 0.01 rad after | ' + ' | '.join(f'{f:g} Γ' for f in factors) + ' |')
    print('|---' * (len(factors) + 1) + '|')
    for name, title in COLUMNS.items():
        cells = []
        for factor in factors:
            loop = case_study(chain, name, gamma=factor * GAMMA[name])
            try:
                time = loop.run(*first_state(), DURATION, STEP).settling_time(0.01)
                cells.append('not within 2 s' if np.isinf(time) else f'{time:.2f} s')
            except StateError:
                cells.append('unstable')
        print(f'| {title} | ' + ' | '.join(cells) + ' |')


def draw(runs, path):
    """Draw motion, errors and estimate of each law in a column, as figs. 4 and 5 of the paper."""
    figure = Figure(figsize=(11.0, 7.0), layout='constrained')
    axes = figure.subplots(3, len(COLUMNS), sharex=True, sharey='row')
    ideal = np.array([desired_motion(t).q for t in runs['craig'].times])
    for column, (name, title) in enumerate(COLUMNS.items()):
        run = runs[name]
        motion, errors, mass = axes[:, column]
        motion.set_title(title, fontsize=10)
        for joint in range(4):
            motion.plot(run.times, run.q[:, joint], color=f'C{joint}', label=f'joint {joint + 1}')
            motion.plot(run.times, ideal[:, joint], color=f'C{joint}', linestyle=':')
            errors.plot(run.times, run.errors[:, joint], color=f'C{joint}')
        mass.plot(run.times, 0.5 + run.theta[:, 0], color='black')
        mass.axhline(1.0, color='tab:red', linestyle=':')
        mass.set_xlabel('time [s]')
    for row, label in zip(axes, ('position [rad]\n(dotted: desired)', 'tracking error [rad]',
                                 'estimated m4 [kg]\n(dotted: true)')):
        row[0].set_ylabel(label)
        for each in row:
            each.grid(alpha=0.3)
    axes[0, -1].legend(fontsize=8, loc='upper right')
    save_figure(figure, path)


def main():
    """Print the table; draw where a file is named."""
    chain = chain_from_urdf(ROOT / 'urdf' / 'puma_4dof.urdf')
    loops, runs = simulate(chain)
    print_table(loops, runs)
    print_sensitivity(chain)
    if len(sys.argv) > 1:
        draw(runs, sys.argv[1])


if __name__ == '__main__':
    main()
