"""The incomplete gamma and beta functions, approximate top k and Sobol sequences of `tf.math`.

Follows https://www.tensorflow.org/api_docs/python/tf/math.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import float32
from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The lower regularised incomplete gamma function P(a, x), with broadcasting.

    >>> f"{tf.math.igamma(1., 2.):.4f}"
    '0.8647'

    https://www.tensorflow.org/api_docs/python/tf/math/igamma
    """
    return raw.Igamma(a, x, name=name)


@dispatchable
def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The upper regularised incomplete gamma function, 1 - P(a, x), with broadcasting.

    >>> f"{tf.math.igammac(1., 2.):.4f}"
    '0.1353'

    https://www.tensorflow.org/api_docs/python/tf/math/igammac
    """
    return raw.Igammac(a, x, name=name)


@dispatchable
def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularised incomplete beta function, for tensors of one shape, or scalars.

    Differentiable by `x` alone, as TensorFlow's is. Raises InvalidArgumentError for
    other shapes.

    >>> f"{tf.math.betainc(2., 3., 0.5):.4f}"
    '0.6875'

    https://www.tensorflow.org/api_docs/python/tf/math/betainc
    """
    return raw.Betainc(a, b, x, name=name)


@dispatchable
def approx_max_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> Any:
    """(values, indices) of the `k` greatest numbers along a dimension: here exactly those.

    `reduction_dimension` is the axis; `recall_target`, `reduction_input_size_override` and
    `aggregate_to_topk` are hints for approximate algorithms: results are exact.

    >>> tf.math.approx_max_k([1., 5., 3.], 2)[0].numpy()
    array([5., 3.], dtype=float32)

    https://www.tensorflow.org/api_docs/python/tf/math/approx_max_k
    """
    return raw.ApproxTopK(
        operand,
        k=k,
        reduction_dimension=reduction_dimension,
        recall_target=recall_target,
        is_max_k=True,
        reduction_input_size_override=reduction_input_size_override,
        aggregate_to_topk=aggregate_to_topk,
        name=name,
    )


@dispatchable
def approx_min_k(
    operand: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> Any:
    """(values, indices) of the `k` least numbers along a dimension: here exactly those.

    `reduction_dimension` is the axis; `recall_target`, `reduction_input_size_override` and
    `aggregate_to_topk` are hints for approximate algorithms: results are exact.

    https://www.tensorflow.org/api_docs/python/tf/math/approx_min_k

    >>> [x.numpy().tolist() for x in tf.math.approx_min_k(tf.constant([3.0, 1.0, 2.0]), 2)]
    [[1.0, 2.0], [1, 2]]
    """
    return raw.ApproxTopK(
        operand,
        k=k,
        reduction_dimension=reduction_dimension,
        recall_target=recall_target,
        is_max_k=False,
        reduction_input_size_override=reduction_input_size_override,
        aggregate_to_topk=aggregate_to_topk,
        name=name,
    )


@dispatchable
def approx_top_k(
    input: Any,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    is_max_k: bool = True,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
    name: str | None = None,
) -> Any:
    """(values, indices) of the `k` greatest, or least, numbers along a dimension: exactly those.

    `reduction_dimension` is the axis; `recall_target`, `reduction_input_size_override` and
    `aggregate_to_topk` are hints for approximate algorithms: results are exact. With `is_max_k`
    False they are the smallest.

    https://www.tensorflow.org/api_docs/python/tf/approx_top_k

    >>> [x.numpy().tolist() for x in tf.approx_top_k(tf.constant([3.0, 1.0, 2.0]), 2)]
    [[3.0, 2.0], [0, 2]]
    """
    return raw.ApproxTopK(
        input,
        k=k,
        reduction_dimension=reduction_dimension,
        recall_target=recall_target,
        is_max_k=is_max_k,
        reduction_input_size_override=reduction_input_size_override,
        aggregate_to_topk=aggregate_to_topk,
        name=name,
    )


@dispatchable
def sobol_sample(
    dim: Any, num_results: Any, skip: Any = 0, dtype: Any = float32, name: str | None = None
) -> Tensor:
    """Points [num_results, dim] that fill the unit cube evenly: Sobol's sequence.

    All arguments are scalars, `dim` at most 21200; `skip` is the number of points to leave out. The
    point at the origin, with which the sequence begins, is never returned. `dtype` is float32 or
    float64. Raises InvalidArgumentError for numbers out of range.

    >>> tf.math.sobol_sample(2, 3).numpy()
    array([[0.5 , 0.5 ],
           [0.75, 0.25],
           [0.25, 0.75]], dtype=float32)

    https://www.tensorflow.org/api_docs/python/tf/math/sobol_sample
    """
    return raw.SobolSample(dim, num_results, skip, dtype=dtype, name=name)
