# SPDX-License-Identifier: Apache-2.0
"""
Calls of compiled kernels from Python.

The C extension `_entry` checks arrays and calls a kernel in about a hundred nanoseconds. Where
it has not been built, `NumbaEntry` does the same with numba unpacking the arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

from robot_dynamics_ros.arrays import Array


def _built_extension() -> Any:
    try:
        return import_module('robot_dynamics_ros.codegen.runtime._entry')
    except ImportError:
        return None


#: The C extension; None where it has not been built.
C_ENTRY = _built_extension()


class Entry(Protocol):
    """The kernels of one function of a model."""

    def bind(self, with_wrench: bool, batch: bool, key: str, address: int,
             owner: object) -> None:
        """Use the kernel at an address."""

    def attempt(self, *inputs: Array, wrench: Array | None = None,
                out: Array | None = None) -> Array | None:
        """Run a kernel on C-contiguous float64 arrays; None if no kernel can do this."""

    @property
    def direct(self) -> Callable[..., Array]:
        """A function to put in place of the method of the model."""


def new_entry(fallback: Callable[..., Array], constants: list[dict[str, Array]], inputs: int,
              joints: int, shape: tuple[int, ...], lanes: int) -> Entry:
    """
    Return an entry without kernels.

    :param fallback: called with the arguments where `direct` is called and no kernel fits.
    :param constants: a list of one dict: constants of the kernels by their key.
    :param inputs: number of joint vectors a kernel takes.
    :param joints: number of joints.
    :param shape: shape of the result of one state.
    :param lanes: a batch kernel needs at least as many states.
    """
    if C_ENTRY is not None:
        entry: Entry = C_ENTRY.Function(fallback, constants, inputs, joints, shape, lanes)
        return entry
    from robot_dynamics_ros.codegen.runtime.numba_entry import NumbaEntry

    return NumbaEntry(fallback, constants, joints, shape, lanes)
