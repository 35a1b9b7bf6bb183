"""Signals cut into overlapping frames, and put together again.

Follows https://www.tensorflow.org/api_docs/python/tf/signal/frame and
https://www.tensorflow.org/api_docs/python/tf/signal/overlap_and_add.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.composite_ops.array import lengths
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: int = -1,
    name: str | None = None,
) -> Tensor:
    """An axis cut into frames of `frame_length`, each `frame_step` further on.

    The axis becomes two: frames and samples of the frame. With `pad_end` frames continue until
    the signal ends, filled up with `pad_value`.

    >>> tf.signal.frame([1, 2, 3, 4, 5], 3, 2).numpy()
    array([[1, 2, 3],
           [3, 4, 5]], dtype=int32)
    """
    with door.level().scoped(name or "frame"):
        x = to_tensor(signal, None, "signal")
        if x.dims is not None and not -len(x.dims) <= axis < len(x.dims):
            raise ValueError(f"axis={axis} is out of range for a signal of rank {len(x.dims)}")
        size = lengths.length(frame_length, "frame_length")
        step = lengths.length(frame_step, "frame_step")
        if isinstance(step, int) and step < 1:
            raise ValueError(f"frame_step must be at least 1, got {frame_step}")
        whole = lengths.of_axis(x, axis)
        if pad_end:
            count = _at_least(0 - ((0 - whole) // step), 0)
            missing = _at_least(size + step * (count - 1) - whole, 0)
            x = _padded_along(x, missing, axis, pad_value)
        else:
            count = _at_least(1 + (whole - size) // step, 0)
        indices = _starts(count, step) + _range(size)
        return raw.GatherV2(x, indices, np.int32(axis))


def _range(count: Any) -> Any:
    if isinstance(count, int):
        return np.arange(count, dtype=np.int32)
    return raw.Range(np.int32(0), count, np.int32(1))


def _starts(count: Any, step: Any) -> Any:
    found = _range(count) * step
    return found[:, None] if isinstance(found, np.ndarray) else raw.ExpandDims(found, 1)


def _at_least(value: Any, least: int) -> Any:
    if isinstance(value, int):
        return max(value, least)
    return raw.Maximum(value, np.int32(least))


def _padded_along(x: Tensor, amount: Any, axis: int, value: Any) -> Tensor:
    if axis >= 0:
        if x.dims is None:
            raise ValueError("A signal of unknown rank is padded along a negative axis only.")
        axis -= len(x.dims)
    return lengths.padded(x, amount, axis, value)


@dispatchable
def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """Frames [..., frames, length] put `frame_step` apart and added up where they overlap.

    >>> tf.signal.overlap_and_add([[1, 1, 1], [2, 2, 2]], 2).numpy()
    array([1, 1, 3, 2, 2], dtype=int32)
    """
    with door.level().scoped(name or "overlap_and_add"):
        x = to_tensor(signal, None, "signal")
        if x.dims is not None and len(x.dims) < 2:
            raise ValueError("signal must have at least rank 2: frames and their elements")
        step = _step(frame_step)
        count, size = lengths.of_axis(x, -2), lengths.of_axis(x, -1)
        whole = size + step * (count - 1)
        if isinstance(size, int) and isinstance(step, int) and size == step:
            return lengths.reshaped(x, lengths.leading(x, 2), [whole])
        # Every frame is cut into segments as long as a step. With one row for each
        # segment's number and enough zeros behind, rows that are read with one frame less
        # than they have shift by one frame from row to row: their sum is the result.
        parts = -((0 - size) // step)
        lead = lengths.leading(x, 2)
        x = lengths.padded(x, parts * step - size)
        x = lengths.reshaped(x, lead, [count, parts, step])
        x = raw.Transpose(x, _swapped(x))
        x = lengths.padded(x, parts, -2)
        x = lengths.reshaped(x, lead, [(count + parts) * parts * step])
        x = lengths.cut(x, (count + parts - 1) * parts * step)
        x = lengths.reshaped(x, lead, [parts, (count + parts - 1) * step])
        return lengths.cut(raw.Sum(x, np.int32(-2)), whole)


def _step(frame_step: Any) -> Any:
    if not isinstance(frame_step, (int, np.integer)):
        tensor = to_tensor(frame_step, None, "frame_step")
        if not tensor.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {tensor.dtype!r}")
    return lengths.length(frame_step, "frame_step")


def _swapped(x: Tensor) -> Any:
    """The permutation that exchanges the third and second axis from the end."""
    if x.dims is not None:
        rank = len(x.dims)
        return np.asarray([*range(rank - 3), rank - 2, rank - 3, rank - 1], np.int32)
    rank_now = raw.Rank(x)
    lead = raw.Range(np.int32(0), rank_now - 3, np.int32(1))
    return raw.ConcatV2([lead, rank_now + np.asarray([-2, -3, -1], np.int32)], 0)


__all__ = ["frame", "overlap_and_add"]
