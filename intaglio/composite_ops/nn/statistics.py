"""Moments and normalisation of `tf.nn`.

Follows https://www.tensorflow.org/api_docs/python/tf/nn/moments and its neighbours.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base import dtypes, errors, shapes
from intaglio.composite_ops.array.axes import all_axes
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.hooks import HOOKS

HALVES = (dtypes.float16, dtypes.bfloat16)


def _axes(x: Tensor, axes: Any) -> Any:
    """Axes as an int32 vector, or the tensor that they are; None stands for all of `x`."""
    if axes is None:
        return all_axes(x)
    if isinstance(axes, Tensor):
        return axes
    return np.atleast_1d(np.asarray(axes, np.int32))


def _squeezed(x: Tensor, axes: Any) -> Tensor:
    """The tensor without the dimensions of size 1 that a reduction has kept."""
    if isinstance(axes, Tensor):
        value = getattr(axes, "_array", None)
        if value is None:
            value = axes.spec.value
        axes = value
    return raw.Squeeze(x, axis=[int(i) for i in np.atleast_1d(axes)], name="Squeeze")


@dispatchable
def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(mean, variance) over `axes`; float16 and bfloat16 are computed as float32.

    `shift` is accepted and ignored, as in TensorFlow.

    https://www.tensorflow.org/api_docs/python/tf/nn/moments

    >>> [
    ...     x.numpy().tolist()
    ...     for x in tf.nn.moments(tf.constant([[1.0, 2.0], [3.0, 6.0]]), axes=[0])
    ... ]
    [[2.0, 4.0], [1.0, 4.0]]
    """
    with door.level().scoped(name or "moments"):
        tensor = convert.to_tensor(x, name="x")
        axes = _axes(tensor, axes)
        x = raw.Cast(tensor, DstT=dtypes.float32) if tensor.dtype in HALVES else tensor
        mean = raw.Mean(x, axes, keep_dims=True, name="mean")
        fixed = raw.StopGradient(mean)
        squares = raw.SquaredDifference(x, fixed, name="SquaredDifference")
        variance = raw.Mean(squares, axes, keep_dims=True, name="variance")
        if not keepdims:
            mean, variance = _squeezed(mean, axes), _squeezed(variance, axes)
        if tensor.dtype in HALVES:
            dtype = tensor.dtype
            return raw.Cast(mean, DstT=dtype), raw.Cast(variance, DstT=dtype)
        return mean, variance


