"""Assertions: checked at once where the values are known, else when the graph runs.

Follows https://www.tensorflow.org/api_docs/python/tf/debugging.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.errors import InvalidArgumentError
from intaglio.opdef import convert, door, operators, raw
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import EagerTensor
from intaglio.trace.scopes import current_name_scope, name_scope

SUMMARIZE = 3


def known_value(tensor: Tensor) -> Any:
    """The tensor's value as an array, or None if it is known only when the graph runs."""
    array = getattr(tensor, "_array", None)
    if array is None:
        array = tensor.spec.value
    return None if array is None else np.asarray(array)


def label(name: str, tensor: Tensor) -> str:
    """How a message names an operand."""
    if door.level().eager:
        return f"{name} (shape={tensor.shape} dtype={tensor.dtype.name}) = "
    if isinstance(tensor, EagerTensor):  # the message names it as the constant that captures it
        return f"{name} ({current_name_scope()}/{name}:0) = "
    return f"{name} ({tensor.name}) = "


def fail(message: str) -> None:
    """Raises InvalidArgumentError with TensorFlow's text."""
    raise InvalidArgumentError(None, None, message)


# -- one condition -------------------------------------------------------------------


def check(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Any:
    """`tf.debugging.Assert`: fails with the data unless the condition holds.

    Returns None eagerly, the operation in a graph.
    """
    if not door.level().eager:
        return _check_in_graph(condition, data, summarize, name)
    if not condition:
        tensors = [convert.to_tensor(value) for value in _sequence(data)]
        texts = [_eager_text(t, summarize) for t in tensors]
        joined = "\n".join(texts)
        fail(f"Expected '{condition!s}' to be true. Summarized data: {joined}")
    return None


def _sequence(data: Any) -> Any:
    if isinstance(data, (list, tuple, str)):
        return data
    raise TypeError("values must be a sequence.")


def _check_in_graph(condition: Any, data: Any, summarize: int | None, name: str | None) -> Any:
    with name_scope(name or "Assert"):
        tensors = [convert.to_tensor(value) for value in _sequence(data)]
        holds = convert.to_tensor(condition, dtypes.bool_)
        if holds.dims != ():
            holds = raw.Squeeze(holds, axis=[], name="Squeeze")
        return raw.Assert(
            holds, tensors, summarize=SUMMARIZE if summarize is None else summarize, name="Assert"
        )


def _eager_text(tensor: Any, summarize: int | None) -> str:
    array = np.asarray(tensor._array).reshape(-1)
    count = SUMMARIZE if summarize is None else summarize
    count = array.size if count < 0 else count
    texts = [str(value) for value in array[:count]]
    return ", ".join([*texts, "..."] if array.size > count else texts)


# -- two operands ------------------------------------------------------------------------


def compare(
    symbol: str,
    holds: Callable[[Any, Any], Any],
    x: Any,
    y: Any,
    message: Any,
    summarize: int | None,
    name: str,
) -> Any:
    """Passes if `x symbol y` for all elements. Raises InvalidArgumentError otherwise."""
    with name_scope(name):
        x, y = operators.pair(x, y)
        if door.level().eager:
            return _compare_now(symbol, holds, x, y, message, summarize)
        data: list[Any] = [] if message is None else [message]
        data += [
            f"Condition x {symbol} y did not hold element-wise:",
            label("x", x),
            x,
            label("y", y),
            y,
        ]
        condition = holds(x, y)
        one, two = known_value(x), known_value(y)
        if one is not None and two is not None and not _static(symbol, one, two):
            fail("\n".join([_static_text(item) for item in data]))
        return check(every(condition), data, summarize)


STATIC: dict[str, Callable[[Any, Any], Any]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def _static(symbol: str, one: Any, two: Any) -> bool:
    try:
        return bool(np.all(STATIC[symbol](one, two)))
    except ValueError:  # shapes that do not fit: a run of the graph has the better error
        return True


def _static_text(item: Any) -> str:
    return str(known_value(item)) if isinstance(item, Tensor) else str(item)


def every(condition: Any) -> Tensor:
    """True if all elements are true."""
    if condition.dims is None:
        axes: Any = raw.Range(0, raw.Rank(condition, name="Rank"), 1, name="range")
    else:
        axes = np.arange(len(condition.dims), dtype=np.int32)
    return raw.All(condition, axes, keep_dims=False, name="All")


def _compare_now(
    symbol: str,
    holds: Callable[[Any, Any], Any],
    x: Any,
    y: Any,
    message: Any,
    summarize: int | None,
) -> None:
    mask = np.asarray(holds(x, y)._array)
    if mask.all():
        return
    one, two = np.asarray(x._array), np.asarray(y._array)
    count = SUMMARIZE if summarize is None else summarize
    if count < 0:
        count = max(one.size, two.size)
    lines = [] if message is None else [str(message)]
    lines.append(f"Condition x {symbol} y did not hold.")
    if one.shape == two.shape and one.ndim:
        wrong = ~mask
        indices = np.argwhere(wrong)[:count]
        lines += [
            f"Indices of first {len(indices)} different values:",
            str(indices),
            "Corresponding x values:",
            str(one[wrong][:count]),
            "Corresponding y values:",
            str(two[wrong][:count]),
        ]
    for title, array in (("x", one), ("y", two)):
        first = array.reshape(-1)[:count]
        lines += [f"First {len(first)} elements of {title}:", str(first)]
    fail("\n".join(lines))


# -- one operand ------------------------------------------------------------------------


def compare_zero(kind: str, x: Any, message: Any, summarize: int | None, name: str) -> Any:
    """`assert_positive` and the like: `kind` is the condition's text, as in `x > 0`."""
    symbol = kind.split()[1]
    prefix = "" if message is None else f"{message}.  "
    with name_scope(name):
        x = convert.to_tensor(x, name="x")
        head = f"Condition {kind} did not hold element-wise:"
        parts = [head + label("x", x)] if symbol == "<=" else [head, label("x", x)]
        data = [prefix, *parts, x]
        if symbol == ">=" and x.dtype.is_unsigned:
            return None
        zero = convert.to_tensor(0, x.dtype)
        holds = operators_of(symbol)(x, zero)
        if door.level().eager:
            if not np.all(holds._array):
                fail("\n".join([_pretty(item, summarize) for item in data]))
            return None
        value = known_value(x)
        if value is not None and not _static(symbol, value, np.zeros((), value.dtype)):
            fail("\n".join([_static_text(item) for item in data]))
        return check(every(holds), data, summarize)


def operators_of(symbol: str) -> Callable[[Any, Any], Any]:
    """The op behind a comparison sign."""
    return {
        "==": lambda x, y: raw.Equal(x, y, name="Equal"),
        "!=": lambda x, y: raw.NotEqual(x, y, name="NotEqual"),
        "<": lambda x, y: raw.Less(x, y, name="Less"),
        "<=": lambda x, y: raw.LessEqual(x, y, name="LessEqual"),
        ">": lambda x, y: raw.Greater(x, y, name="Greater"),
        ">=": lambda x, y: raw.GreaterEqual(x, y, name="GreaterEqual"),
    }[symbol]


def _pretty(item: Any, summarize: int | None) -> str:
    if not isinstance(item, Tensor):
        return str(item)
    array = np.asarray(item._array)
    if not array.ndim:
        return str(array[()])
    count = SUMMARIZE if summarize is None else summarize
    count = array.size if count < 0 else count
    texts = [str(value) for value in array.reshape(-1)[:count]]
    return str([*texts, "..."] if array.size > count else texts)


def near(
    x: Any, y: Any, rtol: Any, atol: Any, message: Any, summarize: int | None, name: str
) -> Any:
    """Passes if |x - y| <= atol + rtol * |y|. Raises InvalidArgumentError otherwise."""
    with name_scope(name):
        x, y = operators.pair(x, y)
        scale = x.dtype.real_dtype
        if not scale.is_floating:
            raise ValueError(f"data type {scale.as_numpy_dtype!r} not inexact")
        step = 10 * np.finfo(scale.numpy).eps if scale.numpy.kind == "f" else 0.0781
        rtol = convert.to_tensor(step if rtol is None else rtol, scale, name="rtol")
        atol = convert.to_tensor(step if atol is None else atol, scale, name="atol")
        bound = raw.AddV2(atol, raw.Mul(rtol, operators.absolute(y), name="mul"), name="add")
        gap = operators.absolute(raw.Sub(x, y, name="sub"))
        condition = every(raw.Less(gap, bound, name="Less"))
        prefix = "" if message is None else f"{message}.  "
        data = [
            prefix,
            f"x and y not equal to tolerance rtol = {rtol!s}, atol = {atol!s}",
            label("x", x),
            x,
            label("y", y),
            y,
        ]
        return check(condition, data, summarize)


# -- ranks and types --------------------------------------------------------------------


def rank(x: Any, ranks: Sequence[Any], how: str, message: Any, name: str) -> Any:
    """Passes if the rank is one of `ranks`, or at least the first, depending on `how`.

    `how` is "", " at least" or " in". Raises ValueError where the rank is known.
    """
    prefix = f"{message}.  " if message else ""
    with name_scope(name):
        x = convert.to_tensor(x)
        rank_tensors = [_rank_tensor(r) for r in ranks]
        title = getattr(x, "name", "") if not door.level().eager else ""
        values = [known_value(r) for r in rank_tensors]
        if x.dims is not None and all(v is not None for v in values):
            own, wanted = len(x.dims), tuple([int(v) for v in values])
            good = own >= wanted[0] if how == " at least" else own in wanted
            if not good:
                shown = wanted if how == " in" else wanted[0]
                raise ValueError(
                    f"{prefix}Tensor {title} must have rank{how} {shown}.  Received "
                    f"rank {own}, shape {x.shape}"
                )
            return None
        own = raw.Rank(x, name="Rank")
        test = operators_of(">=" if how == " at least" else "==")
        condition = test(own, rank_tensors[0])
        for other in rank_tensors[1:]:
            condition = raw.LogicalOr(condition, test(own, other), name="LogicalOr")
        shape = raw.Shape(x, name="Shape")
        text = f"Tensor {title} must have rank{how}"
        return check(condition, [prefix, text, *rank_tensors, "Received shape: ", shape])


def _rank_tensor(value: Any) -> Tensor:
    tensor = convert.to_tensor(value)
    if tensor.dtype is not dtypes.int32:
        raise TypeError(f"tensor must be of type tf.int32; got {tensor.dtype!r}")
    if tensor.dims not in (None, ()):
        raise ValueError("Rank must be a scalar.")
    return tensor
