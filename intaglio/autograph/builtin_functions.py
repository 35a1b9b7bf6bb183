"""Python's built-in functions on symbolic tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import dtypes
from intaglio.base.composite import ActsAsTensor, TensorInParts
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import convert, raw


def int_(x: Any = 0, base: Any = None) -> Any:
    """`int(x)`; of a symbolic tensor, an int32 tensor.

    Raises NotImplementedError for a tensor and a base other than 10.
    """
    if type(x) is SymbolicTensor:
        if base not in (None, 10):
            raise NotImplementedError(f"base {base} not supported for int")
        if x.dtype is dtypes.string:
            return raw.StringToNumber(x, out_type=dtypes.int32)
        return raw.Cast(x, DstT=dtypes.int32)
    return int(x) if base is None else int(x, base)


def float_(x: Any = 0) -> Any:
    """`float(x)`; of a symbolic tensor, a float32 tensor."""
    if type(x) is SymbolicTensor:
        if x.dtype is dtypes.string:
            return raw.StringToNumber(x, out_type=dtypes.float32)
        return raw.Cast(x, DstT=dtypes.float32)
    return float(x)


def len_(x: Any) -> Any:
    """`len(x)`; of a symbolic tensor, its first dimension, a number if that is known.

    Raises ValueError for scalars.
    """
    if type(x) is not SymbolicTensor:
        return _handed_over(len)(x)
    if x.dims is not None:
        if not x.dims:
            raise ValueError(f"len requires a non-scalar tensor, got one of shape {x.dims}")
        if x.dims[0] is not None:
            return x.dims[0]
    return raw.Shape(x)[0]


def range_(*limits: Any) -> Any:
    """`range(...)`; with symbolic limits, a tensor."""
    if not any(type(v) is SymbolicTensor for v in limits):
        return range(*limits)
    start, limit, delta = {1: (0, *limits, 1), 2: (*limits, 1)}.get(len(limits), limits)
    dtype = next(v.dtype for v in limits if type(v) is SymbolicTensor)
    values = [convert.to_tensor(v, dtype) for v in (start, limit, delta)]
    return raw.Range(*values)


def max_(*args: Any, **kwargs: Any) -> Any:
    """`max(...)`; of scalars with a symbolic one, or of one symbolic vector, a tensor."""
    return _extreme(raw.Maximum, raw.Max, max, args, kwargs)


def min_(*args: Any, **kwargs: Any) -> Any:
    """`min(...)`; of scalars with a symbolic one, or of one symbolic vector, a tensor."""
    return _extreme(raw.Minimum, raw.Min, min, args, kwargs)


def _extreme(pairwise: Any, reduction: Any, python: Any, args: Any, kwargs: Any) -> Any:
    if kwargs or not any(type(a) is SymbolicTensor for a in args):
        return python(*args, **kwargs)
    if len(args) == 1:
        if args[0].dims is None or len(args[0].dims) != 1:
            raise ValueError(
                f"{python.__name__}() takes a vector, not a tensor of shape {args[0].shape}"
            )
        return reduction(args[0], 0)
    result = args[0]
    for other in args[1:]:
        result = pairwise(result, other)
    return result


def sorted_(iterable: Any, *, key: Any = None, reverse: bool = False) -> Any:
    """`sorted(x)`; of a symbolic vector, a tensor. `key` is called once, on the whole vector.

    Raises ValueError for tensors that are no vectors.
    """
    if type(iterable) is not SymbolicTensor:
        return sorted(iterable, key=key, reverse=reverse)
    keys = iterable if key is None else convert.to_tensor(key(iterable))
    for tensor in (iterable, keys):
        if tensor.dims is not None and len(tensor.dims) != 1:
            raise ValueError(
                f"sort only supports only 1D tensors, and this has the shape {tensor.shape}"
            )
    return raw.GatherV2(iterable, _order(keys, bool(reverse)), 0)


def _order(keys: Any, down: bool) -> Any:
    """The indices that sort the elements stably."""
    count = raw.Size(keys)
    if down:
        return raw.TopKV2(keys, count)[1]
    # Of equal elements the largest comes first in this order, which is read backwards.
    from_behind = raw.TopKV2(raw.ReverseV2(keys, [0]), count)[1]
    return raw.ReverseV2(raw.Sub(raw.Sub(count, 1), from_behind), [0])


def _handed_over(function: Any) -> Callable[..., Any]:
    """The result of the built-in function, or of the implementation of an argument's class.

    Such a class has `__autograph_builtin__(function, args, kwargs)`.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        for argument in args:
            hook = getattr(type(argument), "__autograph_builtin__", None)
            if hook is not None:
                return hook(function, args, kwargs)
        return function(*args, **kwargs)

    return call


def _on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """A wrapper of the function that converts variables and composite tensors to tensors."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*map(tensor_of, args), **kwargs)

    return call


def tensor_of(value: Any) -> Any:
    """The tensor of a variable or composite tensor; other values unchanged."""
    if isinstance(value, (TensorInParts, ActsAsTensor)) and hasattr(type(value), "__tf_tensor__"):
        return convert.to_tensor(value)
    return value


OVERLOADS: dict[Any, Callable[..., Any]] = {
    **{f: _handed_over(f) for f in (abs, all, any, enumerate, filter, map, next, zip)},
    int: _on_tensors(int_),
    float: _on_tensors(float_),
    len: _on_tensors(len_),
    range: _on_tensors(range_),
    max: _on_tensors(max_),
    min: _on_tensors(min_),
    sorted: _on_tensors(sorted_),
}
