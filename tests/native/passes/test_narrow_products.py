"""Products of int32 whose operands have 8 bits: the same numbers, multiplied as 8 bits where possible."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.kernels import narrow_matmul
from intaglio.native.passes.narrow_products import narrow_products
from intaglio.opdef import raw

kinds = st.sampled_from(["int8", "uint8"])
size = st.integers(1, 70)


def _numbers(dtype: str, *shape: int) -> Any:
    limits = np.iinfo(dtype)
    return np.random.default_rng(sum(shape)).integers(limits.min, limits.max + 1, shape, dtype)


@settings(deadline=None, max_examples=30)
@given(size, size, size, kinds, kinds, st.booleans(), st.booleans(), st.booleans())
def test_casts_before_a_product(
    rows: int, inner: int, columns: int, left: str, right: str, by_a: bool, by_b: bool, known: bool
) -> None:
    a = _numbers(left, *((inner, rows) if by_a else (rows, inner)))
    b = _numbers(right, *((columns, inner) if by_b else (inner, columns)))
    weights = tf.constant(b.astype(np.int32))

    @tf.function(jit_compile=True)
    def product(x: Any, y: Any) -> Any:
        w = weights if known else tf.cast(y, tf.int32)
        return tf.matmul(tf.cast(x, tf.int32), w, transpose_a=by_a, transpose_b=by_b)

    want = (a.T if by_a else a).astype(np.int32) @ (b.T if by_b else b).astype(np.int32)
    np.testing.assert_array_equal(product(tf.constant(a), tf.constant(b)).numpy(), want)


@pytest.mark.parametrize("compiled", [None, False, True], ids=["eager", "graph", "jit"])
@pytest.mark.parametrize(
    "shapes", [((40, 70), (70, 90)), ((3, 40, 70), (3, 70, 90)), ((2, 5), (5, 3))]
)
def test_products_of_8_bits_with_results_of_32(shapes: Any, compiled: bool | None) -> None:
    a, b = _numbers("int8", *shapes[0]), _numbers("int8", *shapes[1])

    def product(x: Any, y: Any) -> Any:
        return tf.matmul(x, y, output_type=tf.int32)

    f = product if compiled is None else tf.function(product, jit_compile=compiled)
    for _ in range(3):
        got = f(tf.constant(a), tf.constant(b)).numpy()
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b.astype(np.int32))


def test_only_what_fits_8_bits_is_narrowed() -> None:
    if narrow_matmul.form_of(np.int8, np.int8, np.int32) is None:
        pytest.skip("the processor has no matrix registers")

    def ops(factor: Any, dtype: Any) -> list[Any]:
        @tf.function
        def product(x: Any) -> Any:
            return tf.matmul(tf.cast(x, tf.int32), factor)

        traced = product.get_concrete_function(tf.TensorSpec([4, 5], dtype))
        return [n.op for n in narrow_products(traced.frozen).nodes]

    small, large = (np.full((5, 6), n, np.int32) for n in (-128, 300))
    assert raw.BatchMatMulV3 in ops(small, tf.int8)
    assert raw.BatchMatMulV3 not in ops(large, tf.int8)
    assert raw.BatchMatMulV3 not in ops(small, tf.int16)
