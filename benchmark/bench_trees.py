# SPDX-License-Identifier: Apache-2.0
"""
Trees against Pinocchio: every URDF of example-robot-data, whole, with floating joints frozen.

    python benchmark/bench_trees.py [--time] [NAME ...]

Prints a row per robot: joints, minimal parameters, largest relative error of torque, mass matrix,
forward dynamics (as a torque) and regressor, and with --time how many times longer Pinocchio takes
for inverse and forward dynamics, one call and in a loop over a batch.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros import chain_from_urdf, compile_model, minimal_parameters
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.chain.urdf.tree import tree_from_urdf
from robot_dynamics_ros.dynamics.formulations.equations_of_motion import (
    forward_dynamics,
    mass_matrix,
)
from robot_dynamics_ros.dynamics.formulations.inverse_dynamics import inverse_dynamics
from robot_dynamics_ros.dynamics.minimal.numeric_set import stacked_regressor
from robot_dynamics_ros.dynamics.recursions.regressor import standard_regressor
from robot_dynamics_ros.errors import RobotDynamicsError

STATES = 2000
ROUNDS = 5


def robots() -> list[Path]:
    """Return our robot with two arms and all URDF files of example-robot-data."""
    files = metadata.files('example-robot-data') or []
    paths = [Path(str(file.locate())) for file in files if file.suffix == '.urdf']
    own = Path(__file__).resolve().parents[1] / 'urdf' / 'demo_two_arms.urdf'
    return [own, *sorted(paths, key=lambda path: (path.name, str(path)))]


def whole_robot(path: Path) -> tuple[Chain, list[str]]:
    """Return all joints of a URDF, and the floating and planar ones, which are frozen."""
    frozen = [joint.name for joint in tree_from_urdf(path).joints.values()
              if joint.type in ('floating', 'planar')]
    return chain_from_urdf(path, locked=frozen, snap=False), frozen


def rank_of_regressor(chain: Chain) -> int:
    """Return the number of parameters that the torque shows."""
    R = np.linalg.qr(stacked_regressor(chain), mode='r')
    values = np.linalg.svd(R, compute_uv=False)
    return int(np.sum(values > 1e-9 * values[0]))


class Judge:
    """Pinocchio's model of a whole URDF, with joints in our order."""

    def __init__(self, path: Path, chain: Chain, frozen: list[str]) -> None:
        import pinocchio

        self._pin, self._chain = pinocchio, chain
        full = pinocchio.buildModelFromUrdf(str(path))
        drop = [full.getJointId(name) for name in frozen]
        self.model = (pinocchio.buildReducedModel(full, drop, pinocchio.neutral(full)) if drop
                      else full)
        self.model.gravity.linear = chain.gravity
        self.data = self.model.createData()
        self._joints = [self.model.joints[self.model.getJointId(joint.name)]
                        for joint in chain.moving]
        self.order = [joint.idx_v for joint in self._joints]

    def positions(self, q: Any) -> Any:
        """Return Pinocchio's configuration."""
        result = self._pin.neutral(self.model)
        for joint, value in zip(self._joints, self._chain.moving_positions(list(q))):
            place = slice(joint.idx_q, joint.idx_q + joint.nq)
            result[place] = value if joint.nq == 1 else (np.cos(value), np.sin(value))
        return result

    def rates(self, qd: Any) -> Any:
        """Return velocities or accelerations in Pinocchio's order."""
        result = np.zeros(self.model.nv)
        result[self.order] = self._chain.moving_rates(list(qd))
        return result

    def torque(self, q: Any, qd: Any, qdd: Any) -> Any:
        """Return the torque of our joints."""
        tau = self._pin.rnea(self.model, self.data, self.positions(q), self.rates(qd),
                             self.rates(qdd))
        return np.array(self._chain.joint_sums(list(tau[self.order])))

    def mass(self, q: Any) -> Any:
        """Return the mass matrix of our joints."""
        A = self._pin.crba(self.model, self.data, self.positions(q))
        A = (np.triu(A) + np.triu(A, 1).T)[np.ix_(self.order, self.order)]
        G = self._chain.coupling[0]
        return G.T @ A @ G


