"""`tf.nondifferentiable_batch_function`; what happens was asked of TensorFlow 2.21."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from intaglio import tf


def _batching(*args: Any, **options: Any) -> tuple[Any, list[int]]:
    """A function that doubles, and the sizes of the batches that it saw."""
    sizes: list[int] = []

    @tf.nondifferentiable_batch_function(*args, **options)
    def double(x: Any) -> Any:
        tf.py_function(lambda n: sizes.append(int(n)), [tf.shape(x)[0]], [])
        return x * 2

    return double, sizes


def _together(call: Any, arguments: list[Any]) -> list[Any]:
    """What calls of several threads give: tensors or errors."""
    results: list[Any] = [None] * len(arguments)

    def run(i: int) -> None:
        try:
            results[i] = call(arguments[i])
        except Exception as e:
            results[i] = e

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(arguments))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_one_caller() -> None:
    double, sizes = _batching(1, 4, 1000)
    np.testing.assert_array_equal(double(tf.ones([2, 3])), np.full((2, 3), 2.0))
    assert sizes == [2]


def test_calls_of_several_threads_are_one() -> None:
    double, sizes = _batching(1, 4, 10**7)  # full batches do not wait
    arguments = [tf.fill([1, 2], float(i)) for i in range(8)]
    for i, result in enumerate(_together(double, arguments)):
        np.testing.assert_array_equal(result, np.full((1, 2), 2.0 * i))
    assert sizes == [4, 4]


def test_a_batch_that_is_not_full_waits_and_runs() -> None:
    double, sizes = _batching(1, 100, 300_000)
    results = _together(double, [tf.fill([n], float(n)) for n in (1, 2, 3)])
    assert [r.numpy().tolist() for r in results] == [[2], [4, 4], [6, 6, 6]]
    assert sum(sizes) == 6


def test_padded_to_the_next_allowed_size() -> None:
    double, sizes = _batching(1, 4, 1000, allowed_batch_sizes=[2, 4])
    assert double(tf.ones([3])).shape == [3]
    assert double(tf.ones([1])).shape == [1]
    assert sizes == [4, 2]


def test_large_calls_are_split_to_the_largest_allowed_size() -> None:
    double, sizes = _batching(1, 10, 1000, allowed_batch_sizes=[2, 4])
    np.testing.assert_array_equal(double(tf.range(9)), np.arange(9) * 2)
    assert sizes == [4, 4, 2]


def test_structures_and_captures() -> None:
    v = tf.Variable(3.0)

    @tf.nondifferentiable_batch_function(1, 4, 1000)
    def both(a: Any, b: Any) -> Any:
        return {"sum": a + b, "all": [a * v]}

    @tf.function
    def outer(x: Any) -> Any:
        return both(x, x)["all"][0] + 1

    made = both(tf.ones([2]), tf.ones([2]))
    np.testing.assert_array_equal(made["sum"], [2, 2])
    np.testing.assert_array_equal(made["all"][0], [3, 3])
    np.testing.assert_array_equal(outer(tf.ones([2])), [4, 4])
    v.assign(5.0)
    np.testing.assert_array_equal(outer(tf.ones([2])), [6, 6])


def test_no_rows() -> None:
    double, sizes = _batching(1, 4, 1000)
    assert double(tf.ones([0, 2])).shape == [0]
    assert sizes == []


def test_no_gradient() -> None:
    double, _ = _batching(1, 4, 1000)
    x = tf.ones([2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = double(x)
    with pytest.raises(LookupError, match="BatchFunction"):
        tape.gradient(y, x)


@pytest.mark.parametrize(
    ("options", "x", "words"),
    [
        ({}, [1.0] * 9, "Task size 9 is larger than maximum input batch size 4"),
        ({"allowed_batch_sizes": [4, 2]}, [1.0], "monotonically increasing"),
        (
            {"allowed_batch_sizes": [2, 3], "enable_large_batch_splitting": False},
            [1.0],
            "must equal max_batch_size",
        ),
    ],
)
def test_sizes_that_cannot_be(options: Any, x: Any, words: str) -> None:
    double, _ = _batching(1, 4, 1000, **options)
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        double(tf.constant(x))


def test_scalars_have_no_rows() -> None:
    @tf.nondifferentiable_batch_function(1, 4, 1000)
    def same(x: Any) -> Any:
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match="at least one dimension"):
        same(tf.constant(1.0))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (tf.reduce_sum, "has 0 dimensions"),
        (lambda x: tf.ones([5]), "0th dimension size: 5; batch size: 2"),
    ],
)
def test_results_have_the_rows_of_the_arguments(function: Any, words: str) -> None:
    batched = tf.nondifferentiable_batch_function(1, 4, 1000)(function)
    with pytest.raises(tf.errors.FailedPreconditionError, match=words):
        batched(tf.ones([2]))


def test_errors_go_to_all_calls_of_a_batch() -> None:
    @tf.nondifferentiable_batch_function(1, 2, 10**7)
    def positive(x: Any) -> Any:
        tf.debugging.assert_positive(x)
        return x

    for found in _together(positive, [tf.constant([1.0]), tf.constant([-1.0])]):
        assert isinstance(found, tf.errors.InvalidArgumentError)


def test_a_full_queue() -> None:
    entered, leave = threading.Event(), threading.Event()

    def slow(x: Any) -> Any:
        entered.set()
        leave.wait(10)
        return x

    @tf.nondifferentiable_batch_function(1, 1, 0, max_enqueued_batches=1)
    def batched(x: Any) -> Any:
        return tf.numpy_function(slow, [x], tf.float32)

    first = threading.Thread(target=batched, args=(tf.ones([1]),))
    first.start()
    assert entered.wait(10)
    with pytest.raises(tf.errors.UnavailableError, match=r"queue .* is full"):
        batched(tf.ones([1]))
    leave.set()
    first.join()
