# SPDX-License-Identifier: Apache-2.0
"""Pinocchio as the outside oracle: its model of a Chain, quantities in our order."""

import numpy as np
import pinocchio

#: Place of our ten STANDARD_PARAMETERS in pinocchio's [m, mc, Jxx, Jxy, Jyy, Jxz, Jyz, Jzz].
STANDARD_IN_PINOCCHIO = np.array([4, 5, 7, 6, 8, 9, 1, 2, 3, 0])


class Oracle:
    """
    Pinocchio's answers for a chain or tree; every method takes one state (n,).

    Joints that follow others are joints of the model; ``q = G q_n + c`` is put in here.
    """

    def __init__(self, chain):
        """Build pinocchio's model with exactly the frames of the chain."""
        self.chain = chain
        self.model = pinocchio.Model()
        followers = {follower.number: follower for follower in chain.followers}
        moving = iter(chain.joints)
        self.G, self.c = np.zeros((len(chain.links), len(chain))), np.zeros(len(chain.links))
        for i, link in enumerate(chain.links):
            follower = followers.get(i + 1)
            joint = next(moving) if follower is None else follower.joint
            before = i if joint.parent is None else joint.parent
            pose = joint.pose() if before else chain.base_pose @ joint.pose()
            model = (pinocchio.JointModelRZ() if joint.revolute else pinocchio.JointModelPZ())
            parent = self.model.addJoint(before, model,
                                         pinocchio.SE3(pose.rotation, pose.translation),
                                         joint.name)
            if follower is None:
                self.G[i, chain.joints.index(joint)] = 1.0
            else:
                self.G[i, follower.leader - 1], self.c[i] = follower.multiplier, follower.offset
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
            'tip', chain.tips[0].joint, pinocchio.SE3(tip.rotation, tip.translation),
            pinocchio.FrameType.OP_FRAME))
        self.data = self.model.createData()

    def external_forces(self, wrench):
        forces = [pinocchio.Force.Zero() for _ in range(self.model.njoints)]
        for tip, part in zip(self.chain.tips, np.reshape(wrench, (-1, 6))):
            force = pinocchio.Force(np.asarray(part, dtype=np.float64))
            forces[tip.joint] += pinocchio.SE3(tip.pose.rotation, tip.pose.translation).act(force)
        return forces

    def _moving(self, q, *rates):
        return (self.G @ q + self.c, *(self.G @ rate for rate in rates))

    def inverse_dynamics(self, q, qd, qdd, wrench=None):
        """Return tau (n,); `wrench` (6,) on the tip link in its frame."""
        state = self._moving(q, qd, qdd)
        external = () if wrench is None else (self.external_forces(wrench),)
        return self.G.T @ pinocchio.rnea(self.model, self.data, *state, *external)

    def regressor(self, q, qd, qdd):
        """Return Y (n, 10 n) with columns ``chain.standard_parameter_names``."""
        m = len(self.G)
        Y = pinocchio.computeJointTorqueRegressor(self.model, self.data,
                                                  *self._moving(q, qd, qdd))
        Y = np.reshape(Y, (m, -1))  # pinocchio drops the row dimension of n = 1
        order = np.concatenate([10 * i + STANDARD_IN_PINOCCHIO for i in range(m)])
        return self.G.T @ Y[:, order]

    def mass_matrix(self, q):
        """Return A (n, n)."""
        A = pinocchio.crba(self.model, self.data, *self._moving(q))
        return self.G.T @ (np.triu(A) + np.triu(A, 1).T) @ self.G

    def gravity_torque(self, q):
        """Return Q (n,)."""
        return self.G.T @ pinocchio.computeGeneralizedGravity(self.model, self.data,
                                                              *self._moving(q))

    def forward_dynamics(self, q, qd, tau, wrench=None):
        """Return qdd (n,)."""
        if self.chain.followers:
            bias = self.inverse_dynamics(q, qd, np.zeros(len(q)), wrench)
            return np.linalg.solve(self.mass_matrix(q), tau - bias)
        if wrench is None:
            return pinocchio.aba(self.model, self.data, q, qd, tau).copy()
        return pinocchio.aba(self.model, self.data, q, qd, tau,
                             self.external_forces(wrench)).copy()

    def coriolis_matrix(self, q, qd):
        """Return the matrix C (n, n) of the Christoffel symbols."""
        return pinocchio.computeCoriolisMatrix(self.model, self.data, q, qd).copy()

    def energies(self, q, qd):
        """Return kinetic and potential energy [J]."""
        return (pinocchio.computeKineticEnergy(self.model, self.data, q, qd),
                pinocchio.computePotentialEnergy(self.model, self.data, q))

    def inverse_dynamics_derivatives(self, q, qd, qdd, wrench=None):
        """Return the derivatives (2, n, n) of tau by q and qd."""
        external = () if wrench is None else (self.external_forces(wrench),)
        pinocchio.computeRNEADerivatives(self.model, self.data, *self._moving(q, qd, qdd),
                                         *external)
        return np.array([self.G.T @ D @ self.G for D in (self.data.dtau_dq, self.data.dtau_dv)])

    def forward_dynamics_derivatives(self, q, qd, tau, wrench=None):
        """Return the derivatives (3, n, n) of qdd by q, qd and tau."""
        external = () if wrench is None else (self.external_forces(wrench),)
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
