# SPDX-License-Identifier: Apache-2.0
"""The program of a model function: its equations run on the nodes of a graph."""

from __future__ import annotations

from collections.abc import Sequence

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.equations import Arrangement, Equations
from robot_dynamics_ros.codegen.folding import Folding
from robot_dynamics_ros.codegen.functions import INPUTS, WITH_WRENCH, result_shape
from robot_dynamics_ros.codegen.graph import Graph, Node
from robot_dynamics_ros.codegen.grouping import Grouping
from robot_dynamics_ros.codegen.program import Argument, Program
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm
from robot_dynamics_ros.dynamics.scalars.vector import Scalar
from robot_dynamics_ros.errors import ParameterError


def program_of(chain: Chain, grouping: Grouping, name: str, form: JointForm | None = None, *,
               arrangement: Arrangement | None = None, largest: int | None = None,
               known: Folding | None = None) -> Program:
    """
    Return the program of one function of INPUTS, with or without WITH_WRENCH.

    :param chain: the robot; its inertias are not used.
    :param grouping: grouping of the minimal parameters.
    :param form: what the joints are modelled with; None = nothing special.
    :param arrangement: which of equal formulations to use; None = the usual one.
    :param largest: limit of the graph.
    :param known: parameters to take as numbers; None = none but the zeros of `grouping`.
    :raises GraphTooLarge: it has more than `largest` operations.
    :raises ParameterError: with the known parameters it has no value.
    """
    graph = Graph(largest)
    plain = name.removesuffix(WITH_WRENCH)
    inputs = {vector: graph.inputs(vector, len(chain)) for vector in INPUTS[plain]}
    if plain != name:
        inputs['wrench'] = graph.inputs('wrench', 6 * len(chain.tips))
    parameters: dict[str, list[Node]] = {}

    def parameter(vector: str, size: int) -> Sequence[Scalar]:
        if known is not None and vector in known.baked:
            return known.baked[vector]
        if vector not in parameters:
            parameters[vector] = graph.parameters(vector, size)
        zeros = known.entries.get(vector, ()) if known is not None else ()
        return [0.0 if i in zeros else node for i, node in enumerate(parameters[vector])]

    try:
        outputs = Equations(chain, grouping, form or JointForm(), inputs, parameter, graph,
                            arrangement or Arrangement()).result(name)
    except ZeroDivisionError:
        raise ParameterError(f'{name} of {chain.robot} has no value where these parameters are '
                             'folded: a joint moves nothing that has inertia') from None
    return Program(name,
                   tuple(Argument(key, len(nodes)) for key, nodes in inputs.items()),
                   tuple(Argument(key, len(nodes)) for key, nodes in parameters.items()),
                   tuple(outputs), result_shape(name, chain, grouping.matrix.shape[1]),
                   graph, tuple(zero for zero in (known.zeros if known is not None else ())
                                if zero.vector in parameters))
