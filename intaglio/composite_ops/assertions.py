"""Assertions, and finding numbers that are none.

Follows https://www.tensorflow.org/api_docs/python/tf/debugging. Assertions return None
eagerly and where they could be decided while tracing, else an operation; in a `tf.function`
it runs by itself. All take `message`, which begins the error's text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, as_dtype, float32
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.trace import assertions
from intaglio.trace.assertions import check
from intaglio.trace.scopes import control_dependencies, name_scope
from intaglio.trace.shape_assertions import check_shapes


@dispatchable
def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Any:
    """Fails with the tensors of the list `data` unless the scalar `condition` is true.

    >>> tf.debugging.Assert(tf.constant(True), ["not printed"])
    """
    return check(condition, data, summarize, name)


@dispatchable
def assert_equal(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Raises InvalidArgumentError unless x == y, element by element.

    >>> tf.debugging.assert_equal([1, 2], [1, 2])
    """
    return _compare("==", x, y, message, summarize, name or "assert_equal")


@dispatchable
def assert_none_equal(
    x: Any, y: Any, summarize: int | None = None, message: Any = None, name: str | None = None
) -> Any:
    """Raises InvalidArgumentError unless x != y, element by element.

    >>> tf.debugging.assert_none_equal([1, 2], 3)
    """
    return _compare("!=", x, y, message, summarize, name or "assert_none_equal")