@dispatchable
def weighted_moments(
    x: Any, axes: Any, frequency_weights: Any, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(mean, variance) over `axes` of elements that count `frequency_weights` times.

    The weights broadcast to `x`.

    https://www.tensorflow.org/api_docs/python/tf/nn/weighted_moments

    >>> [
    ...     x.numpy().tolist()
    ...     for x in tf.nn.weighted_moments(
    ...         tf.constant([1.0, 5.0]), [0], tf.constant([3.0, 1.0])
    ...     )
    ... ]
    [2.0, 3.0]
    """
    with door.level().scoped(name or "weighted_moments"):
        x = convert.to_tensor(x, name="x")
        weights = convert.to_tensor(frequency_weights, name="frequency_weights")
        axes = _axes(x, axes)
        dtype = x.dtype
        if dtype in HALVES:
            x = raw.Cast(x, DstT=dtypes.float32)
        if weights.dtype is not x.dtype:
            weights = raw.Cast(weights, DstT=x.dtype)
        total = raw.Sum(
            raw.Mul(weights, x, name="mul"), axes, keep_dims=True, name="weighted_input_sum"
        )
        # As many weights as elements take part, whatever the weights' own shape.
        broadcast = raw.AddV2(weights, raw.ZerosLike(x), name="add")
        weight = raw.Sum(broadcast, axes, keep_dims=True, name="sum_of_weights")
        mean = raw.DivNoNan(total, weight)
        squares = raw.SquaredDifference(x, mean)
        distance = raw.Sum(
            raw.Mul(weights, squares, name="mul"), axes, keep_dims=True, name="weighted_distsq"
        )
        variance = raw.DivNoNan(distance, weight)
        if not keepdims:
            mean, variance = _squeezed(mean, axes), _squeezed(variance, axes)
        if dtype in HALVES:
            return raw.Cast(mean, DstT=dtype), raw.Cast(variance, DstT=dtype)
        return mean, variance


@dispatchable
def sufficient_statistics(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor | None]:
    """(count, sum, sum of squares, shift) over `axes`, of the elements less `shift`.

    `axes` is a list, tuple or vector. Raises TypeError for a number.

    https://www.tensorflow.org/api_docs/python/tf/nn/sufficient_statistics

    >>> [
    ...     x.numpy().tolist()
    ...     for x in tf.nn.sufficient_statistics(tf.constant([1.0, 3.0]), [0])[:3]
    ... ]
    [2.0, 4.0, 10.0]
    """
    with door.level().scoped(name or "sufficient_statistics"):
        x = convert.to_tensor(x, name="x")
        at = _axes(x, axes if isinstance(axes, Tensor) else [*dict.fromkeys(axes)])
        dims = x.dims
        if shapes.known(dims) and not isinstance(at, Tensor):
            for i in at:
                if not -len(dims) <= i < len(dims):
                    raise ValueError(f"a tensor of shape {x.shape} has no axis {i}")
            size = math.prod([dims[int(i)] for i in at])
            counts = convert.to_tensor(np.asarray(size, x.dtype.numpy))
        else:
            sizes = raw.GatherV2(raw.Shape(x), at, np.int32(0))
            counts = raw.Prod(raw.Cast(sizes, DstT=x.dtype), [0], name="count")
        if shift is None:
            sums, squares = x, raw.Square(x)
        else:
            shift = convert.to_tensor(shift, x.dtype, name="shift")
            sums = raw.Sub(x, shift)
            squares = raw.SquaredDifference(x, shift)
        return (
            counts,
            raw.Sum(sums, at, keep_dims=keepdims, name="mean_ss"),
            raw.Sum(squares, at, keep_dims=keepdims, name="var_ss"),
            shift,
        )


@dispatchable
def normalize_moments(
    counts: Any, mean_ss: Any, variance_ss: Any, shift: Any, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(mean, variance) from what `sufficient_statistics` returns.

    https://www.tensorflow.org/api_docs/python/tf/nn/normalize_moments

    >>> counts, sums, squares, _ = tf.nn.sufficient_statistics(tf.constant([1.0, 3.0]), [0])
    >>> [x.numpy().tolist() for x in tf.nn.normalize_moments(counts, sums, squares, None)]
    [2.0, 1.0]
    """
    with door.level().scoped(name or "normalize"):
        divisor = raw.Reciprocal(convert.to_tensor(counts), name="divisor")
        if shift is not None:
            shifted = raw.Mul(mean_ss, divisor, name="shifted_mean")
            mean = raw.AddV2(shifted, shift, name="mean")
        else:
            mean = shifted = raw.Mul(mean_ss, divisor, name="mean")
        variance = raw.Sub(raw.Mul(variance_ss, divisor), raw.Square(shifted), name="variance")
        return mean, variance


@dispatchable
def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    offset: Any,
    scale: Any,
    variance_epsilon: Any,
    name: str | None = None,
) -> Tensor:
    """scale * (x - mean) / sqrt(variance + epsilon) + offset; the last two may be None.

    The statistics broadcast to `x`.

    https://www.tensorflow.org/api_docs/python/tf/nn/batch_normalization

    >>> print(
    ...     tf.nn.batch_normalization(
    ...         tf.constant([[3.0], [5.0]]), 4.0, 1.0, None, None, 0.0
    ...     ).numpy()
    ... )
    [[-1.]
     [ 1.]]
    """
    with door.level().scoped(name or "batchnorm"):
        x = convert.to_tensor(x)
        mean = convert.to_tensor(mean, dtype_hint=x.dtype)
        variance = convert.to_tensor(variance, dtype_hint=x.dtype)
        epsilon = convert.to_tensor(variance_epsilon, dtype_hint=variance.dtype)
        rate = raw.Rsqrt(raw.AddV2(variance, epsilon, name="add"), name="Rsqrt")
        if scale is not None:
            rate = raw.Mul(rate, scale, name="mul")
        shift = raw.Mul(mean, rate, name="mul")
        if offset is None:
            shift = raw.Neg(shift)
        else:
            shift = raw.Sub(offset, shift, name="sub")
        scaled = raw.Mul(x, _as(rate, x), name="mul")
        return raw.AddV2(scaled, _as(shift, x), name="add")


def _as(statistic: Tensor, x: Tensor) -> Tensor:
    return statistic if statistic.dtype is x.dtype else raw.Cast(statistic, DstT=x.dtype)


