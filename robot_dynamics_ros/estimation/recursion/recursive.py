# SPDX-License-Identifier: Apache-2.0
"""
Recursive least squares in square-root form, for streams.

The information of all samples is a triangle R with ``R^T R`` the information matrix. A sample is
n rows, each weighted by the standard deviation of its joint, which is learned from the errors of
the predictions made before the sample was used. Old information fades. A little of the prior flows
back in its place, one unknown per sample in turn, so no direction ever runs out of information (no
wind-up) and the triangle stays positive definite after any number of updates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.errors import ParameterError, StateError
from robot_dynamics_ros.estimation.recursion.recursive_kernel import (
    LANES,
    Sample,
    absorb,
    absorb_by_numpy,
    weigh,
    weigh_by_numpy,
)
from robot_dynamics_ros.estimation.regression.least_squares import (
    HUBER,
    Solution,
    condition_number,
)
from robot_dynamics_ros.estimation.regression.prior import Prior

#: The first guess of a variance counts as much as this many prediction errors.
_FIRST_SAMPLES = 20.0

#: A standard deviation never falls below this part of the typical torque.
_SMALLEST = 1e-9

#: Numbers of a state beyond this are not those of a robot.
_LARGEST = 1e100


class RecursiveLeastSquares:
    """
    Recursive least squares for the unknowns of the torque.

    :param prior: belief about the u unknowns.
    :param blocks: (u,) outermost joint, 0-based, whose torque each unknown acts on: row j of a
        regressor is zero for unknowns of smaller blocks.
    :param torque: (n,) typical torques [N m, N]; a tenth of them is the first guess of the
        standard deviations.
    :param horizon: number of samples after which the weight of a sample has fallen to 1/e;
        inf = no sample fades.
    :param robust: limit on the influence of samples with large errors.
    :param compiled: choice of the inner loops: True = numba, False = numpy, None = numba where
        installed.
    :raises ParameterError: a horizon that is not longer than one sample.
    """

    def __init__(self, prior: Prior, blocks: Sequence[int], torque: Array, *,
                 horizon: float = 6000.0, robust: bool = True,
                 compiled: bool | None = None) -> None:
        if not horizon > 1.0:
            raise ParameterError(f'recursive least squares: horizon must be more than one sample, '
                                 f'got {horizon}')
        u, n = prior.mean.size, len(torque)
        weights = 1.0 / prior.standard_deviations
        # the same bits as those of a restored state, which holds the weights
        self.prior = replace(prior, standard_deviations=1.0 / weights)
        self.forgetting = float(np.exp(-1.0 / horizon))
        self._order = np.argsort(np.asarray(blocks), kind='stable')
        sorted_blocks = np.asarray(blocks)[self._order]
        self._starts = np.searchsorted(sorted_blocks, np.arange(n)).astype(np.int64)
        self._limit = HUBER if robust else 0.0
        self._weigh, self._absorb = inner_loops(compiled)
        self._weights = weights[self._order]
        self._means = prior.mean[self._order]
        width = u // LANES + 1
        self._triangle = np.zeros((u, width, LANES))
        self._flat = self._triangle.reshape(u, -1)  # the same memory, as in the pairs below
        self._flat[:, :u] = np.diag(self._weights)
        self._flat[:, u] = self._weights * self._means
        self._x_blocks = np.zeros((width, LANES))
        self._x = self._x_blocks.reshape(-1)
        self._x[:u] = self._means
        self._sample = Sample(np.zeros((n + 1, width, LANES)), np.zeros(n + 1, dtype=np.int64),
                              np.empty(n), np.empty(LANES + n + 1))
        self._rows = self._sample.rows.reshape(n + 1, -1)
        self._leak = float(np.sqrt((1.0 - self.forgetting) * u))
        size = np.maximum(np.abs(torque), 1e-3 * np.max(np.abs(torque)))
        self._variances = np.stack([(0.1 * size) ** 2, np.full(n, _FIRST_SAMPLES),
                                     (_SMALLEST * size) ** 2, (0.1 * size) ** 2])
        self._scale = float(np.sqrt(self.forgetting))
        self._memory = horizon
        self._turn = 0
        self.samples = 0
        self.gain = 0.0
        #: Factor of the older rows in the last update.
        self.fading = 1.0

    @property
    def x(self) -> Array:
        """The unknowns (u,)."""
        result = np.empty(self.prior.mean.size)
        result[self._order] = self._x[:result.size]
        return result

    @property
    def horizon(self) -> float:
        """Number of samples after which the weight of a sample has fallen to 1/e."""
        return self._memory

    @property
    def residual_sigma(self) -> Array:
        """Standard deviation of the prediction error of each joint (n,) [N m, N]."""
        return np.asarray(np.sqrt(self._variances[0]))

    @property
    def triangle(self) -> Array:
        """R (u, u) with ``covariance = (R^T R)^-1``, columns in the order of the unknowns."""
        u = self.prior.mean.size
        result = np.empty((u, u))
        result[:, self._order] = self._flat[:, :u]
        return result

    @property
    def covariance(self) -> Array:
        """Covariance of the unknowns (u, u)."""
        inverse = np.linalg.inv(self.triangle)
        return np.asarray(inverse @ inverse.T)

    @property
    def condition_number(self) -> float:
        """Condition number of the triangle with columns of equal length."""
        return condition_number(self.triangle)

    @property
    def loss(self) -> float:
        """Information that one update forgets, in the same measure as `gain`."""
        return -0.5 * self.prior.mean.size * float(np.log(self.forgetting))

    def solution(self) -> Solution:
        """Return the state as the solution of a least squares."""
        return Solution(self.x, self.triangle, np.ones(self.prior.mean.size, dtype=np.bool_),
                        self.residual_sigma)

    def shift(self, by: Array) -> None:
        """
        Change the unknowns by known amounts, such as those of a payload; covariances stay.

        :param by: (u,) change of each unknown.
        """
        u = self.prior.mean.size
        step = by[self._order]
        self._flat[:, u] += self._flat[:, :u] @ step
        self._x[:u] += step
        self._means = self._means + step
        self.prior = replace(self.prior, mean=self.prior.mean + by)

    def state(self) -> dict[str, Array]:
        """Return the state that later updates depend on, for `restore`."""
        return {'triangle': self._flat.copy(), 'x': self._x.copy(),
                'deviations': self._variances.copy(), 'means': self._means.copy(),
                'weights': self._weights.copy(), 'counters': np.array([self._turn, self.samples]),
                'memory': np.array([self._memory, self.gain])}

    def restore(self, state: Mapping[str, Array]) -> None:
        """
        Continue from the state of another recursion with the same unknowns.

        :param state: arrays returned by `state`.
        :raises ParameterError: the state of other unknowns, not finite, or one that no recursion
            can have.
        """
        own = self.state()
        for name, values in own.items():
            given = state.get(name)
            if given is None or given.shape != values.shape or not np.all(np.isfinite(given)):
                raise ParameterError(f'recursive least squares: {name} of the state is missing, '
                                     'has another size or is not finite')
        (turn, samples), (memory, gain) = state['counters'], state['memory']
        possible = (0 <= turn < self._means.size and samples >= 0 and memory > 0.0 and gain >= 0.0
                    and np.all(state['weights'] > 0.0) and np.all(state['deviations'] >= 0.0)
                    and np.all(np.diag(state['triangle']) != 0.0)
                    and all(np.all(np.abs(state[name]) < _LARGEST) for name in own))
        if not possible:
            raise ParameterError('recursive least squares: the state holds numbers that no '
                                 'recursion has')
        self._flat[:] = state['triangle']
        self._x[:] = state['x']
        self._variances[:] = state['deviations']
        self._means, self._weights = state['means'].copy(), state['weights'].copy()
        self._turn, self.samples = (int(value) for value in state['counters'])
        self._memory, self.gain = (float(value) for value in state['memory'])
        self.forgetting = float(np.exp(-1.0 / self._memory))
        self._scale = float(np.sqrt(self.forgetting))
        self._leak = float(np.sqrt((1.0 - self.forgetting) * self._means.size))
        mean, sigma = np.empty((2, self._means.size))
        mean[self._order], sigma[self._order] = self._means, 1.0 / self._weights
        self.prior = replace(self.prior, mean=mean, standard_deviations=sigma)

    def update(self, Y: Array, tau: Array, forget: bool = True) -> Array:
        """
        Absorb one sample.

        :param Y: (n, u) regressor, finite.
        :param tau: (n,) torque [N m, N]; NaN = not measured.
        :param forget: whether old information fades.
        :returns: (n,) error of the prediction before the sample was used; NaN where not measured.
        :raises StateError: a wrong size.
        """
        u, n = self.prior.mean.size, self._starts.size
        if Y.shape != (n, u) or tau.shape != (n,):
            raise StateError(f'recursive least squares: regressor {Y.shape} and torque '
                             f'{tau.shape}, expected {(n, u)} and {(n,)}')
        rows, starts, error, buffer = self._sample
        # the prior makes up for what fades: one unknown per sample, all of them in u samples
        k = self._turn
        back = self._leak * self._weights[k] if forget else 0.0
        factor = self._weigh(Y, tau, self._x, self._order, self._starts, self._variances,
                             self._memory, self._limit, k, back, self._means[k], self._rows,
                             starts, error)
        self.fading = factor * (self._scale if forget else 1.0)
        self.gain = self._absorb(self._triangle, rows, starts, self.fading, buffer,
                                 self._x_blocks)
        self._turn = (k + 1) % u if forget else k
        self.samples += 1
        return error.copy()


KernelPair = tuple[Callable[..., float], Callable[..., float]]


def inner_loops(compiled: bool | None) -> KernelPair:
    """Return the inner loops, compiled if asked for and numba is installed."""
    if compiled is not False:
        try:
            return _compiled_kernels()
        except ImportError:
            if compiled:
                raise
    return weigh_by_numpy, absorb_by_numpy


@cache
def _compiled_kernels() -> KernelPair:
    """
    Return the inner loops as machine code, compiled now and not at the first sample of a stream.

    numba could keep them in a file, which saves a second per process. But then whoever can write
    that file decides what runs here.

    :raises ImportError: numba is not installed.
    """
    import numba

    quick = numba.njit(fastmath={'reassoc', 'contract', 'nsz'})
    trial = RecursiveLeastSquares(Prior(np.zeros(1), np.ones(1)), [0], np.ones(1), compiled=False)
    kernels: KernelPair = quick(weigh), quick(absorb)
    trial._weigh, trial._absorb = kernels
    trial.update(np.ones((1, 1)), np.ones(1))
    return kernels