@dispatchable
def assert_less(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Raises InvalidArgumentError unless x < y, element by element.

    >>> tf.debugging.assert_less([0, 1], 2)
    """
    return _compare("<", x, y, message, summarize, name or "assert_less")


@dispatchable
def assert_less_equal(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Raises InvalidArgumentError unless x <= y, element by element.

    >>> tf.debugging.assert_less_equal([0, 2], 2)
    """
    return _compare("<=", x, y, message, summarize, name or "assert_less_equal")


@dispatchable
def assert_greater(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Raises InvalidArgumentError unless x > y, element by element.

    >>> tf.debugging.assert_greater([3, 4], 2)
    """
    return _compare(">", x, y, message, summarize, name or "assert_greater")


@dispatchable
def assert_greater_equal(
    x: Any, y: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Raises InvalidArgumentError unless x >= y, element by element.

    >>> tf.debugging.assert_greater_equal([2, 4], 2)
    """
    return _compare(">=", x, y, message, summarize, name or "assert_greater_equal")


def _compare(symbol: str, x: Any, y: Any, message: Any, summarize: int | None, name: str) -> Any:
    holds = assertions.operators_of(symbol)
    return assertions.compare(symbol, holds, x, y, message, summarize, name)


@dispatchable
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: Any = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """Raises InvalidArgumentError unless |x - y| < atol + rtol * |y|.

    Both tolerances are 10 times the dtype's precision if not given.

    >>> tf.debugging.assert_near(1.0, 1.0000001)
    """
    return assertions.near(x, y, rtol, atol, message, summarize, name or "assert_near")


@dispatchable
def assert_positive(
    x: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Raises InvalidArgumentError unless every element is greater than 0.

    >>> tf.debugging.assert_positive([1, 2])
    """
    return assertions.compare_zero("x > 0", x, message, summarize, name or "assert_positive")


@dispatchable
def assert_negative(
    x: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Raises InvalidArgumentError unless every element is less than 0.

    >>> tf.debugging.assert_negative([-1, -2])
    """
    return assertions.compare_zero("x < 0", x, message, summarize, name or "assert_negative")


@dispatchable
def assert_non_negative(
    x: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Raises InvalidArgumentError unless every element is at least 0.

    >>> tf.debugging.assert_non_negative([0, 2])
    """
    return assertions.compare_zero("x >= 0", x, message, summarize, name or "assert_non_negative")


@dispatchable
def assert_non_positive(
    x: Any, message: Any = None, summarize: int | None = None, name: str | None = None
) -> Any:
    """Raises InvalidArgumentError unless every element is at most 0.

    >>> tf.debugging.assert_non_positive([0, -2])
    """
    return assertions.compare_zero("x <= 0", x, message, summarize, name or "assert_non_positive")


@dispatchable
def assert_rank(x: Any, rank: Any, message: Any = None, name: str | None = None) -> Any:
    """Raises ValueError, InvalidArgumentError in graphs, unless x has that rank.

    >>> tf.debugging.assert_rank(tf.zeros([2, 3]), 2)
    """
    return assertions.rank(x, [rank], "", message, name or "assert_rank")


@dispatchable
def assert_rank_at_least(x: Any, rank: Any, message: Any = None, name: str | None = None) -> Any:
    """Raises ValueError, InvalidArgumentError in graphs, if x has a lower rank.

    >>> tf.debugging.assert_rank_at_least(tf.zeros([2, 3]), 1)
    """
    return assertions.rank(x, [rank], " at least", message, name or "assert_rank_at_least")


@dispatchable
def assert_rank_in(x: Any, ranks: Any, message: Any = None, name: str | None = None) -> Any:
    """Raises ValueError, InvalidArgumentError in graphs, unless x has one of the ranks.

    >>> tf.debugging.assert_rank_in(tf.zeros([2, 3]), (1, 2))
    """
    return assertions.rank(x, list(ranks), " in", message, name or "assert_rank_in")


@dispatchable
def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: Any = None,
    name: str | None = None,
) -> None:
    """Raises unless tensors have the shapes given, where equal symbols mean equal sizes.

    `shapes` is a list of (tensor, shape) pairs or a dict; a shape's elements are sizes,
    symbols or None, and its first may be `...` for any number of dimensions.

    `data` are tensors that the message shows.

    >>> tf.debugging.assert_shapes(
    ...     [(tf.zeros([2, 3]), ("rows", "columns")), (tf.zeros([3]), ("columns",))]
    ... )
    """
    check_shapes(shapes, data, summarize, message, name or "assert_shapes")


@dispatchable
def assert_integer(x: Any, message: Any = None, name: str | None = None) -> None:
    """Raises TypeError unless x has an integer dtype.

    >>> tf.debugging.assert_integer(tf.constant(3))
    """
    tensor = convert.to_tensor(x)
    if not tensor.dtype.is_integer:
        prefix = f"{message}.  " if message else ""
        raise TypeError(
            f'{prefix}Expected "x" to be integer type.  Found: {_title(tensor)} of dtype '
            f"{tensor.dtype}"
        )


def _title(tensor: Any) -> str:
    return "tensor" if hasattr(tensor, "_array") else tensor.name


@dispatchable
def assert_type(tensor: Any, tf_type: Any, message: Any = None, name: str | None = None) -> None:
    """Raises TypeError unless the tensor has that dtype.

    >>> tf.debugging.assert_type(tf.constant(1.0), tf.float32)
    """
    wanted = as_dtype(tf_type)
    value = tensor if isinstance(tensor, Tensor) else convert.to_tensor(tensor)
    if value.dtype is not wanted:
        prefix = f"{message}.  " if message else ""
        raise TypeError(f"{prefix}{_title(value)} must be of type {wanted!r}; got {value.dtype!r}")


@dispatchable
def assert_scalar(tensor: Any, message: Any = None, name: str | None = None) -> Any:
    """The tensor. Raises ValueError unless it has shape ().

    >>> tf.debugging.assert_scalar(tf.constant(3))
    """
    value = convert.to_tensor(tensor)
    if value.dims != ():
        prefix = f"{message}.  " if message else ""
        whose = "" if hasattr(value, "_array") else f" for {value.name}"
        raise ValueError(f"{prefix}Expected scalar shape{whose}, saw shape: {value.shape}.")
    return None if hasattr(value, "_array") else value


@dispatchable
def assert_proper_iterable(values: Any) -> None:
    """Raises TypeError unless `values` is an iterable of values: no tensor, no text.

    >>> tf.debugging.assert_proper_iterable([1, 2])
    """
    improper = (Tensor, np.ndarray, bytes, str)
    if isinstance(values, improper):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not isinstance(values, Iterable):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


@dispatchable
def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> DType:
    """The common floating dtype. Raises ValueError if there is none.

    `tensors` is a list; its Nones are left out.

    >>> tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(2.0)])
    tf.float32
    """
    expected = None if dtype is None else as_dtype(dtype)
    first = None
    for tensor in [t for t in tensors or () if t is not None]:
        if not isinstance(getattr(tensor, "dtype", None), DType):
            raise TypeError(f"Expected a tensor, got {tensor!r}")
        if expected is None:
            expected, first = tensor.dtype, tensor
        elif tensor.dtype is not expected:
            like = "" if first is None else f" as {first!s}"
            raise ValueError(
                f"{tensor!s}, type={tensor.dtype}, must be of the same type ({expected}){like}."
            )
    expected = expected or float32
    if not expected.is_floating:
        raise ValueError(f"Expected floating point type, got {expected}.")
    return expected


@dispatchable
def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    """x. Raises InvalidArgumentError if an element is infinite or NaN.

    >>> print(tf.debugging.assert_all_finite(tf.constant([1.0, 2.0]), "not finite").numpy())
    [1. 2.]
    """
    with name_scope(name or "VerifyFinite"):
        value = convert.to_tensor(x)
        checked = raw.CheckNumerics(value, message=message)
        with control_dependencies([checked]):
            return raw.Identity(value, name="control_dependency")


@dispatchable
def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """The tensor. Raises InvalidArgumentError if an element is infinite or NaN.

    >>> print(tf.debugging.check_numerics(tf.constant([1.0, 2.0]), "inputs").numpy())
    [1. 2.]
    """
    return raw.CheckNumerics(tensor, message=message, name=name)


def is_numeric_tensor(tensor: Any) -> bool:
    """True for a tensor of numbers; False for other values, and for bool and string.

    >>> (
    ...     tf.debugging.is_numeric_tensor(tf.constant(1)),
    ...     tf.debugging.is_numeric_tensor(tf.constant("a")),
    ... )
    (True, False)
    """
    return isinstance(tensor, Tensor) and tensor.dtype.is_numeric


__all__ = [
    "Assert",
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_none_equal",
    "assert_positive",
    "assert_proper_iterable",
    "assert_rank",
    "assert_rank_at_least",
    "assert_rank_in",
    "assert_same_float_dtype",
    "assert_scalar",
    "assert_shapes",
    "assert_type",
    "check_numerics",
    "is_numeric_tensor",
]
