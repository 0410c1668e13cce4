# SPDX-License-Identifier: Apache-2.0
"""Joints of a robot that joint states never name: wheels, heads, grippers without a sensor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from robot_dynamics_ros.arrays import Array

#: Time for which joint states lack a joint before nobody is expected to name it [s].
PATIENCE = 1.0


class UnnamedJoints:
    """
    Finds the joints that nobody names.

    Joints that several messages name in turns are named; so are `commanded` ones: a joint that
    somebody moves is not to be taken for one that stands still. A frozen joint thaws with a
    message that names it beside all joints that are not frozen.

    `frozen` are joints that do not move, with their positions [rad, m]; `commanded` are names that
    trajectories have had.
    """

    def __init__(self, joint_names: Sequence[str],
                 frozen: Mapping[str, float] | None = None,
                 commanded: Iterable[str] = ()) -> None:
        """
        Expect all joints.

        :param joint_names: names of the joints that move.
        :param frozen: joints that do not, with their positions [rad, m].
        :param commanded: names that trajectories have had.
        """
        self._names = frozenset(joint_names)
        self._order = tuple(joint_names)
        self.frozen = dict(frozen or {})
        self.commanded = set(commanded)
        self._seen: set[str] = set()
        self._since = np.inf

    def command(self, names: Iterable[str]) -> dict[str, float]:
        """Return the joints to freeze where a trajectory names these."""
        self.commanded.update(self._names.union(self.frozen).intersection(names))
        return {name: q for name, q in self.frozen.items() if name not in self.commanded}

    def look(self, now: float, names: Sequence[str], last: Array | None = None
             ) -> dict[str, float]:
        """
        Return the joints to freeze, with the positions where they were seen last, or 0.

        :param now: clock time [s].
        :param names: names of a joint state.
        :param last: (n,) positions where the joints that move were seen last [rad, m], or None.
        """
        seen = set(names)
        if self._names <= seen:
            self._since = np.inf
            return {name: q for name, q in self.frozen.items() if name not in seen}
        if not now - self._since >= 0.0:
            self._since, self._seen = now, set()
        self._seen |= seen & self._names
        if now - self._since < PATIENCE or not self._seen:
            return self.frozen
        unnamed = [name for name in self._order if name not in self._seen]
        self._since = np.inf
        if self.commanded.intersection(unnamed):
            return self.frozen
        places = {} if last is None else dict(zip(self._order, last.tolist()))
        return {**self.frozen, **{name: places.get(name, 0.0) for name in unnamed}}
