# SPDX-License-Identifier: Apache-2.0
"""Operation counts of the functions of a model, each found when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.functions import INPUTS, TAKE_WRENCH, WITH_WRENCH
from robot_dynamics_ros.codegen.program import Operations
from robot_dynamics_ros.codegen.runtime.kernels import Kernels
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm
from robot_dynamics_ros.dynamics.minimal.mlc import MlcSet
from robot_dynamics_ros.dynamics.minimal.rotor_grouping import rotor_grouping

#: What the published counts are for: rotor inertias that no minimal parameter holds, and a wrench.
PUBLISHED = 'inverse_dynamics_with_rotor_and_wrench'


class OperationCounts(Mapping[str, Operations]):
    """
    Multiplications and additions by function; names with ``_with_wrench`` include a wrench.

    :param chain: the robot.
    :param mlc: its minimal set.
    :param kernels: where the programs come from.
    :param form: what the joints are modelled with.
    """

    def __init__(self, chain: Chain, mlc: MlcSet, kernels: Kernels,
                 form: JointForm) -> None:
        self._chain = chain
        self._mlc = mlc
        self._kernels = kernels
        self._form = form

    def __iter__(self) -> Iterator[str]:
        """Return the names."""
        yield from INPUTS
        yield from (name + WITH_WRENCH for name in TAKE_WRENCH)
        yield PUBLISHED

    def __len__(self) -> int:
        """Return the number of names."""
        return len(list(iter(self)))

    def __getitem__(self, name: str) -> Operations:
        """Return the operations of one function."""
        if name not in list(iter(self)):
            raise KeyError(name)
        if name != PUBLISHED:
            return self._kernels.program(self._form, name).operations
        links = self['inverse_dynamics' + WITH_WRENCH]
        rotors = len(rotor_grouping(self._chain, self._mlc).separate)  # Ia qdd, once each
        return Operations(links.multiplications + rotors, links.additions + rotors)
