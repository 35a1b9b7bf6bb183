"""The dtypes of Fourier transforms of what is no tensor yet. TensorFlow 2.21 was asked for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

# Input, dtype of the transform. In a graph TensorFlow keeps complex128 of arrays, which eager calls do not.
CASES = [
    ([1 + 0j, 2], "complex128"),
    ([1j], "complex128"),
    ((1j, 2), "complex128"),
    ([np.complex64(1j), 1], "complex128"),
    ([1.0, 2.0], "complex64"),
    ([1, 2], "complex64"),
    (np.array([1.0, 2.0]), "complex64"),
    (np.array([1, 2]), "complex64"),
    (np.array([1j, 2]), "complex64"),
    (np.array([1j, 2], np.complex64), "complex64"),
    (tf.constant([1j]), "complex128"),
]


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize(("value", "dtype"), CASES)
def test_dtype(value: Any, dtype: str, inverse: bool, rank: int) -> None:
    name = ("ifft" if inverse else "fft") + (f"{rank}d" if rank > 1 else "")
    transform = getattr(tf.signal, name)
    for _ in range(rank - 1):
        value = [value] if isinstance(value, (list, tuple)) else value[None]
    assert transform(value).dtype.name == dtype
    assert tf.function(lambda: transform(value))().dtype.name == dtype
    expected = (np.fft.ifftn if inverse else np.fft.fftn)(np.asarray(value))
    np.testing.assert_allclose(transform(value).numpy(), expected, rtol=1e-6, atol=1e-6)


def test_real_tensors_are_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="'Tcomplex' of float is not in"):
        tf.signal.fft(tf.constant([1.0]))
    with pytest.raises(TypeError, match="DataType float32 not in list of allowed values"):
        tf.function(lambda: tf.signal.fft(tf.constant([1.0])))()
