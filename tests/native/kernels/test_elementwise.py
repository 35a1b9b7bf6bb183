"""Fused kernels: every pattern of broadcasting, and every kind of array."""

from __future__ import annotations

import gc
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.base.errors import InvalidArgumentError
from intaglio.native.kernels import elementwise
from intaglio.native.kernels.elementwise import FusedKernel, canonical_axes
from intaglio.native.runtime import entry
from intaglio.opdef import machine_code, raw
from intaglio.optimize.pipeline import optimize


def kernel_of(function, *specs):
    concrete = tf.function(function).get_concrete_function(*specs)
    return FusedKernel(optimize(concrete.frozen))


def two():
    anything = tf.TensorSpec(None)
    return kernel_of(lambda x, y: (x * y - x, x > y), anything, anything)


@st.composite
def broadcastable(draw):
    """Two shapes that broadcast to a third."""
    whole = draw(st.lists(st.integers(0, 5), max_size=4))
    shapes = []
    for _ in range(2):
        kept = whole[draw(st.integers(0, len(whole))) :]
        shapes.append(tuple(1 if draw(st.booleans()) else d for d in kept))
    return shapes


KERNEL = two()


@settings(deadline=None, max_examples=150)
@given(broadcastable(), st.integers(0, 2**32 - 1))
def test_broadcasting_is_numpys(shapes, seed):
    rng = np.random.default_rng(seed)
    x, y = (np.asarray(rng.normal(size=s), np.float32) for s in shapes)
    product, above = KERNEL(x, y)
    assert product.shape == np.broadcast_shapes(*shapes)
    np.testing.assert_array_equal(product, x * y - x)
    np.testing.assert_array_equal(above, x > y)


def test_neighbouring_dims_that_behave_alike_are_one_loop():
    pattern, dims = canonical_axes([(2, 3, 4, 5), (4, 5), ()])
    assert dims == (6, 20)
    assert pattern.moves == ((True, True), (False, True), (False, False))


@pytest.mark.parametrize("size", [1, 3, 15, 16, 17, 63, 64, 65, 1000])
def test_every_element_is_written(size):
    x = np.arange(size, dtype=np.float32)
    kernel = kernel_of(lambda x: x + x * x, tf.TensorSpec([None]))
    result = kernel(x)[0]
    np.testing.assert_array_equal(result, x + x * x)


def test_arrays_that_are_not_in_order_are_copied():
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    y = np.ones((6, 4), np.float32)
    product, _ = KERNEL(x.T, y)
    np.testing.assert_array_equal(product, x.T * y - x.T)
    product, _ = KERNEL(x[::2, ::-1], np.float32(2))
    np.testing.assert_array_equal(product, x[::2, ::-1])


def test_shapes_that_do_not_fit_raise_the_ops_own_error():
    with pytest.raises((InvalidArgumentError, ValueError)):
        KERNEL(np.ones(2, np.float32), np.ones(3, np.float32))


def test_references_are_counted():
    x = np.ones(4, np.float32)
    KERNEL(x, x)
    gc.collect()
    before = sys.getrefcount(x), sys.getrefcount(None)
    for _ in range(1000):
        KERNEL(x, x)
    assert sys.getrefcount(x) == before[0]
    assert abs(sys.getrefcount(None) - before[1]) < 100


def test_threads_may_run_and_compile_at_once():
    kernel = two()
    x = np.random.default_rng(0).normal(size=(300, 300)).astype("float32")
    wrong = []

    def work(n):
        for rows in range(1, 40):
            part = x[: rows + n]
            if not np.array_equal(kernel(part, part)[0], part * part - part):
                wrong.append(rows)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_without_entries_kernels_are_called_through_ctypes(monkeypatch):
    monkeypatch.setattr(entry, "AVAILABLE", False)
    kernel = two()
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    product, above = kernel(x, np.float32(2))
    np.testing.assert_array_equal(product, x)
    assert above.dtype == bool


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.integers(1, 20), max_size=2),
    st.integers(1, 40),
    st.integers(2, 13),
    st.sampled_from(["float32", "float64", "int32", "float16", "bool"]),
    st.data(),
)
def test_short_innermost_axes(lead, around, inner, dtype, data):
    """What is broadcast along and around an innermost axis of few elements: NumPy's results."""
    shape = (*lead, around, inner)
    forms = [tuple(n if data.draw(st.booleans()) else 1 for n in shape) for _ in range(2)]
    x, y = (tf.cast(np.random.default_rng(i).integers(0, 4, f), dtype) for i, f in enumerate(forms))
    z = tf.zeros(shape, dtype)

    def step(x, y, z):
        if dtype == "bool":
            return tf.math.logical_xor(x, y) | z, tf.cast(x & y, tf.float32) + tf.cast(
                z, tf.float32
            )
        return x * y + z, tf.maximum(x - y, z), tf.cast(x + z, tf.int32) * 2

    for mine, theirs in zip(
        tf.function(step, jit_compile=True)(x, y, z), step(x, y, z), strict=True
    ):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(theirs))


REPLACED = sorted(
    name
    for name, op in raw.catalogue().items()
    if op.native_exact and op.plain and {"kernel", "scalar"} <= op.rules.keys()
)


@pytest.mark.parametrize("name", REPLACED)
def test_kernels_that_loops_replace_are_expressions_of_vectors(name):
    op = raw.find(name)
    integral = name in ("LeftShift", "RightShift", "FloorDiv", "TruncateDiv")
    dtypes = [np.dtype(np.int32 if integral else np.float32)] * len(op.input_names)
    if name == "SelectV2":
        dtypes[0] = np.dtype(np.bool_)
    loop = elementwise.exact(op, tuple(dtypes), ())
    # Integers are divided under a guard.
    assert loop is not None or name in ("FloorDiv", "TruncateDiv")


def test_a_sum_with_a_bias_is_no_loop_over_vectors(monkeypatch):
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    result = tf.nn.bias_add(tf.ones([600, 100]), tf.range(100.0))
    np.testing.assert_array_equal(result, np.ones([600, 1]) + np.arange(100))
