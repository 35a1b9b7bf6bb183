"""Reductions of what elementwise ops give, against the ops one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.kernels import fused_reduction

DIMS = st.sampled_from([1, 1, 2, 3, 5, 7, 8, 11, 12, 16, 17, 33, 70])
HOWS = {
    "float32": ["sum", "mean", "max", "min", "prod"],
    "float64": ["sum", "mean", "max", "min", "prod"],
    "float16": ["sum", "mean", "max", "min"],
    "bfloat16": ["sum", "mean", "max", "min"],
    "int32": ["sum", "max", "min", "prod"],
    "int64": ["sum", "max", "min", "prod"],
    "int8": ["sum", "max", "min"],
    "uint16": ["sum", "max"],
}
TOLERANCES = {"float64": 1e-10, "float16": 4e-3, "bfloat16": 3e-2}


@pytest.fixture(autouse=True)
def no_fallback(monkeypatch):
    monkeypatch.setenv("INTAGLIO_VERIFY", "1")


@st.composite
def cases(draw):
    """The shape of what is reduced, the axes, and shapes of two operands that broadcast to it."""
    shape = draw(st.lists(DIMS, min_size=1, max_size=4))
    while np.prod(shape) > 60_000:
        shape = shape[1:]
    axes = draw(st.lists(st.integers(0, len(shape) - 1), min_size=1, unique=True))
    kept = draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape)))
    one = [n if k else 1 for n, k in zip(shape, kept, strict=True)]
    other = [1 if k and draw(st.booleans()) else n for n, k in zip(shape, kept, strict=True)]
    return one, other, axes


def numbers(shape, dtype, seed):
    found = np.random.default_rng(seed).integers(-3, 4, shape)
    scale = 0.5 if np.dtype(dtype).kind not in "iu" else 1
    return tf.constant((np.abs(found) if dtype.startswith("u") else found) * scale, dtype)


def reduced(x, y, hows, axes, keep):
    """Several reductions of one expression, which has a use of its own in float32."""
    z = x * y + x
    return [getattr(tf, f"reduce_{how}")(z, axes, keepdims=keep) for how in hows]


@settings(deadline=None, max_examples=120)
@given(cases(), st.sampled_from(sorted(HOWS)), st.data())
def test_reductions_of_an_expression(case, dtype, data):
    one, other, axes = case
    hows = data.draw(st.lists(st.sampled_from(HOWS[dtype]), min_size=1, max_size=3, unique=True))
    keep = data.draw(st.booleans())
    x, y = numbers(one, dtype, 1), numbers(other, dtype, 2)
    wanted = reduced(x, y, hows, axes, keep)
    compiled = tf.function(lambda x, y: reduced(x, y, hows, axes, keep), jit_compile=True)
    close = TOLERANCES.get(dtype, 2e-6)
    for how, mine, theirs in zip(hows, compiled(x, y), wanted, strict=True):
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape
        mine, theirs = (np.asarray(a).astype(np.float64) for a in (mine, theirs))
        if how in ("max", "min") or dtype[0] in "iu":
            np.testing.assert_array_equal(mine, theirs)
        else:
            scale = np.abs(theirs).max(initial=1.0)
            np.testing.assert_allclose(mine, theirs, rtol=close, atol=close * scale)


@pytest.mark.parametrize("shape", [(5000,), (37, 301), (3, 1000, 4), (1000, 3), (2, 3, 700, 20)])
@pytest.mark.parametrize("how", ["sum", "mean", "max"])
def test_chunks_of_long_reductions(monkeypatch, shape, how):
    """Whatever the axes: a result of chunks is that of the whole."""
    monkeypatch.setattr(fused_reduction, "MAX_CHAIN_TERMS", 8)
    monkeypatch.setattr(fused_reduction, "MIN_CHUNK_ELEMENTS", 64)
    x = numbers(shape, "float64", 3)
    for mask in range(1, 1 << len(shape)):
        axes = [i for i in range(len(shape)) if mask >> i & 1]
        reduce = getattr(tf, f"reduce_{how}")
        compiled = tf.function(lambda x, a=axes, r=reduce: r(x * x - 1.0, a), jit_compile=True)
        np.testing.assert_allclose(compiled(x), reduce(x * x - 1.0, axes), rtol=1e-12)


@pytest.mark.parametrize("shape", [(40, 3), (40, 17), (3, 40), (1000,)])
@pytest.mark.parametrize("axis", [0, -1])
def test_quantifiers_and_numbers_that_are_none(shape, axis):
    x = np.linspace(-1.0, 1.0, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    x.flat[5] = np.nan
    x = tf.constant(x)

    def step(x):
        return (
            tf.reduce_any(x > 0.9, axis),
            tf.reduce_all(x * 2.0 > -1.5, axis),
            tf.reduce_max(x * 2.0, axis),
            tf.reduce_sum(tf.where(tf.math.is_nan(x), 0.0, x), axis),
        )

    for mine, theirs in zip(tf.function(step, jit_compile=True)(x), step(x), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-6, atol=1e-4)


def test_nothing_of_the_pairs_is_stored():
    """What is broadcast only for a reduction is never in memory, even where several need it."""

    @tf.function(jit_compile=True)
    def forces(x, m):
        d = x[None, :, :] - x[:, None, :]
        r = tf.reduce_sum(d**2, -1) + 0.1
        return tf.reduce_sum(d * (m / (r * tf.sqrt(r)))[:, :, None], axis=1)

    x, m = tf.random.stateless_normal([64, 3], [1, 2]), tf.ones([64])
    d = x[None] - x[:, None]
    r = tf.reduce_sum(d * d, -1) + 0.1
    wanted = tf.reduce_sum(d / (r * tf.sqrt(r))[:, :, None], axis=1)
    np.testing.assert_allclose(forces(x, m), wanted, rtol=1e-4, atol=1e-4)
    loops = [line for line in forces.compile_report().splitlines() if "one loop" in line]
    assert len(loops) == 3 and sum("Sub" in line and "Sum" in line for line in loops) == 2


@settings(deadline=None, max_examples=20)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 20))
def test_gradients_of_distances(n, m, k):
    x, y = numbers((n, k), "float32", 4), numbers((m, k), "float32", 5)

    def step(x, y):
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            distances = tf.reduce_sum(tf.square(x[:, None] - y[None]), -1)
            loss = tf.reduce_mean(tf.exp(-0.1 * distances))
        return loss, *tape.gradient(loss, [x, y])

    for mine, theirs in zip(tf.function(step, jit_compile=True)(x, y), step(x, y), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=1e-6)


def test_operands_whose_shapes_only_calls_know():
    """The sum is of a known shape, for the other operand has it; the result is the interpreter's."""

    @tf.function(
        jit_compile=True, input_signature=[tf.TensorSpec([None, 5]), tf.TensorSpec([8, 5])]
    )
    def step(x, y):
        return tf.reduce_mean(tf.abs(x - y), -1), tf.linalg.svd(y, compute_uv=False)

    x, y = tf.ones([8, 5]), tf.random.stateless_normal([8, 5], [1, 2])
    np.testing.assert_allclose(step(x, y)[0], tf.reduce_mean(tf.abs(x - y), -1), rtol=1e-6)
