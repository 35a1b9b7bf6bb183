"""Values of variables that a program may overwrite: those that others refer to, and those that are lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from intaglio.runtime.resources import shared_arrays
from intaglio.xla.meshes import Part


def apart(taken: list[Any], others: int = 1) -> list[Any]:
    """Donated values, copied where a tensor that was read has the same array of a device; see `shared_arrays`."""
    shared = shared_arrays(taken, others)
    if shared:
        values = [*taken]
        for index in shared:
            values[index] = _copied(values[index])
        return values
    return taken


def _copied(value: Any) -> Any:
    """An array of a device in memory of its own; what is no such array as it is."""
    return value.copy() if isinstance(value, jax.Array) else value


def raise_if_lost(variables: Sequence[Any], values: Sequence[Any], error: BaseException) -> None:
    """Raises DataLossError if a program that failed has overwritten one of the variables' values."""
    if not isinstance(error, Exception):
        return
    for variable, value in zip(variables, values, strict=True):
        array = value.whole if isinstance(value, Part) else value
        if isinstance(array, jax.Array) and array.is_deleted():
            raise variable.lost(error) from error


__all__ = ["apart", "raise_if_lost"]