def error(found: Any, expected: Any) -> float:
    """Return the largest difference, relative to the largest entry."""
    return float(np.max(np.abs(found - expected)) / max(np.max(np.abs(expected)), 1e-12))


def errors(chain: Chain, judge: Judge) -> list[float]:
    """Return the errors of torque, mass matrix, forward dynamics and regressor."""
    rng = np.random.default_rng(0)
    worst = np.zeros(4)
    for _ in range(3):
        q, qd, qdd = rng.uniform(-1.0, 1.0, (3, len(chain)))
        tau, A = judge.torque(q, qd, qdd), judge.mass(q)
        with np.errstate(all='ignore'):
            try:
                found = forward_dynamics(chain, q, qd, tau)
            except (ZeroDivisionError, np.linalg.LinAlgError):  # a joint that moves no mass
                found = np.full(len(chain), np.nan)
        Y = standard_regressor(chain, q, qd, qdd)
        worst = np.maximum(worst, [
            error(inverse_dynamics(chain, q, qd, qdd), tau), error(mass_matrix(chain, q), A),
            error(A @ found, A @ qdd), error(Y @ chain.standard_parameters, tau)])
    return worst.tolist()


def best(call: Callable[[], object], repeat: int) -> float:
    """Return the shortest time of a call [s], the mean over `repeat` of them in each round."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        times.append((time.perf_counter() - start) / repeat)
    return min(times)


def ratios(chain: Chain, judge: Judge) -> tuple[list[float], float]:
    """Return Pinocchio's time over ours (inverse one, batch; forward one, batch), compiling."""
    import pinocchio

    plain = chain.with_joint_physics(JointPhysics.zero(len(chain)))
    start = time.process_time()
    model = compile_model(plain)
    q, qd, x = np.random.default_rng(1).uniform(-1.0, 1.0, (3, STATES, len(chain)))
    for function in (model.inverse_dynamics, model.forward_dynamics):
        function(q[0], qd[0], x[0])
        function(q, qd, x)
    compiling = time.process_time() - start
    first = q[0], qd[0], x[0]
    states = [(judge.positions(a), judge.rates(b), judge.rates(c)) for a, b, c in zip(q, qd, x)]
    result = []
    for ours, theirs in ((model.inverse_dynamics, pinocchio.rnea),
                         (model.forward_dynamics, pinocchio.aba)):
        def loop(function: Any = theirs) -> None:
            for state in states:
                function(judge.model, judge.data, *state)
        one = best(lambda: theirs(judge.model, judge.data, *states[0]), 300)  # noqa: B023
        result.append(one / best(lambda: ours(*first), 300))  # noqa: B023
        result.append(best(loop, 1) / best(lambda: ours(q, qd, x), 1))  # noqa: B023
    return result, compiling


def main(arguments: list[str]) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('names', nargs='*', help='parts of file names; none = all')
    parser.add_argument('--time', action='store_true', help='measure times, too')
    chosen = parser.parse_args(arguments)
    print('| robot | joints (moving) | minimal, closed / rank | torque | mass matrix | forward | '
          'regressor |' + (' inverse 1 / batch | forward 1 / batch | compile |'
                           if chosen.time else ''))
    print('|---|---|---|---|---|---|---|' + ('---|---|---|' if chosen.time else ''))
    for path in robots():
        if chosen.names and not any(name in path.name for name in chosen.names):
            continue
        try:
            chain, frozen = whole_robot(path)
        except RobotDynamicsError as problem:
            print(f'| {path.stem} | {problem} |')
            continue
        judge = Judge(path, chain, frozen)
        mlc = minimal_parameters(chain)
        rank = rank_of_regressor(chain)
        closed = str(len(mlc)) if mlc.set == 'lin' else f'numeric {len(mlc)}'
        row = [path.stem, f'{len(chain)} ({len(chain.moving)})', f'{closed} / {rank}',
               *(f'{value:.0e}' for value in errors(chain, judge))]
        if chosen.time:
            (i1, iN, f1, fN), compiling = ratios(chain, judge)
            row += [f'{i1:.1f} / {iN:.0f}', f'{f1:.1f} / {fN:.0f}', f'{compiling:.1f} s']
        print('| ' + ' | '.join(row) + ' |', flush=True)


if __name__ == '__main__':
    main(sys.argv[1:])
