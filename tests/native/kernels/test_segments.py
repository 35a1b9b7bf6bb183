"""Reductions of segments in machine code are NumPy's, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import machine_code

RNG = np.random.RandomState(0)
# Some segments are empty, at the ends too; the widths leave rests of all lengths.
SORTED = np.sort(RNG.choice([1, 2, 3, 5, 8, 40], 60)).astype(np.int32)
MIXED = RNG.choice([-1, 0, 2, 3, 5, 8, 40], 60)
TAKEN = RNG.randint(0, 60, 60)
WIDTHS = [1, 2, 3, 7, 16, 17, 31, 65]


def _rows(dtype: str, *shape: int) -> np.ndarray:
    if dtype.startswith("int"):
        return RNG.randint(-99, 99, shape).astype(dtype)
    rows = RNG.standard_normal(shape).astype(dtype)
    rows[::7] = -0.0
    rows[5] = np.nan
    return rows


CALLS = {
    "sum": lambda x: tf.math.segment_sum(x, SORTED),
    "mean": lambda x: tf.math.segment_mean(x, SORTED),
    "unsorted": lambda x: tf.math.unsorted_segment_sum(x, MIXED, 44),
    "largest": lambda x: tf.math.segment_max(x, SORTED),
    "smallest": lambda x: tf.math.unsorted_segment_min(x, MIXED, 44),
    "product": lambda x: tf.math.unsorted_segment_prod(x, MIXED, 44),
    "taken": lambda x: tf.sparse.segment_sum(x, TAKEN, SORTED),
    "mean of taken": lambda x: tf.sparse.segment_mean(x, TAKEN, SORTED, 50),
    "root of taken": lambda x: tf.sparse.segment_sqrt_n(x, TAKEN, SORTED),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_the_same_bits(name, dtype, monkeypatch):
    if dtype.startswith("int") and ("mean" in name or "root" in name):
        pytest.skip("sums only")
    for shape in [(60, w) for w in WIDTHS] + [(60, 3, 5), (60, 0)]:
        x = _rows(dtype, *shape)
        monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
        monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
        got = CALLS[name](x).numpy()
        monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 1 << 60)
        monkeypatch.setattr(machine_code, "_done", {})
        wanted = CALLS[name](x).numpy()
        assert got.dtype == wanted.dtype
        assert got.tobytes() == wanted.tobytes(), shape


def test_of_no_rows(monkeypatch):
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    none = np.zeros((0, 3), np.float32)
    made = tf.math.unsorted_segment_sum(none, np.zeros(0, np.int32), 4)
    np.testing.assert_array_equal(made, np.zeros((4, 3)))


def test_many_short_rows_are_added_by_a_kernel():
    numbers, rows = RNG.randint(0, 40, 9000), _rows("float32", 9000, 9)
    rows[5] = 0
    wanted = np.zeros((41, 9), np.float64)
    np.add.at(wanted, numbers, rows)
    np.testing.assert_allclose(tf.math.unsorted_segment_sum(rows, numbers, 41), wanted, atol=1e-4)
    order = np.argsort(numbers, kind="stable")
    summed = tf.math.segment_sum(rows[order], numbers[order])
    np.testing.assert_allclose(summed, wanted[:40], atol=1e-4)


@pytest.mark.parametrize("shape", [(9,), (9, 1), (9, 2), (9, 33), (9, 3, 2), (700, 5), (4000, 40)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("zeros", [True, False])
def test_sums_begin_with_zero_and_take_rows_in_order(shape, dtype, zeros):
    """Rows are added one after the other in every mode, as TensorFlow 2.21 adds them: the same bits."""
    rng = np.random.default_rng(1)
    data = np.full(shape, -0.0) if zeros else rng.standard_normal(shape)
    x, ids = tf.cast(data, dtype), tf.constant(rng.integers(-1, 4, shape[0]).astype(np.int32))

    def call(x, ids):
        return tf.math.unsorted_segment_sum(x, ids, 5)

    wide = x.numpy().astype("complex64" if dtype == "complex64" else "float64")
    if dtype in ("float16", "bfloat16", "float32"):
        wide = wide.astype("float32")
    want = np.zeros((5, *shape[1:]), wide.dtype)
    for row, at in zip(wide, ids.numpy(), strict=True):
        if at >= 0:
            want[at] = want[at] + row
    want = want.astype(x.dtype.as_numpy_dtype)
    for run in (call, tf.function(call), tf.function(call, jit_compile=True)):
        found = run(x, ids).numpy()
        assert found.tobytes() == want.tobytes()
