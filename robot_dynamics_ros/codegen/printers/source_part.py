# SPDX-License-Identifier: Apache-2.0
"""One function in a file of generated source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from robot_dynamics_ros.codegen.program import Program


class SourcePart(NamedTuple):
    """
    A function to be printed.

    :param program: what it calculates.
    :param prefix: its name, and what all names that belong to it begin with.
    :param header: lines of explanation.
    :param values: present values of every parameter vector.
    """

    program: Program
    prefix: str
    header: Sequence[str]
    values: Mapping[str, Sequence[float]]
