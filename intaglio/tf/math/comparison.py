"""Comparisons and logic, element by element.

Follows https://www.tensorflow.org/api_docs/python/tf/math.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import operators, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """True where x == y; the shapes broadcast. Raises InvalidArgumentError if they do not.

    https://www.tensorflow.org/api_docs/python/tf/math/equal

    >>> print(tf.equal([1, 2, 3], [1, 0, 3]).numpy())
    [ True False  True]
    """
    return raw.Equal(x, y, name=name)


@dispatchable
def not_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """True where x != y; the shapes broadcast. Raises InvalidArgumentError if they do not.

    https://www.tensorflow.org/api_docs/python/tf/math/not_equal

    >>> print(tf.not_equal([1, 2, 3], [1, 0, 3]).numpy())
    [False  True False]
    """
    return raw.NotEqual(x, y, name=name)


@dispatchable
def less(x: Any, y: Any, name: str | None = None) -> Tensor:
    """True where x < y, for real numbers; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/less

    >>> print(tf.less([1, 2, 3], 2).numpy())
    [ True False False]
    """
    return raw.Less(x, y, name=name)


@dispatchable
def less_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """True where x <= y, for real numbers; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/less_equal

    >>> print(tf.less_equal([1, 2, 3], 2).numpy())
    [ True  True False]
    """
    return raw.LessEqual(x, y, name=name)


@dispatchable
def greater(x: Any, y: Any, name: str | None = None) -> Tensor:
    """True where x > y, for real numbers; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/greater

    >>> print(tf.greater([1, 2, 3], 2).numpy())
    [False False  True]
    """
    return raw.Greater(x, y, name=name)


@dispatchable
def greater_equal(x: Any, y: Any, name: str | None = None) -> Tensor:
    """True where x >= y, for real numbers; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/greater_equal

    >>> print(tf.greater_equal([1, 2, 3], 2).numpy())
    [False  True  True]
    """
    return raw.GreaterEqual(x, y, name=name)


@dispatchable
def logical_and(x: Any, y: Any, name: str | None = None) -> Tensor:
    """True where both truth values are; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/logical_and

    >>> print(tf.logical_and([True, False], [True, True]).numpy())
    [ True False]
    """
    return raw.LogicalAnd(x, y, name=name)


@dispatchable
def logical_or(x: Any, y: Any, name: str | None = None) -> Tensor:
    """True where at least one truth value is; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/logical_or

    >>> print(tf.logical_or([True, False], [False, False]).numpy())
    [ True False]
    """
    return raw.LogicalOr(x, y, name=name)


@dispatchable
def logical_not(x: Any, name: str | None = None) -> Tensor:
    """True where x is not.

    https://www.tensorflow.org/api_docs/python/tf/math/logical_not

    >>> print(tf.logical_not([True, False]).numpy())
    [False  True]
    """
    return raw.LogicalNot(x, name=name)


@dispatchable
def logical_xor(x: Any, y: Any, name: str | None = "LogicalXor") -> Tensor:
    """True where exactly one truth value is; the shapes broadcast.

    https://www.tensorflow.org/api_docs/python/tf/math/logical_xor

    >>> print(tf.math.logical_xor([True, False], [True, True]).numpy())
    [False  True]
    """
    return operators.logical_xor(x, y, name)
