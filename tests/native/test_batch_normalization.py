"""Batch normalisation in machine code against float64, also where sums cancel."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.native import batch_normalization, row_kernels
from intaglio.ops import compiled

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
    offer = compiled._offers[0]
    monkeypatch.setattr(
        compiled, "_offers", [lambda kind, *d: seen.append(kind) or offer(kind, *d)]
    )
    singles = [tf.constant(a) for a in arrays]
    eager = step(*singles)
    assert {"batch moments", "batch normalized", "batch sums", "batch gradient"} <= {*seen}  # fmt: skip
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
    mean, variance = batch_normalization.moments(*x.shape)(x)
    wanted = x.astype(np.float64)
    np.testing.assert_allclose(mean, wanted.mean(0), rtol=1e-5)
    np.testing.assert_allclose(variance, wanted.var(0), rtol=1e-4)


def test_nan_stays_in_its_channel():
    x, scale, offset, _ = (a.astype(np.float32) for a in given(SHAPES[0]))
    x[3, 2, 1, 5] = np.nan
    y = tf.raw_ops.FusedBatchNormV3(
        x=x, scale=scale, offset=offset, mean=[], variance=[]
    )[0]
    wrong = np.isnan(y.numpy()).all((0, 1, 2))
    assert wrong[5]
    assert wrong.sum() == 1
    assert np.isfinite(np.delete(y.numpy(), 5, 3)).all()


def test_what_is_left_to_numpy():
    assert batch_normalization.moments(1000, 1) is None
    assert batch_normalization.sums(1, 64) is None


@pytest.mark.parametrize("shape", SHAPES[:2])
def test_with_relu_it_is_one_kernel(shape):
    def floored(x, scale, offset, d):
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
        return floored(*given, None)[1:]

    arrays = [tf.constant(a, tf.float32) for a in given(shape)]
    compiled = tf.function(floored, jit_compile=True)
    for got, wanted in zip(compiled(*arrays), floored(*arrays), strict=True):
        np.testing.assert_array_equal(got, wanted)
    report = compiled.compile_report()
    gradients = tf.function(alone, jit_compile=True)
    for got, wanted in zip(gradients(*arrays[:3]), alone(*arrays[:3]), strict=True):
        np.testing.assert_array_equal(got, wanted)
    assert "one kernel: FusedBatchNormV3  " in gradients.compile_report()
    layer = "FusedBatchNormV3, Relu"
    assert f"one kernel: {layer}  " in report
    assert f"one kernel: {layer}, ReluGrad, FusedBatchNormGradV3" in report


@pytest.mark.parametrize("shape", [(5000, 64), (40, 16), (3000, 37)])
def test_large_results_are_written_past_the_cache(shape, monkeypatch):
    """Where they begin on a line of it, as large ones do; rows of 37 never do."""
    rng = np.random.default_rng(0)
    x, *columns = (rng.normal(size=s).astype("f4") for s in (shape, *[shape[1:]] * 3))
    near = batch_normalization.normalized(*shape, shape)(x, *columns)
    monkeypatch.setattr(row_kernels, "STREAMED", 1)
    past = batch_normalization.normalized(*shape, shape)(x, *columns)
    np.testing.assert_array_equal(past, near)
    mean, slope, offset = columns
    np.testing.assert_array_equal(past, (x - mean) * slope + offset)
