"""Products of matrices of 8 and 16 bits against exact ones, for every remainder of a register."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.kernels import narrow_matmul
from intaglio.native.kernels.narrow_matmul import PANEL_COLUMNS, SIDE, WAITING_ROWS

SHORT = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16}
# How far a number may be from its neighbours, as a part of it.
UNITS = {"bfloat16": 2.0**-8, "float16": 2.0**-11}
# Half the distance of float16's smallest numbers.
TINY = 2.0**-25
BLOCK = narrow_matmul.BLOCK_BYTES // 2
size = st.sampled_from([0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 65, 100])
flag = st.booleans()


def _operands(rows: int, inner: int, columns: int, transposed: Any, dtype: Any) -> Any:
    rng = np.random.default_rng(rows + 1000 * columns)
    a, b = (rng.normal(size=s).astype(dtype) for s in ((rows, inner), (inner, columns)))
    left, right = (
        np.ascontiguousarray(x.T) if t else x for x, t in zip((a, b), transposed, strict=True)
    )
    return a.astype(np.float64), b.astype(np.float64), left, right


def _check(got: Any, a: Any, b: Any, unit: float) -> None:
    exact = a @ b
    assert got.shape == exact.shape
    lost = np.abs(got.astype(np.float64) - exact)
    bound = np.maximum(unit * np.abs(exact), TINY) + 1e-6 * (np.abs(a) @ np.abs(b))
    assert (lost <= bound).all()


@settings(deadline=None, max_examples=60)
@given(size, size, size, flag, flag, st.sampled_from([*SHORT]))
def test_products_are_summed_in_float32_and_rounded_once(
    rows: int, inner: int, columns: int, transpose_a: bool, transpose_b: bool, name: str
) -> None:
    transposed = transpose_a, transpose_b
    a, b, left, right = _operands(rows, inner, columns, transposed, SHORT[name])

    def product(x: Any, y: Any) -> Any:
        return tf.matmul(x, y, transpose_a=transpose_a, transpose_b=transpose_b)

    for f in (product, tf.function(product, jit_compile=True)):
        got = f(tf.constant(left), tf.constant(right))
        assert got.dtype == tf.as_dtype(name)
        _check(got.numpy(), a, b, UNITS[name])


@pytest.mark.parametrize("name", [*SHORT])
@pytest.mark.parametrize(
    ("rows", "inner", "columns"),
    [
        (SIDE + 1, 2 * BLOCK + 5, PANEL_COLUMNS + 7),
        (WAITING_ROWS + 9, BLOCK + 1, 40),
        (2100, 65, 33),
        (300, 300, 600),
    ],
)
def test_several_blocks_panels_and_groups(rows: int, inner: int, columns: int, name: str) -> None:
    for transposed in ((False, False), (True, False), (False, True), (True, True)):
        a, b, left, right = _operands(rows, inner, columns, transposed, SHORT[name])
        product = tf.function(tf.matmul, jit_compile=True)
        got = product(
            tf.constant(left),
            tf.constant(right),
            transpose_a=transposed[0],
            transpose_b=transposed[1],
        )
        _check(got.numpy(), a, b, UNITS[name])


@pytest.mark.parametrize("name", [*SHORT])
def test_what_is_not_finite_stays_in_its_row_and_column(name: str) -> None:
    a, b = np.ones((20, 40)), np.ones((40, 18))
    a[3, 39], a[5, 0], b[7, 17], a[9, 7] = np.inf, np.nan, -np.inf, 0.0
    got = tf.function(tf.matmul, jit_compile=True)(tf.cast(a, name), tf.cast(b, name))
    with np.errstate(invalid="ignore"):
        want = a @ b
    np.testing.assert_array_equal(got.numpy().astype(np.float64), want)


@settings(deadline=None, max_examples=30)
@given(st.sampled_from([(3,), (1,), (2, 2)]), flag, flag, flag, st.sampled_from([*SHORT]))
def test_batches(batch: Any, single: bool, adjoint_a: bool, adjoint_b: bool, name: str) -> None:
    rng = np.random.default_rng(0)
    shapes = (*batch, 19, 35), ((35, 21) if single else (*batch, 35, 21))
    a, b = (rng.normal(size=s).astype(SHORT[name]) for s in shapes)
    left = np.ascontiguousarray(a.swapaxes(-1, -2)) if adjoint_a else a
    right = np.ascontiguousarray(b.swapaxes(-1, -2)) if adjoint_b else b

    def product(x: Any, y: Any) -> Any:
        return tf.matmul(x, y, adjoint_a=adjoint_a, adjoint_b=adjoint_b)

    for f in (product, tf.function(product, jit_compile=True)):
        got = f(tf.constant(left), tf.constant(right)).numpy()
        _check(got, a.astype(np.float64), b.astype(np.float64), UNITS[name])


@pytest.mark.parametrize("name", [*SHORT])
def test_sums_of_products_and_sizes_that_are_not_known(name: str) -> None:
    signature = [tf.TensorSpec([None, 7, 33], name), tf.TensorSpec([33, None], name)]

    @tf.function(input_signature=signature, jit_compile=True)
    def project(x: Any, w: Any) -> Any:
        return tf.einsum("btd,dh->bth", x, w)

    rng = np.random.default_rng(0)
    for rows, columns in ((2, 5), (4, 40)):
        x = rng.normal(size=(rows, 7, 33)).astype(SHORT[name])
        w = rng.normal(size=(33, columns)).astype(SHORT[name])
        got = project(tf.constant(x), tf.constant(w)).numpy()
        _check(got, x.astype(np.float64), w.astype(np.float64), UNITS[name])


@pytest.mark.parametrize("left", [np.int8, np.uint8])
@pytest.mark.parametrize("right", [np.int8, np.uint8])
def test_integers_of_8_bits_are_summed_in_32(left: Any, right: Any) -> None:
    form = narrow_matmul.form_of(left, right, np.int32)
    if form is None:
        pytest.skip("the processor has no matrix registers")
    rng = np.random.default_rng(0)
    sizes = np.iinfo(left), np.iinfo(right)
    for rows, inner, columns in ((1, 1, 1), (5, 67, 9), (33, 2100, 35), (70, 64, 300)):
        shapes = (rows, inner), (inner, columns)
        a, b = (
            rng.integers(i.min, i.max + 1, s, i.dtype) for i, s in zip(sizes, shapes, strict=True)
        )
        want = a.astype(np.int32) @ b.astype(np.int32)
        for transposed in ((False, False), (True, False), (False, True), (True, True)):
            x, y = (
                np.ascontiguousarray(m.T) if t else m
                for m, t in zip((a, b), transposed, strict=True)
            )
            run = narrow_matmul.product(x.shape, y.shape, *transposed, form, np.int32)
            assert run is not None
            np.testing.assert_array_equal(run(x, y), want)
