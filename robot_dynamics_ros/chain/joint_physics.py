# SPDX-License-Identifier: Apache-2.0
"""What a joint adds to the rigid-body torque: rotor, friction, offset, transmission coupling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, immutable, read_only
from robot_dynamics_ros.errors import ParameterError

#: Terms per joint, all of them keys of the joints file.
PER_JOINT = ('rotor_inertia', 'viscous', 'coulomb', 'offset', 'static', 'stribeck_velocity',
             'load_friction', 'viscous_asymmetry', 'presliding')
_NOT_NEGATIVE = ('viscous', 'coulomb', 'static', 'stribeck_velocity', 'load_friction',
                 'presliding')


def _left_out() -> Array:
    """Return what stands for a term that is not given: no number at all."""
    return np.zeros(0)


@immutable
@dataclass(frozen=True, eq=False)
class JointPhysics:
    """
    Joint terms of the torque, one value per joint, all on the joint side of the gear.

    ``tau = load + viscous qd + viscous_asymmetry |qd| + level direction + offset``, where `load`
    is the torque of the rigid links and of ``rotor_inertia qdd`` (Khalil & Dombre 9.3.4-9.3.5).
    ``level`` is the dry friction: `coulomb`, near standstill rising to `static` (Stribeck, 9.26),
    and growing with the load of the gear, ``load_friction |load|``. ``direction`` is the sign of
    the velocity, smoothed to ``tanh(qd / coulomb_velocity)``; with ``coulomb_velocity = 0`` it is
    the exact sign. With `presliding`, it turns over such a distance after a reversal (Dahl);
    that takes the history of the motion, see `direction_along`.

    One term is enough to make one, ``JointPhysics(viscous=[0.1, 0.2])``: terms that are left out
    are zero.

    :param rotor_inertia: (n,) rotor inertia times squared gear ratio [kg m^2, kg]; negative only
        where torques are those of a sensor on the link side, which does not feel what of its own
        link lies before it (`EffortSemantics.side`).
    :param viscous: (n,) viscous friction [N m s/rad, N s/m].
    :param coulomb: (n,) Coulomb friction [N m, N].
    :param offset: (n,) torque at rest that the model does not explain [N m, N].
    :param coulomb_velocity: velocity at which the smooth sign reaches tanh(1) [rad/s, m/s].
    :param coupling: (n, n) constant matrix J with ``q = J q_motor``, or None for no coupling.
    :param static: (n,) friction at the limit of standstill [N m, N]; None: equal to `coulomb`.
    :param stribeck_velocity: (n,) velocity of the Stribeck transition [rad/s, m/s]; goes
        with `static`.
    :param load_friction: (n,) dry friction per unit of load [1], below 1; None = none.
    :param viscous_asymmetry: (n,) half the difference of the viscous friction in positive and in
        negative direction [N m s/rad, N s/m], at most `viscous`; None = equal. The difference of
        Coulomb frictions is part of `offset`.
    :param presliding: (n,) distance after a reversal over which the dry friction turns by
        1 - 1/e [rad, m]; 0 = at once; None = at once in all joints.
    """

    rotor_inertia: Array = field(default_factory=_left_out)
    viscous: Array = field(default_factory=_left_out)
    coulomb: Array = field(default_factory=_left_out)
    offset: Array = field(default_factory=_left_out)
    coulomb_velocity: float = 0.01
    coupling: Array | None = None
    static: Array | None = None
    stribeck_velocity: Array | None = None
    load_friction: Array | None = None
    viscous_asymmetry: Array | None = None
    presliding: Array | None = None

    def __post_init__(self) -> None:
        """Copy the arrays, make them read-only and check sizes and signs."""
        terms = {name: read_only(getattr(self, name)) for name in PER_JOINT
                 if getattr(self, name) is not None}
        first = next((name for name, values in terms.items() if values.size), 'rotor_inertia')
        n = terms[first].size
        for name, given in terms.items():
            values = given if given.shape != (0,) else read_only(np.zeros(n))
            object.__setattr__(self, name, values)
            if values.shape != (n,):
                raise ParameterError(f'joint physics: {name} has shape {values.shape}, '
                                     f'expected ({n},) like {first}')
        if (self.static is None) != (self.stribeck_velocity is None):
            raise ParameterError('joint physics: static friction and stribeck_velocity belong '
                                 'together; give both or none')
        velocity = float(self.coulomb_velocity)
        if not (np.isfinite(velocity) and velocity >= 0.0):
            raise ParameterError('joint physics: coulomb_velocity must be finite and >= 0, '
                                 f'got {velocity}')
        object.__setattr__(self, 'coulomb_velocity', velocity)
        if self.coupling is not None:
            coupling = read_only(self.coupling)
            if coupling.shape != (n, n):
                raise ParameterError(f'joint physics: coupling has shape {coupling.shape}, '
                                     f'expected ({n}, {n})')
            object.__setattr__(self, 'coupling', coupling)

    @classmethod
    def zero(cls, n: int) -> JointPhysics:
        """Return joints without rotor, friction or offset."""
        return cls(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n))

    def __repr__(self) -> str:
        """Return the number of joints, and the terms that they have with their values."""
        given = {name: getattr(self, name) for name in PER_JOINT}
        terms = [f'{name} = [{", ".join(f"{value:.4g}" for value in values)}]'
                 for name, values in given.items() if values is not None and np.any(values)]
        terms += ['coupling'] * (self.coupling is not None and bool(np.any(self.coupling)))
        return f'<JointPhysics, n = {len(self)}: {", ".join(terms) or "nothing"}>'

    def __len__(self) -> int:
        """Return the number of joints."""
        return self.rotor_inertia.size

    def check(self, joint_names: Sequence[str]) -> None:
        """
        Refuse values that no joint can have, naming the joint.

        :raises ParameterError: wrong number of joints, a negative or non-finite value, a
            singular coupling matrix. NaN in `rotor_inertia` is allowed: it means "grouped into
            a minimal parameter"; a negative one is that of a joint with a torque sensor.
        """
        if len(self) != len(joint_names):
            raise ParameterError(f'joint physics is for {len(self)} joints, the chain has '
                                 f'{len(joint_names)}: {", ".join(joint_names)}')
        for name in PER_JOINT:
            values = getattr(self, name)
            if values is None:
                continue
            for joint, value in zip(joint_names, values):
                if name in _NOT_NEGATIVE and value < 0.0:
                    raise ParameterError(f'joint {joint}: {name} is {value:g}; it cannot be '
                                         'negative (check the sign of the effort)')
                if name == 'stribeck_velocity' and value == 0.0:
                    raise ParameterError(f'joint {joint}: stribeck_velocity is 0; it must be '
                                         'positive')
                if name == 'load_friction' and value >= 1.0:
                    raise ParameterError(f'joint {joint}: load_friction is {value:g}; from 1 on a '
                                         'load could not be moved at all')
                if not np.isfinite(value) and not (name == 'rotor_inertia' and np.isnan(value)):
                    raise ParameterError(f'joint {joint}: {name} is not finite ({value})')
        if self.viscous_asymmetry is not None:
            for joint, value, most in zip(joint_names, self.viscous_asymmetry, self.viscous):
                if abs(value) > most:
                    raise ParameterError(f'joint {joint}: viscous_asymmetry is {value:g}, more '
                                         f'than the viscous friction {most:g}: it would drive '
                                         'the joint')
        if self.coupling is not None:
            check_coupling(self.coupling, joint_names)


def check_coupling(coupling: ArrayLike, joint_names: Sequence[str]) -> None:
    """
    Refuse a matrix that does not carry every motor torque to a joint.

    :param coupling: (n, n) constant matrix J with ``q = J q_motor``.
    :param joint_names: n names, for the message.
    :raises ParameterError: a singular matrix, or an entry that is not finite.
    """
    matrix = np.asarray(coupling, dtype=np.float64)
    if not np.all(np.isfinite(matrix)):
        raise ParameterError('coupling matrix has non-finite entries')
    _, singular_values, right = np.linalg.svd(matrix)
    if singular_values[-1] < 1e-9 * max(singular_values[0], 1e-300):
        involved = [name for name, part in zip(joint_names, np.abs(right[-1])) if part > 1e-6]
        raise ParameterError('coupling matrix is singular: the motors of joints '
                             f'{", ".join(involved)} do not move the arm independently')
