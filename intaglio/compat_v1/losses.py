"""Losses of TensorFlow 1: a scalar, weighted, and added to a collection of the graph.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/losses.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from intaglio.base.dtypes import float32
from intaglio.compat_v1.variable_scopes import GraphKeys, add_to_collection, get_collection
from intaglio.composite_ops.math import reductions
from intaglio.composite_ops.math.casting import cast
from intaglio.composite_ops.nn import losses as nn_losses
from intaglio.opdef import convert, raw
from intaglio.trace import scopes


class Reduction:
    """How the losses of examples become one."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All of them."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: str) -> None:
        """Raises ValueError for what is none of them."""
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


_Loss = Callable[..., Any]


def _scoped(default: str) -> Callable[[_Loss], _Loss]:
    """Puts the ops of a loss into the name scope that its argument `scope` names, or else `default`.

    The loss gets the scope's whole name as `scope`, with which it opens the same scope again.
    """

    def decorate(loss: _Loss) -> _Loss:
        bind = inspect.signature(loss).bind

        @functools.wraps(loss)
        def scoped(*args: Any, **kwargs: Any) -> Any:
            arguments = bind(*args, **kwargs).arguments
            with scopes.name_scope(arguments.get("scope") or default) as scope:
                return loss(**{**arguments, "scope": scope})

        return scoped

    return decorate


_BY_WEIGHTS = Reduction.SUM_BY_NONZERO_WEIGHTS


@_scoped("weighted_loss")
def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """The losses times the weights, reduced. Weights have the losses' shape or broadcast to it.

    Raises ValueError if they do not broadcast.
    """
    Reduction.validate(reduction)
    values = convert.to_tensor(losses)
    kind = values.dtype
    values = cast(values, float32)
    factors = cast(weights, float32)
    if factors.shape.rank not in (None, 0) and factors.shape.rank != values.shape.rank:
        raise ValueError(
            "weights can not be broadcast to values. values.rank="
            f"{values.shape.rank}. weights.rank={factors.shape.rank}."
        )
    weighted = raw.Mul(values, factors)
    if reduction == Reduction.NONE:
        loss = weighted
    else:
        loss = reductions.reduce_sum(weighted)
        whole = raw.BroadcastTo(factors, raw.Shape(values))
        if reduction == Reduction.MEAN:
            loss = raw.DivNoNan(loss, reductions.reduce_sum(whole), name="value")
        elif reduction == _BY_WEIGHTS:
            present = raw.Cast(raw.NotEqual(whole, raw.ZerosLike(whole)), DstT=float32)
            loss = raw.DivNoNan(loss, reductions.reduce_sum(present), name="value")
        elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
            loss = raw.DivNoNan(loss, raw.Cast(raw.Size(values), DstT=float32), name="value")
    result = cast(loss, kind)
    add_loss(result, loss_collection)
    return result


