"""Reductions against exact sums and NumPy's extremes: any shape, any axes, any dtype."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.cpython.numpy_libraries import vector_bytes
from intaglio.native.kernels import reductions
from intaglio.native.kernels.node_selection import choice_of
from intaglio.native.llvm import jit
from intaglio.opdef.traits import REDUCES
from intaglio.ops.math import chunked_sums
from tests.ops.calls import CATALOGUE

EXTREMES = {"maximum": np.maximum.reduce, "minimum": np.minimum.reduce}


NUMBERS = ("sum", "mean", "maximum", "minimum")


def check(shape, axes, keep_dims, seed=0):
    rng = np.random.default_rng(seed)
    # Small integers: their sums are exact in float32, in any order.
    x = rng.integers(-9, 10, shape).astype(np.float32)
    total = x.sum(axis=axes, keepdims=keep_dims)
    for op in NUMBERS:
        run = reductions.reduction(op, shape, axes, keep_dims)
        assert run is not None
        wanted = {
            "sum": lambda: total,
            "mean": lambda: total / np.float32(x.size / total.size),
        }.get(op, lambda op=op: EXTREMES[op](x, axis=axes, keepdims=keep_dims))()
        got = run(x)
        assert got.dtype == np.float32
        np.testing.assert_array_equal(got, wanted, strict=True)


@settings(deadline=None, max_examples=150)
@given(st.integers(1, 9), st.integers(2, 300), st.integers(1, 150), st.booleans())
def test_any_lengths(outer, length, inner, keep_dims):
    check((outer, length, inner), (1,), keep_dims)


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((5, 4, 3, 2), (0, 1, 2, 3)),
        ((5, 4, 3, 2), (1, 2)),
        ((5, 4, 3, 2), (3, 2)),
        ((5, 4, 3, 2), (0,)),
        ((5, 1, 3, 1, 2), (0, 2)),
        ((5, 1, 3), (0, 1)),
        ((5, 4, 3), (0, 2)),
        ((5, 4, 3, 2, 6), (0, 2, 4)),
        ((30, 4, 3, 400), (0, 3)),
    ],
)
@pytest.mark.parametrize("keep_dims", [False, True])
def test_any_axes(shape, axes, keep_dims):
    check(shape, axes, keep_dims)


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((100_003,), (0,)),
        ((3, 40_000), (1,)),
        ((40_000, 5), (0,)),
        ((2, 300, 2_500), (1,)),
        ((70, 9_001), (0,)),
        ((3_000, 11), (1,)),
    ],
)
def test_several_chunks_on_several_threads(shape, axes):
    check(shape, axes, False)


@pytest.mark.parametrize("dtype", ["f8", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?"])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 2), (0, 1, 2)])
def test_any_dtype(dtype, axes):
    x = np.random.default_rng(0).integers(0, 2, (70, 9, 33)).astype(dtype)
    ufuncs = {"sum": np.add, "product": np.multiply, **{k: v.__self__ for k, v in EXTREMES.items()}}
    if x.dtype == bool:
        ufuncs = {"all": np.logical_and, "any": np.logical_or}
    for op, ufunc in ufuncs.items():
        run = reductions.reduction(op, x.shape, axes, False, x.dtype)
        if op == "product" and x.dtype.itemsize < 4:
            assert run is None
            continue
        for numbers in (x, np.ones_like(x), np.zeros_like(x)):
            wanted = ufunc.reduce(numbers, axis=axes, dtype=x.dtype)
            np.testing.assert_array_equal(run(numbers), wanted, strict=True)


@pytest.mark.parametrize(
    ("shape", "axes"), [((2, 0), (1,)), ((0, 2), (1,)), ((3, 1), (1,)), ((3,), ())]
)
def test_what_is_left_to_numpy(shape, axes):
    assert reductions.reduction("sum", shape, axes, False) is None


@pytest.mark.parametrize("shape", [(1_000_000,), (200_000, 5)])
def test_errors_do_not_grow_with_the_length(shape):
    x = np.random.default_rng(0).uniform(0, 1, shape).astype(np.float32)
    got = reductions.reduction("sum", shape, (0,), False)(x)
    exact = x.sum(axis=0, dtype=np.float64)
    # Added one after the other, 200,000 numbers lose hundreds of units in the last place.
    assert np.abs(got / exact - 1).max() < 8 * np.finfo(np.float32).eps


@pytest.mark.parametrize("length", [3, 16, 70, 40_000])
@pytest.mark.parametrize("axis", [0, 1])
def test_what_is_not_finite(length, axis):
    shape = (length, 3) if axis == 0 else (3, length)
    for where in (0, length // 2, length - 1):
        for op, numpy in {"sum": np.sum, **EXTREMES}.items():
            for value in (np.nan, np.inf, -np.inf):
                x = np.full(shape, -1.0, np.float32)
                x[(where, 1) if axis == 0 else (1, where)] = value
                run = reductions.reduction(op, shape, (axis,), False)
                np.testing.assert_array_equal(run(x), numpy(x, axis=axis))


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min"])
def test_in_a_compiled_function(name):
    reduce = getattr(tf, f"reduce_{name}")
    signature = [tf.TensorSpec([None, None, None])]

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            parts = [reduce(x * x, axis) for axis in (0, -1, [1, 2], [0, 2], None)]
            loss = tf.add_n([tf.reduce_sum(p * p) for p in parts])
        return *parts, tape.gradient(loss, x)

    compiled = tf.function(step, jit_compile=True, input_signature=signature)
    for shape in ([3, 4, 5], [7, 2, 70], [1, 1, 1]):
        x = tf.random.stateless_normal(shape, [1, 2])
        for got, wanted in zip(compiled(x), step(x), strict=True):
            assert got.dtype == wanted.dtype and got.shape == wanted.shape
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def test_the_report_names_them():
    @tf.function(jit_compile=True)
    def f(x, n):
        return tf.reduce_sum(x, 0), tf.reduce_sum(n, 0)

    f(tf.ones([30]), tf.ones([30], tf.int32))
    assert f.compile_report().count("Sum: kernel") == 2


def test_every_reduction_has_kernels():
    found = {op.reduces for op in CATALOGUE.values() if op.reduces and choice_of(op) is not None}
    assert found == {*REDUCES} - {""}


def test_wrong_axes_are_refused_as_elsewhere():
    f = tf.function(
        tf.reduce_sum,
        jit_compile=True,
        input_signature=[tf.TensorSpec([None]), tf.TensorSpec([], tf.int32)],
    )
    assert f(tf.ones([3]), 0) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="reduction dimension"):
        f(tf.ones([3]), 5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("how", ["sum", "mean", "product"])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_numpy_has_the_bits_of_the_kernels(how, dtype, data):
    rank = data.draw(st.integers(1, 4))
    limit = {1: 60_000, 2: 1200, 3: 60, 4: 16}[rank]
    shape = tuple(data.draw(st.lists(st.integers(1, limit), min_size=rank, max_size=rank)))
    axes = tuple(sorted(data.draw(st.sets(st.integers(0, rank - 1), min_size=1))))
    keep = data.draw(st.booleans())
    x = np.random.default_rng(len(shape)).standard_normal(shape).astype(dtype)
    x[x > 2.5] = data.draw(st.sampled_from([-0.0, 1.0, np.inf]))
    found = chunked_sums.chunked(how, x, axes, keep)
    if found is None:
        assert all(shape[a] == 1 for a in axes)
        return
    run = reductions.reduction(how, shape, axes, keep, x.dtype)
    assert run is not None
    wanted = run(x)
    assert np.shape(found) == wanted.shape
    np.testing.assert_array_equal(found, wanted)
    assert (np.signbit(found) == np.signbit(wanted)).all()


def test_the_order_of_additions_is_stated_alike():
    names = "CHUNK_ELEMENTS", "MIN_ROWS_PER_CHUNK", "COLUMNS_PER_CHUNK", "VECTORS_PER_STEP"
    assert all(getattr(chunked_sums, n) == getattr(reductions, n) for n in names)
    assert vector_bytes() == jit.WIDTH
