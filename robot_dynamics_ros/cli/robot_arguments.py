# SPDX-License-Identifier: Apache-2.0
"""Command-line arguments that choose a robot and one of its chains."""

from __future__ import annotations

import argparse

from robot_dynamics_ros.chain.chain import Chain


def add_robot_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ROBOT, --base, --tip, --gravity and --lock."""
    parser.add_argument('robot', metavar='ROBOT', help='URDF (or .xacro) file')
    add_chain_arguments(parser)


def add_chain_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --base, --tip, --gravity and --lock."""
    parser.add_argument('--base', metavar='LINK', help='base link (default: root of the URDF)')
    parser.add_argument('--tip', metavar='LINK',
                        help='tip link (default: end of the only moving chain)')
    parser.add_argument('--gravity', metavar='X,Y,Z', type=_vector,
                        help='gravity in the frame of the base link [m/s^2] (default: 9.81 along '
                        '-z of the URDF root); write --gravity=0,0,-9.81')
    parser.add_argument('--lock', metavar='JOINT=VALUE', action='append', default=[],
                        type=_lock, help='freeze a joint at a position [rad, m]; may be repeated')


def chain_from_arguments(arguments: argparse.Namespace) -> Chain:
    """Return the chain that `robot` and the arguments of `add_chain_arguments` describe."""
    from robot_dynamics_ros.chain.urdf.reader import chain_from_urdf

    return chain_from_urdf(arguments.robot, base=arguments.base, tip=arguments.tip,
                           gravity=arguments.gravity, locked=dict(arguments.lock))


def _vector(text: str) -> tuple[float, float, float]:
    try:
        x, y, z = (float(word) for word in text.split(','))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form X,Y,Z") from None
    return x, y, z


def _lock(text: str) -> tuple[str, float]:
    name, separator, value = text.rpartition('=')
    try:
        return (name, float(value)) if separator else (text, 0.0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not of the form JOINT=VALUE") from None
