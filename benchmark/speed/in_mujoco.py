# SPDX-License-Identifier: Apache-2.0
"""MuJoCo: mj_inverse and mj_forward one state at a time, and its batch rollout of one step."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
from mujoco import rollout

from robot_dynamics_ros.arrays import Array
from speed.contender import BATCH, BATCHED, THREADED, Contender, PeerRobot, batched, looped

NAME = 'MuJoCo'
ROLLOUT = 'MuJoCo, rollout of one step'


def _model(robot: PeerRobot) -> mujoco.MjModel:
    """Return the robot without limits, contacts and damping."""
    spec = mujoco.MjSpec.from_string(robot.urdf)
    spec.compiler.discardvisual = True
    model = spec.compile()
    model.opt.disableflags = (mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
                              | mujoco.mjtDisableBit.mjDSBL_CONTACT
                              | mujoco.mjtDisableBit.mjDSBL_LIMIT)
    model.opt.gravity = robot.chain.gravity
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.timestep = 1e-3
    return model


def contenders(robot: PeerRobot) -> Iterator[Contender]:
    """Yield what is timed."""
    model = _model(robot)
    data = mujoco.MjData(model)

    def inverse_dynamics(q: Array, qd: Array, qdd: Array) -> Array:
        data.qpos, data.qvel, data.qacc = q, qd, qdd
        mujoco.mj_inverse(model, data)
        return data.qfrc_inverse

    def forward_dynamics(q: Array, qd: Array, tau: Array) -> Array:
        data.qpos, data.qvel, data.qfrc_applied = q, qd, tau
        mujoco.mj_forward(model, data)
        return data.qacc

    yield from looped(f'{NAME}, mj_inverse', 'inverse_dynamics', inverse_dynamics, robot)
    yield from looped(f'{NAME}, mj_forward', 'forward_dynamics', forward_dynamics, robot)
    q, qd, tau = robot.batch('forward_dynamics')
    initial = np.hstack([np.zeros((BATCH, 1)), q, qd])
    control = np.ascontiguousarray(tau[:, None, :])
    state = np.zeros((BATCH, 1, initial.shape[1]))
    for threads, way in ((1, BATCHED), (2, THREADED)):
        datas = [mujoco.MjData(model) for _ in range(threads)]
        runner = rollout.Rollout(nthread=threads if threads > 1 else 0)

        def call(runner=runner, datas=datas) -> None:
            runner.rollout(model, datas, initial, control,
                           control_spec=int(mujoco.mjtState.mjSTATE_QFRC_APPLIED), state=state)

        call()
        moved = (state[:, 0, 1 + len(robot.chain):] - qd) / model.opt.timestep
        yield batched(ROLLOUT, 'forward_dynamics', way, call, moved)
