# SPDX-License-Identifier: Apache-2.0
"""
What an adaptive controller learns: a few numbers that act linearly on the torque.

Unknowns of the links act on the minimal parameters, ``w = w_model + B (theta - start)``; B chooses
some minimal parameters, link parameters, or the ten parameters of a payload. Unknowns of the
joints are rotor inertia, viscous and Coulomb friction and offset. What is not chosen is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, freeze, read_only
from robot_dynamics_ros.chain.inertia import STANDARD_PARAMETERS, STANDARD_UNITS, Inertia
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.codegen.runtime.model import Model
from robot_dynamics_ros.dynamics.joints.joint_terms import JOINT_TERMS
from robot_dynamics_ros.dynamics.minimal.mlc import payload_matrix, payload_parameters
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.files.bounds import one_line

#: Groups of unknowns by word: all minimal parameters, all link parameters, a payload at the tip
#: (its mass and first moments, or all ten parameters), and the joint terms of all joints.
GROUPS = ('minimal', 'standard', 'weight', 'load', *JOINT_TERMS)

#: Bounds of a payload where none are given: mass [kg] and size [m].
HEAVIEST_LOAD, LOAD_SIZE = 10.0, 0.5


@dataclass(frozen=True, eq=False)
class UnknownParameters:
    """
    Names, effect, first values and bounds of m unknowns.

    :param names: m different names.
    :param units: m units.
    :param matrix: B (p, m): change of the minimal parameters per unit; zero for joint terms.
    :param terms: (m,) place in the joint terms, ``term * n + joint``; -1 for links.
    :param start: (m,) values that the model has now.
    :param lower: (m,) smallest values allowed; -inf = none.
    :param upper: (m,) largest values allowed; inf = none.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    matrix: Array
    terms: tuple[int, ...]
    start: Array
    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        """Make the arrays read-only; refuse names that occur twice and impossible bounds."""
        freeze(self, 'matrix', 'start', 'lower', 'upper')
        twice = [name for k, name in enumerate(self.names) if name in self.names[:k]]
        if twice:
            raise ParameterError(f'unknown parameter {twice[0]} is named twice')
        for name, low, first, high in zip(self.names, self.lower, self.start, self.upper):
            if not low <= first <= high:
                raise ParameterError(f'unknown parameter {name}: the first value {first:g} is not '
                                     f'between the bounds {low:g} and {high:g}')

    def __len__(self) -> int:
        """Return the number of unknowns m."""
        return len(self.names)

    def __add__(self, other: UnknownParameters) -> UnknownParameters:
        """Return the unknowns of both."""
        return UnknownParameters(
            self.names + other.names, self.units + other.units,
            np.hstack([self.matrix, other.matrix]), self.terms + other.terms,
            *(np.concatenate([getattr(self, field), getattr(other, field)])
              for field in ('start', 'lower', 'upper')))

    def with_bounds(self, lower: ArrayLike, upper: ArrayLike) -> UnknownParameters:
        """Return the unknowns with other bounds, numbers or (m,)."""
        changes: dict[str, Any] = {'lower': np.broadcast_to(lower, len(self)),
                                   'upper': np.broadcast_to(upper, len(self))}
        return replace(self, **changes)

    def chosen(self, names: Sequence[str]) -> UnknownParameters:
        """
        Return some of the unknowns, in the order of `names`.

        :raises ParameterError: a name that is not one of them.
        """
        missing = [name for name in names if name not in self.names]
        if missing:
            raise ParameterError(f'{", ".join(missing)} cannot be learned; known are '
                                 f'{", ".join(self.names)}')
        k = [self.names.index(name) for name in names]
        return UnknownParameters(
            tuple(names), tuple(self.units[i] for i in k), self.matrix[:, k],
            tuple(self.terms[i] for i in k), self.start[k], self.lower[k], self.upper[k])


def unknown_parameters(model: Model, words: Sequence[str], *, heaviest: float = HEAVIEST_LOAD,
                       size: float = LOAD_SIZE) -> UnknownParameters:
    """
    Return the unknowns of a list of words.

    :param model: gives the known rest and the first values.
    :param words: groups of GROUPS, names of minimal parameters (``U2_11-22``), of link
        parameters (``ZZ2``), or of joint terms (``Fv3``).
    :param heaviest: see `load_unknowns`.
    :param size: see `load_unknowns`.
    :raises ParameterError: an unknown word, or no word at all.
    """
    if not words:
        raise ParameterError(f'nothing to learn: name groups ({", ".join(GROUPS)}) or parameters')
    load = load_unknowns(model, heaviest, size)
    everything = {'minimal': minimal_unknowns(model), 'standard': standard_unknowns(model),
                  'load': load, 'weight': load.chosen(load.names[-4:]),
                  **{term: joint_unknowns(model, (term,)) for term in JOINT_TERMS}}
    result: UnknownParameters | None = None
    for word in words:
        found = everything.get(word)
        if found is None:
            homes = [group for group in everything.values() if word in group.names]
            if not homes:
                known = [name for group in everything.values() for name in group.names]
                raise ParameterError(f"'{one_line(word)}' cannot be learned; there are the groups "
                                     f'{", ".join(GROUPS)} and the parameters {", ".join(known)}')
            found = homes[0].chosen([word])
        result = found if result is None else result + found
    assert result is not None
    return result


