"""16-bit floats: what has several steps is computed in float32 and rounded once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import raw

NAMES = sorted(name for name, op in raw.catalogue().items() if op.computes_wide)
HALVES = (tf.float16, tf.bfloat16)


def _inputs(count: int, dtype: Any) -> list[tf.Tensor]:
    """Numbers of all sizes, and those at the ends of the range."""
    draw = np.random.default_rng(0)
    sizes = np.exp2(draw.uniform(-14, 5, (count, 4000)))
    x = sizes * draw.choice([-1, 1], sizes.shape)
    x[:, :8] = [0.0, -0.0, 1.0, -1.0, 11.5, -11.5, -15.0, 17.0]
    return [tf.cast(tf.constant(row), dtype) for row in x]


def _distance(x: Any, y: Any) -> int:
    """How many numbers of their dtype lie between two, at most; NaN is as far as NaN."""
    bits = []
    for a in (x, y):
        a = np.where(np.isnan(a), a.dtype.type(0), a)
        whole = a.view(np.int16).astype(np.int64)
        bits.append(np.where(whole < 0, -(whole & 0x7FFF), whole))
    assert np.array_equal(np.isnan(x), np.isnan(y))
    return int(np.abs(bits[0] - bits[1]).max())


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_as_float32_rounded(name: str, dtype: Any, compiled: bool) -> None:
    op = getattr(tf.raw_ops, name)
    names = raw.catalogue()[name].input_names
    given = _inputs(len(names), dtype)

    def run(*tensors: tf.Tensor) -> Any:
        return op(**dict(zip(names, tensors, strict=True)))

    got = (tf.function(run, jit_compile=True) if compiled else run)(*given)
    want = tf.cast(run(*[tf.cast(x, tf.float32) for x in given]), dtype)
    # Differences of exponentials lose what two libraries do not agree on.
    assert _distance(got.numpy(), want.numpy()) <= (2 if compiled else 1)


def test_sigmoid_does_not_underflow() -> None:
    x = tf.constant([-12.0, -15.0, -17.0], tf.float16)
    for f in (tf.sigmoid, tf.function(tf.sigmoid, jit_compile=True)):
        np.testing.assert_allclose(f(x).numpy(), np.exp([-12.0, -15.0, -17.0]), rtol=0.5)


def test_composed_functions() -> None:
    x = _inputs(1, tf.float16)[0]
    for f in (tf.nn.silu, tf.math.log_sigmoid, tf.nn.softmax, tf.math.softplus, tf.nn.gelu):
        got, want = f(x).numpy(), tf.cast(f(tf.cast(x, tf.float32)), tf.float16).numpy()
        np.testing.assert_allclose(got, want, rtol=4e-3, atol=2e-3, err_msg=f.__name__)


def test_the_family() -> None:
    assert {"Sigmoid", "SigmoidGrad", "Softplus", "Elu", "Selu", "Xlogy"} <= {*NAMES}
