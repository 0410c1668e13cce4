# SPDX-License-Identifier: Apache-2.0
"""
Parameters that generated code takes as numbers (Khalil & Dombre 9.6.3, "simplified" models).

A parameter that is zero saves all operations it would need, once the code knows it. So zeros are
folded when the code is made, and other values are refused afterwards: a value that would have no
effect is worse than an error. What is folded are grouped standard parameters (``XX2``), since the
code calculates with these, and joint terms (``Fv2``). Baked code has no parameters at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.codegen.grouping import Grouping
from robot_dynamics_ros.codegen.program import Zero
from robot_dynamics_ros.dynamics.joints.joint_terms import joint_parameters
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.errors import ParameterError

#: Word that stands for every parameter that is zero in the robot description.
ALL_ZEROS = 'chain'

#: What is zero, relative to the terms that it is the sum of.
_ZERO = 1e-12

#: Joint terms that may be folded: the vector of `joint_parameters` by the letters of the name.
_JOINT_VECTORS = {'Ia': 'rotor', 'Fv': 'viscous', 'Fc': 'coulomb', 'offset': 'offset',
                  'Fs': 'static_friction'}


@dataclass(frozen=True, eq=False)
class Folding:
    """
    What generated code takes as a number.

    :param zeros: combinations that are zero.
    :param rows: places of grouped standard parameters that are zero.
    :param entries: places that are zero by vector of joint parameters.
    :param baked: all values by vector; empty = values are given at run time.
    """

    zeros: tuple[Zero, ...] = ()
    rows: frozenset[int] = frozenset()
    entries: Mapping[str, frozenset[int]] = field(default_factory=dict)
    baked: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what is folded as zero."""
        return tuple(zero.name for zero in self.zeros)

    def grouping(self, grouping: Grouping) -> Grouping:
        """Return a grouping with the zeros of this folding."""
        return replace(grouping, zeros=self.rows) if self.rows else grouping

    def check(self, values: Mapping[str, Sequence[float]]) -> None:
        """
        Refuse parameters that the code would not follow.

        :param values: every vector of parameters.
        :raises ParameterError: a folded one is not zero, or code is baked and a value differs.
        """
        for zero in self.zeros:
            value = zero.value(values[zero.vector]) if zero.vector in values else 0.0
            if not abs(value) <= zero.tolerance:
                raise ParameterError(
                    f'{zero.name} is folded as zero in this model, got {value:.6g}; compile it '
                    'without zeros, or with a list of zeros that does not have this name')
        for name, numbers in self.baked.items():
            if list(values.get(name, ())) != list(numbers):
                raise ParameterError(f'the values of this model are baked in: {name} cannot be '
                                     'replaced; compile it without baked=True')


def folding_of(chain: Chain, mlc: MlcSet, grouping: Grouping, physics: JointPhysics,
               zeros: str | Sequence[str] | None, baked: bool) -> Folding:
    """
    Return the folding that a caller asks for.

    :param chain: the robot.
    :param mlc: its minimal set, with the values that the code begins with.
    :param grouping: grouping of that set.
    :param physics: joint physics that the code begins with.
    :param zeros: ALL_ZEROS; or names of grouped standard parameters, of minimal parameters and
        of joint terms (``XX2``, ``k3_x``, ``Fv2``); None = nothing.
    :param baked: take all values as numbers.
    :raises ParameterError: an unknown name, one that is not zero, or a value to bake that is not
        finite.
    """
    values = {'mlc': mlc.values.tolist(), **joint_parameters(physics)}
    candidates = _candidates(chain, mlc, grouping, values)
    if zeros is None:
        names: list[str] = []
    elif isinstance(zeros, str):
        if zeros != ALL_ZEROS:
            raise ParameterError(f"zeros is '{zeros}'; it must be '{ALL_ZEROS}' or a list of "
                                 'names of parameters')
        names = [name for name, zero in candidates.items() if name not in mlc.names
                 and abs(zero.value(values[zero.vector])) <= zero.tolerance]
    else:
        names = list(zeros)
    unknown = [name for name in names if name not in candidates]
    if unknown:
        raise ParameterError(f'no parameter {", ".join(unknown)} to fold; this robot has '
                             f'{", ".join(candidates)}')
    chosen = tuple(candidates[name] for name in dict.fromkeys(names))
    folding = Folding(chosen, _zero_rows(chain, grouping, chosen), _entries(chosen))
    folding.check(values)
    if not baked:
        return folding
    for name, numbers in values.items():
        if not np.all(np.isfinite(numbers)):
            raise ParameterError(f'{name} has a value that is not finite: it cannot be baked in')
    return replace(folding, baked=values)


def _candidates(chain: Chain, mlc: MlcSet, grouping: Grouping,
                values: Mapping[str, Sequence[float]]) -> dict[str, Zero]:
    """Return everything that could be folded, by name: grouped, minimal and joint parameters."""
    x, w = np.abs(chain.standard_parameters), np.abs(mlc.values)
    minimal = np.maximum(np.abs(mlc.matrix) @ x, w)  # rounding is relative to the terms of sums
    result = {}
    for place in np.flatnonzero(np.any(grouping.matrix, axis=1)).tolist():
        name = chain.standard_parameter_names[place]
        result[name] = _combination(name, grouping.matrix[place], minimal)
    for place, name in enumerate(mlc.names):
        if name not in result:
            result[name] = _combination(name, np.eye(len(mlc))[place], minimal)
    for letters, vector in _JOINT_VECTORS.items():
        for place in range(len(values.get(vector, ()))):
            name = f'{letters}{place + 1}'
            result[name] = Zero(name, vector, ((place, 1.0),))
    return result


def _combination(name: str, row: Array, sizes: Array) -> Zero:
    terms = tuple((place, float(row[place])) for place in np.flatnonzero(row).tolist())
    return Zero(name, 'mlc', terms, _ZERO * float(np.abs(row) @ sizes))


def _zero_rows(chain: Chain, grouping: Grouping, zeros: Sequence[Zero]) -> frozenset[int]:
    """Return the grouped parameters that are zero by name, or made of minimal ones that are."""
    names = {zero.name for zero in zeros}
    gone = {zero.terms[0][0] for zero in zeros if zero.vector == 'mlc' and len(zero.terms) == 1}
    rows = np.flatnonzero(np.any(grouping.matrix, axis=1)).tolist()
    return frozenset(row for row in rows if chain.standard_parameter_names[row] in names
                     or gone.issuperset(np.flatnonzero(grouping.matrix[row]).tolist()))


def _entries(zeros: Sequence[Zero]) -> dict[str, frozenset[int]]:
    vectors = {zero.vector for zero in zeros if zero.vector != 'mlc'}
    return {vector: frozenset(zero.terms[0][0] for zero in zeros if zero.vector == vector)
            for vector in sorted(vectors)}
