# SPDX-License-Identifier: Apache-2.0
"""``robot-dynamics inspect``: what a robot's URDF says, and what is odd about it."""

from __future__ import annotations

import argparse
import json
import math
from typing import Any

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.cli.robot_arguments import add_robot_arguments, chain_from_arguments
from robot_dynamics_ros.cli.table import short, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_robot_arguments(parser)
    parser.add_argument('--json', action='store_true', help='print the same as JSON')


def run(arguments: argparse.Namespace) -> int:
    """Print the chain."""
    chain = chain_from_arguments(arguments)
    if arguments.json:
        print(json.dumps(report(chain), indent=2))
    else:
        print(text_report(chain))
    return 0


def report(chain: Chain) -> dict[str, Any]:
    """Return everything that is known about a chain as plain data (SI units; null = unknown)."""
    physics = chain.joint_physics
    joints = [{
        'name': joint.name, 'type': joint.type, 'b': joint.b, 'beta': joint.beta, 'd': joint.d,
        'theta': joint.theta, 'lower': _known(joint.lower), 'upper': _known(joint.upper),
        'velocity_limit': _known(joint.velocity_limit),
        'effort_limit': _known(joint.effort_limit), 'reduction': _known(joint.reduction),
        'viscous': float(physics.viscous[i]), 'coulomb': float(physics.coulomb[i]),
        'link': {'name': chain.link_names[i], 'mass': chain.links[i].mass,
                 'first_moment': chain.links[i].first_moment.tolist(),
                 'inertia': chain.links[i].tensor.tolist()},
    } for i, joint in enumerate(chain.joints)]
    return {
        'robot': chain.robot, 'base': chain.base, 'tip': chain.tip,
        'gravity': chain.gravity.tolist(), 'joints': joints,
        'findings': [{'kind': finding.kind, 'where': finding.where, 'message': finding.message,
                      'value': finding.value} for finding in chain.findings],
    }


def text_report(chain: Chain) -> str:
    """Return the chain as text for a terminal."""
    gravity = ', '.join(short(g) for g in chain.gravity)
    kinds = [joint.type[0].upper() for joint in chain.joints]
    parts = [
        f'{chain.robot}: {len(chain)} joints ({"".join(kinds)}) from {chain.base} to {chain.tip}, '
        f'gravity ({gravity}) m/s^2 in {chain.base}',
        'Joints: E_i in E_(i-1) is Tx(b) Rx(beta) Tz(d) Rz(theta) at q = 0 (modified DH)\n'
        + table(['joint', 'type', 'b [m]', 'beta [deg]', 'd [m]', 'theta [deg]', 'lower', 'upper',
                 'velocity', 'effort'],
                [[joint.name, joint.type, short(joint.b), short(math.degrees(joint.beta)),
                  short(joint.d), short(math.degrees(joint.theta)), short(joint.lower),
                  short(joint.upper), short(joint.velocity_limit), short(joint.effort_limit)]
                 for joint in chain.joints], left=2),
        'Moving bodies: fixed links lumped, centre of mass in E_i\n'
        + table(['link', 'mass [kg]', 'x [m]', 'y [m]', 'z [m]', 'viscous', 'coulomb'],
                [[name, short(link.mass), *(short(c) for c in link.centre_of_mass),
                  short(chain.joint_physics.viscous[i]), short(chain.joint_physics.coulomb[i])]
                 for i, (name, link) in enumerate(zip(chain.link_names, chain.links))]),
    ]
    if chain.findings:
        lines = '\n'.join(f'  - {finding}' for finding in chain.findings)
        parts.append(f'Findings ({len(chain.findings)})\n{lines}')
    else:
        parts.append('No findings.')
    return '\n\n'.join(parts)


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
