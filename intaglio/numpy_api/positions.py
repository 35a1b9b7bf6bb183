"""`x[...]` with lists, arrays and tensors of indices between the brackets, as in NumPy.

Follows https://www.tensorflow.org/guide/tf_numpy#indexing. Unlike in NumPy an integer is no array:
it takes its axis away before the arrays are looked at.
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.composite_ops.array.lengths import of_axis
from intaglio.numpy_api.promotion import as_tensor, number
from intaglio.opdef import convert, raw, slicing
from intaglio.opdef.tensor import Tensor

_BASIC = (slice, type(None), type(Ellipsis))
_ARRAYS = (list, tuple, np.ndarray)


def getitem(x: Any, spec: Any) -> Tensor:
    """`x[spec]`: indices, slices, `...`, new axes, arrays of integers or truth values.

    Arrays broadcast. The resulting axes replace those of the arrays, if these are neighbours,
    else they come first. Raises IndexError for what is no index, NotImplementedError for a matrix of
    truth values next to other indices.
    """
    mask = _mask(spec)
    if mask is not None:
        return slicing.boolean_mask(x, mask)
    entries = _entries(spec)
    kinds = [_is_array(entry) for entry in entries]
    if not any(kinds):
        return slicing.getitem(x, tuple(entries))
    arrays = [_positions(e) for e, array in zip(entries, kinds, strict=True) if array]
    rest = [slice(None) if array else e for e, array in zip(entries, kinds, strict=True)]
    rest, kinds = _spelt_out(x, rest, kinds)
    plain = all(isinstance(e, slice) and e == slice(None) for e in rest)
    y = x if plain else slicing.getitem(x, tuple(rest))
    axes = _axes_after(rest, kinds)
    if len(axes) == 1:
        return raw.GatherV2(y, _from_front(arrays[0], y, axes[0]), axes[0])
    return _at_several(y, arrays, axes)


def _mask(spec: Any) -> Any:
    """The specification as an array of truth values if it is one."""
    if isinstance(spec, list):
        items: Any = spec
        truths = bool(items) and all(isinstance(i, (bool, np.bool_)) for i in items)
        return np.array(items, bool) if truths else None
    if isinstance(spec, (bool, np.bool_)):
        return spec
    if isinstance(spec, (Tensor, np.ndarray)) and spec.dtype == bool:
        return spec
    return None


def _entries(spec: Any) -> list[Any]:
    """The entries between the brackets; a list with more than numbers in it is several."""
    if isinstance(spec, tuple):
        several: Any = spec
        return [*several]
    if isinstance(spec, list):
        items: Any = spec
        if not items:
            raise _not_an_index(spec)
        if any(isinstance(i, (*_BASIC, *_ARRAYS)) for i in items):
            return [*items]
    return [spec]


def _is_array(entry: Any) -> bool:
    """Whether an entry picks positions one by one. Raises IndexError if it is no index."""
    if isinstance(entry, slice):
        for bound in (entry.start, entry.stop, entry.step):
            if bound is not None and _is_array(bound):
                raise _not_an_index(bound)
        return False
    if isinstance(entry, _BASIC):
        return False
    if isinstance(entry, _ARRAYS):
        return True
    if isinstance(entry, Tensor) or hasattr(type(entry), "__tf_tensor__"):
        dtype = entry.dtype
        if dtype.is_integer or dtype is dtypes.bool_:
            return entry.shape.rank != 0
        raise _not_an_index(entry)
    if isinstance(entry, numbers.Integral):
        return False
    raise _not_an_index(entry)


def _not_an_index(entry: Any) -> IndexError:
    return IndexError(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer "
        f"or boolean arrays are valid indices, got {entry!r}"
    )


def _positions(entry: Any) -> Tensor:
    """An array entry as a tensor of int32 or int64."""
    x = as_tensor(entry)
    if x.dtype is dtypes.bool_:
        if x.dims is None or len(x.dims) != 1:
            raise NotImplementedError(f"Need rank 1 for bool index {entry}")
        return raw.Reshape(raw.Where(x), [-1])
    if not x.dtype.is_integer:
        raise _not_an_index(entry)
    if x.dtype in (dtypes.int32, dtypes.int64):
        return x
    return raw.Cast(x, DstT=dtypes.int64)


def _spelt_out(x: Any, entries: list[Any], kinds: list[bool]) -> tuple[list[Any], list[bool]]:
    """The entries with whole slices instead of `...`."""
    if Ellipsis not in entries:
        return entries, kinds
    at = entries.index(Ellipsis)
    if not any(kinds[at:]):
        return entries, kinds
    dims = convert.to_tensor(x).dims
    if dims is None:
        raise ValueError("arrays of indices after `...` need a tensor whose rank is known")
    used = len([e for e in entries if e is not None and e is not Ellipsis])
    missing = max(len(dims) - used, 0)
    return (
        [*entries[:at], *[slice(None)] * missing, *entries[at + 1 :]],
        [*kinds[:at], *[False] * missing, *kinds[at + 1 :]],
    )


def _axes_after(entries: list[Any], kinds: list[bool]) -> list[int]:
    """Where the axes of the arrays are once the other entries have been applied."""
    axes: list[int] = []
    position = 0
    for entry, array in zip(entries, kinds, strict=True):
        if array:
            axes.append(position)
        position += isinstance(entry, (slice, type(None)))
    return axes


def _from_front(at: Tensor, x: Any, axis: int) -> Tensor:
    """Positions counted from the front, also those that count from the end."""
    size = raw.Cast(of_axis(convert.to_tensor(x), axis), DstT=at.dtype)
    return raw.SelectV2(raw.Less(at, number(0, at)), raw.AddV2(at, size), at)


def _at_several(y: Any, arrays: list[Tensor], axes: list[int]) -> Tensor:
    y = convert.to_tensor(y)
    if y.dims is None:
        raise ValueError("several arrays of indices need a tensor whose rank is known")
    indices = [
        raw.Cast(_from_front(at, y, axis), DstT=dtypes.int64)
        for at, axis in zip(arrays, axes, strict=True)
    ]
    common = raw.Shape(indices[0])
    for at in indices[1:]:
        common = raw.BroadcastArgs(common, raw.Shape(at))
    wide = [raw.BroadcastTo(at, common) for at in indices]
    others = [i for i in range(len(y.dims)) if i not in axes]
    first = raw.Transpose(y, np.array([*axes, *others], np.int32))
    result = raw.GatherNd(first, raw.Pack(wide, axis=-1))
    neighbours = axes == [*range(axes[0], axes[0] + len(axes))]
    if not neighbours or axes[0] == 0 or result.dims is None:
        return result
    output = len(result.dims) - len(others)
    lead = [*range(output, output + axes[0])]
    order = [*lead, *range(output), *range(output + axes[0], len(result.dims))]
    return raw.Transpose(result, np.array(order, np.int32))


__all__: list[str] = []
