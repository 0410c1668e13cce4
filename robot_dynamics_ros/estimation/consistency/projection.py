# SPDX-License-Identifier: Apache-2.0
"""
Physically consistent link inertias from estimated minimal parameters.

A body can exist if its pseudo-inertia (Wensing, Kim & Slotine 2018), the 4 x 4 matrix of second
moments, first moment and mass, is positive definite. It can be this link if its mass also fits
into the space of the link (`hull`). Of all such bodies whose total mass is near a stated one,
those are chosen that explain the estimate, measured by its covariance, and diverge least from the
URDF (`barrier`): the split among the links cannot be measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.chain.chain import Chain, Finding
from robot_dynamics_ros.chain.inertia import Inertia
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.dynamics.minimal.numeric_set import stacked_regressor
from robot_dynamics_ros.errors import IdentificationError, ParameterError
from robot_dynamics_ros.estimation.consistency.barrier import BodyProblem, Bounds, Minimum
from robot_dynamics_ros.estimation.consistency.body_space import ENTRIES, BodySpace
from robot_dynamics_ros.estimation.consistency.hull import BodyHull, reach_hulls
from robot_dynamics_ros.estimation.consistency.reference import ReferenceBodies, reference_bodies
from robot_dynamics_ros.estimation.regression.recorded_torque import RecordedTorque
from robot_dynamics_ros.estimation.regression.torque_terms import TorqueTerms, Unknowns

#: Without a covariance, one standard deviation is this part of the torque.
_TORQUE = 0.01

#: Smallest eigenvalue of the correlations; those of noise-free data can be arbitrarily small.
_CORRELATION_FLOOR = 1e-10

#: Weight of the divergence: 1 = a body that differs by 100 % from the URDF is as likely as an
#: estimate one standard deviation away. Values without a covariance are matched as well as bodies
#: can. The last number keeps the equations solvable.
_BELIEF, _LITTLE_BELIEF, _LEAST_BELIEF = 1.0, 1e-6, 1e-13

#: Values are matched exactly if that adds no more than this to the divergence of the bodies.
_EXACT = 1.0

#: No exact match can pass that where the nearest bodies are this far off; with room for barriers.
_HOPELESS = 10.0 * _EXACT

#: Rotor inertia below this part of that of the link is not worth a finding.
_TRACE = 0.01

#: A torque error on the recording that grows by more than this is a finding.
_COSTLY = 0.01

#: A body that needs this part of its hull is kept from what the data ask for by the hull.
_FULL = 0.99

#: The total mass may differ from the stated one, or from that of the URDF, by this part.
MASS_TOLERANCE = 0.3


@dataclass(frozen=True, eq=False)
class ConsistentInertias:
    """
    A robot that can exist.

    :param chain: the chain with these link inertias.
    :param mlc: its minimal parameters.
    :param changed: False if the estimate was physically possible as it was.
    :param distance: distance from the estimate in standard deviations (Mahalanobis), without a
        covariance in percent of the torque; 0 if not changed.
    :param torque_error: RMS change of the torque over RMS torque: on the recording where there is
        one, else at random states.
    :param rotor_inertia: (n,) inertia of grouped rotors [kg m^2, kg] that is not part of the
        links, 0 elsewhere; the torque has it beside that of the chain.
    :param hulls: space that each body may fill, without what it carries.
    :param recorded_errors: RMS torque error over RMS torque on the recording, of the estimate and
        of this robot; None without a recording.
    :param findings: findings about bodies, mass and cost.
    :param steps: number of Newton steps that were taken.
    """

    chain: Chain
    mlc: MlcSet
    changed: bool
    distance: float
    torque_error: float
    rotor_inertia: Array
    hulls: tuple[BodyHull, ...]
    recorded_errors: tuple[float, float] | None
    findings: tuple[Finding, ...]
    steps: int

    @property
    def mass(self) -> float:
        """Total mass of the moving links [kg]."""
        return sum(link.mass for link in self.chain.links)


def consistent_inertias(chain: Chain, estimate: MlcSet, *, covariance: ArrayLike | None = None,
                        carried: Sequence[Inertia] | None = None,
                        hulls: Sequence[BodyHull] | None = None, mass: float | None = None,
                        mass_tolerance: float = MASS_TOLERANCE, rotors: Sequence[str] = (),
                        recorded: RecordedTorque | None = None,
                        unknowns: Unknowns | None = None) -> ConsistentInertias:
    """
    Return the physically possible robot nearest to an estimate.

    :param chain: the robot; its inertias are used where nothing was measured.
    :param estimate: minimal parameters with estimated values.
    :param covariance: (p, p) covariance of the estimate; a variance that is not finite means "not
        estimated". None = distances are those of the torque at random states.
    :param carried: known inertia of the bodies that are part of each link, in its frame E_i;
        None = none. The rest of the link must be physically possible too.
    :param hulls: space that each link may fill, without what it carries, in its frame E_i;
        None = boxes from the reach of the links.
    :param mass: total mass of the moving links with what they carry [kg]; None = that of the
        chain.
    :param mass_tolerance: part by which the total mass may differ from that.
    :param rotors: names of joints whose rotor inertia is grouped into the estimate. What a link
        would have to take beyond its own inertia becomes rotor inertia; for other joints it is
        part of the links.
    :param recorded: rows of the recording, for the torque error on them; None = torque errors are
        those at random states.
    :param unknowns: unknowns of the torque of the chain, which say what rotors add to the
        estimate; None = found.
    :raises ParameterError: sizes that do not match the chain, or a mass that no robot has.
    :raises IdentificationError: no solution is found.
    """
    if estimate.joint_names != chain.joint_names:
        raise ParameterError(f'the estimate is for {", ".join(estimate.joint_names)}, the chain '
                             f'has {", ".join(chain.joint_names)}')
    known = [Inertia.zero()] * len(chain.links) if carried is None else list(carried)
    fixed = np.concatenate([body.standard_parameters for body in known])
    own = [Inertia.from_standard_parameters(row)
           for row in (chain.standard_parameters - fixed).reshape(-1, 10)]
    spaces = reach_hulls(chain, own) if hulls is None else tuple(hulls)
    if len(spaces) != len(chain.links):
        raise ParameterError(f'{len(spaces)} hulls were given, the chain has '
                             f'{len(chain.links)} links')
    W = stacked_regressor(chain) @ estimate.right_inverse
    rows, weights = _weights(estimate, covariance, W)
    target = estimate.values - estimate.matrix @ fixed

    def misfit(bodies: Sequence[Inertia]) -> tuple[Array, Array]:
        x = np.concatenate([body.standard_parameters for body in bodies])
        return weights @ (estimate.matrix @ x)[rows], weights @ target[rows]

    band = _mass_band(chain, known, mass, mass_tolerance)
    reference = reference_bodies(chain.link_names, own, spaces, misfit, band)
    space = BodySpace.around(reference.bodies)
    G, scales = _rotor_columns(chain, estimate, rotors, reference, unknowns)
    B = np.hstack([estimate.matrix @ space.to_parameters, G])
    start = np.concatenate([space.entries_of(reference.start), np.full(len(scales), 0.1)])
    bounds = _bounds(space, spaces, start, reference.band)
    problem, scale = _problem(space, weights @ B[rows], weights @ target[rows], bounds)
    belief = _LITTLE_BELIEF if covariance is None else _BELIEF
    found, changed = _solved(problem, start, max(belief * scale**2, _LEAST_BELIEF))
    split = ENTRIES * len(chain.links)
    rotor = np.zeros(len(chain))
    rotor[[chain.joint_names.index(name) for name in rotors]] = found.z[split:] * scales
    result = chain.with_standard_parameters(space.to_parameters @ found.z[:split] + fixed)
    values = estimate.of(result)
    difference = values + G @ found.z[split:] - estimate.values
    distance = float(np.linalg.norm(weights @ difference[rows])) if changed else 0.0
    size = float(np.linalg.norm(W @ estimate.values))
    torque_error = float(np.linalg.norm(W @ difference)) / size if size else 0.0
    errors = None
    if recorded is not None:
        errors = (recorded.relative_error(np.zeros_like(difference)),
                  recorded.relative_error(difference))
        torque_error = recorded.relative_change(difference)
    split_off = [name for name, part in zip(rotors, found.z[split:]) if part > _TRACE]
    findings = [*reference.findings, *_rotor_findings(chain, rotor, split_off),
                *_cost_findings(result, spaces, reference, known, errors, torque_error)]
    return ConsistentInertias(result, estimate.with_values(values), changed, distance,
                              torque_error, read_only(rotor), spaces, errors, tuple(findings),
                              found.steps)


def _mass_band(chain: Chain, known: Sequence[Inertia], mass: float | None,
               tolerance: float) -> tuple[float, float] | None:
    """Return the least and the largest mass of the bodies [kg]; None if nothing is known."""
    if not 0.0 < tolerance < 1.0:
        raise ParameterError(f'mass_tolerance must be between 0 and 1, got {tolerance}')
    carried = sum(body.mass for body in known)
    if mass is None:
        own = sum(link.mass for link in chain.links) - carried
        return None if own <= 0.0 else ((1.0 - tolerance) * own, (1.0 + tolerance) * own)
    if not np.isfinite(mass) or (1.0 + tolerance) * mass <= carried:
        raise ParameterError(f'a total mass of {mass:g} kg is not possible: the links carry '
                             f'{carried:.3g} kg that is known')
    return (max((1.0 - tolerance) * mass - carried, 0.0), (1.0 + tolerance) * mass - carried)


def _rotor_columns(chain: Chain, estimate: MlcSet, rotors: Sequence[str],
                   reference: ReferenceBodies,
                   unknowns: Unknowns | None) -> tuple[Array, Array]:
    """
    Return what rotor inertias add to the minimal parameters.

    :returns: columns (p, r) for rotors as large as the inertia of their link, and these sizes.
    """
    unknown = [name for name in rotors if name not in chain.joint_names]
    if unknown:
        raise ParameterError(f"rotors: joint '{unknown[0]}' is not on the chain")
    if not rotors:
        return np.zeros((len(estimate), 0)), np.zeros(0)
    choice = TorqueTerms(chain).choice() if unknowns is None else unknowns
    minimal = [k for k, name in enumerate(choice.names) if name in choice.mlc.names]
    to_estimate = choice.mlc.conversion_to(estimate)
    columns, scales = [], []
    for name in rotors:
        j = chain.joint_names.index(name)
        place = [joint.name for joint in chain.moving].index(name)
        grouped = choice.grouping[:, choice.all_names.index(f'Ia{j + 1}')]
        part = dict(zip((choice.names[k] for k in minimal), grouped[minimal]))
        # the inertia of a link may be that of a point on the axis: its space has an extent
        scale = max(body.tensor[2, 2] if chain.joints[j].revolute else body.mass
                    for body in (reference.bodies[place], reference.start[place]))
        columns.append(scale * to_estimate @ [part.get(each, 0.0) for each in choice.mlc.names])
        scales.append(scale)
    return np.column_stack(columns), np.array(scales)


def _bounds(space: BodySpace, hulls: Sequence[BodyHull], start: Array,
            band: tuple[float, float] | None) -> Bounds:
    """Return the conditions: bodies in their hulls, total mass in its band, rotors positive."""
    bodies, size = len(space.reference), len(start)
    parts = []
    for k, hull in enumerate(hulls):
        rows = np.zeros((len(hull.normals), size))
        rows[:, ENTRIES * k:ENTRIES * (k + 1)] = space.condition_rows(k, hull.conditions)
        parts.append(rows / np.linalg.norm(rows, axis=1, keepdims=True))
    limits = [np.zeros(len(rows)) for rows in parts]
    if band is not None:
        total = np.zeros((1, size))
        total[:, :bodies] = space.to_parameters[9::10].sum(axis=0)
        parts += [total, -total]
        limits += [np.array([band[0]]), np.array([-band[1]])]
    parts.append(np.eye(size)[bodies:])
    limits.append(np.zeros(size - bodies))
    rows, right = np.concatenate(parts), np.concatenate(limits)
    slacks = rows[:, :bodies] @ space.reference - right
    slacks[len(rows) - (size - bodies):] = np.inf  # rotors have no reference
    # a reference that does not fit its hull is no measure
    return Bounds(rows, right, np.where(slacks > 0.0, slacks, rows @ start - right))


def _problem(space: BodySpace, C: Array, f: Array, bounds: Bounds) -> tuple[BodyProblem, float]:
    """Return the problem with equations of moderate size, and the factor that makes them so."""
    scale = 1.0 / float(np.max(np.abs(C)))
    return BodyProblem(C * scale, f * scale, len(space), bounds), scale


def _solved(problem: BodyProblem, start: Array, weight: float) -> tuple[Minimum, bool]:
    """Return the unknowns, and whether they are not exactly those of the estimate."""
    found = problem.nearest(start, weight)
    if not found.converged:
        raise IdentificationError('no physically possible robot was found near the estimate: '
                                  f'the search stopped after {found.steps} steps')
    # the minimum with both is not above that of the divergence alone, among exact matches
    if float(np.sum((problem.C @ found.z - problem.f) ** 2)) > _HOPELESS * 2.0 * weight:
        return found, True
    exact = problem.exact(found.z)
    if exact is None or not exact.converged or exact.divergence > found.divergence + _EXACT:
        return found, True
    return replace(exact, steps=found.steps + exact.steps), False


def _weights(estimate: MlcSet, covariance: ArrayLike | None,
             W: Array) -> tuple[NDArray[np.intp], Array]:
    """
    Return which parameters were estimated, and R with ``|R (w - w_hat)|`` the distance.

    :returns: indices (m,) and matrix (m, m).
    """
    p = len(estimate)
    if covariance is None:
        size = _TORQUE * float(np.linalg.norm(W @ estimate.values))
        return np.arange(p, dtype=np.intp), np.asarray(np.linalg.qr(W, mode='r')) / size
    C = read_only(covariance)
    if C.shape != (p, p):
        raise ParameterError(f'covariance has shape {C.shape}, expected ({p}, {p})')
    variances = np.diag(C)
    rows = np.flatnonzero(np.isfinite(variances))
    if rows.size == 0 or np.any(variances[rows] < 0.0):
        raise ParameterError('covariance must have finite variances that are not negative')
    # a value without variance is taken as very precise, not as exact
    sigma = np.sqrt(variances[rows])
    positive = sigma[sigma > 0.0]
    sigma = np.maximum(sigma, 1e-6 * np.max(positive) if positive.size else 1.0)
    correlations = C[np.ix_(rows, rows)] / np.outer(sigma, sigma)
    eigenvalues, V = np.linalg.eigh(0.5 * (correlations + correlations.T))
    root = 1.0 / np.sqrt(np.maximum(eigenvalues, _CORRELATION_FLOOR))
    return rows, np.asarray((V * root).T / sigma)


def _rotor_findings(chain: Chain, rotor: Array, names: Sequence[str]) -> list[Finding]:
    return [Finding('rotor_inertia', joint.name, f'{value:.3g} '
                    f'{"kg m^2" if joint.revolute else "kg"} of what was identified is taken as '
                    'rotor inertia; give it in the joints file', float(value))
            for joint, value in zip(chain.joints, rotor) if joint.name in names]


def _cost_findings(result: Chain, hulls: Sequence[BodyHull], reference: ReferenceBodies,
                   known: Sequence[Inertia], errors: tuple[float, float] | None,
                   torque_error: float) -> list[Finding]:
    """Say what the bounds cost where they contradict the data, and which of them bind."""
    cost = torque_error if errors is None else errors[1] - errors[0]
    if cost < _COSTLY:
        return []
    own = [Inertia.from_standard_parameters(link.standard_parameters - body.standard_parameters)
           for link, body in zip(result.links, known)]
    mass = sum(body.mass for body in own)
    tight = [name for name, body, hull in zip(result.link_names, own, hulls)
             if hull.fullness(body) > _FULL]
    reasons = []
    if tight:
        reasons.append(f'{", ".join(tight)} fill their geometry: check it, and the payload')
    if reference.band is not None and not (
            1.001 * reference.band[0] < mass < 0.999 * reference.band[1]):
        reasons.append(f'the total mass of {mass:.3g} kg is at the end of what is allowed: state '
                       'the mass')
    if not reasons:
        reasons.append('the estimate is not that of bodies: record a motion that excites more')
    was = '' if errors is None else (f' from {100 * errors[0]:.2g} % to {100 * errors[1]:.2g} % '
                                     'on the recording')
    return [Finding('costly_bounds', '', 'possible bodies do not explain the data: the torque '
                    f'error grows by {100 * cost:.2g} %{was}; {"; ".join(reasons)}', cost)]
