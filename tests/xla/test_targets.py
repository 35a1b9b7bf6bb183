"""Rules that depend on what a program is traced for: the host, or an accelerator."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.opdef import raw
from intaglio.xla import target
from intaglio.xla.rules import convolution, data_movement, linear_algebra

DTYPES = [tf.bfloat16.as_numpy_dtype, np.float16]


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(["SAME", "VALID"]),
    st.integers(1, 2),
    st.integers(1, 2),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.sampled_from([1, 2]),
    st.sampled_from([np.int32]),
)
def test_convolutions_of_integers_are_the_kernels(padding, stride, step, window, groups, dtype):
    random = np.random.default_rng(0)
    x = random.integers(-9, 9, (2, 7, 6, 4)).astype(dtype)
    w = random.integers(-9, 9, (*window, 4 // groups, 6)).astype(dtype)
    options = ((1, stride, stride, 1), padding, (), "NHWC", (1, step, step, 1))
    run = convolution._convolution(x.shape, w.shape, *options)
    with target.of("gpu"):
        found = run(jnp.asarray(x), jnp.asarray(w))
    wanted = raw.Conv2D(x, w, strides=options[0], padding=padding, dilations=options[4])
    np.testing.assert_array_equal(np.asarray(found), wanted.numpy())


@pytest.mark.parametrize("dtype", DTYPES, ids=["bfloat16", "float16"])
def test_products_of_short_floats_stay_short_on_accelerators(dtype):
    x = jnp.ones((4, 4), dtype)

    def text(platform):
        with target.of(platform):
            return str(jax.make_jaxpr(lambda x: linear_algebra._product(x, x, x.dtype))(x))

    assert "preferred_element_type=float32" in text("cpu")
    assert "preferred_element_type=float32" not in text("gpu")


@pytest.mark.parametrize("dtype", DTYPES, ids=["bfloat16", "float16"])
def test_convolutions_of_short_floats_stay_short_on_accelerators(dtype):
    run = convolution._wide(lambda a, b: a * b)

    def types(platform):
        with target.of(platform):
            ones = jnp.ones(3, dtype)
            return str(jax.make_jaxpr(lambda a, b: run(a, b))(ones, ones))

    assert "float32" in types("cpu") or "f32" in types("cpu")
    assert "f32" not in types("gpu")


def test_the_target_is_that_of_the_block():
    outside = target.is_host()
    with target.of("gpu"):
        assert not target.is_host()
        with target.of("cpu"):
            assert target.is_host()
        assert not target.is_host()
    assert target.is_host() is outside


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(-9, 9), min_size=1, max_size=6),
    st.integers(0, 1),
    st.sampled_from([np.float32, np.int8, np.bool_, np.complex64]),
    st.sampled_from([np.int32, np.int64]),
)
def test_what_is_out_of_range_is_0_on_accelerators(indices, axis, dtype, index_dtype):
    params = np.arange(1, 13).reshape(3, 4).astype(dtype)
    at = np.array(indices, index_dtype)
    valid = (at >= 0) & (at < params.shape[axis])
    wanted = np.take(params, np.where(valid, at, 0), axis)
    wanted = np.where(np.expand_dims(valid, 1 - axis), wanted, np.zeros((), dtype))
    with target.of("gpu"), jax.enable_x64(True):
        found = jax.jit(lambda p, i: data_movement._gather(p, i, np.int32(axis), 0))(params, at)
    np.testing.assert_array_equal(np.asarray(found), wanted)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=5),
    st.integers(1, 2),
    st.sampled_from([np.int16, np.int32, np.int64]),
)
def test_rows_out_of_range_are_0_on_accelerators(rows, depth, index_dtype):
    params = np.arange(1, 25, dtype=np.float32).reshape(3, 4, 2)
    at = np.array(rows, index_dtype)[:, :depth]
    inside = [all(0 <= i < n for i, n in zip(row, params.shape, strict=False)) for row in at]
    zeros = np.zeros(params.shape[depth:], np.float32)
    wanted = [params[tuple(r)] if ok else zeros for r, ok in zip(at, inside, strict=True)]
    with target.of("gpu"), jax.enable_x64(True):
        found = jax.jit(data_movement._gather_rows)(params, at)
    np.testing.assert_array_equal(np.asarray(found), np.stack(wanted))
