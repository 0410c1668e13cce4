# SPDX-License-Identifier: Apache-2.0
"""
MuJoCo's system identification (mujoco.sysid) on our rows.

Its toolbox compares roll-outs with sensors, which on an arm under recorded torques run away within
fractions of a second. Here its parameters (pseudo-inertias of all links within its own default
bounds, armature, damping, friction loss, offset) and its optimizer are used, and the residual is
the torque of `mj_inverse` at our rows, each joint over its RMS torque. A coupled wrist is a tendon
with armature, damping and friction loss. The toolbox's writer of pseudo-inertias left NaN in
bodies without geometry (mujoco 4.0.0) and was replaced.
"""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np

from peers.cases import Case, relative_errors
from robot_dynamics_ros import JointPhysics
from robot_dynamics_ros.arrays import Array, Mask
from robot_dynamics_ros.simulation.mujoco_robot import mjcf

#: Largest friction and rotor, as parts of torque over velocity and acceleration; iterations.
_ROOM, _ITERATIONS = 2.0, 40
_STEP = 0.002


def errors(case: Case, q: Array, qd: Array, qdd: Array, tau: Array,
           tested: Mask) -> dict[str, Array]:
    """Return the held-out errors by joint, then of all."""
    import mujoco
    from mujoco import sysid

    chain, n = case.chain, len(case.chain)
    spec = mujoco.MjSpec.from_string(_text(case))
    model = spec.compile()
    params = sysid.ParameterDict()
    for name in chain.link_names[:n]:
        params.add(sysid.body_inertia_param(spec, model, name, sysid.InertiaType.Pseudo,
                                            modifier=_inertia_writer(name)))
    size, pace, push = (np.sqrt(np.mean(each[~tested] ** 2, axis=0)) for each in (tau, qd, qdd))
    joints: list[tuple[str, Array]] = [(name, np.eye(n)[j])
                                       for j, name in enumerate(chain.joint_names)]
    joints += [(f'motor_{j}', row) for j, row in enumerate(_motors(case))
               if np.count_nonzero(row) > 1]
    for name, row in joints:
        own = np.abs(row) / np.abs(row).sum()
        for term, largest in (('armature', own @ (size / push)), ('damping', own @ (size / pace)),
                              ('frictionloss', own @ size)):
            params.add(sysid.Parameter(f'{name}_{term}', 0.05 * largest, 0.0, _ROOM * largest,
                                       modifier=_setter(name, term, name in chain.joint_names)))
    for j, name in enumerate(chain.joint_names):
        params.add(sysid.Parameter(f'{name}_offset', 0.0, -size[j], size[j]))

    def torque(chosen: Mask) -> Array:
        model = sysid.apply_param_modifiers(params, spec)
        data, result = mujoco.MjData(model), np.empty((int(chosen.sum()), n))
        for k, (a, b, c) in enumerate(zip(q[chosen], qd[chosen], qdd[chosen])):
            data.qpos[:], data.qvel[:], data.qacc[:] = a, b, c
            mujoco.mj_inverse(model, data)
            result[k] = data.qfrc_inverse
        return result + np.array([params[f'{name}_offset'].value[0]
                                  for name in chain.joint_names])

    def left(x: Array) -> Array:
        params.update_from_vector(x)
        return np.asarray((torque(~tested) - tau[~tested]) / size).ravel()

    def residual(x: Array, _: Any) -> tuple[list[Array], None, None]:
        if x.ndim == 1:
            return [left(x)], None, None
        return [np.column_stack([left(each) for each in x.T])], None, None

    found, _ = sysid.optimize(params, residual, verbose=False, max_iters=_ITERATIONS)
    params.update_from_vector(found.as_vector())
    return {'mujoco.sysid': relative_errors(tau[tested], torque(tested))}


def _motors(case: Case) -> Array:
    """Return the matrix (n, n) of q_motor = M q."""
    coupling = case.chain.joint_physics.coupling
    return np.eye(len(case.chain)) if coupling is None else np.asarray(np.linalg.inv(coupling))


def _text(case: Case) -> str:
    """Return the robot as MJCF, with a tendon for every motor that moves two joints."""
    n = len(case.chain)
    plain = case.chain.with_joint_physics(JointPhysics.zero(n))
    top = ElementTree.fromstring(mjcf(plain, _STEP))
    compiler = top.find('compiler')
    assert compiler is not None
    compiler.set('balanceinertia', 'true')  # the URDF of the TX40 breaks the triangle inequality
    for j, row in enumerate(_motors(case)):
        if np.count_nonzero(row) < 2:
            continue
        tendon = ElementTree.SubElement(ElementTree.SubElement(top, 'tendon'), 'fixed',
                                        name=f'motor_{j}')
        for k in np.flatnonzero(row):
            ElementTree.SubElement(tendon, 'joint', joint=case.chain.joint_names[k],
                                   coef=str(row[k]))
    return ElementTree.tostring(top, encoding='unicode')


def _inertia_writer(name: str) -> Any:
    """Return what writes a pseudo-inertia: the toolbox's own leaves NaN (mujoco 4.0.0)."""
    import mujoco
    from mujoco.sysid import model_modifier

    def write(spec: Any, parameter: Any) -> None:
        pi, body = model_modifier.pi_from_theta(parameter.value), spec.body(name)
        centre = pi[1:4] / pi[0]
        cross = model_modifier.skew(centre)
        tensor = pi[4:].reshape(3, 3) + pi[0] * cross @ cross
        moments, axes = np.linalg.eigh(tensor)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, axes.ravel())
        body.explicitinertial, body.fullinertia = True, np.full((6, 1), np.nan)
        body.mass, body.ipos = pi[0], centre
        body.inertia, body.iquat = moments, quaternion
    return write


def _setter(name: str, term: str, joint: bool) -> Any:
    """Return what writes a term of a joint or tendon into a specification."""
    def write(spec: Any, parameter: Any) -> None:
        place = spec.joint(name) if joint else spec.tendon(name)
        value = float(parameter.value[0])
        try:
            setattr(place, term, value)
        except TypeError:  # damping has several terms since MuJoCo 3.4
            getattr(place, term)[0] = value
    return write
