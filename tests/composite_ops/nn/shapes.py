"""Calls of losses and normalisations with shapes and axes that fit or not (see record_shapes.py)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

SHAPES = [(), (1,), (3,), (1, 3), (2, 3), (3, 2), (2, 1, 3), (2, 3, 1), (0, 3), (2, 0)]
AXES: list[Any] = [0, 1, -1, 3, -4, None, (0, 1), (1, 0), [5]]


def numbers(shape: tuple[int, ...]) -> Any:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape) / 7


def classes(shape: tuple[int, ...]) -> Any:
    return np.zeros(shape, np.int32)


PAIRS: dict[str, Callable[..., Any]] = {
    "softmax loss": lambda tf, a, b: tf.nn.softmax_cross_entropy_with_logits(
        numbers(a), numbers(b)
    ),
    "sigmoid loss": lambda tf, a, b: tf.nn.sigmoid_cross_entropy_with_logits(
        numbers(a), numbers(b)
    ),
    "sparse loss": lambda tf, a, b: tf.nn.sparse_softmax_cross_entropy_with_logits(
        classes(a), numbers(b)
    ),
    "weighted loss": lambda tf, a, b: tf.nn.weighted_cross_entropy_with_logits(
        numbers(a), numbers(b), 2.0
    ),
    "poisson": lambda tf, a, b: tf.nn.log_poisson_loss(numbers(a), numbers(b)),
    "poisson full": lambda tf, a, b: tf.nn.log_poisson_loss(numbers(a), numbers(b), True),
    "bias_add": lambda tf, a, b: tf.nn.bias_add(numbers(a), numbers(b)),
    "bias_add NC": lambda tf, a, b: tf.nn.bias_add(numbers(a), numbers(b), "NCHW"),
    "batch_normalization": lambda tf, a, b: tf.nn.batch_normalization(
        numbers(a), *[numbers(b)] * 4, 1e-3
    ),
    "in_top_k": lambda tf, a, b: tf.math.in_top_k(classes(a), numbers(b), 1),
    "weighted_moments": lambda tf, a, b: tf.nn.weighted_moments(numbers(a), 0, numbers(b)),
    "normalize_moments": lambda tf, a, b: tf.nn.normalize_moments(
        numbers(a), numbers(b), numbers(b), None
    ),
    "average loss": lambda tf, a, b: tf.nn.compute_average_loss(
        numbers(a), numbers(b), global_batch_size=2
    ),
}
ALONG: dict[str, Callable[..., Any]] = {
    "softmax": lambda tf, a, axis: tf.nn.softmax(numbers(a), axis),
    "log_softmax": lambda tf, a, axis: tf.nn.log_softmax(numbers(a), axis),
    "moments": lambda tf, a, axis: tf.nn.moments(numbers(a), axis),
    "l2_normalize": lambda tf, a, axis: tf.nn.l2_normalize(numbers(a), axis),
    "sufficient_statistics": lambda tf, a, axis: tf.nn.sufficient_statistics(numbers(a), axis),
    "softmax loss along": lambda tf, a, axis: tf.nn.softmax_cross_entropy_with_logits(
        numbers(a), numbers(a), axis
    ),
    "crelu": lambda tf, a, axis: tf.nn.crelu(numbers(a), axis),
    "concat": lambda tf, a, axis: tf.concat([numbers(a), numbers(a)], axis),
}


def calls(tf: Any, name: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The calls of a function, eagerly and in a graph, each with a label."""
    function = PAIRS.get(name) or ALONG[name]
    seconds = SHAPES if name in PAIRS else AXES
    for a, b in itertools.product(SHAPES, seconds):
        yield f"{a} {b}", lambda a=a, b=b: function(tf, a, b)
        yield f"{a} {b} graph", lambda a=a, b=b: tf.function(lambda: function(tf, a, b))()


def outcome(call: Callable[[], Any]) -> str:
    """Nothing for a call that is accepted, else the class of the error."""
    try:
        call()
    except Exception as e:
        return type(e).__name__
    return ""


def outcomes(tf: Any, name: str) -> dict[str, str]:
    """The errors of all calls of a function that are refused."""
    found = {label: outcome(call) for label, call in calls(tf, name)}
    return {label: error for label, error in found.items() if error}


__all__ = ["ALONG", "PAIRS", "calls", "outcome", "outcomes"]
