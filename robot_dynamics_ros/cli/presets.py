# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics presets``: what drivers of known robots put into `effort`."""

from __future__ import annotations

import argparse

from robot_dynamics_ros.chain.effort_presets import PRESETS
from robot_dynamics_ros.cli.support.terminal import table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    parser.add_argument('name', nargs='?', choices=list(PRESETS), metavar='NAME',
                        help='one preset, with its sources')


def run(arguments: argparse.Namespace) -> int:
    """Print all presets, or one with its sources."""
    chosen = [arguments.name] if arguments.name else list(PRESETS)
    rows = []
    for name in chosen:
        preset = PRESETS[name]
        rows.append([name, preset.unit, f'{preset.sign:+g}',
                     'of each joint' if preset.gain is None else f'{preset.gain:g}',
                     'removed' if preset.gravity_removed else 'included'])
    print(table(['preset', 'unit', 'sign', 'gain', 'gravity'], rows, align='<<><<'))
    print()
    for name in chosen:
        print(f'{name}: {PRESETS[name].meaning}')
        if arguments.name:
            print('\n'.join(f'  {source}' for source in PRESETS[name].sources))
    print('\nIn joints.yaml:  preset: NAME  (a gain "of each joint" stands below it, as '
          'joints: {joint_1: {effort: {gain: 11.9}}})')
    return 0
