# SPDX-License-Identifier: Apache-2.0
"""Parameters that kernels calculate with, and the constants of programs that follow from them."""

from __future__ import annotations

import math
from functools import cached_property

from numpy.typing import ArrayLike

from robot_dynamics_ros.arrays import Array, read_only
from robot_dynamics_ros.chain.joint_physics import JointPhysics
from robot_dynamics_ros.codegen.printers.python import compiled, prologue_source
from robot_dynamics_ros.codegen.program import Program
from robot_dynamics_ros.codegen.runtime.entry import Call
from robot_dynamics_ros.dynamics.joints.joint_terms import JointForm, joint_parameters


class Snapshot:
    """
    Parameter values of a model, never changed but replaced.

    :param minimal: (p,) minimal parameters.
    :param physics: joint physics.
    """

    def __init__(self, minimal: ArrayLike, physics: JointPhysics) -> None:
        self.minimal = read_only(minimal)
        self.physics = physics
        self.form = JointForm.of(physics)
        #: Constants of every program that has been used, by its name.
        self.constants: dict[str, Array] = {}
        #: What the grouping makes of the minimal parameters, once the loop form has asked for it.
        self.grouped: list[list[float]] | None = None
        #: Calls of machine code with these constants, by the name of the function.
        self.calls: dict[str, Call] = {}

    @cached_property
    def values(self) -> dict[str, list[float]]:
        """Values of the parameters by the names that programs use."""
        return {'mlc': self.minimal.tolist(), **joint_parameters(self.physics)}


class Prologue:
    """Gives the constants of one program from parameter values."""

    def __init__(self, program: Program) -> None:
        """Compile the prologue as Python."""
        self._name = program.name
        self._count = len(program.constants)
        self._names = [vector.name for vector in program.parameters if vector.width]
        self._function = compiled(prologue_source(program), f'{program.name}_constants', math)

    def constants(self, snapshot: Snapshot) -> Array:
        """
        Return k0, k1, ... and a last entry: zero, or NaN if a parameter is not finite.

        They are calculated once per snapshot.
        """
        constants = snapshot.constants.get(self._name)
        if constants is None:
            vectors = [snapshot.values[name] for name in self._names]
            finite = all(math.isfinite(value) for vector in vectors for value in vector)
            try:
                values = self._function(*vectors)
            except ZeroDivisionError:  # a joint without any inertia: no acceleration
                finite, values = False, [math.nan] * self._count
            constants = read_only([*values, 0.0 if finite else math.nan])
            snapshot.constants[self._name] = constants
        return constants
