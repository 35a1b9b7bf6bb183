"""Products of integers, which wrap around, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.lowering import integer_matmul

size = st.integers(1, 80)


@pytest.fixture(autouse=True)
def short_blocks(monkeypatch):
    monkeypatch.setenv("INTAGLIO_VERIFY", "1")
    monkeypatch.setattr(integer_matmul, "TERMS_PER_BLOCK", 16)
    monkeypatch.setattr(integer_matmul, "MIN_PARALLEL_MULTIPLICATIONS", 1 << 12)


@settings(deadline=None, max_examples=60)
@given(size, size, size, st.sampled_from(["int32", "int64", "uint32", "uint64"]))
def test_products_of_integers(rows, inner, columns, dtype):
    random = np.random.default_rng(rows)
    high = np.iinfo(dtype).max
    a = random.integers(0, high, (rows, inner), dtype)
    b = random.integers(0, high, (inner, columns), dtype)
    product = tf.function(tf.matmul, jit_compile=True)
    np.testing.assert_array_equal(product(a, b), a @ b)
