# SPDX-License-Identifier: Apache-2.0
"""The functions of one chain, generated when they are first used."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property

from robot_dynamics_ros.arrays import Array
from robot_dynamics_ros.chain.chain import Chain
from robot_dynamics_ros.codegen.entry import Entry, new_entry
from robot_dynamics_ros.codegen.functions import INPUTS, WITH_WRENCH, Equations, JointForm
from robot_dynamics_ros.codegen.graph import GraphTooLarge
from robot_dynamics_ros.codegen.kernels import Kernel, LoopKernel, MachineKernel, PythonKernel
from robot_dynamics_ros.codegen.machine_code import this_machine
from robot_dynamics_ros.codegen.object_store import ObjectStore
from robot_dynamics_ros.codegen.program import Program
from robot_dynamics_ros.codegen.reference import Reference
from robot_dynamics_ros.codegen.snapshot import Snapshot
from robot_dynamics_ros.dynamics.joints.joint_terms import JOINT_TERMS

#: Functions whose graph would have more entries than this run the loop form: compiling them would
#: take longer than some twenty seconds. Inverse dynamics reaches it beyond 100 joints, forward
#: dynamics at about 65, the mass matrix at 50 and the regressor at 28.
LONGEST_PROGRAM = 30_000

STRAIGHT_LINE, LOOP = 'straight line', 'loop'


class FunctionSet:
    """
    All functions of a chain for one form of joint physics and one backend.

    :param chain: the robot.
    :param grouping: (10 n, p) from minimal parameters to grouped standard ones.
    :param form: what the joints are modelled with.
    :param backend: 'python', 'numpy' or 'numba'.
    """

    def __init__(self, chain: Chain, grouping: Array, form: JointForm, backend: str) -> None:
        """Generate nothing yet."""
        self._chain = chain
        self._grouping = grouping
        self._backend = backend
        self._kernels: dict[str, Kernel] = {}
        self._entries: dict[str, Entry] = {}
        self._lock = threading.RLock()
        self.form = form
        #: One dict: constants of the programs in use; replaced as a whole.
        self.constants: list[dict[str, Array]] = [{}]
        #: How each function that has been used is calculated: STRAIGHT_LINE or LOOP.
        self.forms: dict[str, str] = {}

    def use(self, snapshot: Snapshot) -> None:
        """Let compiled functions take their constants from another snapshot from now on."""
        with self._lock:
            for kernel in self._kernels.values():
                kernel.prepare(snapshot)
            self.constants[0] = snapshot.constants

    def program(self, name: str, largest: int | None = None) -> Program:
        """
        Return the program of a function.

        :raises GraphTooLarge: it has more than `largest` operations.
        """
        return Equations(self._chain, self._grouping, self.form, largest=largest).program(name)

    def kernel(self, name: str, fallback: Callable[..., Array]) -> Kernel:
        """
        Return a function, generated now if it has not been used before.

        :param name: one of INPUTS, or with WITH_WRENCH appended.
        :param fallback: what the entry calls where no kernel fits: the method of the model.
        """
        kernel = self._kernels.get(name)
        if kernel is None:
            with self._lock:
                kernel = self._kernels.get(name) or self._new_kernel(name, fallback)
                self._kernels[name] = kernel
        return kernel

    def entry(self, plain: str) -> Entry | None:
        """Return the entry to the kernels of a function, if it has machine code."""
        return self._entries.get(plain)

    def _new_kernel(self, name: str, fallback: Callable[..., Array]) -> Kernel:
        plain = name.removesuffix(WITH_WRENCH)
        try:
            program = self.program(name, LONGEST_PROGRAM)
        except GraphTooLarge:
            self.forms[name] = LOOP
            return LoopKernel(getattr(self._reference, plain), self._shape(plain))
        self.forms[name] = STRAIGHT_LINE
        if self._backend != 'numba':
            return PythonKernel(program, self._chain, rows=self._backend == 'numpy')
        machine = this_machine()
        if plain not in self._entries:
            self._entries[plain] = new_entry(fallback, self.constants, len(INPUTS[plain]),
                                             len(self._chain), program.shape, machine.width)
        return MachineKernel(program, self._chain, machine, ObjectStore.of_user(),
                             self._entries[plain])

    def _shape(self, plain: str) -> tuple[int, ...]:
        """Return the shape of the result for one state."""
        n, p = len(self._chain), self._grouping.shape[1]
        return {'mass_matrix': (n, n), 'regressor': (n, p), 'reference_regressor': (n, p),
                'regressor_with_joint_terms': (n, p + len(JOINT_TERMS) * n)}.get(plain, (n,))

    @cached_property
    def _reference(self) -> Reference:
        return Reference(self._chain, self._grouping)
