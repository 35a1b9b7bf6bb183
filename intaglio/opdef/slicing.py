"""Indexing, `x[...]`: Python's index expressions as inputs and masks of StridedSlice.

Follows https://www.tensorflow.org/api_docs/python/tf/Tensor#__getitem__ and
https://www.tensorflow.org/api_docs/python/tf/boolean_mask.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import dtypes
from intaglio.opdef import convert, door, raw
from intaglio.opdef.overloads import install_overloadable
from intaglio.opdef.tensor import Tensor

INDEX_TYPES = (dtypes.int16, dtypes.int32, dtypes.int64)
_TYPE_ERROR = (
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
    "tf.int32/tf.int64 tensors are valid indices"
)


class SliceSpec(NamedTuple):
    """A parsed index expression, whose entries may be tensors."""

    begin: list[Any]
    end: list[Any]
    strides: list[Any]
    masks: dict[str, int]

    @property
    def constant(self) -> bool:
        """True if every entry is a Python integer."""
        return not any(isinstance(v, Tensor) for v in (*self.begin, *self.end, *self.strides))


def parse(spec: Any) -> SliceSpec:
    """Parses the index expression.

    Raises TypeError for an entry that is no index, slice, ellipsis or new axis.
    """
    entries: Sequence[Any] = spec if isinstance(spec, (list, tuple)) else (spec,)
    begin: list[Any] = []
    end: list[Any] = []
    strides: list[Any] = []
    begin_mask = end_mask = ellipsis_mask = new_axis_mask = shrink_axis_mask = 0
    for i, entry in enumerate(entries):
        b: Any = 0
        e: Any = 0
        s: Any = 1
        if isinstance(entry, slice):
            if entry.start is None:
                begin_mask |= 1 << i
            else:
                b = _index(entry.start)
            if entry.stop is None:
                end_mask |= 1 << i
            else:
                e = _index(entry.stop)
            if entry.step is not None:
                s = _index(entry.step)
        elif entry is Ellipsis:
            ellipsis_mask |= 1 << i
        elif entry is None:
            new_axis_mask |= 1 << i
        else:
            b = _index(entry)
            # The end is ignored for a single index.
            e = b if isinstance(b, Tensor) else b + 1
            shrink_axis_mask |= 1 << i
        begin.append(b)
        end.append(e)
        strides.append(s)
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    return SliceSpec(begin, end, strides, masks)


def _index(value: Any) -> Any:
    """An index as a Python integer or a scalar tensor."""
    if type(value) is int:
        return value
    if isinstance(value, Tensor):
        if value.dtype in INDEX_TYPES and not value.dims:
            return value
    elif isinstance(value, numbers.Integral):
        return int(value)
    elif isinstance(value, np.ndarray):
        if value.dtype.kind in "iu" and value.ndim == 0:
            return int(value)
    elif hasattr(type(value), "__tf_tensor__"):
        return _index(convert.to_tensor(value))
    raise TypeError(f"{_TYPE_ERROR}, got {value!r}")


def packed(spec: SliceSpec, base: str | None = None) -> list[Any]:
    """begin, end and strides as three integer vectors of one dtype.

    In graphs their names begin with `base`, the name of the node that will use them.
    """
    parts = (spec.begin, spec.end, spec.strides)
    names = [f"{base}/stack{n}/" for n in ("", "_1", "_2")] if base else [None] * 3
    if spec.constant:
        fits = all([-(1 << 31) <= v < 1 << 31 for part in parts for v in part])
        whole = np.array(parts, np.int32 if fits else np.int64)
        constant = door.level().constant
        return [constant(p, n) for p, n in zip(whole, names, strict=True)]
    tensors = [v for p in parts for v in p if isinstance(v, Tensor)]
    long = any(t.dtype is dtypes.int64 for t in tensors)
    dtype = (
        dtypes.int64
        if long
        else tensors[0].dtype
        if all(t.dtype is tensors[0].dtype for t in tensors)
        else dtypes.int32
    )
    return [_vector(p, dtype, n) for p, n in zip(parts, names, strict=True)]


def _vector(entries: list[Any], dtype: Any, name: str | None) -> Any:
    if not any(isinstance(v, Tensor) for v in entries):
        return door.level().constant(np.array(entries, dtype.numpy), name)
    cast = [
        raw.Cast(v, DstT=dtype) if isinstance(v, Tensor) and v.dtype is not dtype else v
        for v in entries
    ]
    return raw.Pack([convert.to_tensor(v, dtype) for v in cast], axis=0, name=name)


def getitem(x: Any, spec: Any, name: str = "strided_slice") -> Tensor:
    """`x[spec]`: indices, slices, `...`, new axes, scalar tensors, or one boolean mask.

    Raises TypeError for anything else, InvalidArgumentError (eagerly) or ValueError (in a
    graph) for an index out of bounds or more indices than dimensions.
    """
    if type(spec) is bool or (isinstance(spec, (Tensor, np.ndarray)) and spec.dtype == bool):
        return boolean_mask(x, spec)
    entries = parse(spec)
    here: Any = door.level()
    base = None
    if not here.eager:
        base = here.graph.unique_name(here.node_name(name), mark_as_used=False)
    else:
        name += "/"
    begin, end, strides = packed(entries, base)
    return raw.StridedSlice(x, begin, end, strides, **entries.masks, name=name)


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Tensor:
    """The elements (or slices) of the tensor where the mask is True or not zero.

    The mask's shape must be that of the tensor's dimensions from `axis` on. Raises
    ValueError for a mask of unknown rank, a scalar mask or shapes that do not fit.
    """
    tensor = convert.to_tensor(tensor)
    mask = convert.to_tensor(mask)
    if mask.dims is None:
        raise ValueError(
            "Number of mask dimensions must be specified, even if some dimensions are None."
            "  E.g. shape=[None] is ok, but shape=None is not."
        )
    depth = len(mask.dims)
    if depth == 0:
        raise ValueError("mask cannot be scalar.")
    at = 0 if axis is None else _static_axis(axis)
    if tensor.dims is not None:
        if at < 0:
            at += len(tensor.dims)
        _check_mask(tensor.dims[at : at + depth], mask.dims)
    flat = raw.Reshape(mask, [-1])
    rows = raw.Squeeze(raw.Where(flat), axis=[1])
    merged = tensor if depth == 1 else _merged(tensor, at, depth)
    return raw.GatherV2(merged, rows, at, name=name)


def _static_axis(axis: Any) -> int:
    if isinstance(axis, Tensor):
        spec = getattr(axis, "spec", None)
        value = getattr(axis, "_array", None) if spec is None else spec.value
        if value is None:
            raise ValueError("axis of boolean_mask must be known while tracing")
        return int(value)
    return int(axis)


def _check_mask(dims: tuple[int | None, ...], mask: tuple[int | None, ...]) -> None:
    if len(dims) != len(mask) or any(
        None not in (d, m) and d != m for d, m in zip(dims, mask, strict=True)
    ):
        raise ValueError(f"Shapes {tuple(dims)} and {tuple(mask)} are incompatible")


def _merged(tensor: Any, at: int, depth: int) -> Tensor:
    """The tensor with `depth` dimensions from `at` on merged into one."""
    dims = tensor.dims
    if dims is not None and sum(d is None for d in (*dims[:at], *dims[at + depth :])) + 1 <= 1:
        shape: Any = [*dims[:at], -1, *dims[at + depth :]]
        return raw.Reshape(tensor, np.array(shape, np.int32))
    whole = raw.Shape(tensor)
    middle = raw.Prod(raw.StridedSlice(whole, [at], [at + depth], [1]), 0, keep_dims=True)
    head = raw.StridedSlice(whole, [0], [at], [1])
    tail = raw.StridedSlice(whole, [at + depth], [0], [1], end_mask=1)
    return raw.Reshape(tensor, raw.ConcatV2([head, middle, tail], 0))


# `x[spec]` of tensors.
OPERATOR = install_overloadable("__getitem__", getitem)
