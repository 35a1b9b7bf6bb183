"""Sliding windows: the sizes, paddings and views that convolution and pooling share."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base.errors import ShapeError
from intaglio.base.limits import check_allocated
from intaglio.base.shapes import Dims

PADDINGS = ("SAME", "VALID", "EXPLICIT")


class Axis(NamedTuple):
    """How windows slide along one axis: `out` of them, over `before + size + after` elements."""

    size: int
    window: int
    stride: int
    dilation: int
    before: int
    after: int
    out: int

    @property
    def moves(self) -> bool:
        """False if every window is one element."""
        return self.window != 1 or self.stride != 1 or self.padded

    @property
    def padded(self) -> bool:
        """True if there is padding."""
        return self.before != 0 or self.after != 0

    @property
    def inner_taps(self) -> range:
        """The taps under which some window has an element of the array, not of the padding."""
        last = (self.out - 1) * self.stride
        first = max(-(-(self.before - last) // self.dilation), 0)
        return range(first, min(-(-(self.before + self.size) // self.dilation), self.window))

    def seen_of(self, tap: int) -> tuple[slice, slice]:
        """The windows whose tap `tap` is on an element of the array, and the slice of these elements."""
        start = tap * self.dilation - self.before
        first = max(-(start // self.stride), 0)
        stop = max(min(-((start - self.size) // self.stride), self.out), first)
        begin = start + first * self.stride
        return slice(first, stop), slice(begin, begin + (stop - first) * self.stride, self.stride)

    def slice_of(self, tap: int) -> slice:
        """The slice of the padded array under tap `tap`, for all windows."""
        start = tap * self.dilation
        return slice(start, start + (self.out - 1) * self.stride + 1, self.stride)


def axis(
    size: int, window: int, stride: int, dilation: int, padding: str, ends: tuple[int, int] = (0, 0)
) -> Axis:
    """The axis for a padding scheme. Raises ShapeError if no window fits."""
    reach = (window - 1) * dilation + 1
    if padding == "SAME":
        out = -(-size // stride)
        total = max((out - 1) * stride + reach - size, 0)
        return Axis(size, window, stride, dilation, total // 2, total - total // 2, out)
    before, after = ends if padding == "EXPLICIT" else (0, 0)
    free = size + before + after - reach
    # TensorFlow divides towards zero: a window that is too large by less is no window.
    if free + stride <= -stride:
        raise ShapeError(
            f"Computed output size would be negative: {-(-(free + stride) // stride)} "
            f"[input_size: {size}, effective_filter_size: {reach}, stride: {stride}]"
        )
    return Axis(size, window, stride, dilation, before, after, max(0, free // stride + 1))


@functools.lru_cache(maxsize=4096)
def axes(
    sizes: tuple[int, ...],
    windows: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
    padding: str,
    ends: tuple[int, ...] = (),
) -> tuple[Axis, ...]:
    """One Axis for each size; `ends` holds explicit paddings, before and after each."""
    pairs = [ends[2 * i : 2 * i + 2] if ends else (0, 0) for i in range(len(sizes))]
    return tuple(
        [
            axis(*row[:4], padding, row[4])  # type: ignore[misc]  # five numbers
            for row in zip(sizes, windows, strides, dilations, pairs, strict=True)
        ]
    )


def out_size(
    size: int | None,
    window: int | None,
    stride: int,
    dilation: int,
    padding: str,
    ends: tuple[int, int] = (0, 0),
) -> int | None:
    """The number of windows, if it can be known, for inference.

    Raises ShapeError with the text that TensorFlow has in graphs.
    """
    if size is None or (window is None and padding != "SAME"):
        return None
    if padding == "SAME":
        return -(-size // stride)
    reach = ((window or 1) - 1) * dilation + 1
    before, after = ends if padding == "EXPLICIT" else (0, 0)
    free = size + before + after - reach
    if free < 0 and -(-(free + 1) // stride) < 0:
        raise ShapeError(
            f"Negative dimension size caused by subtracting {reach} from {size + before + after}"
        )
    return free // stride + 1 if free >= 0 else 0


# -- layouts ---------------------------------------------------------------------------


def channels_first(data_format: str) -> bool:
    """True for NCHW, NCDHW and CHANNELS_FIRST."""
    return data_format.startswith("NC") or data_format == "CHANNELS_FIRST"


def check_format(data_format: str, formats: Sequence[str]) -> None:
    """Raises ShapeError unless the layout is one of those allowed."""
    if data_format not in formats:
        raise ShapeError(_value_text("data_format", data_format, formats))


def check_padding(padding: str, allowed: Sequence[str] = PADDINGS) -> None:
    """Raises ShapeError unless the padding scheme is one of those allowed."""
    if padding not in allowed:
        raise ShapeError(_value_text("padding", padding, allowed))


def _value_text(attr: str, value: str, allowed: Sequence[str]) -> str:
    names = ", ".join(f'"{v}"' for v in allowed)
    return f"Value for attr '{attr}' of \"{value}\" is not in the list of allowed values: {names}"


def spatial(values: Sequence[int], data_format: str) -> tuple[int, ...]:
    """The spatial part of a list with an entry for each dimension."""
    return tuple(values[2:] if channels_first(data_format) else values[1:-1])


def spatial_ends(paddings: Sequence[int], data_format: str) -> tuple[int, ...]:
    """The spatial part of a flat list of explicit paddings."""
    return tuple(paddings[4:] if channels_first(data_format) else paddings[2:-2])


def channels_last(x: Any, data_format: str) -> Any:
    """The array with its channels in the last dimension: a view."""
    return np.moveaxis(x, 1, -1) if channels_first(data_format) else x


def restored(x: Any, data_format: str) -> Any:
    """A channels-last array in the requested layout, contiguous."""
    if channels_first(data_format):
        return np.ascontiguousarray(np.moveaxis(x, -1, 1))
    return x


def split(dims: Dims, rank: int, data_format: str) -> tuple[Any, tuple[Any, ...], Any]:
    """(batch, spatial dimensions, channels) of a shape. Raises ShapeError for another rank."""
    if dims is None:
        return None, (None,) * (rank - 2), None
    if len(dims) != rank:
        raise ShapeError(f"Shape must be rank {rank} but is rank {len(dims)}")
    if channels_first(data_format):
        return dims[0], dims[2:], dims[1]
    return dims[0], dims[1:-1], dims[-1]


def joined(batch: Any, sizes: Sequence[Any], channels: Any, data_format: str) -> tuple[Any, ...]:
    """The shape that `split` takes apart."""
    if channels_first(data_format):
        return (batch, channels, *sizes)
    return (batch, *sizes, channels)


# -- views -----------------------------------------------------------------------------


def padded(x: np.ndarray, along: Sequence[Axis], fill: Any = 0) -> np.ndarray:
    """A channels-last array with its spatial edges filled up; the array itself if none are."""
    if not any(a.padded for a in along):
        return x
    shape = (x.shape[0], *[a.before + a.size + a.after for a in along], x.shape[-1])
    check_allocated(shape, x.dtype.itemsize, "Padding for windows")
    result = np.full(shape, fill, x.dtype) if fill else np.zeros(shape, x.dtype)
    result[inside(along)] = x
    return result


def inside(along: Sequence[Axis]) -> tuple[slice, ...]:
    """The slice of the array in its padded form."""
    return (slice(None), *[slice(a.before, a.before + a.size) for a in along])


def patches(x: np.ndarray, along: Sequence[Axis]) -> np.ndarray:
    """All windows of a padded array (N, *S, C) as a view (N, *out, *window, C)."""
    steps = x.strides
    inner = steps[1:-1]
    return np.lib.stride_tricks.as_strided(
        x,
        (x.shape[0], *[a.out for a in along], *[a.window for a in along], x.shape[-1]),
        (
            steps[0],
            *[s * a.stride for s, a in zip(inner, along, strict=True)],
            *[s * a.dilation for s, a in zip(inner, along, strict=True)],
            steps[-1],
        ),
        writeable=False,
    )
