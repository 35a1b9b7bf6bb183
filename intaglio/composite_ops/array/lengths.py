"""Lengths of axes: Python integers where they are known, else scalar tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import int32
from intaglio.opdef import raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.tensor import Tensor


def known(value: Any) -> int | None:
    """The value of a scalar integer that is here or constant, else None."""
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, np.ndarray):
        return int(value)
    found = value.spec.value if hasattr(value, "spec") else value.numpy()
    return None if found is None else int(found)


def length(value: Any, name: str) -> Any:
    """A length argument: an int, or an int32 scalar. Raises ValueError."""
    if not isinstance(value, (int, np.integer)):
        value = to_tensor(value, None, name)
        if value.dims not in (None, ()):
            raise ValueError(f"{name} must be a scalar, but its shape is {value.shape}.")
        if value.dtype is not int32:
            value = raw.Cast(value, DstT=int32)
        found = known(value)
        if found is None:
            return value
        value = found
    return int(value)


def of_axis(x: Tensor, axis: int) -> Any:
    """How long an axis is. Raises ValueError if the tensor is known not to have it."""
    if x.dims is not None and not -len(x.dims) <= axis < len(x.dims):
        raise ValueError(f"a tensor of shape {x.shape} has no axis {axis}")
    if x.dims is not None and x.dims[axis] is not None:
        return x.dims[axis]
    whole = raw.Shape(x)
    if axis < 0:
        size = raw.Size(whole)
        return raw.GatherV2(whole, raw.AddV2(size, np.int32(axis)), 0)
    return raw.GatherV2(whole, np.int32(axis), 0)


def vector(parts: list[Any]) -> Any:
    """Lengths as an int32 vector."""
    if all(isinstance(p, int) for p in parts):
        return np.asarray(parts, np.int32)
    return raw.Pack([np.int32(p) if isinstance(p, int) else p for p in parts])


def leading(x: Tensor, inner: int) -> Any:
    """The shape without its last `inner` dimensions, as an int32 vector."""
    if x.dims is not None and None not in x.dims[: len(x.dims) - inner]:
        return np.asarray(x.dims[: len(x.dims) - inner], np.int32)
    return raw.StridedSlice(raw.Shape(x), [0], [-inner], [1], begin_mask=1)


def reshaped(x: Tensor, lead: Any, parts: list[Any]) -> Tensor:
    """`x` with the leading dimensions `lead`, then those of `parts`."""
    tail = vector(parts)
    if isinstance(lead, np.ndarray) and isinstance(tail, np.ndarray):
        return raw.Reshape(x, np.concatenate([lead, tail]))
    return raw.Reshape(x, raw.ConcatV2([lead, tail], 0))


def padded(x: Tensor, amount: Any, axis: int = -1, value: Any = 0) -> Tensor:
    """`x` with `amount` elements more at the end of an axis counted from the end."""
    if isinstance(amount, int):
        amount = np.int32(amount)
        if amount == 0:
            return x
    rank = len(x.dims) if x.dims is not None else None
    ends = [np.int32(0)] * -axis
    ends[axis] = amount
    tail = raw.Pack(ends) if not isinstance(amount, np.generic) else np.asarray(ends)
    pairs: Any = raw.Pack([np.zeros(-axis, np.int32), tail], axis=1)
    if rank is None:
        lead = raw.Reshape(raw.Sub(raw.Rank(x), np.int32(-axis)), [1])
        zeros = raw.Fill(raw.ConcatV2([lead, np.asarray([2], np.int32)], 0), np.int32(0))
        pairs = raw.ConcatV2([zeros, pairs], 0)
    elif rank > -axis:
        pairs = raw.ConcatV2([np.zeros((rank + axis, 2), np.int32), pairs], 0)
    if isinstance(value, (int, float)) and value == 0:
        return raw.Pad(x, pairs)
    return raw.PadV2(x, pairs, to_tensor(value, x.dtype))


def cut(x: Tensor, size: Any) -> Tensor:
    """The first `size` elements of the last axis."""
    end = (
        np.asarray([0, size], np.int32) if isinstance(size, int) else raw.Pack([np.int32(0), size])
    )
    return raw.StridedSlice(
        x, np.zeros(2, np.int32), end, np.ones(2, np.int32), begin_mask=2, ellipsis_mask=1
    )


__all__: list[str] = []
