"""Batch normalisation in machine code against float64, also where sums cancel."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.native.kernels import batch_normalization, row_kernels

SHAPES = [(64, 16, 16, 64), (300, 5, 7, 37), (200, 8, 8, 130), (9, 100, 50, 2)]


def step(x, scale, offset, d):
    with tf.GradientTape() as tape:
        tape.watch([x, scale, offset])
        made = tf.raw_ops.FusedBatchNormV3(
            x=x, scale=scale, offset=offset, mean=[], variance=[], epsilon=1e-3
        )
        loss = tf.reduce_sum(made[0] * d)
    return [*made[:5], *tape.gradient(loss, [x, scale, offset])]


def given(shape, shift=0.0):
    rng = np.random.default_rng(shape[3])
    x = rng.normal(size=shape) + shift * rng.normal(size=shape[3])
    return [x, *rng.normal(size=(2, shape[3])), rng.normal(size=shape)]


@pytest.mark.parametrize("shift", [0.0, 100.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_against_float64(shape, shift, monkeypatch):
    arrays = [a.astype(np.float32) for a in given(shape, shift)]
    seen = []
    step(*[tf.constant(a) for a in arrays])  # the first call finds who offers
    select = HOOKS.select_kernel
    monkeypatch.setattr(
        HOOKS, "select_kernel", lambda kind, *d: seen.append(kind) or select(kind, *d)
    )
    singles = [tf.constant(a) for a in arrays]
    eager = step(*singles)
    assert {"batch normalization", "batch normalization gradient"} <= {*seen}
    wanted = step(*[tf.constant(a, tf.float64) for a in arrays])
    # What elements of this size cannot say more exactly.
    bound = 4e-6 * (1 + shift)
    for got, want in zip(eager, wanted, strict=True):
        largest = abs(want.numpy()).max()
        np.testing.assert_allclose(got, want, rtol=0, atol=bound * largest)
    for got, want in zip(tf.function(step)(*singles), eager, strict=True):
        np.testing.assert_array_equal(got, want)


def test_variances_where_the_first_rows_are_far_from_the_others():
    x = np.zeros((60_000, 3), np.float32)
    x[:256] = 1000.0
    run = batch_normalization.forward(*x.shape, x.shape, True, 1e-3)
    mean, variance = run(x, *np.ones((4, 3), np.float32))[3:]
    wanted = x.astype(np.float64)
    np.testing.assert_allclose(mean, wanted.mean(0), rtol=1e-5)
    np.testing.assert_allclose(variance, wanted.var(0), rtol=1e-4)


def test_nan_stays_in_its_channel():
    x, scale, offset, _ = (a.astype(np.float32) for a in given(SHAPES[0]))
    x[3, 2, 1, 5] = np.nan
    y = tf.raw_ops.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=[], variance=[])[0]
    wrong = np.isnan(y.numpy()).all((0, 1, 2))
    assert wrong[5]
    assert wrong.sum() == 1
    assert np.isfinite(np.delete(y.numpy(), 5, 3)).all()


def test_what_is_left_to_numpy():
    assert batch_normalization.forward(1000, 1, (1000, 1), True, 1e-3) is None
    assert batch_normalization.gradient(1, 64, (1, 64), True, 1e-3) is None


@pytest.mark.parametrize("shape", SHAPES[:2])
def test_with_relu_it_is_one_kernel(shape):
    def relu(x, scale, offset, d):
        with tf.GradientTape() as tape:
            tape.watch([x, scale, offset])
            made = tf.raw_ops.FusedBatchNormV3(
                x=x, scale=scale, offset=offset, mean=[], variance=[], epsilon=1e-3
            )
            y = tf.nn.relu(made[0])
            loss = tf.reduce_sum(y if d is None else y * d)
        return [y, *made[1:], *tape.gradient(loss, [x, scale, offset])]

    def alone(*given):
        """Nobody wants to know what is normalised, and all its gradients are one number."""
        return relu(*given, None)[1:]

    arrays = [tf.constant(a, tf.float32) for a in given(shape)]
    compiled = tf.function(relu, jit_compile=True)
    for got, wanted in zip(compiled(*arrays), relu(*arrays), strict=True):
        np.testing.assert_array_equal(got, wanted)
    report = compiled.compile_report()
    gradients = tf.function(alone, jit_compile=True)
    for got, wanted in zip(gradients(*arrays[:3]), alone(*arrays[:3]), strict=True):
        np.testing.assert_array_equal(got, wanted)
    assert "one kernel: FusedBatchNormV3  " in gradients.compile_report()
    layer = "FusedBatchNormV3, Relu"
    assert f"one kernel: {layer}  " in report
    assert f"one kernel: {layer}, ReluGrad, FusedBatchNormGradV3" in report


@pytest.mark.parametrize("shape", [(5000, 64), (40, 16), (3000, 37), (3000, 100)])
def test_large_results_are_written_past_the_cache(shape, monkeypatch):
    """Where they begin on a line of it, as large ones do; rows of 37 never do."""
    rng = np.random.default_rng(0)
    x, *columns = (rng.normal(size=s).astype("f4") for s in (shape, *[shape[1:]] * 4))
    columns[-1] = np.square(columns[-1])
    given = (*shape, shape, False, 1e-3)
    near = batch_normalization.forward(*given)(x, *columns)[0]
    monkeypatch.setattr(row_kernels, "MIN_STREAMED_BYTES", 1)
    past = batch_normalization.forward(*given)(x, *columns)[0]
    np.testing.assert_array_equal(past, near)
    scale, offset, mean, variance = columns
    slope = scale / np.sqrt(variance + np.float32(1e-3))
    np.testing.assert_array_equal(past, (x - mean) * slope + offset)


def both(x, scale, offset, mean, variance, op="FusedBatchNormV3", **attrs):
    """All that a normalisation gives, and its gradients."""
    normal = getattr(tf.raw_ops, op)
    with tf.GradientTape() as tape:
        tape.watch([x, scale, offset])
        made = normal(x=x, scale=scale, offset=offset, mean=mean, variance=variance, **attrs)
        loss = tf.reduce_sum(made[0] * made[0] * x)
    return [*made, *tape.gradient(loss, [x, scale, offset])]


def kept(shape, seed=0):
    rng = np.random.default_rng(seed)
    means, variances = rng.normal(size=shape[3]), rng.uniform(0.5, 2, shape[3])
    arrays = (*given(shape)[:3], means, variances)
    return [tf.constant(a, tf.float32) for a in arrays]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", [SHAPES[0], (3, 4, 5, 7)])
@pytest.mark.parametrize("op", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"])
def test_programs_with_it_are_whole(training, shape, op):
    arrays = kept(shape)

    def run(*arrays):
        return both(*arrays, op=op, is_training=training)

    compiled = tf.function(run, jit_compile=True)
    got, wanted = compiled(*arrays), run(*arrays)
    assert len(got) == len(wanted)
    for one, want in zip(got, wanted, strict=True):
        largest = np.abs(want).max()
        np.testing.assert_allclose(one, want, rtol=0, atol=4e-6 * largest)
    assert "NumPy" not in compiled.compile_report()


def test_statistics_that_are_blended():
    arrays = kept(SHAPES[0])

    def run(*arrays):
        return both(*arrays, exponential_avg_factor=0.3)

    single = run(*arrays)
    exact = both(*[tf.cast(a, tf.float64) for a in arrays], exponential_avg_factor=0.3)
    compiled = tf.function(run, jit_compile=True)
    for eager, got, want in zip(single, compiled(*arrays), exact, strict=True):
        np.testing.assert_array_equal(got, eager)
        largest = np.abs(want).max()
        np.testing.assert_allclose(got, want, rtol=0, atol=4e-6 * largest)


def test_in_a_loop():
    x, scale, offset, mean, variance = kept((4, 8, 8, 16))

    def run(x, steps):
        for _ in tf.range(steps):
            made = tf.raw_ops.FusedBatchNormV3(
                x=x, scale=scale, offset=offset, mean=mean, variance=variance, is_training=False
            )
            again = tf.raw_ops.FusedBatchNormV3(
                x=made[0], scale=scale, offset=offset, mean=mean, variance=variance
            )
            x = tf.nn.relu(again[0]) + again[3]
        return x

    compiled = tf.function(run, jit_compile=True)
    got, wanted = compiled(x, tf.constant(3)), run(x, tf.constant(3))
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-4)
    assert "NumPy" not in compiled.compile_report()


@pytest.mark.parametrize("same", [True, False])
def test_gradients_that_are_one_number_are_never_broadcast(same):
    x, scale, offset, _, _ = kept(SHAPES[0])

    def run(x, scale, offset):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.raw_ops.FusedBatchNormV3(x=x, scale=scale, offset=offset, mean=[], variance=[])[
                0
            ]
            loss = tf.reduce_sum(y if same else y * x)
        return tape.gradient(loss, x)

    compiled = tf.function(run, jit_compile=True)
    np.testing.assert_allclose(compiled(x, scale, offset), run(x, scale, offset), rtol=0, atol=2e-6)
    found = "BroadcastTo, FusedBatchNormGradV3" in compiled.compile_report()
    assert found == same


@pytest.mark.parametrize("rows", [2, 64, 2000])
@pytest.mark.parametrize(
    "values",
    [(3e38, 3e38), (3e38, 1.0), (2e38, 2.1e38), (1e20, 2e20), (np.inf, 1.0), (np.nan, 1.0)],
)
def test_squares_that_overflow_are_infinite_in_every_mode(rows, values):
    """Sums of squares, or of the numbers, that are no float32, and elements that are infinite."""
    x = np.ones((rows, 2, 2, 3), np.float32)
    x[..., 0] = np.resize(values, rows)[:, None, None]
    x[..., 2] = -x[..., 0]

    def statistics(x):
        ones = tf.ones([3])
        return tf.compat.v1.nn.fused_batch_norm(x, ones, 0 * ones)[1:]

    compiled = tf.function(statistics, jit_compile=True)
    mean, variance = statistics(tf.constant(x))
    for run in (tf.function(statistics), compiled, compiled):
        means, variances = run(tf.constant(x))
        np.testing.assert_allclose(means, mean, rtol=1e-5)
        np.testing.assert_array_equal(variances, variance)
