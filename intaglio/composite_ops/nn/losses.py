"""Softmax, cross entropies and other losses of `tf.nn`.

Follows https://www.tensorflow.org/api_docs/python/tf/nn.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base import dtypes, errors, shapes
from intaglio.base.shapes import TensorShape
from intaglio.composite_ops.nn.activations import constant_like
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """exp(logits) / sum(exp(logits)) along `axis` (default: the last).

    For floating-point numbers. Raises InvalidArgumentError for an axis that does not exist.

    https://www.tensorflow.org/api_docs/python/tf/nn/softmax

    >>> print(tf.nn.softmax([0.0, 0.0, 1.0]).numpy().round(4))
    [0.2119 0.2119 0.5761]
    """
    return _along(raw.Softmax, logits, -1 if axis is None else axis, name)


@dispatchable
def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """logits - log(sum(exp(logits))) along `axis` (default: the last).

    For floating-point numbers. Raises InvalidArgumentError for an axis that does not exist.

    https://www.tensorflow.org/api_docs/python/tf/nn/log_softmax

    >>> print(tf.nn.log_softmax([0.0, 0.0]).numpy().round(4))
    [-0.6931 -0.6931]
    """
    return _along(raw.LogSoftmax, logits, -1 if axis is None else axis, name)


def _along(function: Callable[..., Any], x: Any, axis: Any, name: str | None) -> Tensor:
    """The function of vectors along `axis`."""
    x = convert.to_tensor(x)
    axis = int(np.asarray(axis))
    rank = None if x.dims is None else len(x.dims)
    if axis == -1 or (rank is not None and axis == rank - 1):
        return function(x, name=name)
    if rank is None:
        order = _exchange(raw.Rank(x), axis)
        return raw.Transpose(function(raw.Transpose(x, order)), order, name=name)
    if not -rank <= axis < rank:
        raise errors.invalid_argument(
            f"`dim` must be in the range [{-rank}, {rank}) where {rank} is the number of "
            f"dimensions in the input. Received: dim={axis}"
        )
    order = _swapped(rank, axis)
    return raw.Transpose(
        function(raw.Transpose(x, order, name="transpose")), order, name=name or "transpose"
    )


def _swapped(rank: int, axis: int) -> np.ndarray:
    """The permutation that exchanges `axis` and the last dimension."""
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    return np.asarray(order, np.int32)


def _exchange(rank: Any, axis: int) -> Any:
    """`_swapped` for a rank known when the graph runs."""
    zero, one = np.asarray(0, np.int32), np.asarray(1, np.int32)
    last = raw.Sub(rank, one)
    at = raw.AddV2(rank, np.asarray(axis, np.int32)) if axis < 0 else axis
    indices = raw.Range(zero, rank, one)
    swapped = raw.SelectV2(raw.Equal(indices, at), last, indices)
    return raw.SelectV2(raw.Equal(indices, last), at, swapped)


@dispatchable
def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: int | None = -1, name: str | None = None
) -> Tensor:
    """-sum(labels * log_softmax(logits)) along `axis` (None: the last).

    `labels` are probabilities of the classes, of the shape of `logits` or broadcast to it.
    float16 and bfloat16 are computed as float32. Gradients flow into the labels, too. Raises
    InvalidArgumentError (ValueError in a graph) for scalars, for shapes that do not fit and for
    an axis that is not there.

    https://www.tensorflow.org/api_docs/python/tf/nn/softmax_cross_entropy_with_logits

    >>> print(
    ...     tf.nn.softmax_cross_entropy_with_logits([[0.0, 1.0]], [[0.0, 2.0]])
    ...     .numpy()
    ...     .round(4)
    ... )
    [0.1269]
    """
    with door.level().scoped(name or "softmax_cross_entropy_with_logits") as scope:
        logits = convert.to_tensor(logits, name="logits")
        labels = convert.to_tensor(labels, dtype_hint=logits.dtype, name="labels")
        logits_dtype = logits.dtype
        if logits_dtype in (dtypes.float16, dtypes.bfloat16):
            logits = raw.Cast(logits, DstT=dtypes.float32)
        if labels.dtype is not logits.dtype:
            labels = raw.Cast(labels, DstT=logits.dtype)
        if axis is not None and axis != -1 and logits.dims is not None:
            rank = len(logits.dims)
            if not -rank <= axis < rank:
                raise _refused(f"the logits have shape {logits.shape} and no axis {axis}")
            if axis % rank != rank - 1:
                logits, labels = _moved(logits, axis, rank), _moved(labels, axis, rank)
        loss = _rows_loss(logits, labels, scope)
        return raw.Cast(loss, DstT=logits_dtype) if loss.dtype is not logits_dtype else loss


def _moved(x: Tensor, axis: int, rank: int) -> Tensor:
    """The tensor with `axis` transposed to the end."""
    order = [n for n in range(rank) if n != axis % rank] + [axis % rank]
    return raw.Transpose(x, np.asarray(order, np.int32))


def _rows_loss(logits: Tensor, labels: Tensor, scope: str) -> Tensor:
    """The loss along the last dimension, for any number of dimensions."""
    name = scope or None
    if () in (logits.dims, labels.dims):
        raise _refused("logits and labels must not be scalars")
    if any(x.dims is None or len(x.dims) != 2 for x in (logits, labels)):
        loss = raw.SoftmaxCrossEntropyWithLogits(_matrix(logits), _matrix(labels), name=name).loss
        return raw.Reshape(loss, _lead(logits))
    loss = raw.SoftmaxCrossEntropyWithLogits(logits, labels, name=name).loss
    if _covers(logits.dims[0], labels.dims[0]):  # type: ignore[index]  # they are matrices
        return loss
    # The op broadcasts each to the other: one row of logits does not go with several of labels.
    return raw.Reshape(loss, _lead(logits))


def _covers(rows: int | None, others: int | None) -> bool:
    """Whether other rows can only be as many, or one that is broadcast."""
    return others == 1 or (rows is not None and (rows > 1 or rows == others))


def _refused(text: str) -> Exception:
    """What bad arguments raise: InvalidArgumentError eagerly, ValueError in a graph."""
    return errors.invalid_argument(text) if door.level().eager else ValueError(text)


def _matrix(x: Tensor) -> Tensor:
    """All but the last dimension as one."""
    dims = x.dims
    if shapes.known(dims) and dims:
        return raw.Reshape(x, [-1, dims[-1]] if dims[-1] else [shapes.count(dims[:-1]), 0])
    last = raw.StridedSlice(raw.Shape(x), [-1], [0], [1], end_mask=1)
    return raw.Reshape(x, raw.ConcatV2([np.asarray([-1], np.int32), last], 0))


def _lead(x: Tensor) -> Any:
    """The shape without its last dimension."""
    dims = x.dims
    if shapes.known(dims):
        return np.asarray(dims[:-1], np.int32)
    return raw.StridedSlice(raw.Shape(x), [0], [-1], [1], begin_mask=1)


@dispatchable
def sparse_softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, name: str | None = None
) -> Tensor:
    """-log_softmax(logits)[label] along the last dimension.

    `labels` are class numbers (int32, int64 and other integers), of the shape of `logits`
    without its last dimension. float16 and bfloat16 are computed as float32. Raises
    ValueError if the static shapes do not fit; labels out of range raise
    InvalidArgumentError.

    https://www.tensorflow.org/api_docs/python/tf/nn/sparse_softmax_cross_entropy_with_logits

    >>> print(
    ...     tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0], [[0.0, 2.0], [0.0, 2.0]])
    ...     .numpy()
    ...     .round(4)
    ... )
    [0.1269 2.1269]
    """
    with door.level().scoped(name or "SparseSoftmaxCrossEntropyWithLogits"):
        labels = convert.to_tensor(labels)
        logits = convert.to_tensor(logits)
        logits_dtype = logits.dtype
        wide = logits_dtype in (dtypes.float16, dtypes.bfloat16)
        precise = raw.Cast(logits, DstT=dtypes.float32) if wide else logits
        _check_sparse(labels, logits)
        if len(labels.dims or (0, 0)) == 1 and len(logits.dims or ()) == 2:
            loss = raw.SparseSoftmaxCrossEntropyWithLogits(precise, labels).loss
        else:
            rows = raw.Reshape(labels, [-1])
            flat = raw.SparseSoftmaxCrossEntropyWithLogits(_matrix(precise), rows).loss
            known = shapes.known(labels.dims)
            shape = np.asarray(labels.dims, np.int32) if known else raw.Shape(labels)
            loss = raw.Reshape(flat, shape)
        return raw.Cast(loss, DstT=logits_dtype) if wide else loss


def _check_sparse(labels: Tensor, logits: Tensor) -> None:
    if logits.dims is None or labels.dims is None:
        return
    if not logits.dims:
        raise ValueError(
            f"`logits` cannot be a scalar. Received logits={logits}` with shape={logits.shape}"
        )
    if len(labels.dims) != len(logits.dims) - 1:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: "
            f"labels.shape={labels.shape} of rank {len(labels.dims)} and "
            f"logits.shape={logits.shape} of rank {len(logits.dims)}"
        )
    if not shapes.compatible(labels.dims, logits.dims[:-1]):
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. "
            f"Received: labels.shape={labels.shape} and logits.shape={logits.shape}"
        )


def _same_shape(first: Tensor, second: Tensor, names: tuple[str, str]) -> None:
    if not shapes.compatible(first.dims, second.dims):
        raise ValueError(
            f"`{names[0]}` and `{names[1]}` must have the same shape, received "
            f"({TensorShape(first.dims)} vs {TensorShape(second.dims)})."
        )


@dispatchable
def sigmoid_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """max(x, 0) - x * labels + log(1 + exp(-|x|)) for the logits x, element by element.

    Both arguments are floating-point tensors of one shape; raises ValueError otherwise.

    https://www.tensorflow.org/api_docs/python/tf/nn/sigmoid_cross_entropy_with_logits

    >>> print(
    ...     tf.nn.sigmoid_cross_entropy_with_logits([1.0, 0.0], [2.0, 2.0]).numpy().round(4)
    ... )
    [0.1269 2.1269]
    """
    if labels is None or logits is None:
        raise ValueError(
            f"Both `labels` and `logits` must be provided. Received: labels={labels} and logits={logits}"
        )
    with door.level().scoped(name or "logistic_loss") as scope:
        logits = convert.to_tensor(logits, name="logits")
        labels = convert.to_tensor(labels, dtype_hint=logits.dtype, name="labels")
        _same_shape(logits, labels, ("logits", "labels"))
        zeros = raw.ZerosLike(logits, name="zeros_like")
        positive = raw.GreaterEqual(logits, zeros, name="GreaterEqual")
        above = raw.Select(positive, logits, zeros, name="Select")
        fading = raw.Select(positive, raw.Neg(logits), logits, name="Select")
        product = raw.Mul(logits, labels, name="mul")
        return raw.AddV2(
            raw.Sub(above, product, name="sub"), raw.Log1p(raw.Exp(fading)), name=scope or None
        )


@dispatchable
def weighted_cross_entropy_with_logits(
    labels: Any, logits: Any, pos_weight: Any, name: str | None = None
) -> Tensor:
    """Sigmoid cross entropy in which positive labels weigh `pos_weight`.

    `labels` and `logits` are floating-point tensors of one shape; raises ValueError
    otherwise.

    https://www.tensorflow.org/api_docs/python/tf/nn/weighted_cross_entropy_with_logits

    >>> print(
    ...     tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], [2.0, 2.0], 3.0)
    ...     .numpy()
    ...     .round(4)
    ... )
    [0.3808 2.1269]
    """
    with door.level().scoped(name or "logistic_loss") as scope:
        logits = convert.to_tensor(logits, name="logits")
        labels = convert.to_tensor(labels, dtype_hint=logits.dtype, name="labels")
        _same_shape(logits, labels, ("logits", "labels"))
        weight = convert.to_tensor(pos_weight, logits.dtype)
        one = constant_like(1, logits)
        extra = raw.Mul(raw.Sub(weight, one, name="sub"), labels, name="mul")
        log_weight = raw.AddV2(one, extra, name="add")
        negative = raw.Mul(raw.Sub(one, labels, name="sub"), logits, name="mul")
        fading = raw.Log1p(raw.Exp(raw.Neg(raw.Abs(logits))))
        rest = raw.AddV2(fading, raw.Relu(raw.Neg(logits)), name="add")
        return raw.AddV2(negative, raw.Mul(log_weight, rest, name="mul"), name=scope or None)


@dispatchable
def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """exp(log_input) - log_input * targets, with Stirling's term if requested.

    Both arguments are floating-point tensors of one shape; raises ValueError otherwise.

    `compute_full_loss` adds Stirling's term.

    https://www.tensorflow.org/api_docs/python/tf/nn/log_poisson_loss

    >>> print(tf.nn.log_poisson_loss([1.0, 2.0], [0.0, 0.5]).numpy().round(4))
    [1.     0.6487]
    """
    with door.level().scoped(name or "log_poisson_loss"):
        log_input = convert.to_tensor(log_input, name="log_input")
        targets = convert.to_tensor(targets, dtype_hint=log_input.dtype, name="targets")
        _same_shape(log_input, targets, ("log_input", "targets"))
        loss = raw.Sub(raw.Exp(log_input), raw.Mul(log_input, targets))
        if not compute_full_loss:
            return loss
        log = raw.Log(targets)
        half = constant_like(0.5, targets)
        full = constant_like(2 * math.pi, targets)
        stirling = raw.AddV2(
            raw.Sub(raw.Mul(targets, log), targets), raw.Mul(half, raw.Log(raw.Mul(full, targets)))
        )
        inside = raw.LogicalAnd(
            raw.GreaterEqual(targets, raw.ZerosLike(targets)),
            raw.LessEqual(targets, raw.OnesLike(targets)),
        )
        return raw.AddV2(loss, raw.Select(inside, raw.ZerosLike(targets), stirling))


@dispatchable
def l2_loss(t: Any, name: str | None = None) -> Tensor:
    """sum(t ** 2) / 2 of a floating-point tensor.

    https://www.tensorflow.org/api_docs/python/tf/nn/l2_loss

    >>> print(tf.nn.l2_loss([3.0, 4.0]).numpy())
    12.5
    """
    return raw.L2Loss(t, name=name)
