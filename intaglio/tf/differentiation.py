"""Automatic differentiation: tapes, symbolic gradients and gradients of one's own.

Follows https://www.tensorflow.org/api_docs/python/tf/GradientTape.
"""

from __future__ import annotations

from typing import Any

from intaglio.autodiff.custom import custom_gradient, grad_pass_through, recompute_grad
from intaglio.autodiff.gradient_tape import GradientTape, UnconnectedGradients
from intaglio.autodiff.graph_gradient import graph_gradients, graph_hessians
from intaglio.autodiff.registered import RegisterGradient, no_gradient
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.type_specs.indexed_slices_spec import IndexedSlicesSpec


class AggregationMethod:
    """How the contributions to one gradient may be added up; they are added at once here."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The symbolic derivatives of the sum of `ys` by each of `xs`, inside a graph.

    `grad_ys` weight the ys, `stop_gradients` are taken as constants. Raises RuntimeError
    when called eagerly, LookupError for an op without a gradient. Follows
    https://www.tensorflow.org/api_docs/python/tf/gradients.

    `unconnected_gradients` says what is returned for an x that a y does not depend on: None or
    zeros. `gate_gradients` and `aggregation_method` have no effect.

    >>> with tf.Graph().as_default():
    ...     x = tf.constant(3.0)
    ...     (slope,) = tf.gradients(x * x, x)
    >>> slope.dtype
    tf.float32
    """
    return graph_gradients(ys, xs, grad_ys, name, stop_gradients, unconnected_gradients)


def hessians(
    ys: Any,
    xs: Any,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    name: str = "hessians",
) -> list[Any]:
    """The Hessian of the sum of `ys` by each of `xs`, of shape x.shape + x.shape.

    Raises RuntimeError when called eagerly. Follows
    https://www.tensorflow.org/api_docs/python/tf/hessians.

    `gate_gradients` and `aggregation_method` have no effect.

    >>> @tf.function
    ... def second(x):
    ...     return tf.hessians(tf.reduce_sum(x**3), [x])[0]
    >>> print(second(tf.constant([1.0, 2.0])).numpy())
    [[ 6.  0.]
     [ 0. 12.]]
    """
    return graph_hessians(ys, xs, name)


__all__ = [
    "AggregationMethod",
    "GradientTape",
    "IndexedSlices",
    "IndexedSlicesSpec",
    "RegisterGradient",
    "UnconnectedGradients",
    "custom_gradient",
    "grad_pass_through",
    "gradients",
    "hessians",
    "no_gradient",
    "recompute_grad",
]
