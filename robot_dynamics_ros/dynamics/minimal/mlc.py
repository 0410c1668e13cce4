# SPDX-License-Identifier: Apache-2.0
"""Sets of minimal linear combinations (MLCs) of the link inertias of a chain, and of a payload."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, immutable, read_only
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.chain.inertia import STANDARD_PARAMETERS, Inertia, parameters_seen_from
from robot_dynamics_ros.dynamics.minimal.khalil_set import khalil_forms
from robot_dynamics_ros.dynamics.minimal.lin_set import (
    gravity_forms,
    inertia_matrix_forms,
    lin_forms,
)
from robot_dynamics_ros.dynamics.minimal.linear_forms import LinearForms, formula
from robot_dynamics_ros.dynamics.minimal.numeric_set import (
    conversion_matrix,
    judge,
    numeric_forms,
    right_inverse,
    stacked_regressor,
)
from robot_dynamics_ros.dynamics.minimal.structure import Structure, structure
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.files.bounds import one_line

_CLOSED_FORMS: dict[str, Callable[[Chain, Structure], LinearForms]] = {
    'lin': lin_forms,
    'khalil': khalil_forms,
    'gravity': gravity_forms,
    'inertia_matrix': inertia_matrix_forms,
}

#: Rows of B_b outside the row space of B_a, relative: the sets describe different robots.
_SAME_SPACE = 1e-8


@immutable
@dataclass(frozen=True, eq=False)
class MlcSet:
    """
    Minimal linear combinations w = B x of the standard parameters x, and their values.

    Link inertias only: rotor inertias and friction belong to the joints (see `rotor_grouping`).

    :param set: 'lin', 'khalil', 'numeric', 'gravity' or 'inertia_matrix'.
    :param joint_names: joints of the chain, base first.
    :param names: p names, e.g. ``U2_11-22`` (Lin), ``XX2`` (Khalil, numeric).
    :param units: p units.
    :param values: w (p,), read-only.
    :param formulas: each element in terms of link parameters, e.g. ``ZZ1 + YY2 + 0.2025*M3``.
    :param matrix: B (p, 10 n), read-only; columns ``chain.standard_parameter_names``.
    :param model_hash: identity of geometry, gravity, set and names; inertias do not enter.
    :param r: first revolute joint, 1-based; n + 1 = none.
    :param s: first revolute joint not parallel to joint r, 1-based; n + 1 = none.
    :param findings: why another set than the closed form is used, if it is.
    """

    set: str
    joint_names: tuple[str, ...]
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: Array
    formulas: tuple[str, ...]
    matrix: Array
    model_hash: str
    r: int
    s: int
    findings: tuple[Finding, ...] = ()

    def __repr__(self) -> str:
        """Return the name of the set and its first elements."""
        return (f'<MlcSet {self.set}, n = {len(self.joint_names)}, p = {len(self)}: '
                f'{self.first_elements()}>')

    def first_elements(self, count: int = 3) -> str:
        """Return the first elements with their values, for a line that introduces the set."""
        first = [f'{name} = {value:.4g} {unit}'
                 for name, value, unit in zip(self.names[:count], self.values, self.units)]
        return ', '.join(first + ['...'] * (len(self) > count))

    def __len__(self) -> int:
        """Return the number of elements p."""
        return len(self.names)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        """Return whether there is an element of this name."""
        return name in self.names

    def __getitem__(self, name: str) -> float:
        """
        Return the value of one element: ``mlc['k2_x']``.

        :raises ParameterError: there is no such element.
        """
        if name not in self.names:
            raise ParameterError(f"no element '{one_line(name)}' in the {self.set} set; it has "
                                 f'{", ".join(self.names)}')
        return float(self.values[self.names.index(name)])

    def to_dataframe(self) -> Any:
        """
        Return a pandas DataFrame with the columns value, unit and formula, indexed by name.

        :raises ParameterError: pandas is not installed.
        """
        try:
            from pandas import DataFrame
        except ImportError:
            raise ParameterError('to_dataframe needs pandas: pip install pandas') from None
        return DataFrame({'value': self.values, 'unit': self.units, 'formula': self.formulas},
                         index=list(self.names))

    @cached_property
    def right_inverse(self) -> Array:
        """B^+ (10 n, p): ``standard_regressor @ right_inverse`` is the regressor of this set."""
        return read_only(right_inverse(self.matrix))

    def of(self, source: Chain | ArrayLike) -> Array:
        """
        Return the values (p,) that other link inertias have in this set.

        :param source: a chain of the same geometry, or its (10 n,) standard parameters.
        """
        x = source.standard_parameters if isinstance(source, Chain) else np.asarray(source)
        if x.shape != self.matrix.shape[1:]:
            raise ParameterError(f'standard parameters have shape {x.shape}, expected '
                                 f'{self.matrix.shape[1:]}: ten per link of {self.joint_names}')
        return np.asarray(self.matrix @ x)

    def with_values(self, values: ArrayLike) -> MlcSet:
        """
        Return the set with other values.

        :param values: (p,) in the order of `names`; must be finite.
        :raises ParameterError: wrong size, or a value that is not finite.
        """
        w = read_only(values)
        if w.shape != (len(self),):
            raise ParameterError(f'the {self.set} set has {len(self)} elements, got {w.shape}')
        for name, value in zip(self.names, w):
            if not np.isfinite(value):
                raise ParameterError(f'{name} is not finite ({value})')
        return replace(self, values=w)

    def conversion_to(self, other: MlcSet) -> Array:
        """
        Return the constant matrix M with ``w_other = M w_self`` (Lin 1994, Corollary 6).

        :param other: a set of the same chain.
        :raises ParameterError: `other` depends on more than this set knows.
        """
        if other.joint_names != self.joint_names:
            raise ParameterError(f'the sets are of different chains: {self.joint_names} and '
                                 f'{other.joint_names}')
        M, missed = conversion_matrix(self.matrix, other.matrix)
        for name, rest in zip(other.names, missed):
            if rest > _SAME_SPACE:
                raise ParameterError(f'{name} of the {other.set} set does not follow from the '
                                     f'{self.set} set: it is a set of a part of the torque, '
                                     'or geometry or gravity differ')
        return M

    def converted_to(self, other: MlcSet) -> MlcSet:
        """Return `other` with the values that follow from the values of this set."""
        return other.with_values(self.conversion_to(other) @ self.values)


def minimal_parameters(chain: Chain, set: str = 'lin') -> MlcSet:
    """
    Return a set of minimal linear combinations of the link inertias, with the chain's values.

    The closed forms are checked against the rank of the regressor at random states. Where they
    do not agree (no gravity and axes that meet in one point, nearly parallel axes) the numeric
    set is returned, with a finding of kind ``numeric_set``.

    :param chain: the robot.
    :param set: 'lin' (Lin 1995), 'khalil' (grouped standard parameters), 'numeric'; of parts of
        the torque: 'gravity' (gravity torque), 'inertia_matrix' (the torque without gravity).
    :raises ParameterError: unknown set.
    """
    if set not in _CLOSED_FORMS and set != 'numeric':
        known = ', '.join([*_CLOSED_FORMS, 'numeric'])
        raise ParameterError(f"unknown set '{set}' of minimal parameters; known are {known}")
    if set == 'inertia_matrix':
        chain = replace(chain, gravity=np.zeros(3))
    groups = structure(chain)
    W = stacked_regressor(chain, moving=set != 'gravity')
    findings: tuple[Finding, ...] = ()
    if set == 'numeric':
        forms = numeric_forms(chain, W)
    else:
        forms = _CLOSED_FORMS[set](chain, groups)
        check = judge(W, forms.matrix)
        if not (check.complete and check.minimal):
            count = len(forms.names)
            forms = numeric_forms(chain, W)
            findings = (_disagreement(chain, set, count, len(forms.names)),)
            set = 'numeric' if set in ('lin', 'khalil') else set
    B = forms.matrix
    return MlcSet(set=set, joint_names=chain.joint_names, names=forms.names, units=forms.units,
                  values=read_only(B @ chain.standard_parameters),
                  formulas=tuple(formula(row, chain.standard_parameter_names) for row in B),
                  matrix=B, model_hash=chain.geometry_hash(set, *forms.names),
                  r=groups.r, s=groups.s, findings=findings)


def _disagreement(chain: Chain, closed_form: str, count: int, rank: int) -> Finding:
    why = ('Joints that follow others move links together' if chain.followers else
           'Without gravity, axes that meet in one point do this; with gravity, axes that are '
           'nearly parallel')
    return Finding('numeric_set', '',
                   f"the closed form of set '{closed_form}' has {count} elements but the torque "
                   f'shows {rank}: the numeric set is used. {why}', float(rank))


def payload_parameters(mlc: MlcSet, chain: Chain, payload: Inertia,
                       tip: str | None = None) -> Array:
    """
    Return what a payload adds to the minimal parameters (p,).

    Minimal parameters are linear in the inertias: whatever is known of the arm, from its URDF or
    learned, stays, and the payload is added.

    :param mlc: the minimal set.
    :param chain: the robot of the set; only its geometry matters.
    :param payload: inertia of the payload in the tip frame.
    :param tip: name of the tip link; None = the first one.
    """
    return np.asarray(payload_matrix(mlc, chain, tip) @ payload.standard_parameters)


def payload_matrix(mlc: MlcSet, chain: Chain, tip: str | None = None) -> Array:
    """
    Return the matrix (p, 10) from the standard parameters of a payload to what it adds.

    :param mlc: the minimal set.
    :param chain: the robot of the set; only its geometry matters.
    :param tip: name of the tip link; None = the first one.
    """
    end, size = chain.tip_called(tip), len(STANDARD_PARAMETERS)
    carrier = mlc.matrix[:, size * (end.joint - 1):size * end.joint]  # moves with the payload
    return np.asarray(carrier @ parameters_seen_from(end.pose))
