# SPDX-License-Identifier: Apache-2.0
"""
Exciting trajectories: short motions from which all parameters can be identified well.

Optimised Fourier series (Swevers et al. 1997) inside the limits of the robot, away from itself and
from its surroundings. Many random motions are tried first; the best of them is improved by
`search.descend`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.runtime.model import Model, compile_model
from robot_dynamics_ros.collision.motion import Clearance, clearance, first_violation
from robot_dynamics_ros.collision.postures import free_path
from robot_dynamics_ros.collision.scene import CollisionScene
from robot_dynamics_ros.errors import ExcitationError
from robot_dynamics_ros.estimation.excitation.fourier import (
    FourierBasis,
    FourierTrajectory,
    JointMotion,
)
from robot_dynamics_ros.estimation.excitation.information import (
    ExcitationRegressor,
    condition_number,
    quality_function,
)
from robot_dynamics_ros.estimation.excitation.limits import (
    ExcitationLimits,
    HeightPoints,
    check_start,
    motion_limits,
)
from robot_dynamics_ros.estimation.excitation.room import RoomBarrier
from robot_dynamics_ros.estimation.excitation.search import (
    BARRIERS,
    MotionProblem,
    descend,
    improved,
)
from robot_dynamics_ros.estimation.excitation.starts import feasible_starts, held_starts
from robot_dynamics_ros.estimation.regression.motion_quality import effort_scales

#: Samples per period of the highest harmonic: during the search, and for the final check.
_SEARCH_SAMPLES, _CHECK_SAMPLES = 12, 100

#: Random motions are made smaller by this factor until they are inside the limits.
_SHRINK, _MOST_SHRINKS = 0.9, 200

#: Random motions that are made free of collisions, the best ones first, and by which factor.
_FREE_MOTIONS, _FREE_SHRINK = 30, 0.75

#: Random motions that are improved side by side, and the iterations after which the best of them
#: goes on alone.
_RACERS, _RACE = 4, 10

#: Time between the first samples of the proof that a motion keeps its distances [s].
_PROOF_STEP = 0.05

#: A motion that was found may exceed the limits a little between the samples of the search. It is
#: made a little smaller, or else replaced by one on the way to it.
_SIZES = tuple(0.995**k for k in range(9))
_WAYS = (0.95, 0.9, 0.8, 0.65, 0.5, 0.25)

#: The sign in Coulomb friction is smoothed over this part of the velocity, to be differentiable.
_SMOOTH_SIGN = 0.1


@dataclass(frozen=True, eq=False)
class Excitation:
    """
    An exciting trajectory and how good it is.

    :param trajectory: the trajectory.
    :param limits: limits that it respects.
    :param columns: names of the p parameters that it excites.
    :param information: (p, p) information of this motion and those recorded before; see
        `ExcitationRegressor.information`.
    :param condition_number: condition number of the regressor of these motions with columns of
        unit length.
    :param random_condition_numbers: condition numbers of the random motions.
    :param utilisation: (4, n) largest position, velocity, acceleration and effort as fractions of
        `limits`; positions from the middle of their range.
    :param clearance: distance that the motion keeps from anything; None = not checked.
    :param start_note: why the default start was not taken; empty = it was, or one was given.
    :param way: (K, n) postures from `home` to the start, whose straight connections are free; None
        = not checked, or no home.
    """

    trajectory: FourierTrajectory
    limits: ExcitationLimits
    columns: tuple[str, ...]
    information: Array
    condition_number: float
    random_condition_numbers: Array
    utilisation: Array
    clearance: Clearance | None = None
    start_note: str = ''
    way: Array | None = None


def design_excitation(chain: Chain, *, scene: CollisionScene | None = None,
                      unchecked: bool = False, home: ArrayLike | None = None,
                      start: ArrayLike | None = None, duration: float = 10.0,
                      harmonics: int = 5, criterion: str = 'condition', share: float = 0.8,
                      acceleration: ArrayLike | None = None, height: float | None = None,
                      recorded: Sequence[tuple[JointMotion, float]] = (),
                      noise: ArrayLike | None = None, candidates: int = 200,
                      iterations: int = 100, seed: int = 0,
                      progress: Callable[[int, int], None] = lambda done, of: None) -> Excitation:
    """
    Return an exciting trajectory for a robot; the same arguments give the same trajectory.

    :param chain: the robot; its inertias are used only for the efforts.
    :param scene: robot and surroundings that must not be touched, see `collision_scene`.
    :param unchecked: True = design without a scene: nothing looks after collisions.
    :param home: (n,) posture where the robot stands before and after [rad, m]: the way from
        there to the start and back is planned; None = at the start.
    :param start: (n,) posture at both ends [rad, m]; None = zero or the middle of the range, or
        another posture where that one is not feasible.
    :param duration: duration of the trajectory [s].
    :param harmonics: number of harmonics; the highest frequency is harmonics / duration.
    :param criterion: 'condition' (number) or 'determinant' (D-optimality).
    :param share: fraction of the velocity, acceleration and effort limits that may be used.
    :param acceleration: acceleration limit for all joints or (n,) [rad/s^2, m/s^2]; None = by
        effort only.
    :param height: lowest height of tip and centres of mass above the base [m]; None = any.
    :param recorded: motions that were already recorded, and the time each covers [s]: the new one
        adds what they lack.
    :param noise: (n,) standard deviation of the efforts [N m, N]; None = proportional to the
        effort limits.
    :param candidates: number of random motions, the best of which starts the search.
    :param iterations: number of iterations in each stage; 0 = the best random motion.
    :param seed: seed of the random motions.
    :param progress: function that is called with the work done and the whole work.
    :raises ExcitationError: limits are missing, allow no motion, or the start is outside; no
        scene although `unchecked` is False.
    :raises CollisionError: the start is not free, or there is no free way to it.
    :raises TrajectoryError: a duration or number of harmonics that is not possible.
    """
    if candidates < 1 or iterations < 0:
        raise ExcitationError(f'{candidates} candidates and {iterations} iterations: at least 1 '
                              'candidate and 0 iterations are needed')
    if scene is None and not unchecked:
        raise ExcitationError('this motion would not be checked for collisions: give '
                              'scene=collision_scene(urdf, chain), or unchecked=True')
    if scene is not None and scene.chain.joint_names != chain.joint_names:
        raise ExcitationError('the scene is that of another robot or chain')
    basis = FourierBasis(duration, harmonics)
    quality = quality_function(criterion)
    model = compile_model(chain)
    points = HeightPoints.of(chain)

    def limits_from(posture: ArrayLike | None) -> ExcitationLimits:
        return motion_limits(chain, start=posture, share=share, acceleration=acceleration,
                             height=height)

    def check(limits: ExcitationLimits) -> None:
        check_start(model, points, limits)

    starts = (held_starts(start, seed, limits_from, check) if scene is None else
              feasible_starts(scene, start, seed, limits_from, check))
    limits = starts.limits[0]
    regressor = ExcitationRegressor.of(_with_smooth_sign(model, limits),
                                       _noise(model, limits, noise))
    p = len(regressor.kept)
    known = sum((regressor.information(regressor.rows(motion), time)
                 for motion, time in recorded), np.zeros((p, p)))
    problems = [MotionProblem(basis, each, model, regressor, points, quality, known,
                              _times(basis, _SEARCH_SAMPLES),
                              None if scene is None else RoomBarrier.around(scene, each.start))
                for each in starts.limits]
    problem, z, conditions = _best_random_motion(problems, candidates, iterations, seed)
    work = len(BARRIERS) * iterations
    progress(0, work)
    found = (descend(problem, z, iterations, lambda done: progress(done, work))
             if np.isfinite(problem.barrier(z, 0.0)) else [])
    closely = replace(problem, times=_times(basis, _CHECK_SAMPLES))
    excitation = replace(
        _excitation(closely, _as_far_as_feasible(closely, z, found), conditions),
        start_note=starts.note)
    if scene is None:
        return excitation
    return replace(excitation, clearance=clearance(scene, excitation.trajectory),
                   way=None if home is None else free_path(scene, home,
                                                           excitation.limits.start, seed=seed))


class _Start(NamedTuple):
    """The motion that the search starts with, its problem, and conditions of random motions."""

    problem: MotionProblem
    z: Array
    conditions: Array


def _best_random_motion(problems: Sequence[MotionProblem], candidates: int, iterations: int,
                        seed: int) -> _Start:
    """
    Return the best of random motions.

    With collisions, the best ones of every start are improved a little first: how good a motion
    can become cannot be seen from random ones.
    """
    rng = np.random.default_rng(seed)
    of_start = np.arange(candidates) % len(problems)
    tried = [(problem, z) for k, problem in enumerate(problems)
             for z in _random_motions(problem, int(np.sum(of_start == k)), rng)]
    judged = [_judged(*each) for each in tried]
    order = np.argsort([value for value, _ in judged], kind='stable')
    if problems[0].room is None:
        best = int(order[0])
        return _Start(*tried[best], np.array([condition for _, condition in judged]))
    leaders: list[tuple[MotionProblem, Array]] = []
    conditions: list[float] = []
    for problem in problems:
        own = [k for k in order if tried[k][0] is problem][:max(1, _FREE_MOTIONS // len(problems))]
        free = [_shrunk_until_free(problem, tried[k][1]) for k in own]
        values, numbers = zip(*(_judged(problem, z) for z in free))
        conditions.extend(numbers)
        for k in np.argsort(values, kind='stable')[:max(1, _RACERS // len(problems))]:
            leaders.append((problem, free[k]))
    if len(leaders) > 1:
        race = [improved(problem, z, min(_RACE, iterations)) for problem, z in leaders]
        first = int(np.argmin([value for value, _ in race]))
        leaders = [(leaders[first][0], race[first][1])]
    return _Start(*leaders[0], np.array(conditions))


def _with_smooth_sign(model: Model, limits: ExcitationLimits) -> Model:
    """Return the model with a differentiable Coulomb friction."""
    smooth = copy(model)
    velocity = max(model.joint_physics.coulomb_velocity,
                   _SMOOTH_SIGN * float(np.min(limits.velocity)))
    smooth.joint_physics = replace(model.joint_physics, coulomb_velocity=velocity)
    return smooth


def _noise(model: Model, limits: ExcitationLimits, given: ArrayLike | None) -> Array:
    """Return the standard deviation of the efforts, or numbers proportional to it."""
    n = len(model.chain)
    if given is not None:
        noise = np.asarray(given, dtype=np.float64)
        if noise.shape != (n,) or not np.all(np.isfinite(noise) & (noise > 0.0)):
            raise ExcitationError(f'noise must be {n} positive numbers, got {noise}')
        return noise
    q = np.random.default_rng(0).uniform(limits.lower, limits.upper, (50, n))
    return effort_scales(model, limits.effort, q)


def _times(basis: FourierBasis, samples: int) -> Array:
    """Return the middles of equal intervals, `samples` in the shortest period [s]."""
    count = samples * basis.harmonics
    return np.asarray((np.arange(count) + 0.5) * (basis.duration / count))


def _random_motions(problem: MotionProblem, count: int, rng: np.random.Generator) -> Array:
    """Return random motions (count, n, size), each as large as the limits allow."""
    shape = (len(problem.limits.start), problem.basis.size)
    motions = rng.normal(size=(count, *shape))
    low, high = problem.limits.lower, problem.limits.upper
    start = problem.limits.start
    for k, z in enumerate(motions):
        q, qd, qdd = problem.states(z)
        away = q - start
        room = np.where(away > 0.0, high - start, start - low)
        excess = max(float(np.max(np.abs(away) / room)),
                     float(np.max(np.abs(qd) / problem.limits.velocity)),
                     float(np.max(np.abs(qdd) / problem.limits.acceleration)))
        motions[k] = _shrunk_until_feasible(problem, z * (0.99 / excess))
    return motions


def _shrunk_until_feasible(problem: MotionProblem, z: Array,
                           kept: Callable[[MotionProblem, Array], bool] = MotionProblem.feasible
                           ) -> Array:
    """Return the motion, made smaller until it keeps all limits."""
    for _ in range(_MOST_SHRINKS):
        if kept(problem, z):
            return z
        z = z * _SHRINK
    raise ExcitationError('the limits allow no motion from this start: not even the smallest '
                          'one keeps the efforts or the lowest height; choose another start')


def _shrunk_until_free(problem: MotionProblem, z: Array) -> Array:
    """Return the motion, made smaller until nothing is too close at the samples."""
    for _ in range(_MOST_SHRINKS):
        if problem.free(z) and problem.feasible(z):
            return z
        z = z * _FREE_SHRINK
    raise ExcitationError('no motion from this start is free of collisions, not even the smallest '
                          'one; choose another start')


def _as_far_as_feasible(problem: MotionProblem, start: Array, found: Sequence[Array]) -> Array:
    """
    Return the last of the motions found, or as far on the way there as all limits are kept.

    Making a motion much smaller may bring it closer to a limit: where the arm starts in a posture
    that needs much effort, every small motion stays near that posture.
    """
    z = _shrunk_until_feasible(problem, start, _kept)
    for better in found:
        trials = [*(size * better for size in _SIZES), *(z + way * (better - z) for way in _WAYS)]
        z = next((trial for trial in trials if _kept(problem, trial)), z)
    return z


def _kept(problem: MotionProblem, z: Array) -> bool:
    """Return whether a motion keeps all limits, and is proved to keep all distances."""
    return problem.feasible(z) and (
        problem.room is None
        or first_violation(problem.room.scene, _trajectory(problem, z), _PROOF_STEP) is None)


def _trajectory(problem: MotionProblem, z: Array) -> FourierTrajectory:
    return problem.basis.trajectory(problem.model.chain.joint_names, problem.limits.start,
                                    z * problem.limits.velocity[:, None])


def _judged(problem: MotionProblem, z: Array) -> tuple[float, float]:
    """Return the value of the criterion and the condition number of a motion."""
    information = problem.information(problem.regressor.rows(problem.states(z)))
    return problem.quality(information).value, condition_number(information)


def _excitation(problem: MotionProblem, z: Array, conditions: Array) -> Excitation:
    """Return the result, checked at the times of `problem`."""
    states = problem.states(z)
    effort = problem.model.torque(*states) / problem.limits.effort
    utilisation = np.array([np.max(np.abs(part), axis=0)
                            for part in (*problem.kinematic_utilisation(states), effort)])
    information = problem.information(problem.regressor.rows(states))
    return Excitation(_trajectory(problem, z), problem.limits, problem.regressor.columns,
                      information, condition_number(information), conditions, utilisation)
