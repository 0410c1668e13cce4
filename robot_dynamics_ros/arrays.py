# SPDX-License-Identifier: Apache-2.0
"""Arrays of the package: their types, and read-only copies."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def read_only(values: ArrayLike) -> Array:
    """Return a read-only float64 copy."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


def freeze(instance: object, *names: str) -> None:
    """
    Replace arrays of a frozen dataclass by read-only float64 copies.

    :param instance: a dataclass in its ``__post_init__``.
    :param names: fields that hold arrays.
    """
    for name in names:
        object.__setattr__(instance, name, read_only(getattr(instance, name)))
