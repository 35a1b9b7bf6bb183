"""Softmax of long rows of 16-bit floats has the same bits eagerly, in graphs and in machine code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf


@pytest.mark.parametrize("shape", [(200_000,), (2, 70_000), (3, 65_536), (40, 1000)])
@pytest.mark.parametrize("function", [tf.nn.softmax, tf.nn.log_softmax])
@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_modes_agree(dtype: Any, function: Any, shape: tuple[int, ...]) -> None:
    x = tf.cast(np.random.default_rng(0).normal(size=shape) * 4, dtype)
    want = function(x).numpy().view(np.uint16)
    for jit in (False, True):
        run = tf.function(lambda x: function(x), jit_compile=jit)
        for _ in range(2):
            np.testing.assert_array_equal(run(x).numpy().view(np.uint16), want)
