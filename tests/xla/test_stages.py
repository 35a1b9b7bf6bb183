"""The XLA program of a function as text, bytes, and a file that plain JAX loads."""

from __future__ import annotations

import importlib.util

import jax
import jax.export
import numpy as np
import pytest

import intaglio
from intaglio import tf

needs_flatbuffers = pytest.mark.skipif(
    importlib.util.find_spec("flatbuffers") is None, reason="flatbuffers of [dev] is not installed"
)
X = tf.constant(np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3))


def test_the_compilers_forms():
    # TensorFlow 2.21 was asked for its stages and the texts of its errors.
    weights = tf.Variable(tf.ones([3, 3]))
    run = tf.function(lambda x: tf.nn.relu(x @ weights), jit_compile=True)
    get = run.experimental_get_compiler_ir(X)
    assert "stablehlo.dot_general" in get(stage="stablehlo")
    assert get().startswith("HloModule") and "f32[2,3]" in get(stage="hlo")
    assert "is_scheduled=true" in get(stage="optimized_hlo", platform_name="CPU")
    assert isinstance(get(stage="hlo_serialized"), bytes)
    assert isinstance(get(stage="optimized_hlo_serialized"), bytes)
    with pytest.raises(
        ValueError, match=r"Invalid stage selected: 'bad'\. Valid values are: 'hlo'"
    ):
        get(stage="bad")
    of_spec = run.experimental_get_compiler_ir(tf.TensorSpec([4, 3]))
    assert "f32[4,3]" in of_spec(stage="hlo")
    with pytest.raises(ValueError, match="Only support static input shape"):
        run.experimental_get_compiler_ir(tf.TensorSpec([None, 3]))


def test_the_compilers_forms_are_refused():
    with pytest.raises(ValueError, match="functions marked with 'jit_compile=True'"):
        tf.function(lambda x: x).experimental_get_compiler_ir(X)
    run = tf.function(lambda x: tf.unique(x)[0], jit_compile=True)
    with pytest.raises(ValueError, match="is no XLA program: Unique"):
        run.experimental_get_compiler_ir(X[0])("hlo")


@needs_flatbuffers
def test_an_exported_program_is_loaded_here_and_in_plain_jax():
    scale = tf.Variable([1.0, 2.0, 3.0], dtype=tf.float64)

    @tf.function
    def run(x, y):
        total = tf.cast(x, tf.float64) * scale
        for i in tf.range(3):
            total += tf.cast(i, tf.float64)
        return {"total": total, "sum": x + y}

    data = intaglio.export_stablehlo(run, X, tf.TensorSpec([2, 3]))
    scale.assign(scale * 0.0)
    wanted = [X + 1.0, tf.cast(X, tf.float64) * [1.0, 2.0, 3.0] + 3.0]
    for got, want in zip(intaglio.load_stablehlo(data)(X, tf.ones([2, 3])), wanted, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want)
    with jax.enable_x64(True):
        plain = jax.export.deserialize(bytearray(data)).call(X.numpy(), np.ones((2, 3), "float32"))
    for got, want in zip(plain, wanted, strict=True):
        np.testing.assert_allclose(got, want)


@needs_flatbuffers
def test_programs_with_a_state_are_not_exported():
    v = tf.Variable(1.0)
    with pytest.raises(ValueError, match="writes variables"):
        intaglio.export_stablehlo(tf.function(lambda x: v.assign_add(x)), tf.constant(1.0))
    with pytest.raises(ValueError, match="random numbers"):
        intaglio.export_stablehlo(tf.function(lambda x: x + tf.random.normal([])), tf.constant(1.0))


def test_without_jax_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    run = tf.function(lambda x: x + 1, jit_compile=True)
    for call in (
        lambda: intaglio.export_stablehlo(run, X),
        lambda: intaglio.load_stablehlo(b""),
        lambda: run.experimental_get_compiler_ir(X),
    ):
        with pytest.raises(ImportError, match=r'pip install "intaglio\[xla\]"'):
            call()
