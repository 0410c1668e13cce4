# SPDX-License-Identifier: Apache-2.0
"""Pinocchio as the baseline of the benchmarks: its functions for a chain, one state per call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain


def pinocchio_model(chain: Chain) -> pinocchio.Model:
    """Return Pinocchio's model with exactly the frames of `chain`, and its tip as a frame."""
    model = pinocchio.Model()
    parent = 0
    for joint, link in zip(chain.joints, chain.links):
        pose = joint.pose() if parent else chain.base_pose @ joint.pose()
        kind = pinocchio.JointModelRZ() if joint.revolute else pinocchio.JointModelPZ()
        parent = model.addJoint(parent, kind, pinocchio.SE3(pose.rotation, pose.translation),
                                joint.name)
        centre = link.centre_of_mass if link.mass else np.zeros(3)
        about_centre = link.tensor - link.mass * (centre @ centre * np.eye(3)
                                                  - np.outer(centre, centre))
        model.appendBodyToJoint(parent, pinocchio.Inertia(link.mass, centre, about_centre),
                                pinocchio.SE3.Identity())
    model.gravity.linear = chain.gravity
    tip = chain.tip_pose
    model.addFrame(pinocchio.Frame('tip', parent, pinocchio.SE3(tip.rotation, tip.translation),
                                   pinocchio.FrameType.OP_FRAME))
    return model


def pinocchio_functions(chain: Chain) -> dict[str, Callable[..., Any]]:
    """
    Return Pinocchio's functions of `pinocchio_model`, by our names.

    They are called as a Python user calls them, and fill Pinocchio's own arrays.
    """
    model = pinocchio_model(chain)
    tip, data = model.getFrameId('tip'), model.createData()

    def inverse_dynamics(q: Array, qd: Array, qdd: Array) -> Any:
        return pinocchio.rnea(model, data, q, qd, qdd)

    def forward_dynamics(q: Array, qd: Array, tau: Array) -> Any:
        return pinocchio.aba(model, data, q, qd, tau)

    def mass_matrix(q: Array) -> Any:
        return pinocchio.crba(model, data, q)

    def regressor(q: Array, qd: Array, qdd: Array) -> Any:
        return pinocchio.computeJointTorqueRegressor(model, data, q, qd, qdd)

    def gravity_torque(q: Array) -> Any:
        return pinocchio.computeGeneralizedGravity(model, data, q)

    def inverse_dynamics_derivatives(q: Array, qd: Array, qdd: Array) -> Any:
        pinocchio.computeRNEADerivatives(model, data, q, qd, qdd)
        return data.dtau_dq, data.dtau_dv

    def forward_dynamics_derivatives(q: Array, qd: Array, tau: Array) -> Any:
        pinocchio.computeABADerivatives(model, data, q, qd, tau)
        return data.ddq_dq, data.ddq_dv, data.Minv

    def coriolis_matrix(q: Array, qd: Array) -> Any:
        return pinocchio.computeCoriolisMatrix(model, data, q, qd)

    def jacobian(q: Array) -> Any:
        return pinocchio.computeFrameJacobian(model, data, q, tip,
                                              pinocchio.LOCAL_WORLD_ALIGNED)

    return {function.__name__: function for function in (
        inverse_dynamics, forward_dynamics, mass_matrix, regressor, gravity_torque,
        inverse_dynamics_derivatives, forward_dynamics_derivatives, coriolis_matrix,
        jacobian)}
