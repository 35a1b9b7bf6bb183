"""Python's built-in functions on tensors and datasets in converted code.

TensorFlow was asked for every answer and every refusal here, unless a line says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

from .checklist import item

refused = tf.errors.OperatorNotAllowedInGraphError
NO_ITERATION = "Iterating over a symbolic `tf.Tensor` is not allowed."
NO_BOOL = "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed."


def numbers() -> Any:
    return tf.data.Dataset.range(4)


GIVES: dict[str, tuple[Callable[..., Any], Any, Any, str]] = {
    "len": (lambda x: tf.constant(len(x)), [3, 1], 2, "int32"),
    "int of a float": (lambda x: int(x), -2.7, -2, "int32"),
    "int of int64": (lambda x: int(x), np.int64(2**40), 0, "int32"),
    "int of text": (lambda x: int(x), "12", 12, "int32"),
    "int of text, base 10": (lambda x: int(x, 10), "12", 12, "int32"),
    "float": (lambda x: float(x), 3, 3.0, "float32"),
    "float of a vector": (lambda x: float(x), [1, 2], [1.0, 2.0], "float32"),
    "float of text": (lambda x: float(x), "1.5", 1.5, "float32"),
    "abs": (lambda x: abs(x), -2.5, 2.5, "float32"),
    "range": (lambda x: range(x), 3, [0, 1, 2], "int32"),
    "range from": (lambda x: range(1, x), 3, [1, 2], "int32"),
    "range down": (lambda x: range(x, 0, -1), 3, [3, 2, 1], "int32"),
    "range of a float": (lambda x: range(x), 2.5, [0.0, 1.0, 2.0], "float32"),
    "range of int64": (lambda x: range(x), np.int64(2), [0, 1], "int64"),
    "sorted": (lambda x: sorted(x), [3, 1, 2], [1, 2, 3], "int32"),
    "sorted down": (lambda x: sorted(x, reverse=True), [3, 1, 2], [3, 2, 1], "int32"),
    "sorted by key": (lambda x: sorted(x, key=lambda v: -v), [3, 1], [3, 1], "int32"),
    "sorted uint8": (lambda x: sorted(x), np.uint8([3, 1, 200]), [1, 3, 200], "uint8"),
    "max of a list by key": (lambda x: max([x], key=lambda v: v), 3, 3, "int32"),
    "sum of a list": (lambda x: sum([x, x]), 3, 6, "int32"),
    "pow": (lambda x: pow(x, 2), 3, 9, "int32"),
    "enumerate a dataset": (
        lambda x: sum_of(enumerate(numbers(), 5), lambda i, v: i * v),
        0,
        44,
        "int64",
    ),
    "zip datasets": (
        lambda x: sum_of(zip(numbers(), numbers().skip(1)), lambda a, b: a * b),  # noqa: B905
        0,
        8,
        "int64",
    ),
    "map a dataset": (lambda x: total(map(lambda v: v * 2, numbers())), 0, 12, "int64"),  # noqa: C417
    "filter a dataset": (lambda x: total(filter(lambda v: v > 1, numbers())), 0, 5, "int64"),
    "abs of a dataset": (lambda x: total(abs(numbers().map(lambda v: -v))), 0, 6, "int64"),
    "any of a dataset": (lambda x: any(numbers().map(lambda v: v > 2)), 0, True, "bool"),
    "all of a dataset": (lambda x: all(numbers().map(lambda v: v > 2)), 0, False, "bool"),
    "len of a dataset": (lambda x: len(numbers()), 0, 4, "int64"),
    # TensorFlow refuses these. They give what Python gives eagerly.
    "max of a vector": (lambda x: max(x), [3, 1, 2], 3, "int32"),
    "max of two": (lambda x: max(x, 2), 3, 3, "int32"),
    "min of three": (lambda x: min(x, 2, x - 5), 3, -2, "int32"),
}


def sum_of(pairs: Any, function: Callable[[Any, Any], Any]) -> Any:
    result = tf.constant(0, tf.int64)
    for a, b in pairs:
        result += function(a, b)
    return result


def total(dataset: Any) -> Any:
    result = tf.constant(0, tf.int64)
    for value in dataset:
        result += value
    return result


@pytest.mark.parametrize("name", GIVES)
@item("converts: builtins on tensors")
def test_built_in_functions_give(name: str) -> None:
    function, value, wanted, dtype = GIVES[name]
    got = tf.function(function)(tf.constant(value))
    assert got.dtype.name == dtype
    assert got.numpy().tolist() == wanted


def in_a_statement(x: Any) -> Any:
    for i, v in enumerate(x):
        x = x + i * v
    return x


REFUSED: dict[str, tuple[type[Exception], str, Callable[..., Any], Any]] = {
    "len of a scalar": (ValueError, "len requires a non-scalar tensor, got one of shape", lambda x: len(x), 1),
    "int in a base": (NotImplementedError, "base 16 not supported for int", lambda x: int(x, 16), "ff"),
    "int of a number in a base": (NotImplementedError, "base 2 not supported for int", lambda x: int(x, base=2), 5),
    "sorted matrix": (ValueError, "sort only supports only 1D tensors", lambda x: sorted(x), [[1]]),
    "sorted scalar": (ValueError, "sort only supports only 1D tensors", lambda x: sorted(x), 1),
    "sorted strings": (TypeError, "has DataType string not in list of allowed values", lambda x: sorted(x), ["a"]),
    "any": (refused, NO_ITERATION, lambda x: any(x), [True]),
    "all": (refused, NO_ITERATION, lambda x: all(x), [True]),
    "any of a list": (refused, NO_BOOL, lambda x: any([x, x]), True),
    "sum": (refused, NO_ITERATION, lambda x: sum(x), [1, 2]),
    "enumerate": (refused, NO_ITERATION, in_a_statement, [1, 2]),
    "zip": (refused, NO_ITERATION, lambda x: list(zip(x, x)), [1, 2]),  # noqa: B905
    "map": (refused, NO_ITERATION, lambda x: list(map(abs, x)), [1, 2]),
    "iter": (refused, NO_ITERATION, lambda x: iter(x), [1, 2]),
    "list": (refused, NO_ITERATION, lambda x: list(x), [1, 2]),
    "tuple": (refused, NO_ITERATION, lambda x: tuple(x), [1, 2]),
    "next": (TypeError, "'SymbolicTensor' object is not an iterator", lambda x: next(x), [1, 2]),
    "bool": (refused, NO_BOOL, lambda x: bool(x), True),
    "round": (AttributeError, "object has no attribute 'astype'", lambda x: round(x), 3.4),
    "divmod": (TypeError, "unsupported operand type(s) for divmod(): 'SymbolicTensor' and 'int'", lambda x: divmod(x, 2), 7),
    "hash": (TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.", lambda x: hash(x), 7),
    "set": (TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.", lambda x: {x}, 7),
    "complex": (TypeError, "complex() first argument must be a string or a number, not 'SymbolicTensor'", lambda x: complex(x), 1.0),
    "reversed": (TypeError, "len is not well defined for a symbolic Tensor (x:0). Please call `x.shape` rather than `len(x)` for shape information.", lambda x: list(reversed(x)), [1]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_built_in_functions_refuse(name: str) -> None:
    kind, text, function, value = REFUSED[name]
    with pytest.raises(kind, match=re.escape(text)) as caught:
        tf.function(function)(tf.constant(value))
    assert type(caught.value) is kind


@pytest.mark.parametrize("spec", [[None], None])
def test_a_length_that_is_not_static(spec: Any) -> None:
    @tf.function(input_signature=[tf.TensorSpec(spec)])
    def f(x: Any) -> Any:
        count = len(x)
        assert isinstance(count, tf.Tensor)
        return count

    assert int(f(tf.constant([1.0, 2.0]))) == 2
    if spec is None:
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(tf.constant(1.0))


def test_sorting_keeps_equal_elements_in_order() -> None:
    """TensorFlow was not asked: Python promises it."""

    @tf.function
    def f(x: Any, down: bool) -> Any:
        return sorted(x, key=lambda v: v // 10, reverse=down)

    values = [21, 10, 20, 15, 11]
    for down in (False, True):
        wanted = sorted(values, key=lambda v: v // 10, reverse=down)
        assert f(tf.constant(values), down).numpy().tolist() == wanted


def test_next_takes_from_an_iterator() -> None:
    @tf.function
    def f(iterator: Any) -> Any:
        return next(iterator), next(iterator)

    iterator = iter(numbers())
    assert [int(v) for v in f(iterator)] == [0, 1]
    assert [int(v) for v in f(iterator)] == [2, 3]
    with pytest.raises(tf.errors.OutOfRangeError):
        f(iterator)


def test_next_with_a_default() -> None:
    """TensorFlow 2.21 ends with OutOfRangeError: the default was not looked at."""

    @tf.function
    def f(iterator: Any) -> Any:
        return next(iterator), next(iterator, tf.constant(7, tf.int64))

    assert [int(v) for v in f(iter(numbers().take(1)))] == [0, 7]


def test_printing_happens_while_tracing(capsys: pytest.CaptureFixture[str]) -> None:
    @tf.function
    def shout(x: Any) -> None:
        print(x, "a", sep="-")

    shout(tf.constant(3))
    shout(tf.constant(4))
    assert capsys.readouterr().out == 'Tensor("x:0", shape=(), dtype=int32)-a\n'


def test_on_python_values_they_are_pythons() -> None:
    @tf.function
    def f(x: Any) -> Any:
        assert [len("abc"), int("ff", 16), float("1.5"), abs(-2)] == [3, 255, 1.5, 2]
        assert list(range(3)) == [0, 1, 2] and type(range(3)) is range
        assert [max(1, 2), min([3, 1]), max([], default=9)] == [2, 1, 9]
        assert sorted("ba", key=str.upper) == ["a", "b"]
        assert list(zip("a", "b", strict=True)) == [("a", "b")]
        assert list(enumerate("a", 3)) == [(3, "a")]
        assert next(iter([1])) == 1 and next(iter([]), 5) == 5
        assert any([0, 1]) and not all([0, 1])
        return x

    assert int(f(tf.constant(1))) == 1
