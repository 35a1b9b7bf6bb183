"""Metrics of the k best predictions of each row.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/metrics/precision_at_k. Labels are a sparse
tensor `[..., labels of the row]`, a dense one, or one label a row; predictions are `[..., classes]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import float64, int64
from intaglio.compat_v1.metrics import Metric, added, listed, metric_scope, metric_variable, safe
from intaglio.opdef import convert, raw
from intaglio.sparse import arranging, sets
from intaglio.sparse.api import SparseTensor

_NONE = -1  # no class


def _labels(labels: Any, rows: Any) -> Any:
    """Labels with a dimension for those of a row, as int64."""
    if isinstance(labels, SparseTensor):
        values = raw.Cast(labels.values, DstT=int64)
        return SparseTensor(labels.indices, values, labels.dense_shape)
    found = raw.Cast(convert.to_tensor(labels), DstT=int64)
    rank, own = rows.shape.rank, found.shape.rank
    return raw.ExpandDims(found, -1) if rank is not None and own == rank - 1 else found


def _best(predictions: Any, k: int) -> Any:
    scores = convert.to_tensor(predictions)
    return raw.Cast(raw.TopKV2(scores, k)[1], DstT=int64)


def _dense(labels: Any) -> Any:
    return (
        arranging.to_dense(labels, _NONE, validate_indices=False)
        if isinstance(labels, SparseTensor)
        else labels
    )


def _size(found: Any) -> Any:
    return raw.Cast(sets.size(found), DstT=float64)


def _has(ids: Any, class_id: Any) -> Any:
    wanted = convert.to_tensor(class_id, int64)
    return raw.Any(raw.Equal(_dense(ids), wanted), np.array([-1], np.int32))


def _hits(labels: Any, chosen: Any, class_id: Any) -> Any:
    """How many of the chosen ones are labels, for each row."""
    if class_id is None:
        return _size(sets.intersection(chosen, labels))
    both = raw.LogicalAnd(_has(labels, class_id), _has(chosen, class_id))
    return raw.Cast(both, DstT=float64)


def _wrong(labels: Any, chosen: Any, class_id: Any) -> Any:
    """How many of the chosen ones are no labels, for each row."""
    if class_id is None:
        return _size(sets.difference(chosen, labels, aminusb=True))
    only = raw.LogicalAnd(_has(chosen, class_id), raw.LogicalNot(_has(labels, class_id)))
    return raw.Cast(only, DstT=float64)


def _missed(labels: Any, chosen: Any, class_id: Any) -> Any:
    """How many of the labels are not chosen, for each row."""
    if class_id is None:
        return _size(sets.difference(chosen, labels, aminusb=False))
    only = raw.LogicalAnd(_has(labels, class_id), raw.LogicalNot(_has(chosen, class_id)))
    return raw.Cast(only, DstT=float64)


def _weights(weights: Any, values: Any) -> Any:
    """Weights of rows: a last dimension of 1 too many goes."""
    found = raw.Cast(convert.to_tensor(weights), DstT=float64)
    rank, own = values.shape.rank, found.shape.rank
    if rank is not None and own == rank + 1:
        found = raw.Squeeze(found, axis=[-1])
    return found


def _summed(name: str, counts: Any, weights: Any) -> Metric:
    """The sum over rows so far, and the operation that takes in a batch."""
    if weights is not None:
        counts = counts * _weights(weights, counts)
    axes = raw.Range(0, raw.Rank(counts), 1)
    variable = metric_variable(name, (), float64)
    return convert.to_tensor(variable), added(variable, raw.Sum(counts, axes))


def _label(name: str, k: Any, class_id: Any) -> str:
    whole = f"{name}_at_{k}" if k is not None else f"{name}_at_k"
    return whole if class_id is None else f"{whole}_class{class_id}"


def _ratio(
    kind: str,
    labels: Any,
    chosen: Any,
    k: int | None,
    class_id: int | None,
    weights: Any,
    collections: tuple[Any, Any],
    name: str | None,
    scores: Any = None,
) -> Metric:
    """The part of the chosen ones that are labels, or of the labels that are chosen."""
    precision = kind == "precision"
    with metric_scope(name, _label(kind, k, class_id)) as scope:
        if scores is not None:
            chosen = _best(scores, k or 1)
        chosen = raw.Cast(convert.to_tensor(chosen), DstT=int64)
        own = _labels(labels, chosen)
        hits = _hits(own, chosen, class_id)
        right, right_now = _summed(_label("true_positive", k, class_id), hits, weights)
        others = (_wrong if precision else _missed)(own, chosen, class_id)
        label = _label("false_positive" if precision else "false_negative", k, class_id)
        rest, rest_now = _summed(label, others, weights)
        value = safe(right, right + rest, f"{scope}/")
        update = safe(right_now, right_now + rest_now, "update")
        return listed(value, update, *collections)


def precision_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The part of the chosen classes `[..., k]` that are labels; of one class with `class_id`."""
    both = metrics_collections, updates_collections
    return _ratio("precision", labels, predictions_idx, k, class_id, weights, both, name)


def precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The part of the k best predicted classes that are labels; of one class with `class_id`."""
    both = metrics_collections, updates_collections
    return _ratio("precision", labels, None, k, class_id, weights, both, name, predictions)


def recall_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The part of the labels that are among the chosen classes `[..., k]`."""
    both = metrics_collections, updates_collections
    return _ratio("recall", labels, predictions_idx, k, class_id, weights, both, name)


def recall_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The part of the labels that are among the k best predicted classes."""
    both = metrics_collections, updates_collections
    return _ratio("recall", labels, None, k, class_id, weights, both, name, predictions)


def _average_precision(labels: Any, chosen: Any) -> Any:
    """The mean, over the labels of a row, of the precision at the place of each that is chosen."""
    k = chosen.shape[-1]
    relevant = raw.Any(
        raw.Equal(raw.ExpandDims(chosen, -1), raw.ExpandDims(_dense(labels), -2)),
        np.array([-1], np.int32),
    )
    hits = raw.Cast(relevant, DstT=float64)
    places = np.arange(1, k + 1, dtype=np.float64)
    precision = raw.Cumsum(hits, -1) / places
    if isinstance(labels, SparseTensor):
        count: Any = raw.Minimum(_size(labels), float(k))
    else:
        count = float(min(labels.shape[-1], k))
    total = raw.Sum(precision * hits, np.array([-1], np.int32))
    return raw.RealDiv(total, convert.to_tensor(count, float64))


def average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> Metric:
    """The mean over rows of the average precision of the k best predicted classes."""
    with metric_scope(name, _label("average_precision", k, None)) as scope:
        chosen = _best(predictions, k)
        each = _average_precision(_labels(labels, chosen), chosen)
        count = raw.OnesLike(each)
        if weights is not None:
            count = count * _weights(weights, each)
        largest, largest_now = _summed("max", count, None)
        total, total_now = _summed("total", each, weights)
        value = safe(total, largest, "mean")
        update = safe(total_now, largest_now, f"{scope}/")
        return listed(value, update, metrics_collections, updates_collections)
