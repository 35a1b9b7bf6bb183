"""Assertions on partitions: evaluated at once for eager values, with TensorFlow's messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.errors import InvalidArgumentError
from intaglio.base.shapes import TensorShape
from intaglio.opdef import convert, door
from intaglio.opdef.tensor import Tensor
from intaglio.trace import assertions


def known(tensor: Any) -> Any:
    """A tensor's value as an array, None if it is known only when the graph runs."""
    return assertions.known_value(tensor)


def compare(symbol: str, x: Tensor, y: Tensor, message: str | None = None) -> None:
    """Raises InvalidArgumentError unless `x symbol y` everywhere, now or in the graph."""
    if door.level().eager:
        one, two = known(x), known(y)
        same = one.shape == two.shape or not one.ndim or not two.ndim
        if same and bool(np.all(assertions.STATIC[symbol](one, two))):
            return
    name = {"==": "assert_equal", "<=": "assert_less_equal", "<": "assert_less"}[symbol]
    holds = assertions.operators_of(symbol)
    assertions.compare(symbol, holds, x, y, message, None, name)


def same_splits(x: Tensor, y: Tensor, message: str | None = None) -> None:
    """Raises InvalidArgumentError unless two vectors of row splits are equal."""
    if x is not y:
        compare("==", x, y, message)


def not_negative(x: Tensor, message: str | None = None) -> None:
    """Raises InvalidArgumentError if there is a number below 0."""
    if door.level().eager and not np.any(known(x) < 0):
        return
    assertions.compare_zero("x >= 0", x, message, None, "assert_non_negative")


def holds(condition: Tensor, data: list[Any]) -> None:
    """Raises InvalidArgumentError with the data unless the scalar is true."""
    if door.level().eager and known(condition):
        return
    assertions.check(condition, data)


def has_rank(tensor: Tensor, rank: int) -> None:
    """Raises ValueError if the rank is known to be another one."""
    TensorShape(tensor.dims).assert_has_rank(rank)


def fits(tensor: Tensor, size: int | None) -> None:
    """Raises ValueError if the first dimension is known not to be `size`."""
    shape = TensorShape(tensor.dims).with_rank_at_least(1)
    if size is not None and shape[0] is not None and shape[0] != size:
        raise ValueError(f"Shapes ({size},) and ({shape[0]},) are incompatible")


def same_size(one: int | None, two: int | None) -> None:
    """Raises ValueError if two sizes are known to differ."""
    if one is not None and two is not None and one != two:
        raise ValueError(f"Shapes ({one},) and ({two},) are incompatible")


def axis_of(axis: Any, rank: int | None, name: str = "axis") -> int:
    """An axis counted from the front. Raises TypeError or ValueError if it is none."""
    if not isinstance(axis, (int, np.integer)) or isinstance(axis, bool):
        kind = "int32" if isinstance(axis, Tensor) else type(axis).__name__
        raise TypeError(f"{name} must be an int; got {kind}")
    axis = int(axis)
    if rank is None:
        if axis < 0:
            raise ValueError(f"{name}={axis} may only be negative if ndims is statically known.")
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"{name}={axis} out of bounds: expected {-rank}<={name}<{rank}")
    return axis + rank if axis < 0 else axis


def static(value: Any) -> int | None:
    """A scalar's value if it is known while tracing."""
    if value is None or isinstance(value, (int, np.integer)):
        return None if value is None else int(value)
    found = known(convert.to_tensor(value))
    return None if found is None else int(found)


def fail(message: str) -> Exception:
    """The error of values that do not fit."""
    return InvalidArgumentError(None, None, message)
