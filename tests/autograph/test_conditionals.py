"""`if`, conditional expressions and logic on tensors: what comes out, and what is refused.

TensorFlow was asked where no line says otherwise.
"""

from __future__ import annotations

import collections
import re
from typing import Any

import pytest

from intaglio import tf
from intaglio.base.errors import InaccessibleTensorError, InvalidArgumentError

from .checklist import item
from .test_must_convert import agree

Point = collections.namedtuple("Point", "x y")


@item("converts: chains of elif and return")
def test_chains_of_elif() -> None:
    def f(x: Any) -> Any:
        if x > 5:
            result = 1
        elif x > 3:
            result = 2
        elif x > 1:
            result = 3
        else:
            result = 4
        return result

    agree(f, 9, 4, 2, 0)


@pytest.mark.parametrize(
    ("main", "other", "wanted"),
    [([2, 3], [4, 3], [None, 3]), ([2, 3], [2, 3], [2, 3]), ([2, 3], [4], None)],
)
@item("converts: if becomes cond")
def test_shapes_are_joined(main: Any, other: Any, wanted: Any) -> None:
    @tf.function
    def f(x: Any) -> Any:
        y = tf.zeros(main) if x > 0 else tf.zeros(other)
        known = None if y.shape.rank is None else y.shape.as_list()
        assert known == wanted
        return y

    assert f(tf.constant(1)).shape == main
    assert f(tf.constant(-1)).shape == other


def test_python_values_become_tensors() -> None:
    @tf.function
    def f(x: Any) -> Any:
        if x > 0:
            number, flag, text = 1, True, "a"
        else:
            number, flag, text = 2, False, "b"
        return number, flag, text

    assert [v.numpy() for v in f(tf.constant(1))] == [1, True, b"a"]
    assert [v.numpy() for v in f(tf.constant(0))] == [2, False, b"b"]


def test_structures_come_out_of_branches() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            items, table, point = [x, (x, 1)], {"a": x}, Point(x, 1)
        else:
            items, table, point = [1, (2, x)], {"a": -x}, Point(1, x)
        return items, table, point

    agree(f, 3, -3)


def test_logic_on_a_tensor_and_a_python_value() -> None:
    def f(x: Any) -> Any:
        return (
            x > 0 and True,
            True and x > 0,
            x > 0 or False,
            False or x > 0,
            not x > 0,
            x is not None and x > 0,
        )

    agree(f, 1, -1)


def test_logic_that_python_decides() -> None:
    def f(x: Any) -> Any:
        return (None or x), (0 and x), (1 and x), ([] or x)  # noqa: SIM223

    traced = tf.function(f)(tf.constant(5))
    assert [int(v) for v in traced] == [5, 0, 5, 5]


def test_chained_comparisons() -> None:
    agree(lambda x: (0 < x < 3, 0 < x > 3 == x, 3 > 2 > x, 1 <= x <= x != 7), 1, 5, 7)


def test_none_in_both_branches_is_none() -> None:
    """TensorFlow: "'y' is None at the end of the main branch.\""""

    @tf.function
    def f(x: Any) -> Any:
        if x > 0:
            y = None
            tf.print("", end="")
        else:
            y = None
        assert y is None
        if x > 0:
            return
        return

    assert f(tf.constant(1)) is None


def test_a_variable_is_read_in_its_branch() -> None:
    first, second = tf.Variable(1), tf.Variable(5)

    @tf.function
    def f(x: Any) -> Any:
        if x > 0:
            v = first
        else:
            v = second
        return v + 1

    assert [int(f(tf.constant(k))) for k in (1, -1)] == [2, 6]
    second.assign(7)
    assert int(f(tf.constant(-1))) == 8


def test_datasets_come_out_of_branches() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            numbers = tf.data.Dataset.range(3)
        else:
            numbers = tf.data.Dataset.range(5)
        return numbers.reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

    agree(f, 1, -1)


def read_by_a_function(x: Any) -> Any:
    k = 1
    read = lambda: k * 10  # noqa: E731
    if x > 0:
        k = 2
    return read()


def read_after_a_loop(x: Any) -> Any:
    k = x

    def read() -> Any:
        return k + 1

    for i in tf.range(3):
        k = k + i
        if k > 3:
            k = k * 2
    while k < 20:
        k += 7
    return read()


