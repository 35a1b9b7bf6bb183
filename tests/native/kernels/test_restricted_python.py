"""Kernels that are translated from Python compute what Python computes."""

from __future__ import annotations

import math

import numpy as np
import pytest

from intaglio.native.kernels.restricted_python import loops
from intaglio.native.llvm.vectors import Unsupported
from intaglio.ops import restricted

SCALE, LIMIT = 3.5, 50


def _parts(x, n):
    total = 0.0
    for i in range(n):
        if i % 3 == 1:
            continue
        if i > LIMIT:
            break
        total += x * i
    return total, n // 2


def _mixed(a, b, out, factor, first, last):
    for i in range(first, last):
        total, half = _parts(float(a[i]), b[i])
        if total > 10 and not (half == 3 or half < 0):
            total = -total
        k = 0
        while True:
            k += 1
            if k * k >= half:
                break
        out[i] = max(total, -1e6) * factor + SCALE + (1 if half % 2 else 0)
        out[i] += math.floor(a[i]) + abs(total) / 2 - min(k, 4, half)


def _integers(a, out, first, last):
    for i in range(first, last):
        x = a[i]
        y = (x * 0x9E3779B97F4A7C15 & 0xFFFFFFFF) ^ ~x
        out[i] = y // 7 - x % -5 + (x % 3 << 4) + (abs(x) >> 2) + int(2.9) - int(-2.9)


def _collected(a, out, n, first, last):
    for row in range(first, last):
        own, kept = a[row * n :], out[row * n :]
        count = 0
        for i in range(n - 1, -1, -1):
            value = own[i]
            if 0 < value <= 5 or (value == 9 and i):
                kept[count] = int(value)
                count += 1
        for i in range(count, n):
            kept[i] = -1


def _functions(a, out, first, last):
    for i in range(first, last):
        x = a[i]
        out[6 * i], out[6 * i + 1] = math.log(x), math.exp(-x)
        out[6 * i + 2], out[6 * i + 3] = math.sqrt(x), math.lgamma(x)
        out[6 * i + 4], out[6 * i + 5] = math.sin(x), math.cos(x)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("whole", ["i1", "i2", "i4", "i8"])
def test_loops_and_branches(dtype, whole):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal(300).astype(dtype), rng.integers(-5, 80, 300).astype(whole)
    got, wanted = np.zeros(300), np.zeros(300)
    loops(_mixed, (dtype, whole, "f8", "double"))(a, b, got, 2.5, rows=300)
    _mixed(a.tolist(), b.tolist(), wanted, 2.5, 0, 300)
    np.testing.assert_allclose(got, wanted, rtol=1e-14)


def test_integers_are_pythons():
    a = np.random.default_rng(1).integers(-(1 << 30), 1 << 30, 500)
    got, wanted = np.zeros(500, np.int64), np.zeros(500, np.int64)
    loops(_integers, ("i8", "i8"))(a, got, rows=500)
    _integers(a.tolist(), wanted, 0, 500)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "f4", "f8"])
def test_rows_of_arrays(dtype, shared):
    a = np.random.default_rng(2).integers(0, 12, (999, 7)).astype(dtype)
    wanted = np.zeros(a.size, np.int32)
    got = np.zeros(a.size, np.int32)
    loops(_collected, (dtype, "i4", "i64"))(a, got, 7, rows=999, shared=shared)
    _collected(a.reshape(-1).tolist(), wanted, 7, 0, 999)
    np.testing.assert_array_equal(got, wanted)


def test_no_rows():
    loops(_collected, ("f4", "i4", "i64"))(np.zeros(1, "f4"), np.zeros(1, "i4"), 7, rows=0)


def test_functions():
    a = np.random.default_rng(3).uniform(0.1, 30, 200)
    got, wanted = np.zeros(1200), np.zeros(1200)
    loops(_functions, ("f8", "f8"))(a, got, rows=200)
    _functions(a.tolist(), wanted, 0, 200)
    np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-15)


def _returns(a, first, last):
    return a[0]


def _unknown(a, first, last):
    a[0] = np.sum(a)


def _two_kinds(a, first, last):
    x = 1
    x = 2.5
    a[0] = x


def _over_a_list(a, first, last):
    for x in [1, 2]:
        a[0] = x


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (_returns, "returns numbers"),
        (_unknown, "np.sum has no code"),
        (_two_kinds, "double where i64 is needed"),
        (_over_a_list, r"loops are over range\(...\)"),
    ],
)
def test_what_has_no_code(function, message):
    with pytest.raises(Unsupported, match=message):
        loops(function, ("f8",))


def test_arrays_that_are_not_in_order(monkeypatch):
    monkeypatch.setattr("intaglio.opdef.machine_code.IN_BACKGROUND", False)
    work = 1 << 30
    a, out = np.zeros((4, 7), "f4"), np.zeros(28, "i4")
    assert restricted.run_loops(_collected, work, a, out, 7, rows=4)
    assert not restricted.run_loops(_collected, work, a[:, ::-1], out, 7, rows=4)
