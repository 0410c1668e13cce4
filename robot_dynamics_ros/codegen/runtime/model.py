# SPDX-License-Identifier: Apache-2.0
"""
The Model: every quantity of a robot's dynamics for one state or for a batch.

Minimal parameters and joint physics are run-time data: they may be replaced between two calls,
also while other threads call, and every result belongs to one of the two parameter sets.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.codegen.folding import folding_of
from robot_dynamics_ros.codegen.functions import INPUTS, WITH_WRENCH
from robot_dynamics_ros.codegen.grouping import grouping_of
from robot_dynamics_ros.codegen.llvm.machine import why_not
from robot_dynamics_ros.codegen.printers.explanations import column_names
from robot_dynamics_ros.codegen.runtime.derivatives import DerivativeFunctions
from robot_dynamics_ros.codegen.runtime.entry import checked_out, new_function
from robot_dynamics_ros.codegen.runtime.kernels import Kernels
from robot_dynamics_ros.codegen.runtime.kinematics import KinematicFunctions, Wrench
from robot_dynamics_ros.codegen.runtime.operation_counts import OperationCounts
from robot_dynamics_ros.codegen.runtime.snapshot import Snapshot
from robot_dynamics_ros.codegen.runtime.threads import thread_count
from robot_dynamics_ros.codegen.runtime.wrenches import under_wrenches
from robot_dynamics_ros.dynamics.joints.joint_terms import rotor_torque
from robot_dynamics_ros.dynamics.joints.presliding import friction_along
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet, minimal_parameters
from robot_dynamics_ros.dynamics.scalars.samples import state_arrays
from robot_dynamics_ros.errors import ParameterError

BACKENDS = ('auto', 'python', 'numpy', 'llvm')

#: Former name of the backend 'llvm'.
_NUMBA = 'numba'

#: What of a model may be assigned.
_SETTABLE = ('parameters', 'joint_physics')


def compile_model(chain: Chain, backend: str = 'auto', *,
                  zeros: str | Sequence[str] | None = None, baked: bool = False) -> Model:
    """
    Return the dynamics of a chain; every function is compiled when it is first called.

    Parameters that are zero for good may be folded (Khalil & Dombre's "simplified" models): the
    code is shorter, and refuses other values for them.

    :param chain: the robot; its inertias and joint physics are the first parameters.
    :param backend: 'llvm' (formerly 'numba'): machine code; 'numpy': generated Python, a batch
        on numpy rows; 'python': generated Python, one state after the other; 'auto': 'llvm'
        where llvmlite is installed, else 'numpy'.
    :param zeros: 'chain': fold every link parameter and joint term that is zero in `chain`; or
        the names of those to fold, such as ``XX2``, ``MX3``, ``Fc1``; None = fold none.
    :param baked: take all values of `chain` as numbers; none can be replaced.
    :raises ParameterError: unknown backend, llvmlite cannot be used, or a name in `zeros` that is
        unknown or not zero.
    """
    if backend == _NUMBA:
        backend = 'llvm'
    if backend not in BACKENDS:
        raise ParameterError(f"unknown backend '{backend}'; known are {', '.join(BACKENDS)}")
    if backend == 'llvm' and why_not():
        raise ParameterError(f"backend 'llvm': {why_not()}; 'auto' takes what is there")
    if backend == 'auto':
        backend = 'numpy' if why_not() else 'llvm'
    return Model(chain, backend, zeros, baked)


class Model(KinematicFunctions, DerivativeFunctions):
    """
    Dynamics of one chain.

    Joint vectors are (n,) or (N, n) in the order of ``chain.joint_names``, SI units; results have
    the same form. A non-finite entry makes all results of its state NaN. Every function takes
    ``out=``, a float64 array for the result, and ``threads=``, the number of threads for a batch
    (0 = one for each processor core; same bits as with one). Made by `compile_model`.
    """

    def __init__(self, chain: Chain, backend: str, zeros: str | Sequence[str] | None = None,
                 baked: bool = False) -> None:
        """Find the minimal parameters of `chain`."""
        self._chain = chain
        self._backend = backend
        self._mlc = minimal_parameters(chain)
        grouping = grouping_of(chain, self._mlc)
        self._zeros = zeros if isinstance(zeros, str) or zeros is None else tuple(zeros)
        self._folding = folding_of(chain, self._mlc, grouping, chain.joint_physics, self._zeros,
                                   baked)
        self._kernels = Kernels(chain, grouping, backend, self._folding)
        self._lock = threading.Lock()
        self._snapshot = Snapshot(self._mlc.values, chain.joint_physics)
        self._calls = [self._snapshot.calls]
        if backend == 'llvm':  # in front of every method, see the docstring of this folder
            vars(self).update({name: new_function(getattr(self, name), self._calls, name)
                               for name in INPUTS if hasattr(type(self), name)})

    def __repr__(self) -> str:
        """Return what a reader wants to know first."""
        chain = self._chain
        in_use = replace(self._mlc, values=self.parameters)
        return (f'<Model of {chain.robot}: {chain.joint_summary} from {chain.base} to '
                f'{chain.tip}, {len(self._mlc)} minimal parameters ({in_use.first_elements(2)}), '
                f"backend '{self._backend}'>")

    if not TYPE_CHECKING:  # a type checker that sees this would let every assignment pass
        def __setattr__(self, name: str, value: object) -> None:
            """Refuse what would be stored and never used."""
            if not name.startswith('_') and name not in _SETTABLE:
                known = 'is read-only' if hasattr(type(self), name) else 'is unknown'
                raise AttributeError(
                    f"attribute '{name}' of a Model {known}; {' and '.join(_SETTABLE)} may be "
                    'assigned, everything else belongs to the chain it is compiled from')
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy what cannot be made again: everything but compiled code."""
        return _restored, (self._chain, self._backend, self.parameters, self.joint_physics,
                           self._zeros, bool(self._folding.baked))

    @property
    def chain(self) -> Chain:
        """The robot the model was made for."""
        return self._chain

    @property
    def backend(self) -> str:
        """Name of the backend in use."""
        return self._backend

    @property
    def folded(self) -> tuple[str, ...]:
        """Names of the parameters that are zero in the code; any other value is refused."""
        return self._folding.names

    @property
    def forms(self) -> dict[str, str]:
        """
        How each function called so far is calculated.

        'straight line': generated code; 'solved': derivatives of forward dynamics from those of
        the torque, by a linear system; 'loop': the recursions themselves, in Python.
        """
        return self._kernels.used(self._snapshot.form)

    @property
    def mlc(self) -> MlcSet:
        """The minimal set the parameters belong to, with the values of the chain."""
        return self._mlc

    @property
    def operations(self) -> Mapping[str, tuple[int, int]]:
        """Multiplications and additions of each function; sines and cosines not counted."""
        return OperationCounts(self._chain, self._mlc, self._kernels, self._snapshot.form)

    @property
    def parameters(self) -> Array:
        """
        Minimal parameters (p,) in the order of ``mlc.names``, read-only.

        Assignment copies and checks them and replaces all at once, without recompiling.
        """
        return self._snapshot.minimal

    @parameters.setter
    def parameters(self, values: ArrayLike) -> None:
        self._use(values, None)

    @property
    def joint_physics(self) -> JointPhysics:
        """Rotor inertia, friction, offset and coupling in use; may be assigned."""
        return self._snapshot.physics

    @joint_physics.setter
    def joint_physics(self, physics: JointPhysics) -> None:
        self._use(None, physics)

    def swap(self, parameters: ArrayLike, joint_physics: JointPhysics) -> None:
        """Replace minimal parameters and joint physics in one step."""
        self._use(parameters, joint_physics)

    def _use(self, values: ArrayLike | None, physics: JointPhysics | None) -> None:
        """Check new values and replace the old ones; None = keep."""
        if values is not None:
            values = read_only(values)
            if values.shape != (len(self._mlc),):
                raise ParameterError(f'parameters have shape {values.shape}, expected '
                                     f'({len(self._mlc)},): {", ".join(self._mlc.names)}')
        if physics is not None:
            physics.check(self._chain.joint_names)
        with self._lock:
            old = self._snapshot
            snapshot = Snapshot(old.minimal if values is None else values,
                                old.physics if physics is None else physics)
            self._folding.check(snapshot.values)
            self._kernels.prepare(snapshot)
            self._snapshot = snapshot
            self._calls[0] = snapshot.calls

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all regressor columns: minimal parameters, then joint terms."""
        return column_names(self._mlc, len(self._chain))

    def inverse_dynamics(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
                         wrench: Wrench | None = None, out: Array | None = None,
                         threads: int = 1) -> Array:
        """
        Return the torque of the rigid links [N m, N]: no rotors, no friction.

        :param q: positions [rad, m].
        :param qd: velocities [rad/s, m/s].
        :param qdd: accelerations [rad/s^2, m/s^2].
        :param wrench: (6,) or (N, 6) force and moment exerted by the environment on the tip
            link, at its origin, in its frame [N, N m]; or such wrenches by the name of any link,
            ``wrench={'forearm': [...]}``, each in the frame of its link.
        :param out: array for the result.
        :param threads: threads for a batch of machine code; 0 = one for each processor core.
        """
        return self._evaluate('inverse_dynamics', (q, qd, qdd), out, threads, wrench)

    def torque(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *,
               wrench: Wrench | None = None, out: Array | None = None,
               threads: int = 1) -> Array:
        """Return the whole torque: rigid links, rotor inertia, friction and offset [N m, N]."""
        return self._evaluate('torque', (q, qd, qdd), out, threads, wrench)

    def torque_along(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """
        Return `torque` along a motion from rest: N states (N, n) in the order of time [N m, N].

        Where joints have a `presliding` distance, friction depends on the motion before: it turns
        after a reversal, not at it. Without one this is `torque`.
        """
        torque, physics = self.torque(q, qd, qdd), self.joint_physics
        if torque.ndim != 2 or physics.presliding is None:
            return torque
        position, velocity, rate = (np.asarray(each, np.float64) for each in (q, qd, qdd))
        load = self.inverse_dynamics(q, qd, qdd) + rotor_torque(physics, rate)
        return load + friction_along(physics, position, velocity, load,
                                     np.zeros(len(self._chain)))

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, joint_terms: bool = False,
                  *, out: Array | None = None, threads: int = 1) -> Array:
        """
        Return Y (n, p) or (N, n, p) with ``inverse_dynamics = Y @ parameters``.

        :param joint_terms: append the columns of rotor inertia, viscous and Coulomb friction and
            offset of every joint; `columns` names all.
        """
        name = 'regressor_with_joint_terms' if joint_terms else 'regressor'
        return self._evaluate(name, (q, qd, qdd), out, threads)

    def reference_regressor(self, q: ArrayLike, qd: ArrayLike, qd_r: ArrayLike,
                            qdd_r: ArrayLike, *, out: Array | None = None,
                            threads: int = 1) -> Array:
        """
        Return Slotine and Li's Y, (n, p) or (N, n, p): ``A qdd_r + C(q, qd) qd_r + Q = Y w``.

        C is that of the Christoffel symbols; at ``qd_r = qd`` this is `regressor`.

        :param qd_r: reference velocities [rad/s, m/s].
        :param qdd_r: reference accelerations [rad/s^2, m/s^2].
        """
        return self._evaluate('reference_regressor', (q, qd, qd_r, qdd_r), out, threads)

    def momentum_split(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None,
                       threads: int = 1) -> Array:
        """
        Return W and Z, (2, n, p) or (N, 2, n, p), with ``regressor = dW/dt + Z``.

        ``W w`` is the momentum A qd. Neither needs an acceleration (Lu & Meng, see
        `filtered_regressor`).
        """
        return self._evaluate('momentum_split', (q, qd), out, threads)

    def mass_matrix(self, q: ArrayLike, *, out: Array | None = None, threads: int = 1) -> Array:
        """Return A (n, n) or (N, n, n) of links and rotors [kg m^2, kg m, kg]."""
        return self._evaluate('mass_matrix', (q,), out, threads)

    def gravity_torque(self, q: ArrayLike, *, out: Array | None = None, threads: int = 1) -> Array:
        """Return the torque that carries the weight [N m, N]."""
        return self._evaluate('gravity_torque', (q,), out, threads)

    def coriolis_torque(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None,
                        threads: int = 1) -> Array:
        """Return the Coriolis and centrifugal torque C(q, qd) qd [N m, N]."""
        return self._evaluate('coriolis_torque', (q, qd), out, threads)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, *, out: Array | None = None,
                        threads: int = 1) -> Array:
        """
        Return C (n, n) or (N, n, n) of the Christoffel symbols [kg m^2/s, kg m/s, kg/s].

        ``C @ qd`` is `coriolis_torque`; dA/dt - 2 C is skew.
        """
        return self._evaluate('coriolis_matrix', (q, qd), out, threads)

    def friction_torque(self, qd: ArrayLike, *, out: Array | None = None,
                        threads: int = 1) -> Array:
        """Return the torque of friction and offset of gears without load [N m, N]."""
        return self._evaluate('friction_torque', (qd,), out, threads)

    def friction_under_load(self, qd: ArrayLike, load: ArrayLike, *,
                            out: Array | None = None, threads: int = 1) -> Array:
        """
        Return the torque of friction and offset [N m, N].

        :param load: torque of links and rotors that the gears carry [N m, N].
        """
        return self._evaluate('friction_under_load', (qd, load), out, threads)

    def forward_dynamics(self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, *,
                         wrench: Wrench | None = None, out: Array | None = None,
                         threads: int = 1) -> Array:
        """Return the accelerations qdd for which `torque` is `tau` [rad/s^2, m/s^2]."""
        return self._evaluate('forward_dynamics', (q, qd, tau), out, threads, wrench)

    def _evaluate(self, name: str, values: tuple[ArrayLike, ...], out: Array | None, threads: int,
                  wrench: Wrench | None = None) -> Array:
        """Check the arrays, generate the function if it is new, and run it."""
        snapshot = self._snapshot
        if not isinstance(wrench, Mapping):
            return self._run(snapshot, name, values, out, threads, wrench)
        result = under_wrenches(
            self._chain, snapshot.physics, name, values, wrench,
            lambda function, *inputs: self._run(snapshot, function, inputs, None, threads))
        if out is None:
            return result
        checked_out(out, result.shape)
        out[...] = result
        return out

    def _run(self, snapshot: Snapshot, name: str, values: tuple[ArrayLike, ...],
             out: Array | None = None, threads: int = 1,
             wrench: ArrayLike | None = None) -> Array:
        arrays = state_arrays(self._chain, **dict(zip(INPUTS[name], values)), wrench=wrench)
        kernel = self._kernels.kernel(snapshot.form,
                                      name if wrench is None else name + WITH_WRENCH)
        shape = next(iter(arrays.values())).shape[:-1]
        result = kernel.evaluate(snapshot, arrays, checked_out(out, shape + kernel.shape),
                                 thread_count(threads))
        if out is not None and result is not out:
            out[...] = result
        return result if out is None else out


def _restored(chain: Chain, backend: str, parameters: Array, physics: JointPhysics,
              zeros: str | Sequence[str] | None, baked: bool) -> Model:
    model = compile_model(chain, backend, zeros=zeros, baked=baked)
    model.swap(parameters, physics)
    return model
