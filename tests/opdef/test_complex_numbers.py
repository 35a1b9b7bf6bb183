"""Machine code instead of NumPy for functions of large arrays of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import raw
from intaglio.opdef.complex_numbers import MIN_ELEMENTS

NAMES = sorted(name for name, op in raw.catalogue().items() if op.compiled_when_complex)


def _operands(op: Any, count: int, dtype: str) -> list[tf.Tensor]:
    """Numbers in all quarters, near zero and of some size."""
    draw = np.random.default_rng(1)
    sizes = np.exp(draw.uniform(-6, 1.5, (len(op.input_names), count)))
    angles = draw.uniform(-np.pi, np.pi, sizes.shape)
    return [tf.constant(x) for x in (sizes * np.exp(1j * angles)).astype(dtype)]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", NAMES)
def test_values_are_numpys_up_to_rounding_and_one_in_all_modes(name: str, dtype: str) -> None:
    op = raw.find(name)
    operands = _operands(op, MIN_ELEMENTS, dtype)
    large = op(*operands).numpy()
    graph = tf.function(lambda *xs: op(*xs))(*operands).numpy()
    np.testing.assert_array_equal(large, graph)
    pieces = [op(*[x[i::2] for x in operands]).numpy() for i in range(2)]
    rounding = np.finfo(dtype).eps
    for i, small in enumerate(pieces):
        # NumPy has no more digits of log(1 + z) and exp(z) - 1 than of z + 1.
        scale = np.abs(small) + (name in ("Log1p", "Expm1", "Pow"))
        assert np.max(np.abs(large[i::2] - small) / scale) < 64 * rounding


@pytest.mark.parametrize(
    "shapes", [((1, MIN_ELEMENTS), (3, 1)), ((), (MIN_ELEMENTS,)), ((0,), (1,))]
)
def test_operands_broadcast(shapes: Any) -> None:
    x, y = (
        tf.complex(*[tf.random.stateless_uniform(s, (i, 1), 1, 2)] * 2)
        for i, s in enumerate(shapes)
    )
    for op in (raw.RealDiv, raw.Pow):
        got = op(x, y).numpy()
        want = (x.numpy() / y.numpy()) if op is raw.RealDiv else np.power(x.numpy(), y.numpy())
        assert got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=1e-4)


def test_small_arrays_are_numpys() -> None:
    x = tf.complex(tf.linspace(-1.0, 1.0, 16), tf.linspace(2.0, -2.0, 16))
    np.testing.assert_array_equal(tf.exp(x), np.exp(x.numpy()))


def test_gradients_of_large_arrays() -> None:
    z = tf.complex(tf.linspace(0.1, 2.0, MIN_ELEMENTS), tf.linspace(2.0, -2.0, MIN_ELEMENTS))
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = tf.reduce_sum(tf.abs(tf.sin(z)) ** 2)
    wanted = 2 * np.sin(z.numpy()) * np.conj(np.cos(z.numpy()))
    np.testing.assert_allclose(tape.gradient(y, z), wanted, rtol=2e-5, atol=1e-6)
