# SPDX-License-Identifier: Apache-2.0
"""
The unknowns of a robot's torque, and the columns that multiply them.

All terms are linear: minimal parameters, rotor inertias, viscous and Coulomb friction, offsets,
and those of a friction law (see `FrictionLaw`): excess of static over Coulomb friction (Stribeck),
friction under load, asymmetry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.codegen.runtime.model import Model, compile_model
from robot_dynamics_ros.dynamics.joints.joint_terms import Transmission
from robot_dynamics_ros.dynamics.minimal.linear_forms import formula
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.dynamics.minimal.numeric_set import independent_columns
from robot_dynamics_ros.estimation.regression.friction_law import FrictionLaw

#: Number of random states at which dependent columns are found.
_STATES = 150
_SEED = 1995

#: Friction under load is at most this part of the load.
_MOST_LOAD_FRICTION = 0.9

#: Columns shorter than this part of the longest are rounding errors of zero.
_DUST = 1e-12


class TorqueTerms:
    """
    Columns of the torque of one robot.

    The columns are those of the model; those of a friction law come from `friction_columns`.

    :param chain: the robot; its joint physics gives `coulomb_velocity` and the coupling.
    :param gravity_removed: flag of each joint whose measured torque lacks the gravity torque.
    :param friction: whether viscous and Coulomb friction are unknowns.
    """

    def __init__(self, chain: Chain, *, gravity_removed: Sequence[bool] | None = None,
                 friction: bool = True) -> None:
        self.chain = chain
        self.model: Model = compile_model(chain)
        self.mlc: MlcSet = self.model.mlc
        self.transmission = Transmission.of(chain.joint_physics)
        removed = [False] * len(chain) if gravity_removed is None else list(gravity_removed)
        self._without_gravity = np.array(removed)
        names = enumerate(self.model.columns)
        wanted = [k for k, name in names if friction or not name.startswith(('Fv', 'Fc'))]
        # rotors last: what an offset or a link can explain is not attributed to a rotor
        self._fixed = sorted(wanted, key=lambda k: self.model.columns[k].startswith('Ia'))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.model.columns

    def regressor(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Return the columns (N, n, P) at N states; without gravity where it is removed."""
        Y = self.model.regressor(q, qd, qdd, joint_terms=True)
        if np.any(self._without_gravity):
            rest = np.zeros_like(q)
            gravity = self.model.regressor(q, rest, rest)
            Y[:, self._without_gravity, :len(self.mlc)] -= gravity[:, self._without_gravity]
        return Y

    def of_motors(self, signals: Array, motors: NDArray[np.int64]) -> Array:
        """
        Return columns (N, n, k) of torques that act at motors.

        :param signals: (N, k) torques of the motors per unit of their unknowns.
        :param motors: (k,) motor of each.
        """
        return np.asarray(signals[:, None, :] * self.transmission.inverse.T[:, motors])

    def load(self, values: Array, unknowns: Unknowns, q: Array, qd: Array, qdd: Array) -> Array:
        """
        Return the torque of links and rotors that every motor carries (N, n) [N m, N].

        :param values: (u,) values of the unknowns.
        """
        rotor = unknowns.physics(values, None).rotor_inertia
        inverse = self.transmission.inverse
        self.model.parameters = unknowns.minimal(values)
        links = self.model.inverse_dynamics(q, qd, qdd)
        return np.asarray(links @ np.linalg.inv(inverse)
                          + np.nan_to_num(rotor) * self.transmission.motor_motion(qdd))

    def choice(self) -> Unknowns:
        """Return the unknowns that the torque can tell apart, by the rank at random states."""
        indices = list(self._fixed)
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
        qd, qdd = rng.normal(size=(2, _STATES, n))
        return self.regressor(q, qd, qdd)


