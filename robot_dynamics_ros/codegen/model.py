# SPDX-License-Identifier: Apache-2.0
"""
The Model: every quantity of a robot's dynamics for one state or for a batch.

Minimal parameters and joint physics are run-time data: they may be replaced between two calls,
also while other threads call, and every result belongs to one of the two parameter sets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.chain.pose import Array, read_only
from robot_dynamics_ros.codegen.reference import ReferenceBackend
from robot_dynamics_ros.dynamics.joint_torque import (
    JOINT_TERMS,
    friction_torque,
    joint_regressor,
    rotor_inertia_matrix,
)
from robot_dynamics_ros.dynamics.mlc import MlcSet, minimal_parameters
from robot_dynamics_ros.errors import ParameterError, StateError

BACKENDS = ('auto', 'python', 'numpy')


def compile_model(chain: Chain, backend: str = 'auto') -> Model:
    """
    Return the dynamics of a chain.

    :param chain: the robot; its inertias and joint physics are the first parameters.
    :param backend: 'auto', 'python' or 'numpy': all run the reference recursions.
    :raises ParameterError: unknown backend.
    """
    if backend not in BACKENDS:
        raise ParameterError(f"unknown backend '{backend}'; known are {', '.join(BACKENDS)}")
    return Model(chain, ReferenceBackend(chain))


@dataclass(frozen=True, eq=False)
class _Parameters:
    """What a swap replaces as a whole."""

    minimal: Array
    grouped: Array
    physics: JointPhysics
    rotor: Array  # matrix (n, n) of the rotors on the joint side
    finite: bool


class Model:
    """
    Dynamics of one chain.

    Joint vectors are (n,) or (N, n) in the order of ``chain.joint_names``, SI units; results have
    the same form. A non-finite entry makes all results of its state NaN. Made by `compile_model`.
    """

    def __init__(self, chain: Chain, backend: ReferenceBackend) -> None:
        """Find the minimal parameters of `chain`."""
        self._chain = chain
        self._backend = backend
        self._mlc = minimal_parameters(chain)
        kept = minimal_parameters(chain, 'khalil')
        places = [chain.standard_parameter_names.index(name) for name in kept.names]
        # standard parameters that have the same torque: zeros where something was grouped away
        self._group = np.zeros((10 * len(chain), len(self._mlc)))
        self._group[places] = self._mlc.conversion_to(kept)
        self._parameters = self._checked(self._mlc.values, chain.joint_physics)

    @property
    def chain(self) -> Chain:
        """The robot the model was made for."""
        return self._chain

    @property
    def backend(self) -> str:
        """Name of the backend in use."""
        return self._backend.name

    @property
    def mlc(self) -> MlcSet:
        """The minimal set the parameters belong to, with the values of the chain."""
        return self._mlc

    @property
    def parameters(self) -> Array:
        """
        Minimal parameters (p,) in the order of ``mlc.names``, read-only.

        Assignment copies and checks them and replaces all at once, without recompiling.
        """
        return self._parameters.minimal

    @parameters.setter
    def parameters(self, values: ArrayLike) -> None:
        self._parameters = self._checked(values, self._parameters.physics)

    @property
    def joint_physics(self) -> JointPhysics:
        """Rotor inertia, friction, offset and coupling in use; may be assigned."""
        return self._parameters.physics

    @joint_physics.setter
    def joint_physics(self, physics: JointPhysics) -> None:
        self._parameters = self._checked(self._parameters.minimal, physics)

    def swap(self, parameters: ArrayLike, joint_physics: JointPhysics) -> None:
        """Replace minimal parameters and joint physics in one step."""
        self._parameters = self._checked(parameters, joint_physics)

    def _checked(self, values: ArrayLike, physics: JointPhysics) -> _Parameters:
        minimal = read_only(values)
        if minimal.shape != (len(self._mlc),):
            raise ParameterError(f'parameters have shape {minimal.shape}, expected '
                                 f'({len(self._mlc)},): {", ".join(self._mlc.names)}')
        physics.check(self._chain.joint_names)
        return _Parameters(minimal, read_only(self._group @ minimal), physics,
                           read_only(rotor_inertia_matrix(physics)),
                           bool(np.all(np.isfinite(minimal))))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all regressor columns: minimal parameters, then joint terms."""
        n = len(self._chain)
        terms = [f'{term}{i + 1}' for term in JOINT_TERMS for i in range(n)]
        return (*self._mlc.names, *terms)

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
                         wrench: ArrayLike | None = None, out: Array | None = None) -> Array:
        """
        Return the torque of the rigid links [N m, N]: no rotors, no friction.

        :param q: positions [rad, m].
        :param qd: speeds [rad/s, m/s].
        :param qdd: accelerations [rad/s^2, m/s^2].
        :param wrench: (6,) or (N, 6) force and moment exerted by the environment on the tip
            link, at its origin, in its frame [N, N m].
        :param out: array for the result.
        """
        p = self._parameters
        q, qd, qdd = _arrays(q, qd, qdd)
        tau = self._backend.inverse_dynamics(p.grouped, q, qd, qdd, _array(wrench))
        return _finish(tau, p, out)

    def torque(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
               wrench: ArrayLike | None = None, out: Array | None = None) -> Array:
        """Return the whole torque: rigid links, rotor inertia, friction and offset [N m, N]."""
        p = self._parameters
        q, qd, qdd = _arrays(q, qd, qdd)
        tau = self._backend.inverse_dynamics(p.grouped, q, qd, qdd, _array(wrench))
        tau = tau + qdd @ p.rotor + friction_torque(p.physics, qd)
        return _finish(tau, p, out)

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike,
                  joint_terms: bool = False) -> Array:
        """
        Return Y (n, p) or (N, n, p) with ``inverse_dynamics = Y @ parameters``.

        :param joint_terms: append the columns of rotor inertia, viscous and Coulomb friction and
            offset of every joint; `columns` names all.
        """
        q, qd, qdd = _arrays(q, qd, qdd)
        Y = self._backend.regressor(q, qd, qdd) @ self._group
        if not joint_terms:
            return Y
        terms = joint_regressor(self._parameters.physics, qd, qdd)
        terms[~np.all(np.isfinite(q), axis=-1)] = np.nan
        return np.concatenate([Y, terms], axis=-1)

    def reference_regressor(self, q: ArrayLike, qd: ArrayLike, qd_r: ArrayLike,
                            qdd_r: ArrayLike) -> Array:
        """
        Return Slotine and Li's Y, (n, p) or (N, n, p): ``A qdd_r + C(q, qd) qd_r + Q = Y w``.

        C is that of the Christoffel symbols; at ``qd_r = qd`` this is `regressor`.

        :param qd_r: reference speeds [rad/s, m/s].
        :param qdd_r: reference accelerations [rad/s^2, m/s^2].
        """
        return self._backend.reference_regressor(*_arrays(q, qd, qd_r, qdd_r)) @ self._group

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Return A (n, n) or (N, n, n) of links and rotors [kg m^2, kg m, kg]."""
        p = self._parameters
        return _finish(self._backend.mass_matrix(p.grouped, *_arrays(q)) + p.rotor, p)

    def gravity_torque(self, q: ArrayLike) -> Array:
        """Return the torque that carries the weight [N m, N]."""
        p = self._parameters
        return _finish(self._backend.gravity_torque(p.grouped, *_arrays(q)), p)

    def coriolis_torque(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """Return the Coriolis and centrifugal torque C(q, qd) qd [N m, N]."""
        p = self._parameters
        return _finish(self._backend.coriolis_torque(p.grouped, *_arrays(q, qd)), p)

    def friction_torque(self, qd: ArrayLike) -> Array:
        """Return the torque of friction and offset [N m, N]."""
        return friction_torque(self._parameters.physics, *_arrays(qd))

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *,
                         wrench: ArrayLike | None = None) -> Array:
        """Return the accelerations qdd for which `torque` is `tau` [rad/s^2, m/s^2]."""
        p = self._parameters
        q, qd, tau = _arrays(q, qd, tau)
        effective = tau - friction_torque(p.physics, qd)
        qdd = self._backend.forward_dynamics(p.grouped, p.rotor, q, qd, effective, _array(wrench))
        return _finish(qdd, p)


def _array(values: ArrayLike | None) -> Array | None:
    return None if values is None else np.asarray(values, dtype=np.float64)


def _arrays(*values: ArrayLike) -> list[Array]:
    return [np.asarray(each, dtype=np.float64) for each in values]


def _finish(result: Array, parameters: _Parameters, out: Array | None = None) -> Array:
    """Apply the rule for non-finite parameters, and fill `out`."""
    if not parameters.finite:
        result = np.full_like(result, np.nan)
    if out is None:
        return result
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or out.shape != result.shape:
        raise StateError(f'out must be a float64 array of shape {result.shape}')
    if not out.flags.writeable:
        raise StateError('out is read-only')
    out[...] = result
    return out
