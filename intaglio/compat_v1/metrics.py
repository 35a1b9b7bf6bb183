"""Metrics as pairs of tensors: the value so far, and the operation that takes in a batch.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/metrics. What a metric counts is in local
variables, of the collections `local_variables` and `metric_variables`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from intaglio.base.dtypes import bool_, float32, float64, int64
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.compat_v1.variable_scopes import GraphKeys, VariableV1, variable_scope
from intaglio.opdef import convert, raw
from intaglio.trace import scopes

_EPSILON = 1e-7
Metric = tuple[Any, Any]


@contextmanager
def metric_scope(name: str | None, default: str) -> Generator[str]:
    """The scope of a metric, and its name. Raises RuntimeError eagerly."""
    if scopes.executing_eagerly():
        raise RuntimeError(
            f"tf.metrics.{default} is not supported when eager execution is enabled."
        )
    with variable_scope(name, default) as scope:
        yield scope.name


def metric_variable(name: str, shape: Sequence[int] = (), dtype: Any = float32) -> Any:
    """A local variable of zeros that a metric counts in."""
    return VariableV1(
        convert.to_tensor(np.zeros(shape, dtype.numpy)),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        name=name,
    )


def listed(value: Any, update: Any, metrics: Any, updates: Any) -> Metric:
    """The pair, which collections of the graph then have."""
    graph = get_default_graph()
    if metrics:
        graph.add_to_collections(metrics, value)
    if updates:
        graph.add_to_collections(updates, update)
    return value, update


def _float(values: Any, dtype: Any = float32) -> Any:
    return raw.Cast(convert.to_tensor(values), DstT=dtype)


def added(variable: Any, amount: Any) -> Any:
    """The variable's value after an addition."""
    return convert.to_tensor(variable.assign_add(amount), name="AssignAdd")


def safe(a: Any, b: Any, name: str | None = None) -> Any:
    """a / b, zero where b is."""
    return raw.DivNoNan(a, b, name=name)


def _total(values: Any) -> Any:
    return raw.Sum(values, list(range(values.shape.rank))) if values.shape.rank else values


def _weighted(values: Any, weights: Any) -> Any:
    """The weights as one for each value. Raises ValueError for shapes that do not fit."""
    wide = _float(weights, values.dtype)
    rank, own = values.shape.rank, wide.shape.rank
    if rank is not None and own not in (None, 0, rank):
        raise ValueError(
            f"weights can not be broadcast to values. values.rank={rank}. weights.rank={own}. "
            f"values.shape={values.shape}. weights.shape={wide.shape}."
        )
    if own:
        pairs = zip(wide.shape.as_list(), values.shape.as_list(), strict=True)
        if any([w not in (None, 1) and v is not None and w != v for w, v in pairs]):
            raise ValueError(
                f"weights can not be broadcast to values. values.rank={rank}. weights.rank={own}. "
                f"values.shape={values.shape}. weights.shape={wide.shape}."
            )
    return wide * raw.OnesLike(values)


def _fitting(labels: Any, predictions: Any, weights: Any = None) -> tuple[Any, Any, Any]:
    """Labels, predictions and weights of one rank: a last dimension of 1 too many goes."""
    labels, predictions = convert.to_tensor(labels), convert.to_tensor(predictions)
    a, b = labels.shape.rank, predictions.shape.rank
    if a is not None and b is not None:
        if b - a == 1 and predictions.shape[-1] in (None, 1):
            predictions = raw.Squeeze(predictions, axis=[-1])
        elif a - b == 1 and labels.shape[-1] in (None, 1):
            labels = raw.Squeeze(labels, axis=[-1])
    predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return labels, predictions, None
    return labels, predictions, _of_rank(weights, predictions)


def _of_rank(weights: Any, values: Any) -> Any:
    """The weights, with a last dimension of 1 added or removed where that makes the ranks equal."""
    weights = convert.to_tensor(weights)
    rank, own = values.shape.rank, weights.shape.rank
    if rank is None or not own or abs(own - rank) != 1:
        return weights
    return raw.Squeeze(weights, axis=[-1]) if own > rank else raw.ExpandDims(weights, -1)


