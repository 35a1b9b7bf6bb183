"""`dynamic_slice` and `dynamic_update_slice` of XLA: a block of a tensor, and a block of a tensor replaced, at an index known when it runs."""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import int32
from intaglio.opdef import convert, raw


def dynamic_update_slice(x: Any, update: Any, start_indices: Any) -> Any:
    """`x` with the block at `start_indices` replaced by `update`, of the same rank.

    As in XLA, the start is clamped so that the slice is inside `x`.
    """
    x, update = convert.to_tensor(x), convert.to_tensor(update)
    size = raw.Shape(update, out_type=int32)
    last = raw.Sub(raw.Shape(x, out_type=int32), size)
    start = raw.Cast(convert.to_tensor(start_indices), DstT=int32)
    begin = raw.Maximum(raw.Minimum(start, last), convert.to_tensor(0))
    return raw.TensorStridedSliceUpdate(x, begin, raw.Add(begin, size), raw.OnesLike(begin), update)


def dynamic_slice(x: Any, start_indices: Any, slice_sizes: Any) -> Any:
    """The block of `x` of a size at `start_indices`, which are clamped so that it is inside `x`."""
    x = convert.to_tensor(x)
    size = raw.Cast(convert.to_tensor(slice_sizes), DstT=int32)
    last = raw.Sub(raw.Shape(x, out_type=int32), size)
    start = raw.Cast(convert.to_tensor(start_indices), DstT=int32)
    return raw.Slice(x, raw.Maximum(raw.Minimum(start, last), convert.to_tensor(0)), size)
