"""ForwardAccumulator around staged control flow, and tapes within it: as eagerly, wherever it is.

TensorFlow 2.21 refuses most of these programs in a graph ("without handle data", variants), so that the
eager run of the same program is the answer.
"""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf

X = np.array([[0.5, 1.0, 1.5], [-0.3, 0.2, 0.9]], np.float32)
V = np.array([0.7, 0.8, 0.9], np.float32)
TANGENTS = {
    "x": np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 1.0]], np.float32),
    "v": np.array([1.0, -2.0, 0.5], np.float32),
}


def loop(x, v):
    s = x
    for _ in tf.range(3):
        s = tf.sin(s) * v[tf.newaxis] + x
    return s


def nested_loops(x, v):
    s = x
    for i in tf.range(3):
        for j in tf.range(i):
            if j % 2 == 0:
                s = s * v + tf.sin(x)
            else:
                s = s - v
    return s


def assigning_loop(x, v):
    s = x
    for _ in tf.range(3):
        s = s + v * x
        v.assign_add(s[0])
    return s + v


def arrays(x, v):
    ta = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    sums = tf.TensorArray(tf.float32, 3)
    for i in tf.range(3):
        ta = ta.write(i, v * x * tf.cast(i, tf.float32))
        sums = sums.write(i, tf.reduce_sum(x * v))
    return ta.concat() * sums.stack()[0]


def higher_order(x, v):
    y = tf.map_fn(lambda e: tf.sin(e) * v, x)
    y = tf.scan(lambda a, e: a * e * v, y)
    return y + tf.foldl(lambda a, e: a * tf.cos(e) + v, x)


def branches(x, v):
    y = tf.switch_case(tf.constant(1), [lambda: v * x, lambda: tf.sin(v) * x])
    if tf.reduce_sum(x) > 0:
        y = v * y
    return y


def gradient_of_a_loop(x, v):
    with tf.GradientTape() as tape:
        tape.watch(x)
        s = x
        for _ in tf.range(3):
            s = s * tf.sin(x * v)
    gradients = tape.gradient(s, [x, v])
    return gradients[0] + gradients[1]


def gradient_of_calls(x, v):
    @tf.function
    def inner(y):
        for _ in tf.range(2):
            y = tf.sin(y * v) * y
        return y

    with tf.GradientTape() as tape:
        y = inner(inner(x))
    return tape.gradient(y, v)


def gradient_of_a_branch(x, v):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        if tf.reduce_sum(x) > 0:
            y = tf.sin(v * x) * y
    return tape.gradient(y, x)


def second_gradient_of_a_loop(x, v):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            s = x
            for _ in tf.range(3):
                s = s * tf.sin(x * v)
        gradient = tape.gradient(s, v)
    return outer.gradient(gradient, v)


def accumulators_in_each_other(x, v):
    with tf.autodiff.ForwardAccumulator(v, tf.ones_like(v)) as inner:
        s = x
        for _ in tf.range(3):
            s = s * tf.sin(x * v)
        with tf.GradientTape() as tape:
            for _ in tf.range(2):
                s = s * tf.sin(x * v)
        gradient = tape.gradient(s, v)
    return inner.jvp(gradient)


def product(function, names, stage=None, around=False):
    x, v = tf.constant(X), tf.Variable(V)
    primals = [{"x": x, "v": v}[n] for n in names]
    tangents = [tf.constant(TANGENTS[n]) for n in names]

    def whole(x):
        given = [x if p is not v else v for p in primals]
        with tf.autodiff.ForwardAccumulator(given, tangents) as forward:
            y = function(x, v)
        return forward.jvp(y)

    if stage is None:
        return whole(x).numpy()
    if not around:
        return stage(whole)(x).numpy()
    with tf.autodiff.ForwardAccumulator(primals, tangents) as forward:
        y = stage(lambda x: function(x, v))(x)
    return forward.jvp(y).numpy()


@pytest.mark.parametrize("names", ["x", "v", "xv"])
@pytest.mark.parametrize(
    "function",
    [
        loop, nested_loops, assigning_loop, arrays, higher_order, branches, gradient_of_a_loop,
        gradient_of_calls, gradient_of_a_branch, second_gradient_of_a_loop, accumulators_in_each_other,
    ],
)  # fmt: skip
def test_products_in_graphs_are_those_of_eager_runs(function, names):
    expected = product(function, names)
    assert np.any(expected)
    for stage in (tf.function, tf.function(jit_compile=True)):
        for around in (False, True):
            found = product(function, names, stage, around)
            np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)