def _mean(values: Any, weights: Any) -> Metric:
    values = _float(values)
    total, count = metric_variable("total"), metric_variable("count")
    if weights is None:
        number: Any = raw.Cast(raw.Size(values), DstT=float32)
    else:
        each = _weighted(values, _of_rank(weights, values))
        values, number = values * each, _total(each)
    with scopes.control_dependencies([values]):
        number = raw.Identity(number)
    after, after_count = added(total, _total(values)), added(count, number)
    value = safe(convert.to_tensor(total), convert.to_tensor(count), "value")
    return value, safe(after, raw.Maximum(after_count, 0.0), "update_op")


def mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The weighted mean of values."""
    with metric_scope(name, "mean"):
        return listed(*_mean(values, weights), metrics_collections, updates_collections)


def _of_pairs(default: str, compare: Callable[[Any, Any], Any], doc: str) -> Callable[..., Metric]:
    """A metric that is the mean of what `compare` makes of labels and predictions."""

    def metric(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with metric_scope(name, default):
            labels, predictions, weights = _fitting(labels, predictions, weights)
            found = _mean(compare(labels, predictions), weights)
            return listed(*found, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = default
    metric.__doc__ = doc
    return metric


def _equal(labels: Any, predictions: Any) -> Any:
    if labels.dtype is not predictions.dtype:
        predictions = raw.Cast(predictions, DstT=labels.dtype)
    return raw.Equal(predictions, labels)


def _squared(labels: Any, predictions: Any) -> Any:
    return raw.SquaredDifference(_float(predictions), _float(labels))


def _absolute(labels: Any, predictions: Any) -> Any:
    return raw.Abs(_float(predictions) - _float(labels))


accuracy = _of_pairs("accuracy", _equal, "How often predictions are the labels.")
mean_squared_error = _of_pairs(
    "mean_squared_error", _squared, "The mean of the squares of the errors."
)
mean_absolute_error = _of_pairs(
    "mean_absolute_error", _absolute, "The mean of the absolute values of the errors."
)


def root_mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The root of the mean of the squares of the errors."""
    with metric_scope(name, "root_mean_squared_error"):
        labels, predictions, weights = _fitting(labels, predictions, weights)
        value, update = _mean(_squared(labels, predictions), weights)
        roots = raw.Sqrt(value), raw.Sqrt(update)
        return listed(*roots, metrics_collections, updates_collections)


def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of the absolute values of the errors, each divided by its part of `normalizer`."""
    with metric_scope(name, "mean_relative_error"):
        labels, predictions, weights = _fitting(labels, predictions, weights)
        errors = safe(_absolute(labels, predictions), _float(normalizer))
        return listed(*_mean(errors, weights), metrics_collections, updates_collections)


def mean_cosine_distance(
    labels: Any,
    predictions: Any,
    dim: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """One minus the mean of the products of unit vectors along `dim`."""
    with metric_scope(name, "mean_cosine_distance"):
        labels, predictions, weights = _fitting(labels, predictions, weights)
        products = raw.Sum(_float(labels) * _float(predictions), [dim], keep_dims=True)
        value, update = _mean(products, weights)
        return listed(1.0 - value, 1.0 - update, metrics_collections, updates_collections)


def percentage_below(
    values: Any,
    threshold: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The part of the values that are below a threshold."""
    with metric_scope(name, "percentage_below_threshold"):
        values = convert.to_tensor(values)
        below = raw.Less(values, convert.to_tensor(threshold, values.dtype))
        return listed(*_mean(below, weights), metrics_collections, updates_collections)


