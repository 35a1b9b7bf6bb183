"""StableHLO modules in graphs, as jax2tf writes them: what jax computes is the answer."""

from __future__ import annotations

import pathlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import export

import intaglio
from intaglio import tf
from intaglio.opdef import raw


def _call(exported: Any, *args: Any, **changed: Any) -> list[Any]:
    """The call of an exported program, as jax2tf makes it."""
    attributes: dict[str, Any] = {
        "version": exported.calling_convention_version,
        "module": exported.mlir_module_serialized,
        "Sout": [[d if isinstance(d, int) else None for d in a.shape] for a in exported.out_avals],
        "Tout": [tf.as_dtype(a.dtype.name) for a in exported.out_avals],
        "platforms": [p.upper() for p in exported.platforms],
    }
    return raw.XlaCallModule(args, **{**attributes, **changed})


def _open() -> Any:
    """A program of arrays of any size."""
    a, b = export.symbolic_shape("a, b")

    def both(x: Any, y: Any) -> Any:
        return jnp.dot(x, y).sum(0), jnp.concatenate([x, x]) * x.shape[1]

    kinds = [jax.ShapeDtypeStruct((a, b), np.float32), jax.ShapeDtypeStruct((b, 3), np.float32)]
    return export.export(jax.jit(both))(*kinds)


OPEN = _open()


def _operands(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    numbers = np.random.RandomState(rows * 10 + columns)
    return numbers.randn(rows, columns).astype("f"), numbers.randn(columns, 3).astype("f")


@settings(max_examples=8, deadline=None)
@given(
    rows=st.integers(1, 4),
    columns=st.integers(1, 4),
    mode=st.sampled_from(["eager", "graph", "xla"]),
)
def test_open_shapes_are_those_of_the_arguments(rows: int, columns: int, mode: str) -> None:
    x, y = _operands(rows, columns)
    wanted = OPEN.call(x, y)
    if mode == "eager":
        found = _call(OPEN, x, y)
    else:
        spec = [tf.TensorSpec([None, None]), tf.TensorSpec([None, 3])]
        traced = tf.function(
            lambda a, b: _call(OPEN, a, b), input_signature=spec, jit_compile=mode == "xla"
        )
        shapes = traced.get_concrete_function().output_shapes
        assert [s.as_list() for s in shapes] == [[3], [None, None]]
        with intaglio.backend("xla" if mode == "xla" else "native"):
            found = traced(x, y)
    for one, answer in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, answer, 1e-5, 1e-6)


@pytest.mark.parametrize(
    "dtype",
    ["float32", "float64", "bfloat16", "float16", "int8", "int64", "uint32", "bool", "complex64"],
)
def test_every_dtype_comes_back(dtype: str) -> None:
    with jax.enable_x64(True):
        program = export.export(jax.jit(lambda x: (x, x[::-1])))(
            jax.ShapeDtypeStruct((4,), jnp.dtype(dtype))
        )
    x = tf.cast(tf.constant([0, 1, 1, 0]), dtype)
    for found, wanted in zip(_call(program, x), (x, x[::-1]), strict=True):
        assert found.dtype is x.dtype
        np.testing.assert_array_equal(found, wanted)


def test_a_module_for_several_platforms() -> None:
    program = export.export(jax.jit(lambda x: jnp.sin(x).sum(0)), platforms=["tpu", "cpu"])(
        jax.ShapeDtypeStruct(export.symbolic_shape("b, 2"), np.float32)
    )
    x = np.array([[1, 2], [3, 4]], "float32")
    np.testing.assert_allclose(_call(program, x)[0], np.sin(x).sum(0), 1e-6)


def test_a_saved_model_has_the_module(tmp_path: pathlib.Path) -> None:
    x, y = _operands(2, 3)
    model = tf.Module()
    spec = [tf.TensorSpec([None, None]), tf.TensorSpec([None, 3])]
    model.call = tf.function(lambda a, b: _call(OPEN, a, b), input_signature=spec)
    tf.saved_model.save(model, str(tmp_path))
    for found, wanted in zip(
        tf.saved_model.load(str(tmp_path)).call(x, y), OPEN.call(x, y), strict=True
    ):
        np.testing.assert_allclose(found, wanted, 1e-5, 1e-6)


def test_what_there_is_no_program_for() -> None:
    x, y = _operands(2, 3)
    with pytest.raises(tf.errors.NotFoundError, match="not among the platforms"):
        _call(OPEN, x, y, platforms=["TPU"])
    for version in (4, 11):
        with pytest.raises(tf.errors.UnimplementedError, match="version"):
            _call(OPEN, x, y, version=version)
    with pytest.raises(tf.errors.InvalidArgumentError):
        _call(OPEN, x, y[:2])
    with tf.GradientTape() as tape:
        tape.watch(start := tf.constant(x))
        end = _call(OPEN, start, y)[0]
    with pytest.raises(LookupError):
        tape.gradient(end, start)
