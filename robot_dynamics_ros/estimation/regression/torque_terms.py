# SPDX-License-Identifier: Apache-2.0
"""
The unknowns of a robot's torque, and the columns that multiply them.

All terms are linear: minimal parameters, rotor inertias, viscous and Coulomb friction, offsets,
and optionally the excess of static over Coulomb friction (Stribeck). The Stribeck velocity enters
nonlinearly, so there are columns for several candidates of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.codegen.runtime.model import Model, compile_model
from robot_dynamics_ros.dynamics.joints.joint_terms import Transmission, dry_friction
from robot_dynamics_ros.dynamics.minimal.linear_forms import formula
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.dynamics.minimal.numeric_set import independent_columns

#: Number of random states at which dependent columns are found.
_STATES = 150
_SEED = 1995

#: Columns shorter than this part of the longest are rounding errors of zero.
_DUST = 1e-12


class TorqueTerms:
    """
    Columns of the torque of one robot.

    The columns are those of the model, followed by n for every Stribeck candidate.

    :param chain: the robot; its joint physics gives `coulomb_velocity` and the coupling.
    :param gravity_removed: flag of each joint whose measured torque lacks the gravity torque.
    :param stribeck: (candidates, n) Stribeck velocities [rad/s, m/s]; None = no such terms.
    :param friction: whether viscous and Coulomb friction are unknowns.
    """

    def __init__(self, chain: Chain, *, gravity_removed: Sequence[bool] | None = None,
                 stribeck: Array | None = None, friction: bool = True) -> None:
        self.chain = chain
        self.model: Model = compile_model(chain)
        self.mlc: MlcSet = self.model.mlc
        self.stribeck = np.zeros((0, len(chain))) if stribeck is None else stribeck
        removed = [False] * len(chain) if gravity_removed is None else list(gravity_removed)
        self._without_gravity = np.array(removed)
        names = enumerate(self.model.columns)
        wanted = [k for k, name in names if friction or not name.startswith(('Fv', 'Fc'))]
        # rotors last: what an offset or a link can explain is not attributed to a rotor
        self._fixed = sorted(wanted, key=lambda k: self.model.columns[k].startswith('Ia'))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns; names such as ``Fs3`` appear once for every candidate."""
        excess = [f'Fs{j + 1}' for j in range(len(self.chain))]
        return (*self.model.columns, *(excess * len(self.stribeck)))

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the columns (N, n, P) at N states; without gravity where it is removed."""
        Y = self.model.regressor(q, qd, qdd, joint_terms=True)
        if np.any(self._without_gravity):
            rest = np.zeros_like(q)
            gravity = self.model.regressor(q, rest, rest)
            Y[:, self._without_gravity, :len(self.mlc)] -= gravity[:, self._without_gravity]
        physics = self.chain.joint_physics
        return np.concatenate(
            [Y, *(stribeck_columns(physics, velocity, qd) for velocity in self.stribeck)], axis=-1)

    def choice(self, candidates: Sequence[int] | None = None) -> Unknowns:
        """
        Return the unknowns that the torque can tell apart, by the rank at random states.

        :param candidates: index of the Stribeck candidate of each joint; None = no such terms.
        """
        n, fixed = len(self.chain), len(self.model.columns)
        indices = list(self._fixed)
        if candidates is not None:
            indices += [fixed + n * k + j for j, k in enumerate(candidates)]
        W = self._at_random_states()[:, :, indices]
        stacked = W.reshape(-1, len(indices))
        scale = np.linalg.norm(stacked, axis=0)
        scale[scale <= _DUST * np.max(scale)] = np.inf  # rounding errors only: a column of zeros
        R = np.asarray(np.linalg.qr(stacked / scale, mode='r'))
        kept = independent_columns(R)
        grouping, *_ = np.linalg.lstsq(R[:, kept], R, rcond=None)
        grouping *= np.where(np.isinf(scale), 0.0, scale) / scale[kept][:, None]
        grouping[:, kept] = np.eye(len(kept))
        grouping[np.abs(grouping) < 1e-9] = 0.0
        blocks = [int(np.flatnonzero(np.any(np.abs(W[:, :, k]) > 1e-9 * scale[k], axis=0))[-1])
                  for k in kept]
        return Unknowns(self.mlc, self.chain, tuple(self.columns[indices[k]] for k in kept),
                        tuple(indices[k] for k in kept), tuple(blocks),
                        tuple(self.columns[k] for k in indices), read_only(grouping))

    def _at_random_states(self) -> Array:
        rng = np.random.default_rng(_SEED)
        n = len(self.chain)
        revolute = np.array([joint.revolute for joint in self.chain.joints])
        q = np.where(revolute, np.pi, 2.0) * rng.uniform(-1.0, 1.0, (_STATES, n))
        velocities = np.vstack([np.ones(n), self.stribeck])  # so that every candidate shows
        qd, qdd = rng.normal(size=(2, _STATES, n))
        scale = velocities[rng.integers(len(velocities), size=_STATES)]
        return self.regressor(q, qd * scale, qdd)


@dataclass(frozen=True, eq=False)
class Unknowns:
    """
    Independent unknowns of the torque.

    :param mlc: minimal set of the links.
    :param chain: the robot.
    :param names: u names such as ``U2_33``, ``Ia3``, ``Fc1``, ``Fs1``.
    :param columns: index of each among the columns of `TorqueTerms`.
    :param blocks: outermost joint (0-based) whose torque each acts on.
    :param all_names: names of all columns that they were chosen from.
    :param grouping: (u, all) coefficients of all columns in those kept, e.g. of Ia1 in U1_33.
    """

    mlc: MlcSet
    chain: Chain
    names: tuple[str, ...]
    columns: tuple[int, ...]
    blocks: tuple[int, ...]
    all_names: tuple[str, ...]
    grouping: Array

    def __len__(self) -> int:
        """Return the number of unknowns."""
        return len(self.names)

    @property
    def formulas(self) -> tuple[str, ...]:
        """Formulas of the minimal parameters, with the joint terms grouped into them."""
        p = len(self.mlc)
        names = (*self.chain.standard_parameter_names, *self.all_names[p:])
        rows = {name: row for name, row in zip(self.names, self.grouping)}
        return tuple(formula(np.concatenate([B, rows[name][p:]]) if name in rows else B, names)
                     for name, B in zip(self.mlc.names, self.mlc.matrix))

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the unknowns."""
        units = dict(zip(self.mlc.names, self.mlc.units))
        for j, joint in enumerate(self.chain.joints, start=1):
            force = 'N m' if joint.revolute else 'N'
            units |= {f'Ia{j}': 'kg m^2' if joint.revolute else 'kg', f'Fc{j}': force,
                      f'Fv{j}': 'N m s/rad' if joint.revolute else 'N s/m',
                      f'Fs{j}': force, f'offset{j}': force}
        return tuple(units[name] for name in self.names)

    def values(self, mlc_values: Array, physics: JointPhysics) -> Array:
        """
        Return the values of the unknowns (u,) for known parameters.

        :param mlc_values: (p,) minimal parameters of the links alone.
        :param physics: joint terms; a rotor inertia of NaN is already grouped into `mlc_values`.
        """
        static = physics.coulomb if physics.static is None else physics.static
        terms = {'Ia': np.nan_to_num(physics.rotor_inertia), 'Fv': physics.viscous,
                 'Fc': physics.coulomb, 'offset': physics.offset, 'Fs': static - physics.coulomb}
        known = dict(zip(self.mlc.names, mlc_values))
        for term, values in terms.items():
            known.update({f'{term}{j + 1}': value for j, value in enumerate(values)})
        return np.asarray(self.grouping @ [known[name] for name in self.all_names])

    def physics(self, values: Array, stribeck_velocity: Array | None) -> JointPhysics:
        """
        Return the joint terms; 0 for a term that is not an unknown, NaN for such a rotor.

        :param values: (u,) values of the unknowns.
        :param stribeck_velocity: (n,) Stribeck velocities [rad/s, m/s]; None = no such terms.
        """
        known = dict(zip(self.names, values))

        def term(name: str, missing: float) -> Array:
            return np.array([known.get(f'{name}{j + 1}', missing)
                             for j in range(len(self.chain))])

        coulomb, excess = term('Fc', 0.0), term('Fs', 0.0)
        return replace(self.chain.joint_physics, rotor_inertia=term('Ia', np.nan),
                       viscous=term('Fv', 0.0), coulomb=coulomb, offset=term('offset', 0.0),
                       static=(None if stribeck_velocity is None
                               else np.maximum(coulomb + excess, 0.0)),
                       stribeck_velocity=stribeck_velocity)

    def minimal(self, values: Array) -> Array:
        """
        Return the minimal parameters (p,).

        A parameter that is not an unknown (because the measured torques lack gravity) keeps the
        value of the URDF, and its contribution is subtracted from the others.

        :param values: (u,) values of the unknowns.
        """
        urdf = self.mlc.of(self.chain)
        lost = [j for j, name in enumerate(self.mlc.names) if name not in self.names]
        rest = values - self.grouping[:, lost] @ urdf[lost]
        known = {**dict(zip(self.mlc.names, urdf)), **dict(zip(self.names, rest))}
        return np.array([known[name] for name in self.mlc.names])


def stribeck_columns(physics: JointPhysics, velocities: Array, qd: Array) -> Array:
    """
    Return the columns (N, n, n) of the excess of static over Coulomb friction.

    :param physics: joint terms; only `coulomb_velocity` and `coupling` are used.
    :param velocities: (n,) Stribeck velocities [rad/s, m/s].
    :param qd: (N, n) joint velocities [rad/s, m/s].
    """
    n = len(physics)
    unit = replace(physics, coulomb=np.zeros(n), static=np.ones(n), stribeck_velocity=velocities)
    transmission = Transmission.of(physics)
    friction = dry_friction(unit, transmission.motor_motion(qd))
    return np.asarray(transmission.inverse.T * friction[..., None, :])
