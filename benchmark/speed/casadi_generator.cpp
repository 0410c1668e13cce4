// SPDX-License-Identifier: Apache-2.0
// Runs Pinocchio's algorithms on CasADi's symbols and writes peer_casadi.c. Argument: a file with
// the number of joints, gravity, and for each joint: revolute (0 or 1), rotation and translation
// in its parent, mass, centre of mass and tensor about it. See in_casadi.py.
#include <pinocchio/autodiff/casadi.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <fstream>
#include <string>

using casadi::SX;
using Vector = Eigen::Matrix<SX, Eigen::Dynamic, 1>;

template <class Matrix> void read(std::ifstream &in, Matrix &matrix)
{
    for (int i = 0; i < matrix.rows(); ++i) {
        for (int k = 0; k < matrix.cols(); ++k) {
            in >> matrix(i, k);
        }
    }
}

int main(int, char **arguments)
{
    std::ifstream in(arguments[1]);
    int n;
    in >> n;
    Eigen::Vector3d gravity, translation, centre;
    Eigen::Matrix3d rotation, tensor;
    read(in, gravity);
    pinocchio::Model numbers;
    pinocchio::JointIndex joint = 0;
    for (int i = 0; i < n; ++i) {
        int revolute;
        double mass;
        in >> revolute;
        read(in, rotation);
        read(in, translation);
        in >> mass;
        read(in, centre);
        read(in, tensor);
        const pinocchio::SE3 pose(rotation, translation);
        const std::string name = "joint" + std::to_string(i);
        joint = revolute ? numbers.addJoint(joint, pinocchio::JointModelRZ(), pose, name)
                         : numbers.addJoint(joint, pinocchio::JointModelPZ(), pose, name);
        numbers.appendBodyToJoint(joint, pinocchio::Inertia(mass, centre, tensor),
                                  pinocchio::SE3::Identity());
    }
    numbers.gravity.linear() = gravity;
    const pinocchio::ModelTpl<SX> model = numbers.cast<SX>();
    pinocchio::DataTpl<SX> data(model);

    const SX q = SX::sym("q", n), v = SX::sym("v", n), a = SX::sym("a", n);
    Vector eigen_q(n), eigen_v(n), eigen_a(n);
    for (int i = 0; i < n; ++i) {
        eigen_q[i] = q(i);
        eigen_v[i] = v(i);
        eigen_a[i] = a(i);
    }
    auto vector = [n](const Vector &values) {
        SX result(n, 1);
        for (int i = 0; i < n; ++i) {
            result(i) = values[i];
        }
        return densify(result);
    };
    auto matrix = [n](const auto &values, bool symmetric) {
        SX result(n, n);
        for (int i = 0; i < n; ++i) {
            for (int k = 0; k < n; ++k) {
                result(i, k) = symmetric && k < i ? values(k, i) : values(i, k);
            }
        }
        return densify(result);
    };
    casadi::CodeGenerator code("peer_casadi");
    pinocchio::rnea(model, data, eigen_q, eigen_v, eigen_a);
    code.add(casadi::Function("inverse_dynamics", {q, v, a}, {vector(data.tau)}));
    pinocchio::aba(model, data, eigen_q, eigen_v, eigen_a);
    code.add(casadi::Function("forward_dynamics", {q, v, a}, {vector(data.ddq)}));
    pinocchio::crba(model, data, eigen_q);
    code.add(casadi::Function("mass_matrix", {q}, {matrix(data.M, true)}));
    pinocchio::computeRNEADerivatives(model, data, eigen_q, eigen_v, eigen_a);
    code.add(casadi::Function("inverse_dynamics_derivatives", {q, v, a},
                              {matrix(data.dtau_dq, false), matrix(data.dtau_dv, false)}));
    pinocchio::computeABADerivatives(model, data, eigen_q, eigen_v, eigen_a);
    code.add(casadi::Function("forward_dynamics_derivatives", {q, v, a},
                              {matrix(data.ddq_dq, false), matrix(data.ddq_dv, false),
                               matrix(data.Minv, true)}));
    code.generate();
    return 0;
}