@dispatchable
def batch_norm_with_global_normalization(
    input: Any,
    mean: Any,
    variance: Any,
    beta: Any,
    gamma: Any,
    variance_epsilon: Any,
    scale_after_normalization: bool,
    name: str | None = None,
) -> Tensor:
    """`batch_normalization` with `beta` and, if requested, `gamma`.

    https://www.tensorflow.org/api_docs/python/tf/nn/batch_norm_with_global_normalization

    >>> tf.nn.batch_norm_with_global_normalization(
    ...     tf.ones([1, 1, 1, 2]),
    ...     tf.zeros([2]),
    ...     tf.ones([2]),
    ...     tf.zeros([2]),
    ...     tf.ones([2]),
    ...     0.0,
    ...     True,
    ... ).numpy().ravel()
    array([1., 1.], dtype=float32)
    """
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon, name)


@dispatchable
def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """input / (bias + alpha * the sum of squares of neighbouring channels) ** beta.

    https://www.tensorflow.org/api_docs/python/tf/nn/local_response_normalization

    >>> tf.nn.local_response_normalization(
    ...     tf.ones([1, 1, 1, 3]), depth_radius=1
    ... ).numpy().round(3).ravel()
    array([0.577, 0.5  , 0.577], dtype=float32)
    """
    return raw.LRN(input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta, name=name)


lrn = local_response_normalization


@dispatchable
def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Tensor:
    """sum(loss * weight) / global_batch_size; by default the number of examples in all replicas.

    A weight with one dimension less than the loss goes along its first ones, and one with a
    dimension of 1 more goes without it; then they broadcast. Raises ValueError for a scalar loss,
    InvalidArgumentError (ValueError in a graph) for shapes that do not fit, RuntimeError without a
    batch size in a strategy's scope outside of its replicas.

    `sample_weight` are the weights.

    https://www.tensorflow.org/api_docs/python/tf/nn/compute_average_loss

    >>> print(
    ...     tf.nn.compute_average_loss(
    ...         tf.constant([1.0, 2.0, 3.0]), global_batch_size=4
    ...     ).numpy()
    ... )
    1.5
    """
    loss = convert.to_tensor(per_example_loss)
    if loss.dims == ():
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1. "
            f"Received per_example_loss={per_example_loss} with rank 0"
        )
    dtype = loss.dtype
    if sample_weight is not None:
        weight = convert.to_tensor(sample_weight)
        loss = raw.Cast(loss, DstT=dtypes.float32)
        weight = raw.Cast(weight, DstT=dtypes.float32)
        loss = raw.Mul(loss, _aligned(weight, loss))
    loss = raw.Cast(loss, DstT=dtype)
    if global_batch_size is None:
        size = raw.StridedSlice(raw.Shape(loss), [0], [1], [1], shrink_axis_mask=1)
        replicas = HOOKS.replicas_with("compute_average_loss")
        global_batch_size = size if replicas == 1 else raw.Mul(size, np.int32(replicas))
    size = raw.Cast(_batch_size(global_batch_size), DstT=dtype)
    return raw.DivNoNan(raw.Sum(loss, all_axes(loss)), size)


def _batch_size(number: Any) -> Tensor:
    """The number as a tensor. Raises TypeError for no integer, InvalidArgumentError for less than 0."""
    size = convert.to_tensor(number)
    if not size.dtype.is_integer:
        raise TypeError(
            "global_batch_size must be an integer. Expected an integer type, found a tensor of "
            f"dtype {size.dtype!r}"
        )
    known = getattr(size, "_array", None)
    if known is not None and np.any(known < 0):
        raise errors.invalid_argument(
            f"global_batch_size must be non-negative. Condition x >= 0 did not hold: x = {known}"
        )
    return size


def _aligned(weight: Tensor, loss: Tensor) -> Tensor:
    """The weight with the last dimension that it has more or less than the loss put right."""
    if not weight.dims or loss.dims is None:
        return weight
    more = len(weight.dims) - len(loss.dims)
    if more == 1:
        return raw.Squeeze(weight, axis=[-1])
    return raw.ExpandDims(weight, np.int32(-1)) if more == -1 else weight


@dispatchable
def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """The sum of the loss, divided by the number of replicas that add it.

    Raises RuntimeError in a strategy's scope outside of its replicas.

    https://www.tensorflow.org/api_docs/python/tf/nn/scale_regularization_loss

    >>> print(tf.nn.scale_regularization_loss(tf.constant([1.0, 2.0])).numpy())
    3.0
    """
    replicas = HOOKS.replicas_with("scale_regularization_loss")
    loss = convert.to_tensor(regularization_loss)
    total = raw.Sum(loss, all_axes(loss))
    return total if replicas == 1 else total / replicas
