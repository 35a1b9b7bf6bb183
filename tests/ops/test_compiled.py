"""Functions whose large arrays are computed by machine code in every mode."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.opdef import machine_code, raw
from intaglio.opdef.machine_code import MIN_COMPILED_WORK
from intaglio.ops.compiled import CompiledFunction
from intaglio.ops.math.gamma_functions import MAX_NUMBERS

# Of functions of one, two and three numbers; the last are shares.
ARGUMENTS = (np.linspace(-6, 6, 64), np.linspace(9, 0.5, 64), np.linspace(0, 1, 64))
COMPILED = [op for op in raw.catalogue().values() if op.compiled_when_large]


def test_the_trait_and_the_family_are_one() -> None:
    assert {op.name for op in COMPILED} >= {"Sigmoid", "Erf", "Erfc"}
    assert all(isinstance(op, CompiledFunction) and "scalar" in op.rules for op in COMPILED)


DTYPES = ("float16", "bfloat16", "float32", "float64")


@pytest.mark.parametrize(
    ("op", "dtype"),
    [(op, d) for op in COMPILED for d in DTYPES if tf.as_dtype(d) in op.T],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_small_and_large_arrays_have_one_value(op, dtype: str) -> None:
    """At the size from which machine code computes, values are NumPy's up to rounding."""
    least = MIN_COMPILED_WORK // op.work_per_element
    numbers = [tf.cast(x, dtype) for x in ARGUMENTS[: len(op.input_names)]]
    many = [tf.tile(x, [least // 64 + 1]) for x in numbers]
    small, large = op(*numbers), op(*many)
    graph = tf.function(op.__call__)(*many)
    # bfloat16's NaN is none to NumPy.
    np.testing.assert_array_equal(tf.cast(large, "float64"), tf.cast(graph, "float64"))
    limit = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-6, "float64": 1e-14}[dtype]
    np.testing.assert_allclose(
        tf.cast(large[-64:], "float64"), tf.cast(small, "float64"), rtol=limit, atol=1e-9
    )


def test_a_call_waits_for_machine_code_that_it_alone_pays_for(monkeypatch):
    monkeypatch.setattr(machine_code, "_done", {})
    monkeypatch.setattr(machine_code, "_compiler_loaded", threading.Event())
    asked: list[str] = []
    monkeypatch.setattr(HOOKS, "select_kernel", lambda *kind: asked.append("now"))
    monkeypatch.setattr(HOOKS, "kernel_when_ready", lambda *kind: asked.append("later"))
    for _ in range(3):
        machine_code.exact_kernel("texts", machine_code.MIN_TOTAL_WORK // 2, "lengths")
    assert asked == ["later"] * 2
    machine_code.exact_kernel("texts", machine_code.MIN_TOTAL_WORK, "lengths")
    machine_code.exact_kernel("texts", machine_code.MIN_TOTAL_WORK, "lengths", quick=True)
    assert asked == ["later", "later", "now", "later"]


@pytest.mark.parametrize("op", [tf.math.erf, tf.math.erfc, tf.math.lgamma])
@pytest.mark.parametrize("dtype", DTYPES)
def test_few_numbers_have_the_values_of_many(op, dtype: str) -> None:
    """Python's functions compute few elements: also of infinities, poles and NaN."""
    special = [0.0, -0.0, 1.0, 2.0, -1.0, -3.0, np.inf, -np.inf, np.nan, 1e30, 3e38, 1e-30, -2.5]
    few = tf.cast(tf.constant([*special, 1.001, 30.0, -30.0], tf.float64), dtype)
    many = op(tf.tile(few, [MAX_NUMBERS // 16 + 1]))[:16]
    limit = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 1e-6, "float64": 1e-14}[dtype]
    for x in (few, tf.reshape(few, [4, 4])):
        found = op(x)
        assert found.shape == x.shape
        assert found.dtype == dtype
        np.testing.assert_allclose(
            tf.cast(tf.reshape(found, [16]), "float64"), tf.cast(many, "float64"), rtol=limit
        )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tanh", "sqrt"])
@pytest.mark.parametrize("size", [1, 100, 9000])
def test_functions_of_16_bit_floats_are_those_of_float32_rounded(name: str, dtype: str, size: int):
    function = getattr(tf.math, name)
    x = tf.cast(np.linspace(0.01, 4, size), dtype)
    want = tf.cast(function(tf.cast(x, tf.float32)), dtype)
    for run in (function, tf.function(function), tf.function(function, autograph=False)):
        np.testing.assert_array_equal(tf.cast(run(x), tf.float32), tf.cast(want, tf.float32))
