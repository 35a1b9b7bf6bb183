"""`tensorflow.python.ops.metrics_impl` and `.confusion_matrix`: parts of metrics that libraries call."""

from __future__ import annotations

from typing import Any

from intaglio.compat_v1 import metrics
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.opdef import convert, raw
from intaglio.trace import scopes


def remove_squeezable_dimensions(
    labels: Any, predictions: Any, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Any, Any]:
    """Both, the one whose rank is one more than expected without its last dimension of size 1.

    `expected_rank_diff` is the rank of the predictions less that of the labels.
    """
    with scopes.name_scope(name or "remove_squeezable_dimensions"):
        predictions, labels = convert.to_tensor(predictions), convert.to_tensor(labels)
        if predictions.shape.rank is None or labels.shape.rank is None:
            return labels, predictions
        difference = predictions.shape.rank - labels.shape.rank - expected_rank_diff
        if difference == 1 and predictions.shape[-1] in (1, None):
            predictions = raw.Squeeze(predictions, axis=[-1])
        elif difference == -1 and labels.shape[-1] in (1, None):
            labels = raw.Squeeze(labels, axis=[-1])
        return labels, predictions


def same_ranks(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Predictions, labels and weights of one rank where a last dimension of size 1 is in excess.

    Labels and weights may be None, and weights a scalar. Weights that lack a last dimension get one.
    """
    predictions = convert.to_tensor(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
    if weights is None:
        return predictions, labels, None
    weights = convert.to_tensor(weights)
    if weights.shape.rank and predictions.shape.rank is not None:
        difference = weights.shape.rank - predictions.shape.rank
        if difference == 1 and weights.shape[-1] in (1, None):
            weights = raw.Squeeze(weights, axis=[-1])
        elif difference == -1:
            weights = raw.ExpandDims(weights, -1)
    return predictions, labels, weights


def metric_variable(
    shape: Any, dtype: Any, validate_shape: bool = True, name: str | None = None
) -> Any:
    """A local variable of zeros that a metric counts in."""
    return metrics.metric_variable(name or "Variable", shape, dtype)


def safe_ratio(numerator: Any, denominator: Any, name: str) -> Any:
    """One scalar over another, zero where the other is not positive."""
    return metrics.safe(numerator, denominator, name)


_KINDS = {
    "tp": "true_positives",
    "fn": "false_negatives",
    "tn": "true_negatives",
    "fp": "false_positives",
}


def confusion_matrix_at_thresholds(
    labels: Any, predictions: Any, thresholds: Any, weights: Any = None, includes: Any = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Counts so far, and after the batch, of "tp", "fn", "tn" and "fp": one for each threshold.

    `includes` names some of them. Raises ValueError for another name.
    """
    kinds = tuple(includes or _KINDS)
    if strange := [kind for kind in kinds if kind not in _KINDS]:
        raise ValueError(f"Invalid key: {strange[0]}")
    names = [_KINDS[kind] for kind in kinds]
    found = metrics.counts_at(labels, predictions, weights, thresholds, names)
    values = {kind: found[_KINDS[kind]][0] for kind in kinds}
    return values, {kind: found[_KINDS[kind]][1] for kind in kinds}


def aggregate_variable(v: Any, collections: Any) -> Any:
    """The value of a variable, which collections of the graph then have."""
    value = convert.to_tensor(v)
    if collections:
        get_default_graph().add_to_collections(collections, value)
    return value