@dataclass(frozen=True, eq=False)
class Unknowns:
    """
    Independent unknowns of the torque.

    :param mlc: minimal set of the links.
    :param chain: the robot.
    :param names: u names such as ``U2_33``, ``Ia3``, ``Fc1``, ``Fs1``.
    :param columns: index of each among the columns of `TorqueTerms`, those of a friction law
        left out.
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
                      f'Fs{j}': force, f'offset{j}': force, f'Fl{j}': '1',
                      f'Fa{j}': 'N m s/rad' if joint.revolute else 'N s/m'}
        return tuple(units[name] for name in self.names)

    def values(self, mlc_values: Array, physics: JointPhysics) -> Array:
        """
        Return the values of the unknowns (u,) for known parameters.

        :param mlc_values: (p,) minimal parameters of the links alone.
        :param physics: joint terms; a rotor inertia of NaN is already grouped into `mlc_values`.
        """
        none = np.zeros(len(physics))
        static = physics.coulomb if physics.static is None else physics.static
        terms = {'Ia': np.nan_to_num(physics.rotor_inertia), 'Fv': physics.viscous,
                 'Fc': physics.coulomb, 'offset': physics.offset, 'Fs': static - physics.coulomb,
                 'Fl': none if physics.load_friction is None else physics.load_friction,
                 'Fa': none if physics.viscous_asymmetry is None else physics.viscous_asymmetry}
        known = dict(zip(self.mlc.names, mlc_values))
        for term, values in terms.items():
            known.update({f'{term}{j + 1}': value for j, value in enumerate(values)})
        return np.asarray(self.grouping @ [known[name] for name in self.all_names])

    def with_law(self, law: FrictionLaw) -> Unknowns:
        """Return the same unknowns, followed by those of a friction law."""
        block = {name: block for name, block in zip(self.names, self.blocks)}
        names, motors = law.names, law.motors.tolist()
        kept = [k for k, j in enumerate(motors) if f'Fc{j + 1}' in block]
        extra = len(kept)
        grouping = np.zeros((len(self) + extra, len(self.all_names) + extra))
        grouping[:len(self), :len(self.all_names)] = self.grouping
        grouping[len(self):, len(self.all_names):] = np.eye(extra)
        more = tuple(names[k] for k in kept)
        return replace(self, names=(*self.names, *more), all_names=(*self.all_names, *more),
                       blocks=(*self.blocks, *(block[f'Fc{motors[k] + 1}'] for k in kept)),
                       grouping=read_only(grouping))

    def physics(self, values: Array, law: FrictionLaw | None) -> JointPhysics:
        """
        Return the joint terms; 0 for a term that is not an unknown, NaN for such a rotor.

        What friction could not be is limited: a static part below zero, an asymmetry that drives
        the joint.

        :param values: (u,) values of the unknowns.
        :param law: friction law; None = Coulomb and viscous friction as in the chain.
        """
        known = dict(zip(self.names, values))

        def term(name: str, missing: float) -> Array:
            return np.array([known.get(f'{name}{j + 1}', missing)
                             for j in range(len(self.chain))])

        coulomb, viscous = term('Fc', 0.0), term('Fv', 0.0)
        plain = replace(self.chain.joint_physics, rotor_inertia=term('Ia', np.nan),
                        viscous=viscous, coulomb=coulomb, offset=term('offset', 0.0), static=None,
                        stribeck_velocity=None, load_friction=None, viscous_asymmetry=None,
                        presliding=None)
        if law is None:
            return plain
        has = law.stribeck_velocity > 0.0
        return replace(
            plain, coulomb_velocity=law.coulomb_velocity,
            static=np.maximum(coulomb + term('Fs', 0.0), 0.0) if np.any(has) else None,
            stribeck_velocity=(np.where(has, law.stribeck_velocity, 1.0) if np.any(has)
                               else None),
            load_friction=(np.clip(term('Fl', 0.0), 0.0, _MOST_LOAD_FRICTION)
                           if np.any(law.loaded) else None),
            viscous_asymmetry=(np.clip(term('Fa', 0.0), -viscous, viscous)
                               if np.any(law.asymmetric) else None),
            presliding=law.presliding if np.any(law.presliding) else None)

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
