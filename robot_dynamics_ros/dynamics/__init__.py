# SPDX-License-Identifier: Apache-2.0
"""
The equations of motion of the papers, each written once over plain scalars.

A recursion is a pure function over scalars (see `vector`): with floats it is the reference, with
numpy rows a batch, with the nodes of a graph the input of the code generator. Lists over links
have the base as entry 0, so ``omega[i]`` is the paper's omega_i; joint vectors (q, qd, qdd, tau)
have joint 1 as entry 0.

Papers: L95 = Lin 1995, L94 = Lin 1994, KD = Khalil & Dombre chapter 9, A = Angeles, Ma & Rojas
1989, LM = Lu & Meng 1993, SRW = Singh, Russell & Wensing 2022.

=========== ============= ==================================== =========== ===== ==============
letter      code name     meaning                              unit        frame equation
=========== ============= ==================================== =========== ===== ==============
E_i         frames        frame on joint i, z_i along its axis -           -     L95 (4), (5)
R_i         rotation      axes of E_i as columns in E_(i-1)    -           E_i-1 L95 (5)
s_i         origin        from O_(i-1) to O_i                  m           E_i-1 L95 (4)
b_i         b             distance of the axes along x_(i-1)   m           E_i-1 L95 fig. 1
beta_i      cb, sb        angle of the axes about x_(i-1)      rad         E_i-1 L95 fig. 1
d_i         d             offset along z_i; P: holds q         m           E_i   L95 fig. 1
theta_i     c, s          angle about z_i; R: holds q          rad         E_i   L95 fig. 1
K*_i, K_i   revolute      1, 0 for a revolute, 0, 1 for a      -           -     L95 (7)
                          prismatic
g           gravity       gravitational acceleration           m/s^2       E_0   L95 (76)
q           q             joint position                       rad, m      -     -
qd, qdd     qd, qdd       joint velocity and acceleration      rad/s ...   -     -
qd_r, qdd_r qd_r, qdd_r   reference velocity and acceleration  rad/s ...   -     LM (86)
tau_i       tau           joint torque or force                N m, N      -     L95 (68)
f_E, t_E    wrench        of the environment on link n, at O_n N, N m      E_n   L95 after (23)
                          (paper: at the gripping point)
omega_i     omega         angular velocity of link i           rad/s       E_i   KD 9.85
omega_r     omega_r       angular velocity of link i by qd_r   rad/s       E_i   KD 9.85
omega'_i    omega_dot     angular acceleration of link i       rad/s^2     E_i   KD 9.86
a_i         acceleration  acceleration of O_i minus g          m/s^2       E_i   KD 9.87
U_i, Omega  U             [omega']x + [omega]x [omega]x of a   1/s^2       E_i   KD 9.90
                          motion
XX ... ZZ   parameters    entries of the tensor about O_i      kg m^2      E_i   KD 9.3
MX, MY, MZ  parameters    first moment of link i               kg m        E_i   KD 9.42
M           parameters    mass of link i                       kg          -     KD 9.42
f_i, m_i    f, m          force and moment on link i by link   N, N m      E_i   KD 9.91, 9.93
                          i-1
m_hat_i     m_hat         mass of the composite body i..n      kg          -     L95 before (6)
k_i         k             constant part of its first moment    kg m        E_i   L95 (10)
l_i         l             varying part of its first moment     kg m        E_i   L95 (11)
U_i         U             constant part of its tensor about    kg m^2      E_i   L95 (12), (14)
                          O_i
V_i         V             varying part of its tensor about O_i kg m^2      E_i   L95 (13), (15)
r, s        r, s          first R joint; first R not parallel  -           -     L95 thm. 2
                          to it
u_r         u_r           axis of joint r, constant for r <= i -           E_i   L95 (80)
                          < s
delta_i     delta         k_x, k_y of joint i < s act on the   -           -     L95 thm. 2
                          torque
sigma_i     sigma         P joint i is not parallel to joint r -           -     L95 thm. 2
kappa_1     kappa_1       u_x k_y - u_y k_x                    kg m        -     L95 (86)
kappa_2     kappa_2       (1 - u_z^2) k_z - u_z (u_x k_x + u_y kg m        -     L95 (87)
                          k_y)
G           G_22, G_33    difference of U* and U               kg m^2      E_i   L95 (39)-(43)
D_i         D             tensor that joint i needs            kg m^2      E_i   L95 (91), (93)
W_k         W             what a P joint k adds to D, per      kg m        E_i   L95 (92)
                          metre
a*_i        a_star        a_i without h*_i (paper: in E_(i-1)) m/s^2       E_i   L95 (70)
h''_i, h*_i h_ddot,       relative acceleration of a P joint,  m/s^2       E_i   L95 (61), (69)
            h_star        the second with the offset d_i
w_r, w'_r   w, w_dot      turn about the axis of joint r, i <  rad/s ...   -     L95 (80), (81)
                          s
rho_i       rho           force of a P joint without outer     N           -     L95 (63), (83)
                          joints
mu_i        mu            force carried inward                 N           E_i   L95 (66)
zeta_i      zeta          moment carried inward                N m         E_i   L95 (67), (75)
rho_i       rho           mass centre of link i from O_i       m           E_i   A (15)
p''_i       p_ddot        acceleration of that mass centre     m/s^2       E_i   A (41)
                          minus g
W_i         W             U_i of the motion in Angeles'        1/s^2       E_i   A (53)
                          letters
v_i, w_i    v, x          sums of inertia forces and moments   N, N m      E_i   A (49), (46)
A           A             mass matrix                          kg m^2 ...  -     KD 9.5, 9.6
c_hat       c_x, c_y      first moment of the composite body   kg m        E_i   L95 (8)
J_hat_3     J_3           third column of its tensor           kg m^2      E_i   L95 (9)
u, a        u, a          axis of joint m; velocity it gives   -, m        E_i   L94 (16), (17)
                          to O_i
J*_j        J_star        inertia (6x6) as felt by joint j     kg ...      E_j   KD 9.120
K_j         K             J*_j without what joint j yields     kg ...      E_j   KD 9.117
gamma_j     gamma         acceleration by velocities alone (6) m/s^2 ...   E_j   KD 9.101
beta_j      beta          outer and gyroscopic wrench (6)      N, N m      E_j   KD 9.103
alpha_j     alpha         wrench of link j-1 on link j by      N, N m      E_j   KD 9.118
                          velocities and torques
S_j         S             unit twist of joint j; in `lagrange` -, m        E_i   LM (21)
                          at O_0 in E_0
C           C             Coriolis matrix by Christoffel       kg m^2/s    -     KD 9.7
                          symbols
Q           Q             torque that holds the arm against    N m, N      -     KD 9.8
                          gravity
Y           Y             regressor: tau = Y x                 -           -     LM (2), (47)
W, Z        W, Z          Y = dW/dt + Z, W x the momentum      -           -     LM (30), (47)
H_i         H             U_i of the motion in Lu & Meng's     1/s^2       E_i   LM (68)
                          letters
theta       theta         16 parameters per link               kg, ...     -     LM (76)
h           h             first moment of the links outside of kg m        E_i   SRW
                          joint i
J           J             their tensor about O_i               kg m^2      E_i   SRW
e           e             twice their momentum relative to O_i kg m/s      E_i   SRW
D           D             twice the angular part of B, the     kg m^2/s    E_i   SRW
                          rate of their inertia
u           u             omega x z_i                          rad/s       E_i   SRW
J           jacobian      velocity of the tip per joint        m, 1        -     -
                          velocity
=========== ============= ==================================== =========== ===== ==============
"""
