# SPDX-License-Identifier: Apache-2.0
"""
The functions of a model as programs: the recursions of dynamics/ run on the nodes of a graph.

Parameters of a program are the minimal parameters ``mlc`` and, where a function needs them, the
joint physics: ``rotor`` (n, or n x n with a coupled transmission), ``viscous``, ``coulomb``,
``offset``, ``sharpness`` (1 / coulomb_velocity), ``static_friction``, ``stribeck`` and ``motors``,
the matrix from joint to motor velocities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.codegen.graph import Graph, Node, Value
from robot_dynamics_ros.codegen.program import Program, Vector
from robot_dynamics_ros.dynamics.joints.joint_terms import (
    Transmission,
    dry_friction_level,
    rotor_inertia_matrix,
    smooth_sign,
)
from robot_dynamics_ros.dynamics.minimal.khalil_set import khalil_forms
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.dynamics.minimal.numeric_set import numeric_forms, stacked_regressor
from robot_dynamics_ros.dynamics.minimal.structure import structure
from robot_dynamics_ros.dynamics.recursions.customized import (
    customized_motion,
    customized_newton_euler,
    regrouped,
)
from robot_dynamics_ros.dynamics.recursions.forward_dynamics import (
    linear_recursion,
    solve_from_tip,
)
from robot_dynamics_ros.dynamics.recursions.mass_matrix import composite_bodies
from robot_dynamics_ros.dynamics.recursions.regressor import (
    link_twists,
    reference_regressor,
    regressor_rows,
)
from robot_dynamics_ros.dynamics.scalars.frames import JointFrame, gravity_vector, joint_frames
from robot_dynamics_ros.dynamics.scalars.pair import Pair, wrench_at_last_joint
from robot_dynamics_ros.dynamics.scalars.vector import ZERO, total

#: Rounding dust of the conversion, relative to the largest entry; exact numbers fold.
_DUST = 1e-12


def grouping_matrix(chain: Chain, mlc: MlcSet) -> Array:
    """
    Return (10 n, p): standard parameters, many of them zero, that have the torque of `mlc`.

    They are Khalil & Dombre's, whose zeros save the most operations. Where the closed form does
    not hold for a chain (see `minimal_parameters`), `mlc` consists of standard parameters itself.
    """
    forms = (khalil_forms(chain, structure(chain)) if mlc.set == 'lin'
             else numeric_forms(chain, stacked_regressor(chain)))
    conversion = forms.matrix @ mlc.right_inverse
    for exact in (0.0, 1.0, -1.0):
        conversion[np.abs(conversion - exact) <= _DUST * np.max(np.abs(conversion))] = exact
    matrix = np.zeros((10 * len(chain), len(mlc)))
    places = [chain.standard_parameter_names.index(name) for name in forms.names]
    matrix[places] = conversion
    return read_only(matrix)


#: From this number of joints on the recursion with linear cost needs fewer operations.
LINEAR_RECURSION_FROM = 15

#: 1 / coulomb_velocity for the exact sign: any speed that is not zero saturates tanh.
EXACT_SIGN = 1e300

#: Inputs of every function; a name with ``_with_wrench`` appended takes a wrench as well.
INPUTS = {
    'inverse_dynamics': ('q', 'qd', 'qdd'),
    'torque': ('q', 'qd', 'qdd'),
    'gravity_torque': ('q',),
    'coriolis_torque': ('q', 'qd'),
    'friction_torque': ('qd',),
    'mass_matrix': ('q',),
    'forward_dynamics': ('q', 'qd', 'tau'),
    'regressor': ('q', 'qd', 'qdd'),
    'regressor_with_joint_terms': ('q', 'qd', 'qdd'),
    'reference_regressor': ('q', 'qd', 'qd_r', 'qdd_r'),
}
WITH_WRENCH = '_with_wrench'

#: Functions that take a wrench.
TAKE_WRENCH = ('inverse_dynamics', 'torque', 'forward_dynamics')


@dataclass(frozen=True)
class JointForm:
    """
    What joints are modelled with; other values of the same form need no other program.

    :param coupled: the transmission has a coupling matrix.
    :param stribeck: dry friction has a static part.
    """

    coupled: bool = False
    stribeck: bool = False

    @classmethod
    def of(cls, physics: JointPhysics) -> JointForm:
        """Return the form of joint physics."""
        return cls(physics.coupling is not None, physics.static is not None)


@dataclass(frozen=True)
class Arrangement:
    """
    Choices between formulations of the rigid-body torque that differ in operations only.

    :param third_column: n flags for `customized_newton_euler`; None = its own rule.
    :param eliminations: n of ELIMINATIONS for `regrouped`; None = Khalil & Dombre's.
    """

    third_column: tuple[bool, ...] | None = None
    eliminations: tuple[str, ...] | None = None


def joint_parameters(physics: JointPhysics) -> dict[str, list[float]]:
    """Return the values of the joint physics by the names that programs use."""
    sharpness = 1.0 / physics.coulomb_velocity if physics.coulomb_velocity else EXACT_SIGN
    rotor = rotor_inertia_matrix(physics)
    values = {
        'rotor': rotor if physics.coupling is not None else np.diag(rotor),
        'viscous': physics.viscous, 'coulomb': physics.coulomb, 'offset': physics.offset,
        'sharpness': np.array([sharpness]),
        'motors': Transmission.of(physics).inverse,
    }
    if physics.static is not None and physics.stribeck_velocity is not None:
        values |= {'static_friction': physics.static, 'stribeck': physics.stribeck_velocity}
    return {name: np.ravel(array).tolist() for name, array in values.items()}


class Equations:
    """
    One function of a chain on a graph of its own.

    :param chain: the robot; its inertias are not used.
    :param grouping: (10 n, p) from minimal parameters to grouped standard ones; exact zeros and
        ones where the algebra has them.
    :param form: what the joints are modelled with.
    :param arrangement: which of equal formulations to use.
    :param largest: limit of the graph.
    """

    def __init__(self, chain: Chain, grouping: Array, form: JointForm | None = None, *,
                 arrangement: Arrangement | None = None, largest: int | None = None) -> None:
        """Prepare an empty graph."""
        self._chain = chain
        self._grouping = grouping
        self._form = form or JointForm()
        self._arrangement = arrangement or Arrangement()
        self._graph = Graph(largest)
        self._inputs: dict[str, list[Node]] = {}
        self._parameters: dict[str, list[Node]] = {}

    def program(self, name: str) -> Program:
        """Return the program of one function of INPUTS, with or without wrench."""
        plain = name.removesuffix(WITH_WRENCH)
        for vector in INPUTS[plain]:
            self._inputs[vector] = self._graph.inputs(vector, len(self._chain))
        if plain != name:
            self._inputs['wrench'] = self._graph.inputs('wrench', 6)
        build: Callable[[], Sequence[Value] | Sequence[Sequence[Value]]]
        build = getattr(self, f'_{plain}')
        result = build()
        shape: tuple[int, ...] = (len(result),)
        if isinstance(result[0], list):
            shape = (len(result), len(result[0]))
            result = [value for row in result for value in row]  # type: ignore[union-attr]
        return Program(name,
                       tuple(Vector(key, len(nodes)) for key, nodes in self._inputs.items()),
                       tuple(Vector(key, len(nodes)) for key, nodes in self._parameters.items()),
                       tuple(result), shape, self._graph)  # type: ignore[arg-type]

    def _parameter(self, name: str, count: int) -> list[Node]:
        if name not in self._parameters:
            self._parameters[name] = self._graph.parameters(name, count)
        return self._parameters[name]

    def _rows(self, name: str) -> list[list[Node]]:
        """Return an (n, n) matrix of parameters."""
        n = len(self._chain)
        values = self._parameter(name, n * n)
        return [values[i * n:(i + 1) * n] for i in range(n)]

    @cached_property
    def _frames(self) -> list[JointFrame]:
        return joint_frames(self._chain, self._inputs['q'], self._graph.cos, self._graph.sin)

    @cached_property
    def _links(self) -> list[list[Value]]:
        """Ten grouped parameters per link."""
        mlc = self._parameter('mlc', self._grouping.shape[1])
        x = [total([float(row[j]) * mlc[j] for j in np.flatnonzero(row)])
             for row in self._grouping]
        links = [x[i:i + 10] for i in range(0, len(x), 10)]
        if self._arrangement.eliminations is None:
            return links
        return regrouped(self._frames, links, self._arrangement.eliminations)

    @property
    def _wrench(self) -> Pair | None:
        wrench = self._inputs.get('wrench')
        return None if wrench is None else wrench_at_last_joint(self._chain, wrench)

    def _rigid(self, qd: Sequence[Value] | None = None, qdd: Sequence[Value] | None = None,
               gravity: bool = True) -> list[Value]:
        rest = [0.0] * len(self._chain)
        return customized_newton_euler(self._frames, self._links, qd or rest, qdd or rest,
                                       gravity_vector(self._chain) if gravity else ZERO,
                                       self._wrench, self._arrangement.third_column)

    def _inverse_dynamics(self) -> list[Value]:
        return self._rigid(self._inputs['qd'], self._inputs['qdd'])

    def _gravity_torque(self) -> list[Value]:
        return self._rigid()

    def _coriolis_torque(self) -> list[Value]:
        return self._rigid(self._inputs['qd'], gravity=False)

    def _torque(self) -> list[Value]:
        rotors = self._with_rotors([[0.0] * len(self._chain) for _ in self._chain.joints])
        inertial = _product(rotors, self._inputs['qdd'])
        return _sum(_sum(self._inverse_dynamics(), inertial), self._friction_torque())

    def _mass_matrix(self) -> list[list[Value]]:
        return self._with_rotors(composite_bodies(self._frames, self._links))

    def _with_rotors(self, A: list[list[Value]]) -> list[list[Value]]:
        if self._form.coupled:
            return [_sum(row, rotors) for row, rotors in zip(A, self._rows('rotor'))]
        for i, rotor in enumerate(self._parameter('rotor', len(A))):
            A[i][i] = A[i][i] + rotor
        return A

    def _forward_dynamics(self) -> list[Value]:
        qd = self._inputs['qd']
        effort = [tau - friction
                  for tau, friction in zip(self._inputs['tau'], self._friction_torque())]
        if len(effort) >= LINEAR_RECURSION_FROM and not self._form.coupled:
            return linear_recursion(self._frames, self._links, qd, effort,
                                    gravity_vector(self._chain), self._wrench,
                                    self._parameter('rotor', len(effort)))
        bias = self._rigid(qd)
        return solve_from_tip(self._mass_matrix(), [t - b for t, b in zip(effort, bias)])

    def _motor_speeds(self, values: Sequence[Value]) -> list[Value]:
        """Return speeds or accelerations of the motors."""
        return _product(self._rows('motors'), values) if self._form.coupled else list(values)

    def _sign(self, speed: Value) -> Value:
        sharpness, = self._parameter('sharpness', 1)
        sign: Value = smooth_sign(speed * sharpness, 1.0, self._graph.tanh, self._graph.tanh)
        return sign

    def _friction_torque(self) -> list[Value]:
        speeds = self._motor_speeds(self._inputs['qd'])
        n = len(speeds)
        level: list[Value] = list(self._parameter('coulomb', n))
        if self._form.stribeck:
            level = [dry_friction_level(*values, self._graph.exp) for values in zip(
                speeds, level, self._parameter('static_friction', n),
                self._parameter('stribeck', n))]
        terms = zip(level, speeds, self._parameter('viscous', n), self._parameter('offset', n))
        tau = [size * self._sign(speed) + viscous * speed + offset
               for size, speed, viscous, offset in terms]
        if not self._form.coupled:
            return tau
        return _product([list(column) for column in zip(*self._rows('motors'))], tau)

    def _regressor(self) -> list[list[Value]]:
        motion = customized_motion(self._frames, self._inputs['qd'], self._inputs['qdd'],
                                   gravity_vector(self._chain))
        return self._in_minimal_parameters(regressor_rows(motion, link_twists(self._frames)))

    def _reference_regressor(self) -> list[list[Value]]:
        return self._in_minimal_parameters(reference_regressor(
            self._frames, self._inputs['qd'], self._inputs['qd_r'], self._inputs['qdd_r'],
            gravity_vector(self._chain)))

    def _in_minimal_parameters(self, standard: list[list[Value]]) -> list[list[Value]]:
        """Return the columns of the minimal parameters from those of the standard ones."""
        return [[total([float(column[k]) * row[k] for k in np.flatnonzero(column)])
                 for column in self._grouping.T] for row in standard]

    def _regressor_with_joint_terms(self) -> list[list[Value]]:
        n = len(self._chain)
        rates, speeds = (self._motor_speeds(self._inputs[name]) for name in ('qdd', 'qd'))
        terms = [*rates, *speeds, *(self._sign(speed) for speed in speeds), *[1.0] * n]
        if self._form.coupled:
            motors = self._rows('motors')
            return [row + [motors[j % n][i] * term for j, term in enumerate(terms)]
                    for i, row in enumerate(self._regressor())]
        return [row + [term if j % n == i else 0.0 for j, term in enumerate(terms)]
                for i, row in enumerate(self._regressor())]


def _sum(a: Sequence[Value], b: Sequence[Value]) -> list[Value]:
    return [x + y for x, y in zip(a, b)]


def _product(A: Sequence[Sequence[Value]], x: Sequence[Value]) -> list[Value]:
    return [total([a * value for a, value in zip(row, x)]) for row in A]
