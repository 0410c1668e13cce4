# SPDX-License-Identifier: Apache-2.0
"""Arrays of the package: their types, read-only copies, and the dataclasses that hold them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

_Dataclass = TypeVar('_Dataclass')


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


def immutable(cls: type[_Dataclass]) -> type[_Dataclass]:
    """Let a frozen dataclass say what to do where somebody tries to change it."""
    def refuse(self: Any, name: str, *value: Any) -> None:
        known = [field.name for field in fields(self)]
        if name in known:
            raise FrozenInstanceError(f'{cls.__name__}.{name} cannot be changed; '
                                      f'dataclasses.replace(..., {name}=...) returns a copy with '
                                      'another value')
        raise FrozenInstanceError(f'{cls.__name__} has no field {name!r}; '
                                  f'its fields are {", ".join(known)}')

    cls.__setattr__ = cls.__delattr__ = refuse  # type: ignore[method-assign]
    return cls
