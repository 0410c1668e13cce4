# SPDX-License-Identifier: Apache-2.0
"""A payload with standard deviations, and which of its values the data determine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.effort import EffortSemantics
from robot_dynamics_ros.chain.inertia import Inertia, payload_inertia
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState, MlcEstimate
from robot_dynamics_ros.errors import IdentificationError, ParameterError

#: Prior standard deviations of the ten standard parameters: 30 kg within 0.3 m of the tip.
PRIOR_SIGMA = read_only([30.0 * 0.3**2] * 6 + [30.0 * 0.3] * 3 + [30.0])

#: The mass is known if its standard deviation is below this part of it.
MASS_PART = 0.3

#: A coordinate of the centre of mass is known if its standard deviation is below this [m].
CENTRE_LIMIT = 0.03

#: The inertia is known if all standard deviations are below this part of its largest moment.
TENSOR_PART = 0.3


@dataclass(frozen=True, eq=False)
class PayloadEstimate:
    """
    A payload at the tip, as far as the data determine it.

    Values that are not known well enough are kept for inspection; `reasons` says why.

    :param tip: name of the tip link, in whose frame all values are given.
    :param mass: mass [kg].
    :param mass_standard_deviation: standard deviation of the mass [kg].
    :param centre: (3,) centre of mass [m].
    :param centre_standard_deviations: (3,) standard deviations of the centre [m].
    :param tensor: (3, 3) inertia about the centre of mass [kg m^2].
    :param tensor_standard_deviations: (3, 3) standard deviations of the inertia [kg m^2].
    :param mass_known: whether the data determine the mass.
    :param centre_known: which coordinates of the centre the data determine.
    :param tensor_known: whether the data determine the inertia.
    :param reasons: why something is not known.
    :param error_without: RMS of the torque unexplained without the payload, over RMS torque.
    :param error_with: RMS of the torque unexplained with the payload, over RMS torque.
    :param assumptions: assumptions that the standard deviations rest on.
    """

    tip: str
    mass: float
    mass_standard_deviation: float
    centre: Array
    centre_standard_deviations: Array
    tensor: Array
    tensor_standard_deviations: Array
    mass_known: bool
    centre_known: tuple[bool, bool, bool]
    tensor_known: bool
    reasons: tuple[str, ...]
    error_without: float = float('nan')
    error_with: float = float('nan')
    assumptions: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether mass and centre of mass are known: enough to compensate for gravity."""
        return self.mass_known and all(self.centre_known)

    @property
    def inertia(self) -> Inertia:
        """
        The payload in the tip frame; a point mass if its inertia is not known.

        :raises IdentificationError: mass or centre of mass is not known.
        """
        if not self.known:
            raise IdentificationError('not identifiable: ' + '; '.join(self.reasons))
        tensor = self.tensor if self.tensor_known else np.zeros((3, 3))
        return payload_inertia(self.mass, self.centre, tensor)


def payload_estimate(tip: str, parameters: Array, covariance: Array, *,
                     error_without: float = float('nan'), error_with: float = float('nan'),
                     doubts: tuple[str, ...] = (),
                     assumptions: tuple[str, ...] = ()) -> PayloadEstimate:
    """
    Return a payload with what the data determine of it.

    :param tip: name of the tip link.
    :param parameters: (10,) standard parameters in the tip frame.
    :param covariance: (10, 10) covariance of the parameters.
    :param error_without: RMS of the torque unexplained without the payload, over RMS torque.
    :param error_with: RMS of the torque unexplained with the payload, over RMS torque.
    :param doubts: reasons to trust nothing at all.
    :param assumptions: assumptions that the covariance rests on.
    """
    x, C = np.asarray(parameters, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    body = Inertia.from_standard_parameters(x)
    mass, mass_sigma = body.mass, float(np.sqrt(C[-1, -1]))
    reasons = list(doubts)
    mass_known = not doubts and mass > 0.0 and mass_sigma < MASS_PART * mass
    centre_sigma = _propagated(
        lambda y: Inertia.from_standard_parameters(y).centre_of_mass, x, C)
    tensor_sigma = _propagated(
        lambda y: Inertia.from_standard_parameters(y).central_tensor.ravel(), x, C).reshape(3, 3)
    tensor = body.central_tensor
    centre_known = mass_known & (centre_sigma < CENTRE_LIMIT)
    tensor_known = bool(np.all(centre_known))
    if not mass_known and not doubts:
        sign = 'is not positive' if mass <= 0.0 else 'is too uncertain'
        reasons.append(f'mass: {mass:.3g} +- {mass_sigma:.2g} kg {sign}')
    for axis, known, value, error in zip('xyz', centre_known, body.centre_of_mass,
                                         centre_sigma):
        if mass_known and not known:
            reasons.append(f'centre of mass {axis}: {1e3 * value:.0f} +- {1e3 * error:.0f} mm is '
                           'too uncertain')
    if tensor_known:
        largest = float(np.max(np.abs(np.linalg.eigvalsh(tensor))))
        if np.max(tensor_sigma) > TENSOR_PART * largest:
            tensor_known = False
            reasons.append('inertia: the motion does not show it well enough')
        else:
            try:
                payload_inertia(mass, body.centre_of_mass, tensor)
            except ParameterError as error:
                tensor_known = False
                reasons.append(f'inertia: {error}')
    a, b, c = centre_known.tolist()
    return PayloadEstimate(
        tip, mass, mass_sigma, read_only(body.centre_of_mass), read_only(centre_sigma),
        read_only(tensor), read_only(tensor_sigma), mass_known, (a, b, c), tensor_known,
        tuple(reasons), error_without, error_with, assumptions)


def scaled_with_efforts(estimate: MlcEstimate) -> bool:
    """
    Return whether the parameters of an arm have the scale of its efforts.

    A wrong gain scales what is learned of the arm as much as what is measured of the payload, so
    that only the payload is wrong, by as much as the gain. Where the parameters come from a
    description, all that the gain gets wrong of the arm's own torque is taken for payload.
    """
    return estimate.state != EstimateState.FROM_URDF


def gain_covariance(response: Array, effort: EffortSemantics) -> Array:
    """
    Return the covariance (10, 10) of a payload due to uncertain gains of the drives.

    :param response: (10, n) change of the parameters if the share of a drive is twice as large.
    :param effort: meaning of the efforts.
    """
    return np.asarray((response * effort.assumed_gain_deviation ** 2) @ response.T)


def gain_assumptions(chain: Chain, effort: EffortSemantics) -> tuple[str, ...]:
    """Return a sentence about every standard deviation of a gain that had to be assumed."""
    unknown = np.isnan(effort.gain_deviation)
    used = effort.assumed_gain_deviation
    names = np.array(chain.joint_names)
    return tuple(
        f'{100 * each:g} % standard deviation of the drive gains of '
        f'{", ".join(names[unknown & (used == each)])}: joints.yaml does not give gain_deviation, '
        'which robot-dynamics gains finds'
        for each in np.unique(used[unknown]))


def _propagated(function: Callable[[Array], Array], x: Array, covariance: Array) -> Array:
    """Return the standard deviations of a function of the parameters, to first order."""
    steps = 1e-6 * np.maximum(np.abs(x), 1e-3)
    with np.errstate(divide='ignore', invalid='ignore'):  # no mass, no centre: NaN
        slopes = np.column_stack([(function(x + h) - function(x - h)) / (2.0 * h.sum())
                                  for h in np.diag(steps)])
    variances = np.einsum('ik,kl,il->i', slopes, covariance, slopes)
    return np.asarray(np.sqrt(np.maximum(variances, 0.0)))