def read_within(x: Any) -> Any:
    result = x
    for i in tf.range(3):
        scale = i + x
        result += tf.reduce_sum(tf.map_fn(lambda v: v * scale, tf.stack([x, i])))  # noqa: B023
        if result > 5:
            shift = result
            result = tf.cond(i > 1, lambda: shift, lambda: shift + 1)  # noqa: B023
    return result


@pytest.mark.parametrize(
    "function", [read_by_a_function, read_after_a_loop, read_within], ids=lambda f: f.__name__
)
def test_nested_functions_read_what_a_name_is_now(function: Any) -> None:
    """In TensorFlow they read what it was before the `if` or the loop."""
    agree(function, 1, 3, -2)


# -- refused -----------------------------------------------------------------------------


def number_as_condition(x: Any) -> Any:
    if x:
        return 1
    return 2


def vector_as_condition(x: Any) -> Any:
    if tf.stack([x, x]) > 0:
        return 1
    return 2


def number_ends_loop(x: Any) -> Any:
    while x:
        x -= 1
    return x


def vector_ends_loop(x: Any) -> Any:
    while tf.stack([x, x]) > 0:
        x -= 1
    return x


def other_functions(x: Any) -> Any:
    if x > 0:
        step = abs
    else:
        step = round
    return step(x)


def other_keys(x: Any) -> Any:
    if x > 0:
        table = {"a": x}
    else:
        table = {"b": x}
    return table


def other_length(x: Any) -> Any:
    if x > 0:
        items = [x]
    else:
        items = [x, x]
    return items


CAST = "to use as boolean Tensor, use `tf.cast`; "
NONE = "to check for None, use `is not None`"
STRUCTURE = "must have the same nested structure in the main and else branches:"
REFUSED = [
    (ValueError, f'condition of if statement expected to be `tf.bool` scalar, got Tensor("x:0", shape=(), dtype=int32); {CAST}{NONE}', number_as_condition),
    (ValueError, f'shape=(2,), dtype=bool); {NONE}', vector_as_condition),
    (TypeError, "condition of while loop expected to be `tf.bool` scalar, got Tensor(", number_ends_loop),
    # TensorFlow does not look at conditions of other shapes, or of expressions: an op fails, at the
    # run or before.
    (InvalidArgumentError, f"shape=(2,), dtype=bool); {NONE}", vector_ends_loop),
    (InvalidArgumentError, "condition of `x` expression expected to be `tf.bool` scalar", lambda x: 1 if x else 2),
    (TypeError, "condition of `and` expression expected to be `tf.bool` scalar", lambda x: x and x),
    # TensorFlow says that Python functions must return tensors.
    (TypeError, "'step' is a Python object of type builtin_function_or_method that differs", other_functions),
    (TypeError, f"'table' {STRUCTURE}", other_keys),
    (TypeError, f"'items' {STRUCTURE}", other_length),
]  # fmt: skip


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[2].__name__)
def test_what_branches_cannot_do(row: Any) -> None:
    kind, text, function = row
    with pytest.raises(kind, match=re.escape(text)) as caught:
        tf.function(function)(tf.constant(2))
    assert type(caught.value) is kind


# -- tensors that get away ---------------------------------------------------------------


@item("raises: out of scope")
def test_a_tensor_used_after_its_graph() -> None:
    kept: list[Any] = []

    @tf.function
    def keep(x: Any) -> Any:
        kept.append(x + 1)
        return x

    keep(tf.constant(1))
    with pytest.raises(TypeError, match="is out of scope and cannot be used here"):
        kept[0] + 1  # eagerly

    @tf.function
    def use() -> Any:
        return kept[0] + 1

    with pytest.raises(TypeError, match="is out of scope and cannot be used here"):
        use()

    @tf.function
    def from_a_branch(x: Any) -> Any:
        def remember(y: Any) -> int:
            kept[:] = [y]
            return 1

        tf.cond(x > 0, lambda: remember(x * 2), lambda: 0)
        return kept[0] + 1

    with pytest.raises(InaccessibleTensorError, match="cannot be accessed from"):
        from_a_branch(tf.constant(1))
