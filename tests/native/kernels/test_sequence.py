"""Kernels one after the other: as functions of arrays, and as steps of native functions."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.kernels import matmul, reductions
from intaglio.native.kernels.sequence import Chain, Rounding, Taking, has_steps
from intaglio.native.passes.row_fusion import fuse_rows
from intaglio.native.program import Program
from intaglio.native.regions import Regions
from intaglio.native.runtime import entry
from intaglio.optimize.pipeline import optimize

if not entry.AVAILABLE:
    pytest.skip("kernels are called otherwise here", allow_module_level=True)

IMAGES, FILTERS, LABELS = (64, 16, 16, 16), (3, 3, 16, 32), 64


def numbers(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape).astype("float32")


def test_a_chain_of_products_and_sums():
    chain = Chain(2)
    (product,) = chain.then(matmul.product((8, 9), (9, 7)), 1, 0)
    (total,) = chain.then(reductions.reduction("sum", (8, 7), (0,), False), product, shape=(1, 7))
    b, a = numbers(9, 7), numbers(8, 9)
    got = chain.returning([total, product])(b, a)
    assert [x.shape for x in got] == [(1, 7), (8, 7)]
    np.testing.assert_allclose(got[1], a @ b, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got[0][0], (a @ b).sum(0), rtol=1e-5, atol=1e-5)


def test_chains_of_chains_and_constant_arrays():
    b = numbers(9, 9)
    inner, outer = Chain(1), Chain(1)
    inner.returning(*inner.then(matmul.product((9, 9), (9, 9)), 0, b))
    (once,) = outer.then(inner, 0)
    outer.returning(*outer.then(inner, once))
    a = numbers(9, 9)[::-1]  # which does not lie in order
    np.testing.assert_allclose(outer(a), a @ b @ b, rtol=1e-4, atol=1e-5)
    assert len(outer.steps) == 2


def test_what_native_code_can_do_by_itself():
    product = matmul.product((8, 9), (9, 7))
    assert has_steps(product) and has_steps(Taking(product, 1, 0))
    assert has_steps(Rounding(product, lambda: product))
    assert not has_steps(lambda a, b: a @ b)
    assert not has_steps(None)


# -- a step of training -------------------------------------------------------------------------


def convolutional(filters, bias, dense):
    """The loss of a small network, and its gradients."""

    def step(x, labels):
        with tf.GradientTape() as tape:
            tape.watch([filters, bias, dense])
            y = tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME") + bias)
            y = tf.reshape(tf.nn.max_pool2d(y, 2, 2, "VALID"), [64, -1])
            loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, y @ dense)
        return loss, tape.gradient(loss, [filters, bias, dense])

    return step


@pytest.fixture
def given():
    """Arguments of a step, and what is trained."""
    weights = numbers(*FILTERS) / 12, numbers(32), numbers(2048, 10) / 45
    return [tf.constant(numbers(*IMAGES)), tf.range(LABELS, dtype=tf.int64) % 10], [
        tf.constant(w) for w in weights
    ]


def test_convolutions_and_layers_are_steps_of_one_native_function(given):
    arguments, weights = given
    step = convolutional(*weights)
    traced = tf.function(step, jit_compile=True)
    report = traced.get_concrete_function(*arguments).compile_report()
    steps, kernels = report.splitlines()[0], report.count("kernel")
    assert steps.split(": ")[1].split(" of ")[0] == steps.split(" of ")[1].split()[0]
    assert "one kernel: Conv2D, AddV2, _ReluMaxPool" in report
    assert kernels >= 6
    for got, wanted in zip(
        tf.nest.flatten(traced(*arguments)), tf.nest.flatten(step(*arguments)), strict=True
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


def test_the_same_bits_from_call_to_call(given):
    arguments, weights = given
    traced = tf.function(convolutional(*weights), jit_compile=True)
    first = [x.numpy() for x in tf.nest.flatten(traced(*arguments))]
    for _ in range(5):
        again = tf.nest.flatten(traced(*arguments))
        for a, b in zip(first, again, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_program_rounds_as_the_options_say_when_it_runs():
    def convolve(x, filters):
        return tf.nn.conv2d(x, filters, 1, "SAME") * 2.0

    x, filters = numbers(*IMAGES), numbers(*FILTERS)
    specs = [tf.TensorSpec(a.shape) for a in (x, filters)]
    graph = optimize(tf.function(convolve).get_concrete_function(*specs).frozen)
    program = Program(graph)
    assert program.rounds
    enable = tf.config.experimental.enable_tensor_float_32_execution
    try:
        found = []
        for fast in (False, True, False, True):
            enable(fast)
            found.append(program.run(x, filters)[0])
            np.testing.assert_array_equal(found[-1], convolve(x, filters))
    finally:
        enable(False)
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_array_equal(found[1], found[3])
    assert (found[0] != found[1]).any()


def test_rows_and_their_sums_over_all_rows_are_steps_too():
    def normalized(x, d):
        mean = tf.reduce_mean(x, -1, keepdims=True)
        centred = x - mean
        return centred * d, tf.reduce_sum(centred * d, [0, 1])

    specs = [tf.TensorSpec([40, 50, 64])] * 2
    graph = optimize(tf.function(normalized).get_concrete_function(*specs).frozen)
    whole = Regions(fuse_rows(graph)).whole
    assert whole is not None
    assert [n.how for n in whole.writer.notes if n.node.op.name == "_FusedRows"] == ["kernel"]
    x, d = numbers(40, 50, 64), numbers(50, 40, 64).reshape(40, 50, 64)
    for got, wanted in zip(whole.run(x, d), normalized(x, d), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("window", [1, 3, 5])
def test_input_gradients_of_few_channels_are_steps(window):
    def gradient(x, filters):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.conv2d(x, filters, 1, "SAME")
        return tape.gradient(y, x)

    x, filters = numbers(8, 30, 30, 5), numbers(window, window, 5, 12)
    specs = [tf.TensorSpec(a.shape) for a in (x, filters)]
    graph = optimize(tf.function(gradient).get_concrete_function(*specs).frozen)
    (got,) = Program(graph).run(x, filters)
    np.testing.assert_array_equal(got, gradient(tf.constant(x), tf.constant(filters)))
