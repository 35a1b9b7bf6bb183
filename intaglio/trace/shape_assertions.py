"""Assertions on the shapes of several tensors that share symbolic sizes.

Follows https://www.tensorflow.org/api_docs/python/tf/debugging/assert_shapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.opdef import convert, door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.trace import assertions
from intaglio.trace.scopes import name_scope


def check_shapes(shapes: Any, data: Any, summarize: int | None, message: Any, name: str) -> None:
    """Raises ValueError where shapes are known, InvalidArgumentError when a graph runs."""
    prefix = f"{message}.  " if message else ""
    pairs = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
    with name_scope(name):
        constraints = [(convert.to_tensor(x), _wanted(x, s)) for x, s in pairs]
        for tensor, (rest, sizes) in constraints:
            _check_rank(tensor, rest, sizes, message)
        _Sizes(prefix, data, summarize).check(constraints)


def _title(tensor: Any) -> str:
    if hasattr(tensor, "_array"):
        return f"shape={tensor.shape} dtype={tensor.dtype.name}"
    return tensor.name


def _wanted(x: Any, shape: Any) -> tuple[bool, list[Any]]:
    """Whether leading dimensions are free, and the sizes of the others."""
    if not hasattr(shape, "__iter__") and not hasattr(shape, "__getitem__"):
        raise ValueError(
            f"Tensor {_title(convert.to_tensor(x))}.  Specified shape must be an "
            "iterable.  An iterable has the attribute `__iter__` or `__getitem__`.  "
            f"Received specified shape: {shape}"
        )
    sizes = [_size(s) for s in shape]
    rest = bool(sizes) and sizes[0] is Ellipsis
    sizes = sizes[1:] if rest else sizes
    for index, size in enumerate(sizes, int(rest)):
        if size is Ellipsis:
            raise ValueError(
                f"Tensor {_title(convert.to_tensor(x))} specified shape index {index}.  "
                "Symbol `...` or `*` for a variable number of unspecified dimensions is "
                "only allowed as the first entry"
            )
    return rest, sizes if sizes or rest else [1]  # () and (1,) both mean a scalar


def _size(size: Any) -> Any:
    if size is Ellipsis or (isinstance(size, str) and size == "*"):
        return Ellipsis
    if size is None or (isinstance(size, str) and size == "."):
        return None
    if isinstance(size, (str, float)):
        return size
    value = getattr(size, "value", size)
    return int(value) if hasattr(value, "__index__") else value


def _check_rank(tensor: Tensor, rest: bool, sizes: list[Any], message: Any) -> None:
    if rest:
        how, ranks = " at least", [len(sizes)]
    elif len(sizes) == 1:
        how, ranks = " in", [0, 1]
    else:
        how, ranks = "", [len(sizes)]
    name = {"": "assert_rank", " in": "assert_rank_in"}.get(how, "assert_rank_at_least")
    assertions.rank(tensor, ranks, how, message, name)


class _Sizes:
    """The sizes bound to symbols so far."""

    def __init__(self, prefix: str, data: Any, summarize: int | None) -> None:
        self.prefix = prefix
        self.data = data
        self.summarize = summarize
        self.found: dict[Any, tuple[Any, Any, int]] = {}

    def check(self, constraints: list[Any]) -> None:
        """Compares every dimension with its given size, or with the size bound to its symbol."""
        for tensor, (_, sizes) in constraints:
            dims = tensor.dims
            for back, size in enumerate(reversed(sizes), 1):
                if size is None:
                    continue
                own = _dimension(tensor, back)
                at = (len(dims) if dims else len(sizes)) - back
                if not isinstance(size, int):
                    if size not in self.found:
                        self.found[size] = own, tensor, at
                        continue
                    wanted, whose, where = self.found[size]
                    source = f"Specified by tensor {_title(whose)} dimension {where}"
                else:
                    wanted, source = size, "Specified explicitly"
                self._compare(tensor, at, own, wanted, source)

    def _compare(self, tensor: Tensor, at: int, own: Any, wanted: Any, source: str) -> None:
        if isinstance(own, int) and isinstance(wanted, int):
            if own != wanted:
                raise ValueError(
                    f"{self.prefix}{source}.  Tensor {_title(tensor)} dimension {at} must "
                    f"have size {wanted}.  Received size {own}, shape {tensor.shape}"
                )
            return
        if door.level().eager:
            return
        one, two = convert.to_tensor(own), convert.to_tensor(wanted)
        data = self.data or [
            self.prefix,
            source,
            f"Tensor {_title(tensor)} dimension",
            at,
            "must have size",
            two,
            "Received shape: ",
            raw.Shape(tensor, name="Shape"),
        ]
        condition = raw.Equal(one, two, name="Equal")
        assertions.check(condition, data, self.summarize)


def _dimension(tensor: Tensor, back: int) -> Any:
    """The size of a dimension counted from the end: a number, or a scalar tensor."""
    dims = tensor.dims
    if dims is not None:
        size = dims[-back] if back <= len(dims) else 1
        if size is not None:
            return size
    whole = raw.Shape(tensor, name="Shape")
    index = np.asarray([-back], np.int32)
    end = np.asarray([-back + 1 if back > 1 else 0], np.int32)
    return raw.StridedSlice(
        whole,
        index,
        end,
        np.asarray([1], np.int32),
        shrink_axis_mask=1,
        end_mask=int(back == 1),
        name="strided_slice",
    )
