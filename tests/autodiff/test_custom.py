"""custom_gradient, recompute_grad, grad_pass_through, RegisterGradient. Asked of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import raw
from tests.autodiff.orders import assert_derivatives


@tf.custom_gradient
def log1pexp(x):
    e = raw.Exp(x)

    def grad(upstream):
        return upstream * (1.0 - 1.0 / (1.0 + e))

    return raw.Log(1.0 + e), grad


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_log1pexp_keeps_its_gradient_where_the_naive_one_is_lost(wrap):
    x = tf.constant(100.0)
    function = wrap(log1pexp)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    assert float(tape.gradient(y, x)) == 1.0


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_higher_orders(wrap):
    assert_derivatives(wrap(lambda x: log1pexp(x * x) * x), 0.4, 3)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
@pytest.mark.parametrize(
    "elements", [1, 1000]
)  # small tensors of outside are constants, large ones inputs
def test_arguments_are_the_tensors_that_were_passed(wrap, elements):
    """`f` watches its argument and computes with the tensor around it. TensorFlow 2.21 was asked."""
    outside = tf.fill([elements], 2.0)

    def run(x):
        @tf.custom_gradient
        def f(a, b):
            with tf.GradientTape(persistent=True) as tape:
                tape.watch([a, b])
                y = around * outside * outside
            return y, lambda d: tuple(d * g for g in tape.gradient(y, [a, b]))

        with tf.GradientTape() as tape:
            tape.watch([x, outside])
            around = 3.0 * x
            y = f(around, outside)
        return tape.gradient(y, [x, outside])

    of_x, of_outside = wrap(run)(tf.fill([elements], 5.0))
    np.testing.assert_array_equal(of_x, np.full(elements, 12.0))
    np.testing.assert_array_equal(of_outside, np.full(elements, 60.0))


def test_a_tape_inside_a_function():
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = log1pexp(x)
        return tape.gradient(y, x)

    assert float(slope(tf.constant(100.0))) == 1.0


def test_structures_and_missing_gradients():
    seen = []

    @tf.custom_gradient
    def two(a, b):
        def grad(da, db):
            seen.append((float(da), int(db)))
            return da * 5.0, None

        return (a * 2.0, b * 2), grad

    x, i = tf.constant(3.0), tf.constant(2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, j = two(x, i)
    assert int(j) == 4
    assert float(tape.gradient(y, x)) == 5.0
    assert seen == [(1.0, 0)]


def test_variables_of_the_function():
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def scaled(x):
        def grad(upstream, variables=None):
            assert variables == [v]
            return upstream * 7.0, [upstream * 11.0]

        return x * v, grad

    def both():
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scaled(x)
        return tape.gradient(y, [x, v])

    for function in (both, tf.function(both)):
        assert [float(g) for g in function()] == [7.0, 11.0]


def test_variables_must_be_taken():
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def scaled(x):
        return x * v, lambda upstream: upstream

    with pytest.raises(TypeError, match="must accept keyword argument 'variables'"):
        scaled(tf.constant(3.0))


def test_keyword_arguments_are_for_eager_calls():
    @tf.custom_gradient
    def scaled(x, by=2.0):
        return x * by, lambda upstream: upstream * by

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = scaled(x, by=4.0)
    assert float(tape.gradient(y, x)) == 4.0
    with pytest.raises(ValueError, match="only when eager execution is enabled"):
        tf.function(lambda v: scaled(v, by=4.0))(x)


def test_wrong_number_of_gradients():
    @tf.custom_gradient
    def bad(x):
        return x * 1.0, lambda upstream: (upstream, upstream)

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = bad(x)
    with pytest.raises(ValueError, match="expected to return 1 gradients, but returned 2"):
        tape.gradient(y, x)


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_recompute_grad(wrap):
    v = tf.Variable(2.0, dtype=tf.float64)
    calls = []

    @tf.recompute_grad
    def block(x):
        calls.append(1)
        return raw.Sin(x * v) * x

    function = wrap(block)
    x = tf.constant(0.7, tf.float64)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    dx, dv = tape.gradient(y, [x, v])
    assert len(calls) == 2
    np.testing.assert_allclose(dx, np.sin(1.4) + 1.4 * np.cos(1.4))
    np.testing.assert_allclose(dv, 0.49 * np.cos(1.4))


def test_grad_pass_through():
    x = tf.constant(3.2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(raw.Round)(x * 1.5)
    assert float(y) == 5.0
    assert float(tape.gradient(y, x)) == 1.5


def test_registered_gradients():
    name = "TestsOwnGradient"

    @tf.RegisterGradient(name)
    def own(op, upstream):
        assert op.type == "Square"
        return upstream * op.inputs[0] * 100.0

    graph = tf.Graph()
    with graph.as_default():
        a = tf.constant(3.0)
        with graph.gradient_override_map({"Square": name}):
            b = tf.square(a)
        c = tf.square(a)
        tf.gradients(b, a, name="own")
        tf.gradients(c, a, name="usual")
    names = [n.name for n in graph.get_operations()]
    assert len([n for n in names if n.startswith("own")]) == 4
    assert b.op.get_attr("_gradient_op_type") == name.encode()
    with pytest.raises(TypeError, match="mapping strings to strings"):
        graph.gradient_override_map({"Square": 3})
    with pytest.raises(KeyError, match="Registering two gradient with name"):
        tf.RegisterGradient(name)(own)
    with pytest.raises(KeyError):
        tf.RegisterGradient("Mul")(own)
    with pytest.raises(TypeError):
        tf.RegisterGradient(3)


def test_overriding_gradients_is_for_gradients_of_graphs():
    """A tape inside the graph keeps to the usual gradient, as in TensorFlow 2.21."""
    name = "TestsHundredfold"

    @tf.RegisterGradient(name)
    def own(op, upstream):
        return upstream * 100.0

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            with x.graph.gradient_override_map({"Square": name}):
                y = tf.square(x)
        return tape.gradient(y, x), tf.gradients(y, x)[0]

    assert [float(g) for g in f(tf.constant(3.0))] == [6.0, 100.0]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function])
def test_methods(wrap: Any) -> None:
    """Gradients are those of the bound method's arguments. Recorded from TensorFlow 2.21."""

    class Scaled:
        factor = 3.0

        @tf.custom_gradient
        def method(self, x: Any) -> Any:
            return x * self.factor, lambda dy: dy * 100.0

        @classmethod
        @tf.custom_gradient
        def of_class(cls, x: Any) -> Any:
            return x * 2.0, lambda dy: dy * 6.0

        @staticmethod
        @tf.custom_gradient
        def static(x: Any) -> Any:
            return x * 2.0, lambda dy: dy * 5.0

    found: list[float] = []
    for function in (Scaled().method, Scaled.of_class, Scaled.static):
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = wrap(function)(x)
        found += [float(y), float(tape.gradient(y, x))]
    assert found == [6.0, 100.0, 4.0, 6.0, 4.0, 5.0]
    assert Scaled.method.__name__ == "method"


