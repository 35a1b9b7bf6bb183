"""Distinct numbers by a hash table, by sorting and by the definition are the same."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.opdef import machine_code


@pytest.fixture(params=["machine code", "numpy"])
def implementation(request, monkeypatch):
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    if request.param == "numpy":
        monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)


@pytest.fixture
def kernels(monkeypatch):
    """What was selected, by the name of the kernel: the code, or None."""
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    selected, select = {}, HOOKS.select_kernel

    def noted(name, *args):
        selected[name] = select(name, *args)
        return selected[name]

    monkeypatch.setattr(HOOKS, "select_kernel", noted)
    return selected


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.unique_with_counts(np.random.default_rng(0).integers(0, 1 << 60, 3000)),
        lambda: tf.ragged.range(np.zeros(50, np.int64), np.arange(50)),
    ],
    ids=["unique", "ranges"],
)
def test_there_is_machine_code(call, kernels):
    call()
    assert kernels
    assert all(k is not None for k in kernels.values()), kernels


def _numbers(rng, dtype, size, kinds):
    info = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else None
    if info is None:
        pool = np.concatenate([rng.standard_normal(kinds), [0.0, -0.0, np.inf, -np.inf]])
    else:
        pool = rng.integers(info.min, info.max, kinds, dtype, endpoint=True)
    return rng.choice(pool.astype(dtype), size)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "uint16", "float32", "float64"])
@pytest.mark.parametrize(("size", "kinds"), [(0, 3), (64, 1), (65, 40), (1000, 7), (3000, 4000)])
def test_as_they_first_occur(dtype, size, kinds, implementation):
    x = _numbers(np.random.default_rng(size + kinds), dtype, size, kinds)
    y, which, counts = (t.numpy() for t in tf.unique_with_counts(x))
    expected = list(dict.fromkeys((x + x.dtype.type(0)).tolist()))
    assert y.dtype == x.dtype
    assert y.tolist() == expected
    np.testing.assert_array_equal(y[which], x)
    np.testing.assert_array_equal(counts, [np.sum(x == v) for v in expected])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("splits", ["int32", "int64"])
def test_ranges(dtype, splits, implementation):
    rng = np.random.default_rng(7)
    starts, lengths = (rng.integers(-20, 20, 50, dtype) for _ in range(2))
    for deltas in (np.ones(50, dtype), rng.choice([-3, -1, 1, 2], 50).astype(dtype)):
        found = tf.ragged.range(starts, starts + lengths, deltas, row_splits_dtype=splits)
        expected = [
            list(range(a, b, d)) for a, b, d in zip(starts, starts + lengths, deltas, strict=True)
        ]
        assert found.dtype == dtype
        assert found.row_splits.dtype == splits
        assert found.to_list() == expected


@pytest.mark.parametrize("count", [1, 8, 16, 17, 300, 70_000])
@pytest.mark.parametrize("size", [0, 5, 3000])
@pytest.mark.parametrize("shape", [(), (2,), (0,)])
def test_partitions_keep_the_order(count, size, shape):
    rng = np.random.RandomState(count + size)
    data = rng.randn(size, *shape)
    which = rng.randint(0, count, size).astype(np.int32)
    parts = tf.dynamic_partition(data, which, count)
    assert len(parts) == count
    for number in {*which.tolist(), 0, count - 1}:
        np.testing.assert_array_equal(parts[number].numpy(), data[which == number])


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "float32", "str"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("columns", [0, 1, 3, 16, 17])
def test_distinct_rows_by_columns_are_those_by_definition(dtype, axis, columns):
    rng = np.random.default_rng(columns)
    x = rng.integers(0, 2, (400, columns)).astype(dtype)
    if dtype.startswith("float"):
        x[x == 0] = rng.choice([0.0, -0.0], (x == 0).sum())
        x[3] = x[5] = np.nan
    numbers, which = {}, []
    for row in x.tolist():
        which.append(numbers.setdefault(tuple(row), len(numbers)))
    known = tf.raw_ops.UniqueWithCountsV2(x=x if axis == 0 else x.T, axis=[axis])
    first = [which.index(n) for n in range(len(numbers))]
    rows = known.y.numpy() if axis == 0 else known.y.numpy().T
    np.testing.assert_array_equal(known.idx, which)
    np.testing.assert_array_equal(known.count, np.bincount(which))
    np.testing.assert_array_equal(rows.astype(dtype), x[first])
