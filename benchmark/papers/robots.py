# SPDX-License-Identifier: Apache-2.0
"""The robots of the papers, and how operations are counted on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.dh import chain_from_dh
from robot_dynamics_ros.codegen.arrangement_search import fewest_operations
from robot_dynamics_ros.codegen.generation import program_of
from robot_dynamics_ros.codegen.graph import Graph
from robot_dynamics_ros.codegen.grouping import Grouping, grouping_of
from robot_dynamics_ros.codegen.program import Argument, Program
from robot_dynamics_ros.dynamics.formulations.kane import kane
from robot_dynamics_ros.dynamics.formulations.lin import LinConstants, lin_newton_euler
from robot_dynamics_ros.dynamics.minimal.mlc import minimal_parameters
from robot_dynamics_ros.dynamics.minimal.rotor_grouping import rotor_grouping
from robot_dynamics_ros.dynamics.minimal.structure import structure
from robot_dynamics_ros.dynamics.recursions.body import Body
from robot_dynamics_ros.dynamics.recursions.forward_dynamics import linear_recursion
from robot_dynamics_ros.dynamics.scalars.frames import gravity_vector, joint_frames
from robot_dynamics_ros.dynamics.scalars.pair import Pair

Count = tuple[int, int]

HALF = np.pi / 2
WITH_WRENCH = 'inverse_dynamics_with_wrench'

#: D3 and RL4 differ, so that nothing cancels by accident.
RX90 = chain_from_dh('RRRRRR', beta=[0, HALF, 0, -HALF, HALF, -HALF], b=[0, 0, 0.45, 0, 0, 0],
                     d=[0, 0, 0, 0.47, 0, 0], theta=np.zeros(6))

#: Table 9.4, and the parameters of links with the symmetries of example 9.3.
RX90_SIMPLIFIED = ('ZZ1', 'XX2', 'ZZ2', 'MX2', 'MY2', 'XX3', 'ZZ3', 'MY3', 'XX4', 'ZZ4', 'XX5',
                   'ZZ5', 'MY5', 'XX6', 'ZZ6')
RX90_SYMMETRIC = (*(f'{name}{j}' for j in range(1, 7) for name in ('XX', 'YY', 'ZZ', 'M')),
                  'MZ1', 'MX2', 'MY2', 'MY3', 'MZ4', 'MY5', 'MZ6')
#: Our reading of "two components of the first moments are zero" for the Stanford arm.
STANFORD_SIMPLIFIED = ('ZZ1', 'XX2', 'ZZ2', 'MY2', 'MZ3', 'M3', 'XX4', 'ZZ4', 'XX5', 'ZZ5',
                       'MY5', 'XX6', 'ZZ6')
STANFORD_SYMMETRIC = (*(f'{name}{j}' for j in range(1, 7) for name in ('XX', 'YY', 'ZZ', 'M')),
                      'MZ1', 'MY2', 'MZ3', 'MZ4', 'MY5', 'MZ6')


def stanford(second_offset: float = 0.6) -> Chain:
    """Return the Stanford arm with d2 and, if not zero, d4."""
    return chain_from_dh('RRPRRR', beta=[0, -HALF, HALF, 0, -HALF, HALF], b=np.zeros(6),
                         d=[0, 0.15, 0, second_offset, 0, 0], theta=np.zeros(6))


def th8() -> Chain:
    """Return our reading of the TH8, whose geometry the book does not give."""
    return chain_from_dh('RPPRRR', beta=[0, 0, HALF, 0, -HALF, HALF], b=np.zeros(6),
                         d=np.zeros(6), theta=np.zeros(6))


def general(n: int, *, tilted: bool = True, last_offset: float = 0.0) -> Chain:
    """
    Return a robot of n revolute joints without anything special.

    :param tilted: gravity in any direction; False = along joint 1.
    :param last_offset: d_n [m].
    """
    chain = chain_from_dh(
        'R' * n, beta=[0, *(0.3 + 0.2 * i for i in range(n - 1))],
        b=[0, *(0.11 + 0.01 * i for i in range(n - 1))],
        d=[0, *(0.21 + 0.01 * i for i in range(n - 2)), last_offset], theta=np.zeros(n))
    return replace(chain, gravity=np.array([1.0, 2.0, -9.0])) if tilted else chain


def places_of(chain: Chain, names: Sequence[str]) -> Grouping:
    """Return the grouping that puts parameters with these names at their places."""
    matrix = np.zeros((10 * len(chain), len(names)))
    for j, name in enumerate(names):
        matrix[chain.standard_parameter_names.index(name), j] = 1.0
    return Grouping(matrix)


def generated(chain: Chain, names: Sequence[str] | None = None, function: str = WITH_WRENCH, *,
              rotors: int | None = 0, searched: bool = False) -> Count:
    """
    Return multiplications and additions of generated code.

    :param names: standard parameters that are not zero; None = the minimal set.
    :param function: what is generated.
    :param rotors: number of rotor inertias to add; None = those that are not grouped.
    :param searched: take the best arrangement.
    """
    grouping = (grouping_of(chain, minimal_parameters(chain)) if names is None
                else places_of(chain, names))
    best = None
    if searched:
        best = fewest_operations(chain, lambda each: program_of(
            chain, grouping, function, arrangement=each).operations)
    count = program_of(chain, grouping, function, arrangement=best).operations
    if rotors is None:
        rotors = len(rotor_grouping(chain, minimal_parameters(chain)).separate)
    return count[0] + rotors, count[1] + rotors


def lin_form(chain: Chain, present: Sequence[str] | None = None) -> Count:
    """
    Return the operations of Lin's form (57)-(93) with a wrench.

    :param present: standard parameters that are not zero; None = all.
    """
    graph, n, mlc = Graph(), len(chain), minimal_parameters(chain)
    shown = np.ones(10 * n, dtype=bool) if present is None else np.isin(
        chain.standard_parameter_names, present)
    values = dict(zip(mlc.names, graph.parameters('mlc', len(mlc))))
    acting = {name: node for (name, node), row in zip(values.items(), mlc.matrix)
              if np.any(row[shown] != 0.0)}
    tau = lin_newton_euler(
        joint_frames(chain, graph.inputs('q', n), graph.cos, graph.sin),
        LinConstants.from_names(n, acting), structure(chain), graph.inputs('qd', n),
        graph.inputs('qdd', n), gravity_vector(chain), _wrench(graph))
    return _operations(graph, tau)


def kane_form(chain: Chain) -> Count:
    """Return the operations of Angeles' form, no wrench."""
    graph, n = Graph(), len(chain)
    bodies = []
    for i in range(n):
        m, x, y, z, xx, xy, xz, yy, yz, zz = graph.parameters(f'body{i}', 10)
        bodies.append(Body(m, (x, y, z), ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))))
    tau = kane(joint_frames(chain, graph.inputs('q', n), graph.cos, graph.sin), bodies,
               graph.inputs('qd', n), graph.inputs('qdd', n), gravity_vector(chain))
    return _operations(graph, tau)


