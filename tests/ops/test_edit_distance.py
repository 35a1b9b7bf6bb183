"""Edit distances by machine code, by NumPy's columns and by the definition are the same."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.opdef import machine_code
from intaglio.ops.text.edit_distance import distance_rows


def _distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        new = [i + 1]
        for j, y in enumerate(b):
            new.append(min(row[j + 1] + 1, new[j] + 1, row[j] + (x != y)))
        row = new
    return row[-1]


def _sparse(rows, shape, dtype, order):
    cells = [
        (*np.unravel_index(r, shape), c, v) for r, row in enumerate(rows) for c, v in enumerate(row)
    ]
    cells = [cells[i] for i in order(len(cells))]
    indices = np.array([c[:-1] for c in cells], np.int64).reshape(-1, len(shape) + 1)
    values = np.array([c[-1] for c in cells], dtype)
    width = max(map(len, rows), default=0)
    return tf.SparseTensor(indices, values, [*shape, max(width, 1)])


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float32", "bool", object])
@pytest.mark.parametrize("seed", range(4))
def test_all_rows(seed, dtype, monkeypatch):
    rng = np.random.default_rng(seed)
    shape = [(5,), (2, 3), (0,), (40,)][seed]
    count = int(np.prod(shape))
    letters = [b"a", b"b", b"\xc3\xa9"] if dtype is object else [0, 1, 1]
    pairs = [
        [[letters[i] for i in rng.integers(0, 3, rng.integers(0, 9))] for _ in range(count)]
        for _ in range(2)
    ]
    order = rng.permutation if seed % 2 else np.arange
    a, b = (_sparse(rows, shape, dtype, order) for rows in pairs)

    def call():
        return [tf.edit_distance(a, b, normalize=n).numpy() for n in (False, True)]

    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    selected, select = [], HOOKS.select_kernel
    monkeypatch.setattr(
        HOOKS, "select_kernel", lambda *a: selected.append(select(*a)) or selected[-1]
    )
    got = call()
    assert count == 0 or (selected and all(k is not None for k in selected))
    monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)
    for x, y in zip(got, call(), strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_array_equal(x, y)
    expected = [_distance(x, y) for x, y in zip(*pairs, strict=True)]
    np.testing.assert_array_equal(got[0].reshape(-1), expected)


def test_the_loops_as_python():
    codes, starts, counts = np.array([1, 2, 3, 3]), np.array([0, 3]), np.array([3, 1])
    others, begins, sizes = np.array([1, 3, 9]), np.array([0, 3]), np.array([3, 0])
    found, memory = np.zeros(2, np.int64), np.zeros(8, np.int64)
    distance_rows(found, memory, codes, starts, counts, others, begins, sizes, 3, 0, 2)
    assert found.tolist() == [2, 1]
