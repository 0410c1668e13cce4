# SPDX-License-Identifier: Apache-2.0
"""Figure 9.2 of Khalil & Dombre and figures 4 to 8 of Angeles, Ma & Rojas, drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from papers import angeles, khalil
from robot_dynamics_ros.arrays import Array

FRICTION, ANGELES = 'papers_friction.png', 'papers_angeles.png'
_LABELS = [f'joint {i}' for i in range(1, 7)]


def draw(folder: Path) -> None:
    """Write both pictures into a folder."""
    import matplotlib

    matplotlib.use('Agg')
    import matplotlib.pyplot as plt

    figure, all_axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True)
    velocity = np.linspace(0.0, 1.0, 1001)
    velocity = np.concatenate([-velocity[::-1], velocity])  # rest is there twice: -0 and 0
    for axes, (title, values) in zip(all_axes, khalil.friction_curves(velocity).items()):
        axes.plot(velocity, values)
        axes.set(title=title, xlabel='velocity [rad/s]')
        axes.grid(alpha=0.3)
    all_axes[0].set_ylabel('friction [N m]')
    _save(figure, folder / FRICTION)

    figure, all_axes = plt.subplots(4, 2, figsize=(10, 12.0))
    t, q, tau = angeles.first_motion(np.linspace(0.0, 10.0, 401))
    s, angles, printed, distal = angeles.second_motion(np.linspace(0.0, 1.0, 201))
    u = np.linspace(0.0, 1.0, 201)
    degrees = np.degrees(q)
    degrees[:, 2] = 1000.0 * q[:, 2]
    large, small = tau.copy(), tau.copy()
    large[:, [0, 3, 4, 5]], small[:, [1, 2]] = np.nan, np.nan
    panels: tuple[tuple[str, str, Array, Array], ...] = (
        ('figure 4: Stanford arm, positions', 'deg; joint 3: mm', t, degrees),
        ('figure 6: way of the hand', 'm', u, s[:, None]),
        ('figure 5: Stanford arm, torque 2 and force 3', 'N m, N', t, large),
        ('figure 5: the other torques', 'N m', t, small),
        ('figure 7: joint angles', 'deg', u, np.degrees(angles)),
        ('', '', u, np.full((u.size, 1), np.nan)),
        ('figure 8: torques, printed frames', 'N m', u, printed),
        ('figure 8: torques, distal frames', 'N m', u, distal))
    for axes, (title, unit, times, values) in zip(all_axes.flat, panels):
        if not title:
            axes.axis('off')
            continue
        axes.plot(times, values, label=_LABELS if values.shape[1] == len(_LABELS) else None)
        axes.set(title=title, xlabel='t [s]', ylabel=f'[{unit}]')
        axes.grid(alpha=0.3)
    all_axes[2, 1].legend(*all_axes[0, 0].get_legend_handles_labels(), loc='center', ncols=2)
    _save(figure, folder / ANGELES)


def _save(figure: object, path: Path) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.figure import Figure

    assert isinstance(figure, Figure)
    figure.tight_layout()
    figure.savefig(path, dpi=90, metadata={'Software': None})
    plt.close(figure)
