"""Recursion on tensors: an error by default, a call of the graph itself under `recursion()`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf


@tf.function
def factorial(n: Any) -> Any:
    if n <= 1:
        return tf.constant(1)
    return n * factorial(n - 1)


def test_it_is_an_error_by_default() -> None:
    @tf.function
    def f(n: Any) -> Any:
        if n <= 1:
            return n
        return f(n - 1)

    with pytest.raises(RecursionError):
        f(tf.constant(3))


def test_a_function_calls_itself() -> None:
    with intaglio.recursion():
        assert factorial(tf.constant(5)).numpy() == 120
    # The trace stays when the context is left, and when it has been optimised.
    assert [factorial(tf.constant(n)).numpy() for n in (1, 3, 6, 7)] == [1, 6, 720, 5040]
    assert factorial.experimental_get_tracing_count() == 1


def test_two_calls_of_itself() -> None:
    @tf.function
    def fibonacci(n: Any) -> Any:
        if n < 2:
            return n
        return fibonacci(n - 1) + fibonacci(n - 2)

    with intaglio.recursion():
        assert fibonacci(tf.constant(12)).numpy() == 144


def test_functions_that_call_each_other() -> None:
    @tf.function
    def even(n: Any) -> Any:
        if n == 0:
            return tf.constant(True)
        return odd(n - 1)

    @tf.function
    def odd(n: Any) -> Any:
        if n == 0:
            return tf.constant(False)
        return even(n - 1)

    with intaglio.recursion():
        assert [bool(even(tf.constant(n))) for n in range(4)] == [True, False] * 2
        assert [bool(odd(tf.constant(n))) for n in range(4)] == [False, True] * 2


def test_shapes_are_found_by_tracing_again() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)])
    def reverse(x: Any) -> Any:
        if tf.size(x) == 0:
            return tf.constant(0), tf.zeros([0], tf.int32)
        total, rest = reverse(x[1:])
        return total + x[0], tf.concat([rest, x[:1]], 0)

    with intaglio.recursion():
        total, turned = reverse(tf.constant([1, 2, 3]))
    assert total.numpy() == 6 and turned.numpy().tolist() == [3, 2, 1]


def plain(n: Any) -> Any:
    if n < 2:
        return n
    return plain(n - 1) + plain(n - 2)


def test_python_functions_that_call_themselves() -> None:
    @tf.function
    def f(n: Any) -> Any:
        def inner(k: Any) -> Any:
            if k <= 0:
                return n
            return inner(k - 1) + 1

        return plain(n) * 2, inner(n)

    with intaglio.recursion():
        a, b = f(tf.constant(10))
    assert (a.numpy(), b.numpy()) == (110, 20)


def test_the_depth_has_a_limit() -> None:
    @tf.function
    def down(n: Any) -> Any:
        if n <= 0:
            return n
        return down(n - 1)

    with intaglio.recursion(limit=50):
        assert down(tf.constant(45)).numpy() == 0
    with pytest.raises(RecursionError, match="has called itself 50 times"):
        down(tf.constant(100))
    assert down(tf.constant(3)).numpy() == 0
    with intaglio.recursion(limit=3000):
        deep = tf.function(lambda n: n if n <= 0 else deep(n - 1))
        assert deep(tf.constant(2900)).numpy() == 0


def test_recursion_without_end() -> None:
    @tf.function
    def forever(n: Any) -> Any:
        return forever(n - 1)

    with intaglio.recursion(), pytest.raises(RecursionError, match="every way through"):
        forever(tf.constant(1))


def test_results_must_agree() -> None:
    @tf.function
    def f(n: Any) -> Any:
        if n <= 0:
            return tf.constant(1.0)
        return f(n - 1), n

    with intaglio.recursion(), pytest.raises(TypeError, match="same nested structure"):
        f(tf.constant(1))


def test_effects_in_a_recursion() -> None:
    seen = tf.Variable(0)

    @tf.function
    def f(n: Any) -> Any:
        seen.assign_add(n)
        if n > 0:
            n = f(n - 1)
        if n < -5:
            raise ValueError(f"too low: {n}")
        return n

    with intaglio.recursion():
        assert f(tf.constant(4)).numpy() == 0
        assert seen.numpy() == 10
        with pytest.raises(ValueError, match="too low: -7"):
            f(tf.constant(-7))


@tf.function
def power(x: Any, n: Any) -> Any:
    if n == 0:
        return tf.ones_like(x)
    return x * power(x, n - 1)


@pytest.mark.parametrize("inside", [False, True])
def test_gradients(inside: bool) -> None:
    x, n = tf.constant(1.5, tf.float64), tf.constant(5)

    def slopes(x: Any, n: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = power(x, n)
            first = inner.gradient(y, x)
        return y, first, outer.gradient(first, x)

    with intaglio.recursion():
        run = tf.function(slopes) if inside else slopes
        for _ in range(3):
            got = [v.numpy() for v in run(x, n)]
            np.testing.assert_allclose(got, [1.5**5, 5 * 1.5**4, 20 * 1.5**3])


def test_gradients_of_variables() -> None:
    w = tf.Variable(2.0)

    @tf.function
    def chain(x: Any, n: Any) -> Any:
        if n <= 0:
            return x
        return w * chain(x, n - 1) + 1.0

    x = tf.constant(1.5)
    with intaglio.recursion(), tf.GradientTape() as tape:
        tape.watch(x)
        y = chain(x, tf.constant(3))
    slopes = tape.gradient(y, [x, w])
    assert y.numpy() == 8 * 1.5 + 7
    assert [s.numpy() for s in slopes] == [8.0, 3 * 4 * 1.5 + 2 * 2 + 1]


def test_a_graph_that_calls_itself_is_written_as_a_function_that_does() -> None:
    with intaglio.recursion():
        concrete = factorial.get_concrete_function(tf.TensorSpec([], tf.int32))
    library = concrete.graph.as_graph_def().library.function
    names = [f.signature.name for f in library]
    called = [n.attr["f"].func.name for f in library for n in f.node_def if "f" in n.attr]
    assert called and set(called) <= set(names)


def imported(concrete: Any, graph_def: Any = None) -> Callable[..., Any]:
    """The function's GraphDef, read again."""
    graph_def = graph_def or concrete.graph.as_graph_def()
    names = [t.name for t in concrete.inputs]

    def call(*values: Any) -> Any:
        return tf.graph_util.import_graph_def(
            graph_def,
            input_map=dict(zip(names, values, strict=True)),
            return_elements=[concrete.outputs[0].name],
        )[0]

    return tf.function(call)