def mean_tensor(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean of tensors of one shape, element by element. Raises ValueError if it is not known."""
    with metric_scope(name, "mean"):
        values = _float(values)
        if not values.shape.is_fully_defined():
            raise ValueError(
                f"Cannot convert a partially known TensorShape {values.shape} to a Tensor."
            )
        shape = values.shape.as_list()
        total, count = (
            metric_variable("total_tensor", shape),
            metric_variable("count_tensor", shape),
        )
        each = raw.OnesLike(values)
        if weights is not None:
            each = _weighted(values, _of_rank(weights, values))
            values = values * each
        after, after_count = added(total, values), added(count, each)
        value = safe(convert.to_tensor(total), convert.to_tensor(count), "value")
        update = safe(after, raw.Maximum(after_count, 0.0), "update_op")
        return listed(value, update, metrics_collections, updates_collections)


# -- what is right and wrong -------------------------------------------------------------

# Whether label and prediction are true, by the name of the count.
_KINDS = {
    "true_positives": (True, True),
    "false_negatives": (True, False),
    "true_negatives": (False, False),
    "false_positives": (False, True),
}


def _is(values: Any, wanted: bool) -> Any:
    return values if wanted else raw.LogicalNot(values)


def _counted(kind: str, labels: Any, predictions: Any, weights: Any) -> Metric:
    """How many pairs of bools are of a kind, in a variable of a scope of that name."""
    with variable_scope(None, kind):
        return _count(kind, labels, predictions, weights)


def _count(kind: str, labels: Any, predictions: Any, weights: Any) -> Metric:
    label, prediction = _KINDS[kind]
    count = metric_variable("count")
    hits = _float(raw.LogicalAnd(_is(labels, label), _is(predictions, prediction)))
    if weights is not None:
        hits = hits * _weighted(hits, weights)
    return raw.Identity(count), added(count, _total(hits))


def _as_bools(labels: Any, predictions: Any, weights: Any) -> tuple[Any, Any, Any]:
    bools = [raw.Cast(convert.to_tensor(v), DstT=bool_) for v in (labels, predictions)]
    return _fitting(bools[0], bools[1], weights)


def _of_kind(kind: str, doc: str) -> Callable[..., Metric]:
    def metric(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with metric_scope(name, kind):
            found = _count(kind, *_as_bools(labels, predictions, weights))
            return listed(*found, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = kind
    metric.__doc__ = doc
    return metric


true_positives = _of_kind("true_positives", "How many labels are true and predicted so.")
false_positives = _of_kind("false_positives", "How many labels are false and predicted true.")
true_negatives = _of_kind("true_negatives", "How many labels are false and predicted so.")
false_negatives = _of_kind("false_negatives", "How many labels are true and predicted false.")


def _part(default: str, other: str, doc: str) -> Callable[..., Metric]:
    """A metric that is the part of true positives among them and a second kind."""

    def metric(
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with metric_scope(name, default):
            pairs = _as_bools(labels, predictions, weights)
            right, right_after = _counted("true_positives", *pairs)
            wrong, wrong_after = _counted(other, *pairs)
            value = safe(right, right + wrong, "value")
            update = safe(right_after, right_after + wrong_after, "update_op")
            return listed(value, update, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = default
    metric.__doc__ = doc
    return metric


precision = _part("precision", "false_positives", "The part of true labels among those predicted.")
recall = _part("recall", "false_negatives", "The part of true labels that are predicted.")


# -- at thresholds ------------------------------------------------------------------------

Counts = dict[str, tuple[Any, Any]]


def counts_at(
    labels: Any, predictions: Any, weights: Any, thresholds: Sequence[float], kinds: Sequence[str]
) -> Counts:
    """The counts of each kind where a prediction above a threshold is a true one; vectors."""
    labels = raw.Cast(convert.to_tensor(labels), DstT=bool_)
    labels, predictions, weights = _fitting(labels, _float(predictions), weights)
    every = list(range(predictions.shape.rank or 0))
    inside = [
        raw.Assert(raw.All(test, every), ["predictions must be in [0, 1]"])
        for test in (
            raw.GreaterEqual(predictions, convert.to_tensor(0.0)),
            raw.LessEqual(predictions, convert.to_tensor(1.0)),
        )
    ]
    with scopes.control_dependencies(inside):
        predictions = raw.Identity(predictions)
    row = raw.Reshape(predictions, [1, -1])
    limits = convert.to_tensor(np.array(thresholds, np.float32)[:, None])
    above = raw.Greater(row, limits)
    true = raw.Reshape(labels, [1, -1])
    each = None if weights is None else raw.Reshape(_weighted(predictions, weights), [1, -1])
    found: Counts = {}
    for kind in kinds:
        label, prediction = _KINDS[kind]
        hits = _float(raw.LogicalAnd(_is(true, label), _is(above, prediction)))
        hits = raw.Sum(hits if each is None else hits * each, [1])
        count = metric_variable(kind, [len(thresholds)])
        found[kind] = raw.Identity(count), added(count, hits)
    return found


def _of_kind_at(kind: str) -> Callable[..., Metric]:
    def metric(
        labels: Any,
        predictions: Any,
        thresholds: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with metric_scope(name, kind):
            found = counts_at(labels, predictions, weights, thresholds, [kind])[kind]
            return listed(*found, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = f"{kind}_at_thresholds"
    metric.__doc__ = f"`{kind}`, where predictions above each threshold are true ones."
    return metric


true_positives_at_thresholds = _of_kind_at("true_positives")
false_positives_at_thresholds = _of_kind_at("false_positives")
true_negatives_at_thresholds = _of_kind_at("true_negatives")
false_negatives_at_thresholds = _of_kind_at("false_negatives")


def _part_at(default: str, other: str) -> Callable[..., Metric]:
    def metric(
        labels: Any,
        predictions: Any,
        thresholds: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> Metric:
        with metric_scope(name, default):
            found = counts_at(labels, predictions, weights, thresholds, ["true_positives", other])
            what = default.split("_")[0]
            parts = [
                raw.RealDiv(right, right + wrong + _EPSILON, name=f"{what}_{name}")
                for name, right, wrong in zip(
                    ("value", "update_op"), found["true_positives"], found[other], strict=True
                )
            ]
            return listed(parts[0], parts[1], metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = default
    metric.__doc__ = (
        f"`{default.split('_')[0]}`, where predictions above each threshold are true ones."
    )
    return metric


precision_at_thresholds = _part_at("precision_at_thresholds", "false_positives")
recall_at_thresholds = _part_at("recall_at_thresholds", "false_negatives")


def _thresholds(count: int) -> list[float]:
    """Evenly spaced numbers in [0, 1]; the ends are just outside."""
    inner = [(i + 1) / (count - 1) for i in range(count - 2)]
    return [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]


_Columns = dict[str, Any]


def _both(found: Counts, compute: Callable[[_Columns], Any]) -> Metric:
    """What follows from the counts so far, and from those after the batch."""
    before = compute({kind: pair[0] for kind, pair in found.items()})
    after = compute({kind: pair[1] for kind, pair in found.items()})
    return raw.Identity(before, name="value"), raw.Identity(after, name="update_op")


def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Any = None,
) -> Metric:
    """The area under the curve "ROC", or "PR" of precision over recall, at so many thresholds.

    Raises ValueError for another curve or method.
    """
    with metric_scope(name, "auc"):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"Curve must be either ROC or PR. Curve {curve} is unknown.")
        if summation_method not in ("trapezoidal", "minoring", "majoring", "careful_interpolation"):
            raise ValueError(f"Invalid summation_method: {summation_method}")
        limits = (
            _thresholds(num_thresholds)
            if thresholds is None
            else sorted([0.0 - _EPSILON, *thresholds, 1.0 + _EPSILON])
        )
        found = counts_at(labels, predictions, weights, limits, list(_KINDS))
        area = functools.partial(_area, curve=curve, method=summation_method)
        return listed(*_both(found, area), metrics_collections, updates_collections)


def _area(counts: _Columns, curve: str, method: str) -> Any:
    right, wrong, missed = (
        counts[k] for k in ("true_positives", "false_positives", "false_negatives")
    )
    if method == "careful_interpolation" and curve == "PR":
        return _interpolated(right, wrong, missed)
    small = 1e-6
    sensitivity = (right + small) / (right + missed + small)
    if curve == "ROC":
        x, y = wrong / (wrong + counts["true_negatives"] + small), sensitivity
    else:
        x, y = sensitivity, (right + small) / (right + wrong + small)
    pairs = {
        "trapezoidal": lambda: (y[:-1] + y[1:]) / 2.0,
        "minoring": lambda: raw.Minimum(y[:-1], y[1:]),
        "majoring": lambda: raw.Maximum(y[:-1], y[1:]),
    }
    heights = pairs.get(method, pairs["trapezoidal"])
    return raw.Sum((x[:-1] - x[1:]) * heights(), [0])


def _interpolated(right: Any, wrong: Any, missed: Any) -> Any:
    """The area under precision over recall, where both counts are linear between thresholds."""
    steps = right[:-1] - right[1:]
    predicted = right + wrong
    slope = safe(steps, predicted[:-1] - predicted[1:])
    intercept = right[1:] - slope * predicted[1:]
    some = raw.LogicalAnd(
        raw.Greater(predicted[:-1], convert.to_tensor(0.0)),
        raw.Greater(predicted[1:], convert.to_tensor(0.0)),
    )
    ratio = raw.SelectV2(some, safe(predicted[:-1], predicted[1:]), raw.OnesLike(predicted[1:]))
    areas = slope * (steps + intercept * raw.Log(ratio))
    return raw.Sum(safe(areas, right[1:] + missed[1:]), [0])


def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The sensitivity at the threshold whose specificity is nearest to a given one.

    Raises ValueError for one outside of [0, 1].
    """
    if not 0 <= specificity <= 1:
        raise ValueError(
            f"`specificity` must be in the range [0, 1]. Currently, `specificity` is {specificity}."
        )

    def compute(counts: _Columns) -> Any:
        own = safe(
            counts["true_negatives"],
            counts["true_negatives"] + counts["false_positives"] + _EPSILON,
        )
        best = raw.ArgMin(raw.Abs(own - specificity), 0)
        right = counts["true_positives"][best]
        return right / (right + counts["false_negatives"][best] + _EPSILON)

    with metric_scope(name, "sensitivity_at_specificity"):
        found = counts_at(labels, predictions, weights, _thresholds(num_thresholds), list(_KINDS))
        return listed(*_both(found, compute), metrics_collections, updates_collections)


def specificity_at_sensitivity(
    labels: Any,
    predictions: Any,
    sensitivity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The specificity at the last threshold whose sensitivity is nearest to a given one.

    Raises ValueError for one outside of [0, 1].
    """
    if not 0 <= sensitivity <= 1:
        raise ValueError(
            f"`sensitivity` must be in the range [0, 1]. Currently, `sensitivity` is {sensitivity}."
        )

    def compute(counts: _Columns) -> Any:
        right, missed = counts["true_positives"], counts["false_negatives"]
        own = right / (right + missed + _EPSILON)
        distance = raw.Abs(own - sensitivity)
        nearest = raw.Where(raw.Equal(distance, raw.Min(distance, [0])))
        last = raw.Cast(nearest[-1, 0], DstT=int64)
        negative = counts["true_negatives"][last]
        return negative / (negative + counts["false_positives"][last] + _EPSILON)

    with metric_scope(name, "specificity_at_sensitivity"):
        found = counts_at(labels, predictions, weights, _thresholds(num_thresholds), list(_KINDS))
        return listed(*_both(found, compute), metrics_collections, updates_collections)


# -- of classes ---------------------------------------------------------------------------


def _matrix(labels: Any, predictions: Any, classes: int, weights: Any, dtype: Any) -> Any:
    """How often a class was predicted as another; each row is a label."""
    flat = [
        raw.Reshape(raw.Cast(convert.to_tensor(v), DstT=int64), [-1]) for v in (labels, predictions)
    ]
    places = raw.Pack(flat, axis=1)
    ones = raw.Cast(raw.OnesLike(flat[0]), DstT=dtype)
    if weights is not None:
        ones = ones * raw.Reshape(_float(weights, dtype), [-1])
    return raw.ScatterNd(places, ones, convert.to_tensor([classes, classes], int64))


def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over the classes of what labels and predictions have in common, by what either has."""
    with metric_scope(name, "mean_iou"):
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = metric_variable("total_confusion_matrix", [num_classes, num_classes], float64)
        update = added(total, _matrix(labels, predictions, num_classes, weights, float64))
        matrix = convert.to_tensor(total)
        diagonal = _float(raw.MatrixDiagPartV3(matrix, 0, convert.to_tensor(0.0, float64)))
        sums = _float(raw.Sum(matrix, [0])) + _float(raw.Sum(matrix, [1]))
        union = sums - diagonal
        valid = raw.Sum(_float(raw.NotEqual(union, convert.to_tensor(0.0))), [0])
        value = safe(raw.Sum(safe(diagonal, union), [0]), valid, "mean_iou")
        return listed(value, update, metrics_collections, updates_collections)


def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over the classes of how often their labels are predicted."""
    with metric_scope(name, "mean_accuracy"):
        total, count = (
            metric_variable("total", [num_classes]),
            metric_variable("count", [num_classes]),
        )
        matrix = _matrix(labels, predictions, num_classes, weights, float32)
        hits = raw.MatrixDiagPartV3(matrix, 0, convert.to_tensor(0.0))
        totals = added(total, raw.Sum(matrix, [1]))
        update = safe(added(count, hits), raw.Maximum(totals, 0.0), "update_op")
        parts = safe(convert.to_tensor(count), convert.to_tensor(total))
        value = raw.Mean(parts, [0], name="mean_accuracy")
        return listed(value, update, metrics_collections, updates_collections)
