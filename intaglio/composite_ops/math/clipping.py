"""Values and norms clipped.

Follows https://www.tensorflow.org/api_docs/python/tf/clip_by_value and its kin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.base.errors import ShapeError
from intaglio.composite_ops.linalg.norms import global_norm
from intaglio.composite_ops.math.constants import constant_of
from intaglio.composite_ops.math.reductions import reduce_sum
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.tensor import Tensor

_NUMBERS = frozenset((int, float))


def _values(x: Any) -> Tensor:
    return x.values if isinstance(x, IndexedSlices) else convert.to_tensor(x)


def _like(clipped: Any, x: Any) -> Any:
    if isinstance(x, IndexedSlices):
        return IndexedSlices(clipped, x.indices, x.dense_shape)
    return clipped


def _same_shape(x: Tensor, y: Tensor) -> None:
    try:
        shapes.merge(x.dims, y.dims)
    except ShapeError:
        raise ValueError(f"Shapes {x.shape} and {y.shape} are incompatible") from None


def _is_plain(values: Tensor, low: Any, high: Any) -> bool:
    """True for floats and limits that are numbers, where nothing watches which ops compute: one op is faster.

    It takes the limits in the other order, so the lower one has to be less.
    """
    if door.STATE.unusual or door.INSPECTORS or not values.dtype.is_floating:
        return False
    return type(low) in _NUMBERS and type(high) in _NUMBERS and low < high


@dispatchable
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """`t`, clipped to two limits of its dtype that broadcast to its shape.

    A tensor or IndexedSlices of real numbers. Raises ValueError if the limits have a larger
    shape.

    https://www.tensorflow.org/api_docs/python/tf/clip_by_value

    >>> print(tf.clip_by_value([1, 5, 9], 2, 7).numpy())
    [2 5 7]
    """
    with door.level().scoped(name or "clip_by_value") as scope:
        values = _values(t)
        if _is_plain(values, clip_value_min, clip_value_max):
            return _like(raw.ClipByValue(values, clip_value_min, clip_value_max), t)
        below = raw.Minimum(values, clip_value_max)
        _same_shape(values, below)
        clipped = raw.Maximum(below, clip_value_min, name=scope)
        _same_shape(values, clipped)
        return _like(clipped, t)


@dispatchable
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """`t`, scaled down where its Euclidean norm over the axes is above `clip_norm`.

    A tensor or IndexedSlices of floating-point numbers.

    https://www.tensorflow.org/api_docs/python/tf/clip_by_norm

    >>> print(tf.clip_by_norm([3.0, 4.0], 1.0).numpy().round(4))
    [0.6 0.8]
    """
    with door.level().scoped(name or "clip_by_norm") as scope:
        values = _values(t)
        square = reduce_sum(raw.Mul(values, values, name="mul"), axes, True)
        positive = raw.Greater(square, constant_of(0, values))
        # Where the norm is 0 the root of 1 is taken instead: its gradient is finite.
        safe = raw.SelectV2(positive, square, raw.OnesLike(square))
        norm = raw.SelectV2(positive, raw.Sqrt(safe), square)
        scaled = raw.Mul(values, clip_norm, name="mul")
        _same_shape(values, scaled)
        largest = raw.Maximum(norm, convert.to_tensor(clip_norm, values.dtype))
        return _like(raw.RealDiv(scaled, largest, name=scope), t)


def _sequence(t_list: Any) -> list[Any]:
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    return list(t_list)


@dispatchable
def clip_by_global_norm(
    t_list: Any, clip_norm: Any, use_norm: Any = None, name: str | None = None
) -> tuple[list[Any], Tensor]:
    """The tensors, scaled down if their joint norm is above `clip_norm`, and that norm.

    `use_norm` is the norm if it is known already. None entries stay; if the norm is not
    finite, everything becomes NaN. Raises TypeError if `t_list` is no list.

    https://www.tensorflow.org/api_docs/python/tf/clip_by_global_norm

    >>> clipped, norm = tf.clip_by_global_norm(
    ...     [tf.constant([3.0]), tf.constant([4.0])], 1.0
    ... )
    >>> [x.numpy().round(2).tolist() for x in clipped], norm.numpy().item()
    ([[0.6000000238418579], [0.800000011920929]], 5.0)
    """
    items = _sequence(t_list)
    if use_norm is None:
        use_norm = global_norm(items, name)
    with door.level().scoped(name or "clip_by_global_norm"):
        norm = convert.to_tensor(use_norm)
        one = constant_of(1, norm)
        limit = convert.to_tensor(clip_norm, norm.dtype)
        factor = raw.Mul(
            limit, raw.Minimum(raw.RealDiv(one, norm), raw.RealDiv(one, limit)), name="mul"
        )
        # A norm that is not finite makes the factor NaN.
        factor = raw.AddV2(factor, raw.Sub(norm, norm, name="sub"), name="add")
        clipped: list[Any] = []
        for i, t in enumerate(items):
            if t is None:
                clipped.append(None)
                continue
            values = _values(t)
            scale = factor
            if values.dtype is not norm.dtype:
                scale = raw.Cast(factor, DstT=values.dtype)
            scaled = raw.Mul(values, scale, name="mul")
            scaled = raw.Identity(scaled, name=f"clip_by_global_norm/_{i}")
            clipped.append(_like(scaled, t))
        return clipped, norm


__all__ = ["clip_by_global_norm", "clip_by_norm", "clip_by_value"]
