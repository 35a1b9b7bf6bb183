"""Traced functions on a GPU: one program each, divided where only the host computes an op."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf, xla
from tests.gpu.conftest import HOST, NAME


def test_a_function_runs_where_its_arguments_are(gpu):
    f = tf.function(lambda x: tf.reduce_sum(x * 2.0))
    host = tf.ones((4,))
    with tf.device(gpu):
        there = tf.ones((4,))
    for _ in range(5):  # through binding, and through the entries of repeated calls
        assert (f(host).device, f(there).device) == (HOST, NAME)
        assert float(f(there)) == float(f(host)) == 8.0


def test_a_block_takes_the_arguments_along(gpu):
    f = tf.function(lambda x, y: {"sum": x + y, "x": x})
    host = tf.ones((4,))
    for i in range(5):
        with tf.device(gpu):
            found = f(host, tf.fill((4,), float(i)))
        assert {t.device for t in found.values()} == {NAME}
        np.testing.assert_array_equal(found["sum"].numpy(), np.full(4, 1.0 + i))
    assert f(host, host)["sum"].device == HOST


def test_a_block_inside_of_a_function(gpu):
    @tf.function
    def f(x):
        with tf.device(gpu):
            y = x * 2.0
        return y + 1.0

    for _ in range(4):
        assert f(tf.ones((3,))).device == NAME


def test_a_tape_sees_a_function(gpu):
    with tf.device(gpu):
        w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        x = tf.constant([[1.0, -1.0]])
    f = tf.function(lambda x: tf.reduce_sum(tf.tanh(x @ w) ** 2))
    with tf.GradientTape() as tape:
        y = f(x)
    there = tape.gradient(y, w)
    assert there.device == NAME
    z = np.tanh([[-2.0, -2.0]])
    expected = np.array([[1.0], [-1.0]]) @ (2 * z * (1 - z**2))
    np.testing.assert_allclose(there.numpy(), expected, rtol=1e-4)


def test_loops_branches_and_lists(gpu):
    @tf.function
    def f(x, n):
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        total = tf.zeros(())
        for i in tf.range(n):
            if i % 2 == 0:
                total += tf.reduce_sum(x)
            else:
                total -= 1.0
            rows = rows.write(i, x * tf.cast(i, tf.float32))
        return total, rows.stack()

    with tf.device(gpu):
        x = tf.constant([1.0, 2.0])
        for n in (3, 4, 3):
            total, rows = f(x, tf.constant(n))
            assert float(total) == 3.0 * ((n + 1) // 2) - n // 2
            np.testing.assert_array_equal(rows.numpy(), np.outer(np.arange(n), [1.0, 2.0]))


def test_the_host_computes_what_has_no_program_and_the_report_says_so(gpu):
    @tf.function
    def f(x):
        y = tf.exp(x)
        text = tf.strings.as_string(y, precision=2)
        return tf.strings.to_number(text) * y

    with tf.device(gpu):
        x = tf.constant([0.0, 1.0])
        found = [f(x) for _ in range(3)]
    np.testing.assert_allclose(found[-1].numpy(), [1.0, 2.72 * np.e], rtol=1e-5)
    assert {t.device for t in found} == {NAME}
    report = f.compile_report()
    assert "divided by AsString" in report and "which the host computes" in report
    assert "tensors go to the host and" in report


def test_dimensions_that_are_open_are_compiled_for_each_shape(gpu):
    f = tf.function(
        lambda x: tf.reduce_sum(x, 0), input_signature=[tf.TensorSpec((None, 2), tf.float32)]
    )
    with tf.device(gpu):
        for n in (1, 5, 3):
            np.testing.assert_array_equal(f(tf.ones((n, 2))).numpy(), [n, n])
    assert f.compile_report().count("arguments") == 3


def test_large_constants_go_to_the_device_once(gpu):
    table = tf.constant(np.random.default_rng(0).normal(size=(300, 10)).astype(np.float32))
    f = tf.function(lambda i: tf.gather(table, i))
    with tf.device(gpu):
        i = tf.constant([1, 299])
        for _ in range(4):
            f(i)
        with xla.transfers.counting() as count:
            for _ in range(3):
                rows = f(i)
    assert count.to_host == 0 and count.bytes_to_device < 3 * 100
    np.testing.assert_array_equal(rows.numpy(), table.numpy()[[1, 299]])


@pytest.mark.parametrize("watched", ["argument", "constant"])
def test_large_constants_go_to_the_device_once_under_a_tape(gpu, watched):
    table = tf.constant(np.random.default_rng(0).normal(size=(300, 10)).astype(np.float32))
    f = tf.function(lambda x: tf.reduce_sum((x @ table) ** 2))
    with tf.device(gpu):
        x = tf.ones((4, 300)) * 0.5

        def gradient():
            with tf.GradientTape() as tape:
                tape.watch(x if watched == "argument" else table)
                value = f(x)
            return tape.gradient(value, x if watched == "argument" else table)

        for _ in range(3):
            gradient()
        with xla.transfers.counting() as count:
            found = [gradient() for _ in range(3)]
    assert count.to_host == 0 and count.bytes_to_device < 3 * 100
    product = 2 * x.numpy() @ table.numpy()
    wanted = product @ table.numpy().T if watched == "argument" else x.numpy().T @ product
    for gradient_found in found:
        np.testing.assert_allclose(gradient_found.numpy(), wanted, 1e-4)


def test_random_numbers_in_a_function_are_the_hosts(gpu):
    def drawn():
        tf.random.set_seed(11)
        f = tf.function(lambda: (tf.random.uniform((3,)), tf.nn.dropout(tf.ones((8,)), 0.5)))
        return [t.numpy() for _ in range(4) for t in f()]

    here = drawn()
    with tf.device(gpu):
        there = drawn()
    for a, b in zip(here, there, strict=True):
        np.testing.assert_array_equal(a, b)


def test_streams_stay_on_the_device_between_calls(gpu):
    f = tf.function(lambda x: x + tf.random.uniform((8,)) + tf.nn.dropout(x, 0.3))
    with tf.device(gpu):
        x = tf.ones((8,))
        f(x), f(x), f(x)
        with xla.transfers.counting() as count:
            values = [f(x) for _ in range(3)]
    assert (count.to_device, count.to_host) == (0, 0)
    assert len({v.numpy().tobytes() for v in values}) == 3


def test_a_jit_compiled_function_is_a_program_of_the_device(gpu):
    f = tf.function(lambda x: tf.nn.softmax(x), jit_compile=True)
    with tf.device(gpu):
        for _ in range(3):
            assert f(tf.ones((4,))).device == NAME
    assert "XLA programs" in f.compile_report()


def test_a_function_of_nothing(gpu):
    f = tf.function(lambda: tf.ones((3,)) * 2.0)
    for _ in range(4):
        with tf.device(gpu):
            assert f().device == NAME
    assert f().device == HOST


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_are_the_hosts(gpu, seed):
    """A chain of ops chosen by the seed, eager and traced, on the host and on the GPU."""
    random = np.random.default_rng(seed)
    steps = [
        lambda x: tf.tanh(x),
        lambda x: x @ tf.transpose(x),
        lambda x: x / (1.0 + tf.reduce_max(tf.abs(x))),
        lambda x: tf.where(x > 0.0, x, 0.5 * x),
        lambda x: tf.concat([x[:, 1:], x[:, :1]], 1),
        lambda x: x - tf.reduce_mean(x, 1, keepdims=True),
        lambda x: tf.cumsum(x, 1) * 0.2,
        lambda x: tf.nn.softmax(x),
    ]
    chosen = random.integers(0, len(steps), 6)

    def program(x):
        for i in chosen:
            x = steps[i](x)
        return x

    value = random.normal(size=(4, 4)).astype(np.float32)
    here = program(tf.constant(value)).numpy()
    with tf.device(gpu):
        x = tf.constant(value)
        eager, traced = program(x), tf.function(program)(x)
    assert eager.device == traced.device == NAME
    np.testing.assert_allclose(eager.numpy(), here, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(traced.numpy(), here, rtol=1e-4, atol=1e-5)