def test_functions_that_call_each_other_are_read_again() -> None:
    @tf.function
    def down(x: Any, n: Any) -> Any:
        if n <= 0:
            return x
        return up(x * 2.0, n - 1) * x

    @tf.function
    def up(x: Any, n: Any) -> Any:
        if n <= 0:
            return -x
        return down(x + 1.0, n - 1)

    x, n = tf.constant(1.5), tf.constant(3)
    with intaglio.recursion():
        concrete = down.get_concrete_function(x, n)
    read = imported(concrete)
    for order in (1, 2):
        for steps in (0, 1, 2, 3):
            slopes = []
            for f in (concrete, read):
                with tf.GradientTape() as outer:
                    outer.watch(x)
                    with tf.GradientTape() as tape:
                        tape.watch(x)
                        y = f(x, tf.constant(steps))
                    z = tape.gradient(y, x)
                slopes.append([y, z if order == 1 else outer.gradient(z, x)])
            assert [v and v.numpy() for v in slopes[0]] == [v and v.numpy() for v in slopes[1]]


def test_a_graph_that_calls_itself_without_an_end() -> None:
    with intaglio.recursion():
        concrete = factorial.get_concrete_function(tf.TensorSpec([], tf.int32))
    graph_def = concrete.graph.as_graph_def()
    functions = graph_def.library.function
    for nodes in (graph_def.node, *[f.node_def for f in functions]):
        for node in nodes:
            if node.op in ("If", "StatelessIf"):
                node.attr["then_branch"].CopyFrom(node.attr["else_branch"])
    with pytest.raises(RecursionError, match="without coming to an end"):
        imported(concrete, graph_def)(tf.constant(3))


def test_a_saved_model_that_calls_itself(tmp_path: Any) -> None:
    class Chain(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.int32)])
        def of(self, x: Any, n: Any) -> Any:
            if n <= 0:
                return x
            return self.w * self.of(x, n - 1) + 1.0

    module = Chain()
    with intaglio.recursion():
        tf.saved_model.save(module, str(tmp_path))
    loaded = tf.saved_model.load(str(tmp_path))
    x = tf.constant(1.5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = loaded.of(x, tf.constant(3))
    assert y.numpy() == 8 * 1.5 + 7
    slopes = tape.gradient(y, [x, loaded.w])
    assert [s.numpy() for s in slopes] == [8.0, 3 * 4 * 1.5 + 2 * 2 + 1]


def test_gradients_of_captured_tensors_in_order() -> None:
    a, b = tf.Variable(2.0), tf.Variable([1.0, 3.0])

    @tf.function
    def f(x: Any, n: Any) -> Any:
        if n <= 0:
            return x * b
        y = f(x * a, n - 1)
        return y + b * a

    with intaglio.recursion(), tf.GradientTape() as tape:
        x = tf.constant([1.0, 1.0])
        y = f(x, tf.constant(2))
    # y = x a^2 b + 2 a b
    assert y.numpy().tolist() == [4.0 + 4.0, 12.0 + 12.0]
    slopes = tape.gradient(y, [a, b])
    assert slopes[0].numpy() == pytest.approx(4 * 4.0 + 2 * 4.0)
    assert slopes[1].numpy().tolist() == [4.0 + 4.0, 4.0 + 4.0]