def minimal_unknowns(model: Model) -> UnknownParameters:
    """Return all minimal parameters of the links as unknowns."""
    mlc = model.mlc
    return _of_links(mlc.names, mlc.units, np.eye(len(mlc)), model.parameters)


def standard_unknowns(model: Model) -> UnknownParameters:
    """Return the ten parameters of every link; more than the torque can tell apart."""
    chain = model.chain
    return _of_links(chain.standard_parameter_names, STANDARD_UNITS * len(chain.links),
                     model.mlc.matrix, chain.standard_parameters)


def load_unknowns(model: Model, heaviest: float = HEAVIEST_LOAD,
                  size: float = LOAD_SIZE) -> UnknownParameters:
    """
    Return the ten parameters of a body at the tip, in its frame; none is there at first.

    :param heaviest: largest mass to be expected [kg].
    :param size: largest distance of its parts from the origin of the tip frame [m]; both together
        bound all parameters.
    """
    if not (np.isfinite([heaviest, size]).all() and heaviest > 0.0 and size > 0.0):
        raise ParameterError(f'payload: largest mass and size must be positive, got {heaviest} kg '
                             f'and {size} m')
    names = tuple(f'load_{name}' for name in STANDARD_PARAMETERS)
    inertia, product, moment = heaviest * size**2, 0.5 * heaviest * size**2, heaviest * size
    upper = np.array([inertia, product, product, inertia, product, inertia, moment, moment, moment,
                      heaviest])
    one_sided = np.isin(STANDARD_PARAMETERS, ('XX', 'YY', 'ZZ', 'M'))
    return replace(_of_links(names, STANDARD_UNITS, payload_matrix(model.mlc, model.chain),
                             np.zeros(10)),
                   lower=np.where(one_sided, 0.0, -upper), upper=upper)


def load_mass_unknown(model: Model, centre: ArrayLike, *, start: float = 0.0,
                      largest: float = np.inf) -> UnknownParameters:
    """
    Return the mass of a payload whose place is known: Lu & Meng's case study.

    :param centre: (3,) mass centre in the tip frame [m].
    :param start: mass that the model has there already [kg].
    :param largest: largest mass to be expected [kg].
    """
    point = Inertia.from_centre_of_mass(1.0, centre, np.zeros((3, 3)))
    column = payload_parameters(model.mlc, model.chain, point)[:, None]
    return replace(_of_links(('load_mass',), ('kg',), column, [start]),
                   lower=np.zeros(1), upper=np.array([largest]))


def joint_unknowns(model: Model, terms: Sequence[str] = ('Fv', 'Fc', 'offset'),
                   ) -> UnknownParameters:
    """
    Return terms of all joints as unknowns.

    :param terms: words of JOINT_TERMS; all but the offset are kept from becoming negative.
    """
    joints = model.chain.joints
    n = len(joints)
    values = joint_term_values(model.joint_physics)
    places = [JOINT_TERMS.index(term) * n + i for term in terms for i in range(n)]
    units = {'Ia': ('kg m^2', 'kg'), 'Fv': ('N m s/rad', 'N s/m'), 'Fc': ('N m', 'N'),
             'offset': ('N m', 'N')}
    bounded = np.array([term != 'offset' for term in terms for _ in range(n)])
    m = len(places)
    return UnknownParameters(
        tuple(f'{term}{i + 1}' for term in terms for i in range(n)),
        tuple(units[term][not joint.revolute] for term in terms for joint in joints),
        np.zeros((len(model.mlc), m)), tuple(places), values.ravel()[places],
        np.where(bounded, 0.0, -np.inf), np.full(m, np.inf))


def joint_term_values(physics: JointPhysics) -> Array:
    """Return the values (4, n) of JOINT_TERMS; a grouped rotor inertia is zero."""
    return np.array([np.nan_to_num(physics.rotor_inertia, nan=0.0), physics.viscous,
                     physics.coulomb, physics.offset])


def _of_links(names: Sequence[str], units: Sequence[str], matrix: Array,
              start: ArrayLike) -> UnknownParameters:
    m = len(names)
    return UnknownParameters(tuple(names), tuple(units), matrix, (-1,) * m, read_only(start),
                             np.full(m, -np.inf), np.full(m, np.inf))
