# SPDX-License-Identifier: Apache-2.0
"""
FIGAROH 1.0.2 on our rows: its regressor, base parameters, ordinary and weighted least squares.

What was done to make it run: its entry point wants a folder of its own CSV files, a unified YAML
configuration and meshes; a subclass hands it rows instead, the configuration is a dictionary, and
the robot is its wrapper class without geometry, restricted to the joints of the recording. Its own
filter is not used, since the rows are filtered already. The coupling of a wrist is added as three
columns, as its example for the TX40 does.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from peers.cases import Case, relative_errors
from robot_dynamics_ros.arrays import Array, Mask


def errors(case: Case, q: Array, qd: Array, qdd: Array, tau: Array,
           tested: Mask) -> dict[str, Array]:
    """Return held-out errors by joint, then of all: ordinary and weighted least squares."""
    import pinocchio as pin
    from figaroh.identification.base_identification import BaseIdentification

    whole = pin.buildModelFromUrdf(str(case.urdf))
    kept = case.chain.joint_names
    locked = [k for k, name in enumerate(whole.names) if k and name not in kept]
    model = pin.buildReducedModel(whole, locked, pin.neutral(whole))
    if tuple(model.names)[1:] != kept:
        raise ValueError(f'other order of joints: {list(model.names)[1:]}')
    robot = SimpleNamespace(model=model, data=model.createData())
    n, N = model.nv, len(q)

    class OnRows(BaseIdentification):
        """FIGAROH's identification of rows that are smoothed already."""

        def load_param(self, config_file: str, setting_type: str = 'identification') -> None:
            self.identif_config = {
                'has_friction': True, 'has_actuator_inertia': True, 'has_joint_offset': True,
                'is_joint_torques': True, 'is_external_wrench': False, 'act_idxv': list(range(n)),
                'act_idxq': list(range(n)), 'active_joints': list(kept)}

        def load_trajectory_data(self, data_source: str | None = None) -> None:
            raise NotImplementedError

        def _compute_validation_metrics(self) -> None:
            """Judge on our held-out rows only: its own judge does not know further columns."""

    study = OnRows(robot)
    # rows stacked joint by joint, as FIGAROH does
    study.processed_data = {'positions': _configurations(model, q), 'velocities': qd,
                            'accelerations': qdd, 'torques': tau}
    study.num_samples = N
    study.calculate_full_regressor()
    study.initialize_standard_parameters()
    coupling = case.chain.joint_physics.coupling
    if coupling is not None:
        _couple(study, np.asarray(np.linalg.inv(coupling)), qd, qdd)
    W, training = study.dynamic_regressor, np.tile(~tested, n)
    study.dynamic_regressor = W[training]
    study.processed_data['torques'] = tau[~tested]
    study.num_samples = int(np.sum(~tested))
    result = {}
    for name, weighted in (('ordinary', False), ('weighted', True)):
        study.processed_data['torques'] = tau[~tested]
        phi = study.solve(decimate=False, plotting=False, wls=weighted)
        columns = np.delete(W, study._idx_eliminated, axis=1)[:, study._base_indices]
        predicted = (columns @ phi).reshape(n, N).T
        result[f'FIGAROH, {name}'] = relative_errors(tau[tested], predicted[tested])
    return result


def _configurations(model: object, q: Array) -> Array:
    """Return configurations: cosine and sine where a joint is continuous."""
    rows = []
    for joint, column in zip(model.joints[1:], q.T):  # type: ignore[attr-defined]
        rows += [np.cos(column), np.sin(column)] if joint.nq == 2 else [column]
    return np.column_stack(rows)


def _couple(study: object, inverse: Array, qd: Array, qdd: Array) -> None:
    """Add rotor, viscous and dry friction of motors that move two joints."""
    n, N = qd.shape[1], len(qd)
    for motor in range(n):
        joints = np.flatnonzero(inverse[motor])
        if joints.size < 2:
            continue
        speed = qd @ inverse[motor]
        for name, signal in (('Iam', qdd @ inverse[motor]), ('fvm', speed),
                             ('fsm', np.sign(speed))):
            column = np.zeros((n, N))
            column[joints] = inverse[motor, joints][:, None] * signal
            study.dynamic_regressor = np.column_stack(  # type: ignore[attr-defined]
                [study.dynamic_regressor, column.ravel()])  # type: ignore[attr-defined]
            study.standard_parameter[f'{name}{motor + 1}'] = 0.0  # type: ignore[attr-defined]
