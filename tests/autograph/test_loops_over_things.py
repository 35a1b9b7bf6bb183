"""What a `for` can go over in converted code, and what its names are afterwards.

TensorFlow was asked where no line says otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

from .checklist import item
from .test_must_convert import agree


def loops_of(function: Any, *specs: Any) -> list[str]:
    """The loops in the graph of the function."""
    graph = tf.function(function).get_concrete_function(*specs).graph
    return [o.type for o in graph.get_operations() if o.type.endswith("While")]


def total(values: Any) -> Any:
    result = 0
    for value in values:
        result += tf.reduce_sum(value)
    return result


# -- tensors and ranges ------------------------------------------------------------------


def test_rows_of_a_tensor() -> None:
    agree_each(total, [[1, 2], [3, 4]], [1, 2, 3], [[[1], [2]]])


def agree_each(function: Any, *calls: Any) -> None:
    for call in calls:
        agree(function, call)


def test_ranges() -> None:
    def digits(start: Any, limit: Any, delta: Any) -> Any:
        result = tf.constant(0)
        for i in tf.range(start, limit, delta):
            result = result * 10 + i
        return result

    agree(digits, (1, 7, 2), (4, 0, -1), (0, -3, -2), (5, 5, 1))
    spec = tf.TensorSpec([], tf.int32)
    assert loops_of(digits, spec, spec, spec) == ["StatelessWhile"]


def test_ranges_of_floats() -> None:
    def summed(limit: Any) -> Any:
        result = 0.0
        for i in tf.range(limit, 0.0, -0.5):
            result += i
        return result

    agree(summed, 2.0, 0.0)


def test_a_range_keeps_its_type() -> None:
    @tf.function
    def f(n: Any) -> Any:
        kept = tf.constant(0, tf.int64)
        for i in tf.range(n):
            kept = i
        return kept

    assert f(tf.constant(3, tf.int64)).dtype == tf.int64


def test_targets_are_attributes_and_items() -> None:
    class Cell:
        value: Any = 0

    def f(pairs: Any) -> Any:
        result, cell, table = 0, Cell(), {"k": 0}
        for cell.value in pairs[0]:
            result += cell.value
        for table["k"] in pairs[1]:
            result += table["k"] * 10
        return result, cell.value, table["k"]

    agree(f, [[1, 2], [3, 4]])


@item("converts: for over tensors, ranges, ragged tensors, datasets, iterators")
def test_what_is_no_tensor_is_unrolled() -> None:
    seen = []

    @tf.function
    def f(x: Any) -> Any:
        for name, k in {"a": 1, "b": 2}.items():
            seen.append(name)
            x = x + k
        for row in np.array([[1], [2]]):
            x = x * row[0]
        for i in range(2):
            x = x + i
        return x

    assert int(f(tf.constant(0))) == 7
    assert seen == ["a", "b"]


# -- datasets ----------------------------------------------------------------------------


@item("converts: for over tensors, ranges, ragged tensors, datasets, iterators")
def test_a_dataset() -> None:
    def f(n: Any) -> Any:
        result = tf.constant(0, tf.int64)
        for i in tf.data.Dataset.range(5).map(lambda v: v * 2):
            if i > 2:
                result += i * n
        return result

    agree(f, np.int64(2), np.int64(3))


@item("converts: for over tensors, ranges, ragged tensors, datasets, iterators")
def test_a_dataset_is_left_early() -> None:
    def f(limit: Any) -> Any:
        result = last = tf.constant(0, tf.int64)
        for i in tf.data.Dataset.range(10):
            if i == limit:
                break
            if i % 2 == 0:
                continue
            result += i
            last = i
        return result, last

    agree(f, np.int64(5), np.int64(0), np.int64(99))


def test_the_element_after_a_break() -> None:
    """TensorFlow says that 'i' must be defined before the loop."""

    @tf.function
    def f(limit: Any) -> Any:
        for i in tf.data.Dataset.range(10):
            if i == limit:
                break
        return i

    assert [int(f(tf.constant(k, tf.int64))) for k in (4, 99)] == [4, 9]


@item("converts: builtins on tensors")
def test_elements_of_several_parts() -> None:
    def f(n: Any) -> Any:
        result = tf.constant(0, tf.int64)
        both = tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(3, 9)))
        for a, b in both:
            result += a * b
        for part in both.map(lambda a, b: {"a": a, "b": b}):
            result += part["b"] - part["a"]
        return result * n

    agree(f, np.int64(1))


@item("converts: for over tensors, ranges, ragged tensors, datasets, iterators")
def test_an_iterator_goes_on_where_it_was() -> None:
    @tf.function
    def two(iterator: Any) -> Any:
        result = turns = tf.constant(0, tf.int64)
        for i in iterator:
            result += i
            turns += 1
            if turns == 2:
                break
        return result

    iterator = iter(tf.data.Dataset.range(5))
    assert [int(two(iterator)) for _ in range(4)] == [1, 5, 4, 0]


def test_the_iterator_of_a_dataset_in_a_condition() -> None:
    @tf.function
    def f(iterator: Any) -> Any:
        result = tf.constant(0, tf.int64)
        element = iterator.get_next_as_optional()
        while element.has_value():
            result += element.get_value()
            element = iterator.get_next_as_optional()
        return result

    assert int(f(iter(tf.data.Dataset.range(4)))) == 6


# -- ragged tensors ----------------------------------------------------------------------

RAGGED = [[1, 2], [3], [], [4]]


@item("converts: for over tensors, ranges, ragged tensors, datasets, iterators")
def test_rows_of_a_ragged_tensor() -> None:
    def f(rows: Any) -> Any:
        result = 0
        for row in rows:
            for value in row:
                result = result * 10 + value
        return result

    for ragged in (tf.ragged.constant(RAGGED), tf.ragged.constant([[7]])):
        assert int(tf.function(f)(ragged)) == int(f(ragged))
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    assert len(loops_of(f, spec)) == 1  # the inner loop is in its body


def test_a_ragged_tensor_is_left_early() -> None:
    @tf.function
    def f(rows: Any) -> Any:
        result = 0
        for row in rows:
            if tf.size(row) != 1:
                continue
            result += tf.reduce_sum(row)
            if result > 2:
                break
        return result

    assert int(f(tf.ragged.constant(RAGGED))) == 3


def test_the_length_of_a_ragged_tensor() -> None:
    count = tf.function(lambda rows: len(rows))(tf.ragged.constant(RAGGED))
    assert (int(count), count.dtype) == (4, tf.int32)


# -- loops within loops, and names -------------------------------------------------------


def test_names_first_set_in_a_loop_may_be_structures() -> None:
    @tf.function
    def f(n: Any) -> Any:
        for i in tf.range(n):
            kept = (i, {"a": tf.cast(i, tf.float32)})
        return kept

    number, table = f(tf.constant(3))
    assert (int(number), float(table["a"])) == (2, 2.0)


def test_names_first_set_in_a_loop_may_have_unknown_shapes() -> None:
    @tf.function
    def f(n: Any) -> Any:
        while n > 0:
            kept = tf.zeros([n, 2])
            n -= 1
        return kept

    assert f(tf.constant(3)).shape == (1, 2)


def test_attributes_and_keys_first_set_in_a_loop() -> None:
    class Cell:
        value: Any

    @tf.function
    def f(n: Any) -> Any:
        cell, table = Cell(), {}
        for i in tf.range(n):
            cell.value = i
            table["k"] = i * 2
        return cell.value, table["k"]

    assert [int(v) for v in f(tf.constant(3))] == [2, 4]


def test_lists_are_state_element_by_element() -> None:
    def f(n: Any) -> Any:
        items = [0, 1]
        for i in tf.range(n):
            items[0] = items[0] + i
            items[1] = items[1] * 2
        return items

    agree(f, 3, 0)


def test_strings_and_bools_are_loop_variables() -> None:
    def f(n: Any) -> Any:
        text, odd = "", False
        for _ in tf.range(n):
            text, odd = text + "b", not odd
        return text, odd

    @tf.function
    def traced(n: Any) -> Any:
        return f(n)

    text, odd = traced(tf.constant(3))
    assert text.numpy() == b"bbb" and bool(odd)


def test_variables_are_changed_in_loops() -> None:
    v = tf.Variable(1)

    @tf.function
    def f(n: Any) -> Any:
        for i in tf.range(n):
            v.assign_add(i)
            if v > 3:
                v.assign(0)
        return v + 0

    assert int(f(tf.constant(4))) == 3


def pairs(x: Any) -> Any:
    for a, b in tf.stack([[x, x]]):
        x = a + b
    return x


def scalar(x: Any) -> Any:
    for value in x:
        x = value
    return x


def python_object(n: Any) -> Any:
    step = abs
    for _ in tf.range(n):
        step = round
    return step(n)


def dynamic_key(n: Any) -> Any:
    table = {}
    for i in tf.range(n):
        table[i] = n
    return table


REFUSED = [
    (
        tf.errors.OperatorNotAllowedInGraphError,
        "Iterating over a symbolic `tf.Tensor` is not allowed.",
        pairs,
    ),
    (ValueError, "len requires a non-scalar tensor, got one of shape", scalar),
    # TensorFlow: "Failed to convert elements of <function>... to Tensor."
    (
        TypeError,
        "'step' is a Python object of type builtin_function_or_method that one iteration changes",
        python_object,
    ),
    (TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.", dynamic_key),
]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[2].__name__)
def test_loops_that_cannot_be(row: Any) -> None:
    kind, text, function = row
    with pytest.raises(kind) as caught:
        tf.function(function)(tf.constant(2))
    assert text in str(caught.value)


@item("converts: for over tensors, ranges, ragged tensors, datasets, iterators")
def test_distributed_datasets() -> None:
    """One device: TensorFlow refuses `break` over the dataset (asked), here it is a loop."""
    for strategy in (tf.distribute.get_strategy(), tf.distribute.OneDeviceStrategy("/cpu:0")):
        data = strategy.experimental_distribute_dataset(tf.data.Dataset.range(7).batch(2))

        @tf.function
        def f(batches: Any) -> Any:
            total = tf.constant(0, tf.int64)
            for batch in batches:
                total += tf.reduce_sum(batch)
                if total > 5:
                    break
            return total

        assert int(f(data)) == 6
        assert int(f(iter(data))) == 6


@pytest.mark.parametrize(
    ("limits", "wanted"),
    [((0,), 0), ((5, 3), 5), ((3, 5, -1), 3), ((2.0, 1.0), 2.0), ((4,), 3), ((5, 0, -2), 1)],
)
@item("converts: for over tensors, ranges, ragged tensors, datasets, iterators")
def test_the_target_after_an_empty_range(limits: Any, wanted: Any) -> None:
    """The first number, as TensorFlow answered; Python would leave the name without a value."""

    def plain(*limits: Any) -> Any:
        for i in tf.range(*limits):  # noqa: B007
            pass
        return i

    def deleted(*limits: Any) -> Any:
        i = 9
        del i
        for i in tf.range(*limits):
            if i > 100:
                break
        return i

    values = [tf.constant(v) for v in limits]
    for function in (plain, deleted):
        assert tf.function(function)(*values) == wanted


@item("converts: for over tensors, ranges, ragged tensors, datasets, iterators")
def test_the_target_of_python_s_range_over_a_tensor() -> None:
    def f(n: Any) -> Any:
        for i in range(n):  # noqa: B007
            pass
        return i

    assert [int(tf.function(f)(tf.constant(n))) for n in (0, 3)] == [0, 2]


@item("converts: for over tensors, ranges, ragged tensors, datasets, iterators")
def test_other_targets_have_no_value_after_no_iteration() -> None:
    """TensorFlow raises InvalidArgumentError for a tensor's, and for a name that the body sets."""

    def of_tensor(t: Any) -> Any:
        for x in t:  # noqa: B007
            pass
        return x

    def of_body(t: Any) -> Any:
        for i in tf.range(tf.size(t)):
            y = i * 2
        return y

    for function in (of_tensor, of_body):
        with pytest.raises(tf.errors.InvalidArgumentError, match="must iterate at least once"):
            tf.function(function)(tf.zeros([0]))
