"""Ops that have code in libraries by rules of their own: equal to their kernels."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from tests.export.loaded import Loaded

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")


def compare(function: Any, folder: pathlib.Path, *arrays: Any, tolerance: float = 1e-6) -> None:
    """The results of a library against those in Python."""
    specs = [tf.TensorSpec(a.shape, a.dtype, name=f"x{i}") for i, a in enumerate(arrays)]
    concrete = tf.function(function).get_concrete_function(*specs)
    library = Loaded(intaglio.export_library(concrete, folder / "model", kinds=["shared"]))
    found = library.call("run", {f"x{i}": a for i, a in enumerate(arrays)})
    library.close()
    expected = tf.nest.flatten(concrete(*map(tf.constant, arrays)))
    for name, value in zip(found, expected, strict=True):
        own, mine = value.numpy(), found[name]
        largest = np.abs(own).max(initial=0.0)
        np.testing.assert_allclose(mine, own, rtol=tolerance, atol=tolerance * largest)


def normal(*shape: int, dtype: str = "float32") -> Any:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(2, 8), (3, 4, 6), (1, 1), (2, 3, 5, 7)])
def test_transforms(dtype: str, shape: tuple[int, ...], tmp_path: pathlib.Path) -> None:
    """Whole ones, of a part and padded, and back, along up to three dimensions."""
    kind = tf.complex64 if dtype == "float32" else tf.complex128
    axes = min(len(shape) - 1, 3)

    def f(x: Any) -> Any:
        z = tf.complex(x, tf.reverse(x, [0]))
        name = {1: "", 2: "2d", 3: "3d"}[axes]
        calls = [getattr(tf.signal, f"{kind}{name}") for kind in ("fft", "ifft", "rfft", "irfft")]
        fft, ifft, rfft, irfft = calls
        part = [max(n - 1, 1) for n in shape[-axes:]]
        more = [n + 2 for n in shape[-axes:]]
        found = [fft(z), ifft(z), rfft(x), rfft(x, part), rfft(x, more), irfft(z), irfft(z, more)]
        parts = [[tf.math.real(v), tf.math.imag(v)] for v in found if v.dtype == kind]
        return [*tf.nest.flatten(parts), *[v for v in found if v.dtype != kind]]

    compare(
        f, tmp_path, normal(*shape, dtype=dtype), tolerance=1e-6 if dtype == "float32" else 1e-13
    )


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_windows(padding: str, tmp_path: pathlib.Path) -> None:
    def f(x: Any, y: Any, k: Any) -> Any:
        pooled = [
            tf.nn.avg_pool3d(x, size, step, padding)
            for size, step in (((2, 3, 2), 1), (2, (1, 2, 2)))
        ]
        dilated = [
            tf.nn.dilation2d(y, k, [1, *s, 1], padding, "NHWC", [1, *r, 1])
            for s, r in (((1, 1), (1, 1)), ((2, 1), (1, 2)), ((1, 3), (2, 1)))
        ]
        return pooled + dilated

    compare(f, tmp_path, normal(2, 4, 5, 6, 3), normal(2, 7, 6, 3), normal(2, 3, 3))


def test_updates_of_one_element(tmp_path: pathlib.Path) -> None:
    variable, matrix = tf.Variable(tf.ones([3])), tf.Variable(tf.ones([2, 3]))

    def f(x: Any) -> Any:
        variable[1].assign(x[0])
        matrix[1, -1].assign(x[1])
        matrix[..., 0].assign(x[:2])
        variable[tf.newaxis, 2].assign(x[2:])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x[1] * 3.0 + x[..., 2] + x[-3]
        return tape.gradient(y, x), variable.read_value(), matrix.read_value()

    compare(f, tmp_path, normal(3))


def test_updates_of_nothing(tmp_path: pathlib.Path) -> None:
    """A slice without elements is assigned to, and has a gradient."""
    variable = tf.Variable(tf.ones([3, 2]))

    def f(x: Any) -> Any:
        variable[2:1].assign(x[3:])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x[1:1] * 2.0) + tf.reduce_sum(x[:2] * 3.0)
        return tape.gradient(y, x), variable.read_value()

    compare(f, tmp_path, normal(3, 2))


def test_kernels_as_loops_and_matrices(tmp_path: pathlib.Path) -> None:
    """Random numbers that are drawn again, boxes of classes, alignments, least squares, transforms."""

    def f(x: Any, y: Any) -> Any:
        boxes = tf.sort(tf.reshape(x, [1, 6, 1, 4]), -1)
        found = [
            tf.random.stateless_gamma([6, 4], [1, 2], tf.abs(x) + 0.1),
            tf.random.stateless_poisson([6, 4], [1, 2], tf.abs(x) * 20.0),
            *tf.image.combined_non_max_suppression(boxes, tf.reshape(x, [1, 6, 4]), 4, 7, 0.3)[:3],
            tf.nn.ctc_loss([[1, 2]], tf.reshape(x, [6, 1, 4]), [2], [6], True, blank_index=0),
            tf.linalg.lstsq(x, x[:, :2]),
            tf.linalg.lstsq(x[:, :3], x, fast=False),
            tf.math.nextafter(y, y * 2.0),
            tf.math.real(tf.signal.rfftnd(x, [5, 4], [0, 1])),
        ]
        return [tf.cast(v, tf.float64) for v in found]

    compare(f, tmp_path, normal(6, 4), normal(5, dtype="float64"), tolerance=2e-5)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (2, 2, 5, 5)])
def test_determinants_of_complex_matrices(
    dtype: str, shape: tuple[int, ...], tmp_path: pathlib.Path
) -> None:
    """Rows are swapped; a singular matrix has the determinant 0."""

    def f(x: Any, y: Any) -> Any:
        z = tf.complex(x, y)
        values = [tf.linalg.det(z), *tf.linalg.slogdet(z), tf.linalg.det(z * 0.0)]
        values += tf.linalg.slogdet(z * 0.0)[:1]
        return [part for v in values for part in (tf.math.real(v), tf.math.imag(v))]

    real = "float32" if dtype == "complex64" else "float64"
    x = normal(*shape, dtype=real)
    compare(f, tmp_path, x, normal(*shape, dtype=real)[..., ::-1].copy() + x.T.reshape(x.shape),
            tolerance=1e-4 if real == "float32" else 1e-11)  # fmt: skip


def test_floats_are_rounded_once(tmp_path: pathlib.Path) -> None:
    """float64 to 16 bits: halves between neighbours, and what float32 rounds to such a half."""
    half = np.arange(1024, 1064, dtype=np.float64) + 0.5
    x = np.concatenate(
        [half, half * (1 + 1e-10), half * (1 - 1e-10), [65519.9999, 65520, 1e300, 0, -0.0, np.inf],
         [np.nan, 2.0**-25 * (1 + 1e-12), 2.0**-25, 2.0**-24, 1e-320]]
    )  # fmt: skip
    x = np.concatenate([x, -x, normal(500, dtype="float64")])
    concrete = tf.function(lambda x: tf.cast(x, tf.float16)).get_concrete_function(
        tf.TensorSpec(x.shape, x.dtype, name="x")
    )
    library = Loaded(intaglio.export_library(concrete, tmp_path / "model", kinds=["shared"]))
    found = library.call("run", {"x": x})["output"]
    library.close()
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, x.astype(np.float16))


def test_shapes_that_are_data(tmp_path: pathlib.Path) -> None:
    """What they broadcast to, and where parts of what is joined begin; wrong ones are errors."""

    def f(a: Any, b: Any) -> Any:
        shapes = [b, b + tf.constant([0, 2, 0]), b]
        offsets = tf.raw_ops.ConcatOffset(concat_dim=1, shape=shapes)
        return [tf.broadcast_dynamic_shape(a, b), *offsets]

    compare(f, tmp_path, np.array([3, 1], np.int32), np.array([2, 1, 5], np.int32))
    with pytest.raises(RuntimeError, match="Incompatible shapes between s0 and s1"):
        compare(f, tmp_path / "other", np.array([3, 4], np.int32), np.array([2, 1, 5], np.int32))
