# SPDX-License-Identifier: Apache-2.0
"""
The bodies nearest to references that explain an estimate, by damped Newton steps.

Minimises over bodies Y_i and further unknowns a >= 0

    |C z - f|^2 / (2 lambda) + sum_i (trace Y_i - log det Y_i - 4) + kappa sum a
                             + mu sum (s / s_0 - log s)

with z = (y, a) and slacks s of linear conditions. The second term is the log-det divergence of
the pseudo-inertias from their references (Lee, Wensing & Park 2020): convex, zero at the
references, infinite for bodies that cannot exist. The last one is the same for the slacks, so
that it does not draw bodies away from references that satisfy the conditions. With lambda = 0,
``C z = f`` holds exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.estimation.consistency.body_space import (
    ENTRIES,
    ORDER,
    symmetric_from_entries,
)

#: Cost of a further unknown as large as its scale, in units of the divergence.
KAPPA = 0.6

#: Weight of the conditions at the start and at the end, and how it falls with lambda.
_FIRST_BARRIER, _LAST_BARRIER, _FALL = 1.0, 1e-8, 0.1

#: Newton's decrement squared, about twice what is left to gain: where a minimum is found, and
#: where a step of the path ends. Rounding errors of bad equations may forbid the first: then a
#: decrement below the third that does not fall any more is as good.
_FOUND, _NEAR, _STALLED = 1e-12, 1e-3, 1e-6

#: lambda is at least this part of the squared error of the equations.
_SMALLEST_PART = 1e-7

#: More Newton steps are not taken for one minimum; a convex problem of this kind takes about ten.
_STEPS = 60

#: Eigenvalues below this are rounding errors of a matrix with ones on its diagonal.
_ROUNDING = 1e-15

#: A slack below this part of its scale would be a rounding error.
_LEAST_SLACK = 1e-13

_BASIS = np.array([symmetric_from_entries(unit) for unit in np.eye(ENTRIES)])


@dataclass(frozen=True, eq=False)
class Bounds:
    """
    Linear conditions ``rows @ z >= limits`` on the unknowns.

    :param rows: (k, N) coefficients.
    :param limits: (k,) right-hand sides.
    :param typical: (k,) slacks s_0 of the references; infinite = as large as possible.
    """

    rows: Array
    limits: Array
    typical: Array

    def slacks(self, z: Array) -> Array:
        """Return rows @ z - limits: positive inside."""
        return np.asarray(self.rows @ z - self.limits)


@dataclass(frozen=True, eq=False)
class Minimum:
    """
    Result of a minimisation.

    :param z: (N,) unknowns.
    :param divergence: divergence from the references.
    :param converged: whether Newton's method found the minimum.
    :param steps: number of Newton steps.
    """

    z: Array
    divergence: float
    converged: bool
    steps: int


class BodyProblem:
    """
    The problem without its weights.

    :param C: (m, N) equations; N is ten per body and one per further unknown.
    :param f: (m,) right-hand side.
    :param bodies: number of bodies.
    :param bounds: conditions; those on the further unknowns are among them.
    """

    def __init__(self, C: Array, f: Array, bodies: int, bounds: Bounds) -> None:
        self.C, self.f, self.bodies, self.bounds = C, f, bodies, bounds
        self._split = ENTRIES * bodies
        typical = np.where(np.isfinite(bounds.typical), bounds.typical, 1.0)
        self._least_slacks = _LEAST_SLACK * np.maximum(typical, np.abs(bounds.limits))

    def nearest(self, start: Array, weight: float) -> Minimum:
        """
        Return the minimum for a lambda, along a path from weak to strong equations.

        :param start: (N,) unknowns that satisfy all conditions strictly.
        :param weight: lambda at the end.
        """
        size = float(np.sum((self.C @ start - self.f) ** 2))
        lam, mu, steps = max(size, weight), _FIRST_BARRIER, 0
        z, reached = start, None
        while True:
            # where no body explains the estimate, smaller weights change nothing but the rounding
            least = max(weight, _SMALLEST_PART * float(np.sum((self.C @ z - self.f) ** 2)))
            last = lam <= least and mu <= _LAST_BARRIER
            found = self._minimum(z, lam, mu, _FOUND if last else _NEAR)
            z, steps = found.z, steps + found.steps
            if not found.converged and reached is not None:
                return replace(reached, steps=steps)  # the rest is beyond the arithmetic
            if last or not found.converged:
                return replace(found, steps=steps)
            reached = found
            lam, mu = max(lam * _FALL, least), max(mu * _FALL, _LAST_BARRIER)

    def exact(self, start: Array) -> Minimum | None:
        """Return the minimum with ``C z = f``; None if no body inside the bounds has it."""
        z, nu = start, np.zeros(len(self.f))
        scale = max(float(np.linalg.norm(self.f)), 1.0)
        for steps in range(1, _STEPS + 1):  # noqa: B007
            gradient, H = self._derivatives(z, _LAST_BARRIER)
            dz, new = self._newton(gradient, H, self.f - self.C @ z, 0.0)
            before = self._residual(z, nu)
            part = self._inside(z, dz)
            while part > 1e-10 and (self._residual(z + part * dz, nu + part * (new - nu))
                                    > (1.0 - 0.01 * part) * before):
                part *= 0.5
            if part <= 1e-10:
                break
            z, nu = z + part * dz, nu + part * (new - nu)
            if part == 1.0 and float(dz @ H @ dz) < _FOUND:
                break
        if np.linalg.norm(self.C @ z - self.f) > 1e-11 * scale:
            return None
        gradient, H = self._derivatives(z, _LAST_BARRIER)
        dz, _ = self._newton(gradient, H, self.f - self.C @ z, 0.0)
        return Minimum(z, self.divergence(z), float(dz @ H @ dz) < _NEAR, steps)

    def divergence(self, z: Array) -> float:
        """Return the divergence of the bodies from their references."""
        Y = self._matrices(z)
        return float(np.sum(np.trace(Y, axis1=1, axis2=2) - np.linalg.slogdet(Y)[1] - ORDER))

    def _minimum(self, z: Array, lam: float, mu: float, enough: float) -> Minimum:
        converged, before = False, np.inf
        for steps in range(1, _STEPS + 1):  # noqa: B007
            gradient, H = self._derivatives(z, mu)
            error = self.f - self.C @ z
            dz, _ = self._newton(gradient, H, error, lam)
            change = self.C @ dz
            decrement = float(dz @ H @ dz + change @ change / lam)
            # Newton's method squares small decrements: one that does not fall is rounding
            if decrement < enough or 0.25 * before < decrement < _STALLED:
                converged = True
                break
            before = decrement
            here = self._value(z, mu) + float(error @ error) / (2.0 * lam)
            part = self._inside(z, dz)
            while part > 1e-12:
                left = error - part * change
                there = self._value(z + part * dz, mu) + float(left @ left) / (2.0 * lam)
                if there <= here - 0.1 * part * decrement + 1e-13 * abs(here):
                    break
                part *= 0.5
            if part <= 1e-12:
                break  # rounding errors of the value hide the way down
            z = z + part * dz
        return Minimum(z, self.divergence(z), converged or decrement < _NEAR, steps)

    def _newton(self, gradient: Array, H: Array, error: Array,
                lam: float) -> tuple[Array, Array]:
        """Return the Newton step and the multipliers of the equations."""
        # thin bodies have large entries: scaled, and with a root that rounding cannot make complex
        d = 1.0 / np.sqrt(np.diag(H))
        eigenvalues, Q = np.linalg.eigh(H * np.outer(d, d))
        root = (Q / np.sqrt(np.maximum(eigenvalues, _ROUNDING))).T * d  # root.T @ root = H^-1
        V, g = root @ self.C.T, root @ gradient
        K = V.T @ V
        nu = np.linalg.lstsq(K + lam * np.eye(len(K)), -(error + V.T @ g), rcond=1e-15)[0]
        return np.asarray(-root.T @ (g + V @ nu)), np.asarray(nu)

    def _matrices(self, z: Array) -> Array:
        return np.asarray(np.einsum('na,aij->nij', z[:self._split].reshape(-1, ENTRIES), _BASIS))

    def _inside(self, z: Array, dz: Array) -> float:
        """Return the part of a step (1, 1/2, ...) that stays strictly inside."""
        part = 1.0
        while part > 1e-12:
            there = z + part * dz
            if (np.all(self.bounds.slacks(there) > self._least_slacks)
                    and np.all(np.linalg.eigvalsh(self._matrices(there))[:, 0] > 0.0)):
                return part
            part *= 0.5
        return 0.0

    def _value(self, z: Array, mu: float) -> float:
        slacks = self.bounds.slacks(z)
        return (self.divergence(z) + KAPPA * float(np.sum(z[self._split:]))
                + mu * float(np.sum(slacks / self.bounds.typical - np.log(slacks))))

    def _derivatives(self, z: Array, mu: float) -> tuple[Array, Array]:
        inverse = np.linalg.inv(self._matrices(z))
        T = inverse[:, None] @ _BASIS
        gradient = np.full(len(z), KAPPA)
        gradient[:self._split] = (np.trace(_BASIS, axis1=1, axis2=2)
                                  - np.trace(T, axis1=2, axis2=3)).ravel()
        H = np.zeros((len(z), len(z)))
        for k, block in enumerate(np.einsum('naij,nbji->nab', T, T)):
            here = slice(ENTRIES * k, ENTRIES * (k + 1))
            H[here, here] = block
        slacks, rows = self.bounds.slacks(z), self.bounds.rows
        scaled = rows / slacks[:, None]
        gradient += mu * (1.0 / self.bounds.typical - 1.0 / slacks) @ rows
        return gradient, H + mu * scaled.T @ scaled

    def _residual(self, z: Array, nu: Array) -> float:
        gradient, _ = self._derivatives(z, _LAST_BARRIER)
        return float(np.hypot(np.linalg.norm(gradient + self.C.T @ nu),
                              np.linalg.norm(self.C @ z - self.f)))
