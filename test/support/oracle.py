# SPDX-License-Identifier: Apache-2.0
"""Pinocchio as the outside oracle: its model of a Chain, quantities in our order."""

import numpy as np
import pinocchio

#: Place of our ten STANDARD_PARAMETERS in pinocchio's [m, mc, Jxx, Jxy, Jyy, Jxz, Jyz, Jzz].
STANDARD_IN_PINOCCHIO = np.array([4, 5, 7, 6, 8, 9, 1, 2, 3, 0])


class Oracle:
    """Pinocchio's answers for a chain; every method takes one state (n,)."""

    def __init__(self, chain):
        """Build pinocchio's model with exactly the frames of the chain."""
        self.chain = chain
        self.model = pinocchio.Model()
        parent = 0
        for joint, link in zip(chain.joints, chain.links):
            pose = joint.pose() if parent else chain.base_pose @ joint.pose()
            model = (pinocchio.JointModelRZ() if joint.revolute else pinocchio.JointModelPZ())
            parent = self.model.addJoint(parent, model,
                                         pinocchio.SE3(pose.rotation, pose.translation),
                                         joint.name)
            centre = link.centre_of_mass if link.mass else np.zeros(3)
            at_centre = link.tensor - link.mass * (centre @ centre * np.eye(3)
                                                   - np.outer(centre, centre))
            at_centre[np.abs(at_centre) < 1e-15 * np.max(np.abs(link.tensor))] = 0.0
            self.model.appendBodyToJoint(
                parent, pinocchio.Inertia(link.mass, centre, at_centre), pinocchio.SE3.Identity())
        self.model.gravity.linear = chain.gravity
        self.model.gravity.angular = np.zeros(3)
        tip = chain.tip_pose
        self.tip = self.model.addFrame(pinocchio.Frame(
            'tip', parent, pinocchio.SE3(tip.rotation, tip.translation),
            pinocchio.FrameType.OP_FRAME))
        self.data = self.model.createData()

    def _external(self, wrench):
        tip = self.chain.tip_pose
        force = pinocchio.Force(np.asarray(wrench, dtype=np.float64))
        forces = [pinocchio.Force.Zero() for _ in range(self.model.njoints)]
        forces[-1] = pinocchio.SE3(tip.rotation, tip.translation).act(force)
        return forces

    def inverse_dynamics(self, q, qd, qdd, wrench=None):
        """Return tau (n,); `wrench` (6,) on the tip link in its frame."""
        if wrench is None:
            return pinocchio.rnea(self.model, self.data, q, qd, qdd).copy()
        return pinocchio.rnea(self.model, self.data, q, qd, qdd, self._external(wrench)).copy()

    def regressor(self, q, qd, qdd):
        """Return Y (n, 10 n) with columns ``chain.standard_parameter_names``."""
        Y = pinocchio.computeJointTorqueRegressor(self.model, self.data, q, qd, qdd)
        Y = np.reshape(Y, (len(self.chain), -1))  # pinocchio drops the row dimension of n = 1
        order = np.concatenate([10 * i + STANDARD_IN_PINOCCHIO for i in range(len(self.chain))])
        return Y[:, order].copy()

    def mass_matrix(self, q):
        """Return A (n, n)."""
        A = pinocchio.crba(self.model, self.data, q)
        upper = np.triu(A)
        return upper + np.triu(A, 1).T

    def gravity_torque(self, q):
        """Return Q (n,)."""
        return pinocchio.computeGeneralizedGravity(self.model, self.data, q).copy()

    def forward_dynamics(self, q, qd, tau, wrench=None):
        """Return qdd (n,)."""
        if wrench is None:
            return pinocchio.aba(self.model, self.data, q, qd, tau).copy()
        return pinocchio.aba(self.model, self.data, q, qd, tau, self._external(wrench)).copy()

    def coriolis_matrix(self, q, qd):
        """Return the matrix C (n, n) of the Christoffel symbols."""
        return pinocchio.computeCoriolisMatrix(self.model, self.data, q, qd).copy()

    def energies(self, q, qd):
        """Return kinetic and potential energy [J]."""
        return (pinocchio.computeKineticEnergy(self.model, self.data, q, qd),
                pinocchio.computePotentialEnergy(self.model, self.data, q))

    def inverse_dynamics_derivatives(self, q, qd, qdd, wrench=None):
        """Return the derivatives (2, n, n) of tau by q and qd."""
        external = () if wrench is None else (self._external(wrench),)
        pinocchio.computeRNEADerivatives(self.model, self.data, q, qd, qdd, *external)
        return np.array([self.data.dtau_dq, self.data.dtau_dv])

    def forward_dynamics_derivatives(self, q, qd, tau, wrench=None):
        """Return the derivatives (3, n, n) of qdd by q, qd and tau."""
        external = () if wrench is None else (self._external(wrench),)
        pinocchio.computeABADerivatives(self.model, self.data, q, qd, tau, *external)
        inverse = np.triu(self.data.Minv)
        return np.array([self.data.ddq_dq, self.data.ddq_dv, inverse + np.triu(inverse, 1).T])

    def joint_poses(self, q):
        """Return the frames E_1..E_n in the frame of the base link (n, 4, 4)."""
        pinocchio.forwardKinematics(self.model, self.data, q)
        return np.array([pose.homogeneous for pose in list(self.data.oMi)[1:]])

    def tip_pose(self, q):
        """Return the frame of the tip link in that of the base link (4, 4)."""
        pinocchio.framesForwardKinematics(self.model, self.data, q)
        return self.data.oMf[self.tip].homogeneous

    def jacobian(self, q, frame):
        """Return J (6, n) of the tip; `frame` as Pinocchio names it."""
        return pinocchio.computeFrameJacobian(self.model, self.data, q, self.tip,
                                              getattr(pinocchio, frame)).reshape(6, -1).copy()

    def bias_acceleration(self, q, qd, frame):
        """Return dJ/dt qd (6,) of the tip; `frame` as Pinocchio names it."""
        pinocchio.computeJointJacobiansTimeVariation(self.model, self.data, q, qd)
        pinocchio.updateFramePlacements(self.model, self.data)
        rate = pinocchio.getFrameJacobianTimeVariation(self.model, self.data, self.tip,
                                                       getattr(pinocchio, frame))
        return rate.reshape(6, -1) @ qd

    def centre_of_mass(self, q):
        """Return the centre of mass (3,) and its Jacobian (3, n)."""
        J = pinocchio.jacobianCenterOfMass(self.model, self.data, q).copy()
        return self.data.com[0].copy(), J.reshape(3, -1)

    def momentum(self, q, qd):
        """Return linear momentum and angular momentum about the centre of mass (6,)."""
        return pinocchio.computeCentroidalMomentum(self.model, self.data, q, qd).vector.copy()
