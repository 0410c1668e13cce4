# SPDX-License-Identifier: Apache-2.0
"""adam: its CasADi side generated as C and compiled, its JAX side compiled by XLA."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from timeit import Timer

import casadi
import jax
import numpy as np
from adam import Representations
from adam.casadi import KinDynComputations as CasadiComputations
from adam.jax import KinDynComputations as JaxComputations

from robot_dynamics_ros.arrays import Array
from speed.compiled_casadi import compiled, sizes
from speed.compiled_casadi import contenders as compiled_contenders
from speed.contender import BATCHED, Contender, PeerRobot, batched, single

COMPILED = 'adam (CasADi), generated and compiled'
XLA = 'adam (JAX), jit, all cores'
_FUNCTIONS = sizes({'inverse_dynamics': 1, 'forward_dynamics': 1, 'mass_matrix': 1,
                    'inverse_dynamics_derivatives': 2})


def _options(robot: PeerRobot) -> dict[str, object]:
    return {'gravity': np.concatenate([robot.chain.gravity, np.zeros(3)])}


def _casadi(robot: PeerRobot) -> Iterator[Contender]:
    n = len(robot.chain)
    adam = CasadiComputations(robot.urdf, list(robot.chain.joint_names), **_options(robot))
    adam.set_frame_velocity_representation(Representations.MIXED_REPRESENTATION)
    q, qd, qdd = (casadi.SX.sym(name, n) for name in ('q', 'qd', 'qdd'))
    base, rest = casadi.SX.eye(4), casadi.SX.zeros(6)
    A = adam.mass_matrix_fun()(base, q)[6:, 6:]
    bias = adam.bias_force_fun()(base, q, rest, qd)[6:]
    tau = A @ qdd + bias
    results = {'inverse_dynamics': ([q, qd, qdd], [tau]),
               'forward_dynamics': ([q, qd, qdd], [casadi.solve(A, qdd - bias)]),
               'mass_matrix': ([q], [A]),
               'inverse_dynamics_derivatives': ([q, qd, qdd], [casadi.jacobian(tau, q),
                                                               casadi.jacobian(tau, qd)])}
    folder = Path(tempfile.mkdtemp(prefix='adam_'))
    generator = casadi.CodeGenerator('adam', {'with_header': False})
    for name, (inputs, outputs) in results.items():
        generator.add(casadi.Function(name, inputs, casadi.cse(
            [casadi.densify(each) for each in outputs])))
    library = compiled(generator.dump(), _FUNCTIONS, n, folder)
    yield from compiled_contenders(COMPILED, library, _FUNCTIONS, robot)


def _jax(robot: PeerRobot) -> Iterator[Contender]:
    jax.config.update('jax_enable_x64', True)
    adam = JaxComputations(robot.urdf, list(robot.chain.joint_names), **_options(robot))
    adam.set_frame_velocity_representation(Representations.MIXED_REPRESENTATION)

    def parts(q: Array, qd: Array) -> tuple[Array, Array]:
        """Return mass matrix and bias; adam takes a batch as it is."""
        base = jax.numpy.broadcast_to(jax.numpy.eye(4), (*q.shape[:-1], 4, 4))
        rest = jax.numpy.zeros((*q.shape[:-1], 6))
        return (adam.mass_matrix(base, q)[..., 6:, 6:],
                adam.bias_force(base, q, rest, qd)[..., 6:])

    def mass_matrix(q: Array) -> Array:
        return parts(q, q)[0]

    def inverse_dynamics(q: Array, qd: Array, qdd: Array) -> Array:
        A, bias = parts(q, qd)
        return jax.numpy.einsum('...ij,...j->...i', A, qdd) + bias

    def forward_dynamics(q: Array, qd: Array, tau: Array) -> Array:
        A, bias = parts(q, qd)
        return jax.numpy.linalg.solve(A, (tau - bias)[..., None])[..., 0]

    # no derivatives: jacfwd and vmap fail inside of adam with this version of JAX
    for function in (inverse_dynamics, forward_dynamics, mass_matrix):
        name, call = function.__name__, jax.jit(function)
        one = [jax.numpy.asarray(array) for array in robot.one(name)]
        batch = [jax.numpy.asarray(array) for array in robot.batch(name)]
        yield single(XLA, name,
                     Timer(lambda call=call, one=one: call(*one).block_until_ready()), call(*one))
        yield batched(XLA, name, BATCHED,
                      lambda call=call, batch=batch: call(*batch).block_until_ready(),
                      np.array(call(*batch)))


def contenders(robot: PeerRobot) -> Iterator[Contender]:
    """Yield what is timed."""
    yield from _casadi(robot)
    yield from _jax(robot)