INNER: dict[str, Any] = {
    "cond": lambda z, c: tf.cond(tf.reduce_sum(z) > 0, lambda: z * c, lambda: c - z),
    "while": lambda z, c: tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * c), [0, z])[1],
    "case": lambda z, c: tf.switch_case(tf.size(z) % 2, [lambda: z - c, lambda: z * c]),
    "map": lambda z, c: tf.map_fn(lambda e: e * tf.reduce_sum(c), z),
    "rows": lambda z, c: tf.vectorized_map(lambda e: e * tf.reduce_sum(c), z),
    "function": lambda z, c: tf.function(lambda a: a * c)(z),
    "nested": lambda z, c: tf.cond(
        tf.size(z) > 1,
        lambda: tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * c), [0, z])[1],
        lambda: z,
    ),
}
AROUND: dict[str, Any] = {
    "fold": lambda f, x: tf.foldl(lambda s, e: s + f(e), x, initializer=tf.zeros([3])),
    "branch": lambda f, x: tf.cond(tf.reduce_sum(x) > 0, lambda: f(x[0]), lambda: x[0]),
    "loop in branch": lambda f, x: tf.cond(
        tf.reduce_sum(x) > 0,
        lambda: tf.foldl(lambda s, e: s + f(e), x, initializer=tf.zeros([3])),
        lambda: x[0],
    ),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("kind", ["recomputed", "rule"])
def test_gradients_with_branches_capture_values_of_the_graph_that_they_are_the_gradient_of(
    kind: str, inner: str, around: str
) -> None:
    """A branch of a gradient's graph names a value of an iteration that is over: TensorFlow 2.21 saves it, too."""
    compute = INNER[inner]

    def recomputed(e: Any) -> Any:
        c = tf.sin(e)
        return tf.recompute_grad(lambda z: compute(z, c))(e)

    def rule(e: Any) -> Any:
        c = tf.sin(e)

        @tf.custom_gradient
        def squared(z: Any) -> Any:
            return z * z, lambda dy: dy * compute(z, c)

        return squared(e)

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = AROUND[around](recomputed if kind == "recomputed" else rule, x)
        return tape.gradient(y, x)

    x = tf.constant([[0.5, 0.25, -0.125], [1.0, -0.5, 0.75]])
    want = gradient(x).numpy()
    assert np.abs(want).max() > 0.1
    for jit in (None, True):
        run = tf.function(gradient, jit_compile=jit)
        np.testing.assert_allclose(run(x), want, rtol=1e-5, atol=1e-7)


def test_a_value_of_a_loop_that_is_over_is_out_of_scope_in_a_branch() -> None:
    kept: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        tf.foldl(lambda s, e: kept.append(e * 2) or s + e, x)
        return tf.cond(tf.reduce_sum(x) > 0, lambda: kept[0] + 1, lambda: kept[0])

    with pytest.raises(TypeError, match="out of scope"):
        f(tf.ones([2, 3]))