def linear_form(chain: Chain, names: Sequence[str]) -> Count:
    """Return the operations of (9.100)-(9.124) with a wrench and the separate rotors."""
    graph, n = Graph(), len(chain)
    links = places_of(chain, names).links(graph.parameters('x', len(names)))
    separate = rotor_grouping(chain, minimal_parameters(chain)).separate
    rotors = [node if f'Ia{j}' in separate else 0.0
              for j, node in enumerate(graph.parameters('rotor', n), start=1)]
    qdd = linear_recursion(
        joint_frames(chain, graph.inputs('q', n), graph.cos, graph.sin), links,
        graph.inputs('qd', n), graph.inputs('tau', n), gravity_vector(chain), _wrench(graph),
        rotors)
    return _operations(graph, qdd)


def growth(counts: Sequence[Count], first: int) -> str:
    """
    Return counts of n = first, first + 1, ... as formulas in n.

    :raises ValueError: they do not grow linearly.
    """
    formulas = []
    for part in (0, 1):
        values = [count[part] for count in counts]
        step = values[1] - values[0]
        if any(b - a != step for a, b in pairwise(values)):
            raise ValueError(f'{values} do not grow linearly')
        formulas.append(f'{step}n {values[0] - step * first:+d}'.replace('+', '+ ').replace(
            '-', '- '))
    return ' / '.join(formulas)


def _wrench(graph: Graph) -> Pair:
    fx, fy, fz, tx, ty, tz = graph.inputs('wrench', 6)
    return (fx, fy, fz), (tx, ty, tz)


def _operations(graph: Graph, outputs: Sequence[object]) -> Count:
    program = Program('counted', (Argument('q', 1),), (Argument('x', 1),),
                      tuple(outputs), (len(outputs),), graph)  # type: ignore[arg-type]
    return program.operations[0], program.operations[1]
