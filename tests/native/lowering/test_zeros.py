"""The sign of zeros: what is added to zeros is not -0."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.complex64])
@pytest.mark.parametrize("indices", [[[1], [0]], [[1], [1]]])
def test_updates_of_minus_zero_scatter_to_zero(dtype: tf.DType, indices: list[Any]) -> None:
    def f(x: Any) -> Any:
        return tf.scatter_nd(indices, tf.cast(x, dtype), [3])

    x = tf.constant([-0.0, -0.0])
    for run in (f, tf.function(f), tf.function(f, jit_compile=True)):
        assert not np.signbit(np.real(run(x).numpy())).any()
