"""Metrics with local variables, as sessions run them. The numbers are TensorFlow 2.21's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

v1: Any = tf.compat.v1
metrics: Any = v1.metrics

_LABELS = [[1.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.0]]
_SCORES = [[0.9, 0.4, 0.35, 0.8], [0.1, 0.6, 0.7, 0.2]]
_WEIGHTS = [[1.0, 0.5, 2.0, 1.0], [1.0, 1.0, 0.5, 0.0]]


def _after_two(make: Callable[[Any, Any, Any], Any]) -> tuple[Any, Any]:
    """The result of the second update, and the value that follows."""
    with tf.Graph().as_default(), v1.Session() as session:
        labels, scores, weights = (v1.placeholder(tf.float32, [None]) for _ in range(3))
        value, update = make(labels, scores, weights)
        session.run(v1.local_variables_initializer())
        for batch in zip(_LABELS, _SCORES, _WEIGHTS, strict=True):
            updated = session.run(update, dict(zip((labels, scores, weights), batch, strict=True)))
        return updated, session.run(value)


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda y, p, w: metrics.mean(p), 0.50625),
        (lambda y, p, w: metrics.mean(p, w), 0.52143),
        (lambda y, p, w: metrics.accuracy(y, tf.round(p), w), 0.57143),
        (lambda y, p, w: metrics.mean_squared_error(y, p), 0.14156),
        (lambda y, p, w: metrics.mean_absolute_error(y, p, w), 0.37857),
        (lambda y, p, w: metrics.root_mean_squared_error(y, p, w), 0.44561),
        (lambda y, p, w: metrics.mean_relative_error(y, p, y), 0.15625),
        (lambda y, p, w: metrics.mean_cosine_distance(y, p, 0), -0.375),
        (lambda y, p, w: metrics.percentage_below(p, 0.5), 0.5),
        (lambda y, p, w: metrics.precision(y, tf.round(p), w), 0.71429),
        (lambda y, p, w: metrics.recall(y, tf.round(p)), 0.75),
        (lambda y, p, w: metrics.true_positives(y, tf.round(p), w), 2.5),
        (lambda y, p, w: metrics.false_negatives(y, tf.round(p), w), 2.0),
        (lambda y, p, w: metrics.false_positives_at_thresholds(y, p, [0.2, 0.5], w), [1.5, 1.0]),
        (lambda y, p, w: metrics.true_negatives_at_thresholds(y, p, [0.2, 0.5]), [2.0, 3.0]),
        (lambda y, p, w: metrics.precision_at_thresholds(y, p, [0.2, 0.5], w), [0.75, 0.71429]),
        (lambda y, p, w: metrics.recall_at_thresholds(y, p, [0.2, 0.5]), [1.0, 0.75]),
        (lambda y, p, w: metrics.auc(y, p, w), 0.73333),
        (lambda y, p, w: metrics.auc(y, p, num_thresholds=20, summation_method="minoring"), 0.875),
        (lambda y, p, w: metrics.auc(y, p, curve="PR", summation_method="majoring"), 0.91667),
        (
            lambda y, p, w: metrics.auc(y, p, curve="PR", summation_method="careful_interpolation"),
            0.90884,
        ),
        (lambda y, p, w: metrics.sensitivity_at_specificity(y, p, 0.7), 0.75),
        (lambda y, p, w: metrics.specificity_at_sensitivity(y, p, 0.7), 1.0),
        (lambda y, p, w: metrics.mean_iou(y, tf.round(p), 2, w), 0.39394),
        (lambda y, p, w: metrics.mean_per_class_accuracy(y, tf.round(p), 2), 0.75),
        (lambda y, p, w: metrics.mean_tensor(tf.reshape(p, [4]), w), [0.5, 0.53333, 0.42, 0.8]),
    ],
)
def test_values_after_two_batches(make: Callable[[Any, Any, Any], Any], expected: Any) -> None:
    _, value = _after_two(make)
    np.testing.assert_allclose(value, expected, atol=1e-5)


def test_the_update_is_the_value_after_it() -> None:
    for make in (
        lambda y, p, w: metrics.mean(p, w),
        lambda y, p, w: metrics.auc(y, p, w),
        lambda y, p, w: metrics.recall(y, tf.round(p)),
    ):
        updated, value = _after_two(make)
        assert updated == value


def test_what_is_counted_is_in_local_variables() -> None:
    with tf.Graph().as_default():
        ones = tf.ones([2])
        value, update = metrics.precision(ones, ones, updates_collections=["updates"])
        names = [v.name for v in v1.local_variables()]
        assert names == ["precision/true_positives/count:0", "precision/false_positives/count:0"]
        assert v1.get_collection(v1.GraphKeys.METRIC_VARIABLES) == v1.local_variables()
        assert not v1.global_variables()
        assert (value.name, update.name) == ("precision/value:0", "precision/update_op:0")
        assert v1.get_collection("updates") == [update]
        assert metrics.mean(ones)[0].name == "mean/value:0"
        assert metrics.mean(ones)[0].name == "mean_1/value:0"


def test_what_is_refused() -> None:
    with pytest.raises(RuntimeError, match="not supported when eager execution is enabled"):
        metrics.mean(1.0)
    with tf.Graph().as_default(), v1.Session() as session:
        with pytest.raises(ValueError, match="weights can not be broadcast to values"):
            metrics.mean(tf.ones([2, 3]), tf.ones([4, 3]))
        with pytest.raises(
            ValueError, match=r"partially known TensorShape \(None, 2\) to a Tensor"
        ):
            metrics.mean_tensor(v1.placeholder(tf.float32, [None, 2]))
        with pytest.raises(ValueError, match="Curve must be either ROC or PR"):
            metrics.auc(tf.ones([2]), tf.ones([2]), curve="x")
        _, update = metrics.auc(tf.ones([2]), tf.constant([2.0, 3.0]))
        session.run(v1.local_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="predictions must be in"):
            session.run(update)
