"""`dynamic_update_slice` of XLA: a block of a tensor replaced, at an index known when it runs."""

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
