"""Rows added at indices: one after the other, by machine code as by NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.opdef import machine_code
from intaglio.ops.array import scattering

DTYPES = ("float32", "float64", "int32", "int64", "float16", "uint8", "uint32", "complex64")


@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(1, 7),
    st.integers(1, 40),
    st.lists(st.integers(1, scattering.MIN_CALLED_COLUMNS + 3), min_size=0, max_size=2),
    st.booleans(),
)
def test_one_after_the_other(dtype, seed, height, count, columns, in_order) -> None:
    draw = np.random.default_rng(seed)
    table, rows = (draw.normal(size=(n, *columns)) * 50 for n in (height, count))
    table, rows = (
        np.abs(a).astype(dtype) if dtype.startswith("u") else a.astype(dtype) for a in (table, rows)
    )
    indices = draw.integers(0, height, count)
    want = table.copy()
    with np.errstate(over="ignore"):
        for index, row in zip(indices, rows, strict=True):
            want[index] += row
    for runs in (scattering.run_loops, lambda *arguments, rows: False):
        found = np.array(table, order="C" if in_order else "F")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(machine_code, "IN_BACKGROUND", False)
            patch.setattr(scattering, "WORK_PER_ADDED", machine_code.MIN_TOTAL_WORK)
            patch.setattr(scattering, "run_loops", runs)
            scattering.add_rows(found, indices, rows)
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_all_modes_round_alike_where_indices_repeat(dtype) -> None:
    draw = np.random.default_rng(0)
    table = (draw.normal(size=(5, 6)) * 100).astype(dtype)
    rows, indices = (draw.normal(size=(200, 6)) * 100).astype(dtype), draw.integers(0, 5, 200)
    want = table.copy()
    for index, row in zip(indices, rows, strict=True):
        want[index] -= row
    for jit in (None, False, True):
        variable = tf.Variable(table)

        def step(variable=variable):
            variable.scatter_sub(tf.IndexedSlices(rows, indices))

        (step if jit is None else tf.function(step, jit_compile=jit))()
        np.testing.assert_array_equal(variable, want)