def add_loss(loss: Any, loss_collection: Any = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection of the graph; eagerly nothing is collected."""
    if loss_collection and not scopes.executing_eagerly():
        add_to_collection(loss_collection, loss)


def get_losses(scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES) -> list[Any]:
    """The losses of the graph."""
    return get_collection(loss_collection, scope)


def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The regularization losses of the graph."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(
    scope: str | None = None, name: str = "total_regularization_loss"
) -> Any:
    """The sum of the regularization losses."""
    found = get_regularization_losses(scope)
    return raw.AddN(found, name=name) if found else convert.to_tensor(0.0)


def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss", scope: str | None = None
) -> Any:
    """The sum of the losses. Raises ValueError if there is none."""
    found = get_losses(scope)
    if add_regularization_losses:
        found += get_regularization_losses(scope)
    if not found:
        raise ValueError(
            "inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape"
        )
    return raw.AddN(found, name=name)


def _pair(labels: Any, predictions: Any) -> tuple[Any, Any]:
    if labels is None:
        raise ValueError("Argument `labels` must not be None.")
    if predictions is None:
        raise ValueError("Argument `predictions` must not be None.")
    x, y = cast(predictions, float32), cast(labels, float32)
    if not x.shape.is_compatible_with(y.shape):
        raise ValueError(f"Shapes {x.shape} and {y.shape} are incompatible")
    return y, x


@_scoped("absolute_difference")
def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """|predictions - labels|."""
    y, x = _pair(labels, predictions)
    loss = raw.Abs(raw.Sub(x, y))
    return compute_weighted_loss(loss, weights, scope, loss_collection, reduction)


@_scoped("mean_squared_error")
def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """(predictions - labels) ** 2."""
    y, x = _pair(labels, predictions)
    loss = raw.SquaredDifference(x, y)
    return compute_weighted_loss(loss, weights, scope, loss_collection, reduction)


@_scoped("huber_loss")
def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """Half the square of small errors, and linear beyond `delta`."""
    y, x = _pair(labels, predictions)
    error = raw.Abs(raw.Sub(x, y))
    near = raw.Minimum(error, delta)
    loss = 0.5 * near * near + delta * (error - near)
    return compute_weighted_loss(loss, weights, scope, loss_collection, reduction)


@_scoped("log_loss")
def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """-labels * log(predictions) - (1 - labels) * log(1 - predictions)."""
    y, x = _pair(labels, predictions)
    loss = -(y * raw.Log(x + epsilon)) - (1.0 - y) * raw.Log(1.0 - x + epsilon)
    return compute_weighted_loss(loss, weights, scope, loss_collection, reduction)


@_scoped("hinge_loss")
def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """max(0, 1 - y * logits), where y is -1 or 1 for labels of 0 or 1."""
    y, x = _pair(labels, logits)
    loss = raw.Relu(1.0 - (2.0 * y - 1.0) * x)
    return compute_weighted_loss(loss, weights, scope, loss_collection, reduction)


@_scoped("cosine_distance_loss")
def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
    dim: int | None = None,
) -> Any:
    """1 - the product of unit vectors along an axis. Raises ValueError without an axis."""
    along = dim if axis is None else axis
    if along is None:
        raise ValueError("You must specify argument `axis`.")
    y, x = _pair(labels, predictions)
    loss = 1.0 - reductions.reduce_sum(x * y, axis=(along,), keepdims=True)
    return compute_weighted_loss(loss, weights, scope, loss_collection, reduction)


@_scoped("sigmoid_cross_entropy_loss")
def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """The cross entropy of independent classes."""
    x = convert.to_tensor(logits)
    y = cast(multi_class_labels, x.dtype)
    if label_smoothing > 0:
        y = y * (1 - label_smoothing) + 0.5 * label_smoothing
    loss = nn_losses.sigmoid_cross_entropy_with_logits(labels=y, logits=x)
    return compute_weighted_loss(loss, weights, scope, loss_collection, reduction)


@_scoped("softmax_cross_entropy_loss")
def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """The cross entropy of classes that exclude one another."""
    x = convert.to_tensor(logits)
    y = cast(onehot_labels, x.dtype)
    if label_smoothing > 0:
        classes = raw.Cast(raw.GatherV2(raw.Shape(y), 1, 0), DstT=x.dtype)
        y = y * (1 - label_smoothing) + label_smoothing / classes
    loss = nn_losses.softmax_cross_entropy_with_logits(labels=y, logits=x)
    return compute_weighted_loss(loss, weights, scope, loss_collection, reduction)


@_scoped("sparse_softmax_cross_entropy_loss")
def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: Any = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = _BY_WEIGHTS,
) -> Any:
    """The cross entropy of exclusive classes, whose labels are their indices."""
    y = convert.to_tensor(labels)
    if y.shape.rank is not None and y.shape.rank == convert.to_tensor(logits).shape.rank:
        y = raw.Squeeze(y, axis=[-1])
    loss = nn_losses.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits)
    factors = convert.to_tensor(weights)
    if factors.shape.rank is not None and factors.shape.rank == (loss.shape.rank or 0) + 1:
        factors = raw.Squeeze(factors, axis=[-1])
    return compute_weighted_loss(loss, factors, scope, loss_collection, reduction)


@_scoped("mean_pairwise_squared_error")
def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
) -> Any:
    """The mean, over pairs of elements of an example, of the squared difference of their errors.

    Weights are a scalar, or one for each example. Raises ValueError for shapes that do not fit.
    """
    wanted = cast(labels, float32)
    found = cast(predictions, float32)
    found.shape.assert_is_compatible_with(wanted.shape)
    factors = cast(weights, float32)
    errors = raw.Sub(found, wanted)
    axes = raw.Range(1, raw.Rank(errors), 1)
    present = raw.Cast(raw.NotEqual(factors, raw.ZerosLike(factors)), DstT=float32)
    count = raw.Sum(raw.BroadcastTo(present, raw.Shape(errors)), axes, keep_dims=True)
    squares = raw.Sum(raw.Square(errors), axes, keep_dims=True)
    total = raw.Sum(errors, axes, keep_dims=True)
    first = 2.0 * raw.DivNoNan(squares, raw.Maximum(count - 1.0, 0.0))
    second = 2.0 * raw.DivNoNan(raw.Square(total), raw.Maximum(count * (count - 1.0), 0.0))
    loss = reductions.reduce_sum(raw.Mul(first - second, factors))
    some = raw.Greater(reductions.reduce_sum(count), 0.0)
    result = raw.SelectV2(some, loss, raw.ZerosLike(loss), name="value")
    add_loss(result, loss_collection)
    return result
