# SPDX-License-Identifier: Apache-2.0
"""
Whether learning from a stream stands still, goes on or has converged.

Running averages say it: how fast the robot moves, how much new information its motion adds, and
how far predictions are from the torque. They also say what may be forgotten: nothing, while little
is added in its place.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.dynamics.minimal.estimate import EstimateState
from robot_dynamics_ros.errors import ParameterError
from robot_dynamics_ros.estimation.recursion.convergence import PossibleStates
from robot_dynamics_ros.estimation.recursion.recursive import RecursiveLeastSquares
from robot_dynamics_ros.estimation.recursion.stream_columns import StreamColumns

#: The robot stands still while all joints are slower than this part of their highest velocity.
_STILL = 0.01

#: Forgetting stops while new samples add less than this part of the information it removes.
_POOR = 0.7

#: Converged: at states that the robot may come to, the torque error due to uncertain parameters is
#: below this part of the torque; that of no joint is above the second number. The verdict of a
#: recording asks for 10 %, and half of its square is left to what no parameter explains:
#: 0.1 / sqrt(2). Of a single joint it asks for 50 %: two standard deviations.
_CONVERGED, _CONVERGED_JOINT = 0.07, 0.25

#: Not converged before so many samples, or fewer of so much motion [s].
_FEWEST, _SHORTEST = 200.0, 10.0

#: Not converged: recent prediction errors are this many times those that the residuals promise,
#: and more than this part of the torque.
_BAD, _BAD_PART = 2.0, 0.02

#: Memory of the averages, in samples used; a poor motion and bad predictions must be noticed
#: earlier.
_MEMORY, _SHORT_MEMORY = 400.0, 100.0

#: Prediction errors count up to this many standard deviations in the average of the last ones.
_LARGEST_ERROR = 10.0


def require_sizes(state: Mapping[str, Array], expected: Mapping[str, Array]) -> None:
    """
    Check that a state has arrays of the expected sizes.

    :param state: arrays of a state, these and others.
    :param expected: arrays of these sizes.
    :raises ParameterError: an array that is missing or has another size.
    """
    for name, values in expected.items():
        if name not in state or state[name].shape != values.shape:
            raise ParameterError(f'online estimation: {name} of the state is missing or has '
                                 'another size')


class LearningState:
    """
    Averages over the samples of one stream, and what they say of its estimate.

    :param chain: the robot.
    :param columns: columns of the unknowns at any state.
    :param horizon: time of motion after which the weight of a sample has fallen to 1/e [s].
    """

    def __init__(self, chain: Chain, columns: StreamColumns, horizon: float) -> None:
        n = len(chain)
        self._columns, self._horizon = columns, horizon
        self._possible = PossibleStates(chain)
        self._fastest = np.zeros(n)
        self._frozen = False
        self._gain = 0.0
        self._moved = np.zeros((2, n))  # mean squares of qd and qdd
        self._squares = np.zeros((2, n))  # mean squares of prediction errors and torques
        self._recent = np.zeros(n)  # mean square of the last prediction errors

    @property
    def relative_error(self) -> Array:
        """Recent relative error of the prediction one sample ahead (n,); NaN at first."""
        with np.errstate(invalid='ignore', divide='ignore'):
            return np.asarray(np.sqrt(self._squares[0] / self._squares[1]))

    @property
    def torque(self) -> Array:
        """Typical torques (n,) [N m, N]."""
        return np.asarray(np.sqrt(self._squares[1]))

    def freeze(self) -> None:
        """Take note of a sample that nothing is learned from."""
        self._frozen = True

    def at_rest(self, qd: Array) -> bool:
        """
        Return whether the robot stands still in the next sample; this freezes learning.

        :param qd: (n,) velocities [rad/s, m/s].
        """
        self._fastest = np.maximum(self._fastest, np.abs(qd))
        still = bool(np.all(np.abs(qd) <= _STILL * np.maximum(self._fastest, 1e-6)))
        if still:
            self.freeze()
        return still

    def moved(self, qd: Array, qdd: Array, samples: int) -> None:
        """
        Take the motion of a sample into account.

        :param qd: (n,) velocities [rad/s, m/s].
        :param qdd: (n,) accelerations [rad/s^2, m/s^2].
        :param samples: number of samples that were learned from so far.
        """
        motion = np.array([qd, qdd]) ** 2
        self._moved += (motion - self._moved) / min(samples + 1.0, _MEMORY)

    def may_forget(self, recursion: RecursiveLeastSquares) -> bool:
        """Return whether the motion adds enough to forget for it; if not, learning is frozen."""
        self._frozen = recursion.samples > _MEMORY and self._gain < _POOR * recursion.loss
        return not self._frozen

    def learned(self, recursion: RecursiveLeastSquares, tau: Array, error: Array,
                sigma: Array) -> None:
        """
        Take a sample into account that was learned from.

        :param recursion: estimate after the sample.
        :param tau: (n,) its torque [N m, N]; NaN = none.
        :param error: (n,) error of its prediction [N m, N]; NaN = none.
        :param sigma: (n,) standard deviation of the error that was expected [N m, N].
        """
        largest = _LARGEST_ERROR * sigma
        fade = 1.0 / min(recursion.samples, _MEMORY)
        short = max(fade, 1.0 / _SHORT_MEMORY)
        self._gain += short * (recursion.gain - self._gain)
        measured = np.isfinite(error)
        new = np.array([np.where(measured, error, 0.0), np.where(measured, tau, 0.0)]) ** 2
        self._squares += fade * (new - self._squares) * measured
        self._recent += short * (np.minimum(new[0], largest ** 2) - self._recent) * measured

    def verdict(self, recursion: RecursiveLeastSquares, covariance: Array, *,
                unsettled: bool) -> EstimateState:
        """
        Return whether learning has stopped, goes on or has converged.

        :param recursion: the estimate.
        :param covariance: (u, u) covariance of its unknowns.
        :param unsettled: whether the robot seems to have changed.
        """
        if self._frozen:
            return EstimateState.FROZEN
        good = (not unsettled and self._predicts(recursion)
                and self._determined(recursion, covariance))
        return EstimateState.CONVERGED if good else EstimateState.LEARNING

    def _predicts(self, recursion: RecursiveLeastSquares) -> bool:
        """Return whether the last predictions are about as good as the residuals promise."""
        promised = (_BAD * recursion.residual_sigma) ** 2 + _BAD_PART ** 2 * self._squares[1]
        return bool(np.all(self._recent <= promised))

    def _determined(self, recursion: RecursiveLeastSquares, covariance: Array) -> bool:
        """Return whether the parameters are known well enough wherever the robot may come to."""
        lasting = _SHORTEST * recursion.horizon / self._horizon
        if recursion.samples <= min(_MEMORY, max(_FEWEST, lasting)):
            return False
        Y = self._columns.at(*self._possible.states(*np.sqrt(self._moved)), recursion.x)
        whole, worst = self._possible.relative_spread(Y, recursion.x, covariance)
        return whole < _CONVERGED and worst < _CONVERGED_JOINT

    def state(self) -> dict[str, Array]:
        """Return the averages, for `restore`."""
        return {'fastest': self._fastest, 'averages': np.array([self._gain, 0.0]),
                'squares': self._squares, 'moved': self._moved}

    def restore(self, state: Mapping[str, Array]) -> None:
        """
        Continue from the averages of another stream of the same robot.

        :param state: arrays returned by `state`.
        :raises ParameterError: averages of another robot.
        """
        state = {'moved': np.zeros_like(self._moved), **state}  # older states have none
        require_sizes(state, self.state())
        self._fastest, self._squares = state['fastest'].copy(), state['squares'].copy()
        self._gain = float(state['averages'][0])
        self._moved = state['moved'].copy()

    def expect(self, sigma: Array) -> None:
        """
        Begin the average of the last prediction errors with those that are expected.

        :param sigma: (n,) standard deviations of the prediction errors [N m, N].
        """
        self._recent = sigma ** 2
