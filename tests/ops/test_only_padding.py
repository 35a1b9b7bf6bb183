"""Convolutions and their gradients are exactly 0 where nothing but padding is seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from intaglio import tf

# (images, filter, strides, padding, dilations) of two dimensions; explicit paddings are a list.
CASES: list[tuple[Any, ...]] = [
    ((64, 1, 16, 32), (3, 3), 1, [[4, 1], [1, 1]], 1),
    ((64, 2, 16, 32), (3, 3), 1, [[6, 0], [1, 1]], 1),
    ((64, 16, 2, 32), (3, 3), 1, [[1, 1], [0, 6]], 1),
    ((32, 16, 16, 32), (3, 3), 1, [[3, 5], [7, 3]], 1),
    ((64, 1, 1, 16), (3, 3), 1, "SAME", 1),
    ((64, 1, 12, 16), (3, 3), 1, "SAME", 1),
    ((64, 2, 12, 16), (3, 3), 1, "SAME", 1),
    ((16, 8, 8, 16), (3, 3), 1, [[4, 4], [0, 0]], 1),
    ((16, 8, 8, 16), (3, 3), 1, [[8, 0], [1, 8]], 1),
    ((64, 1, 1, 16), (3, 3), 1, [[2, 2], [2, 2]], 1),
    ((64, 1, 1, 16), (3, 3), 1, [[3, 0], [0, 3]], 1),
    ((32, 2, 2, 16), (5, 5), 1, "SAME", 1),
    ((32, 3, 3, 16), (3, 3), 1, "SAME", 4),
    ((32, 3, 3, 16), (3, 3), 2, "SAME", 1),
    ((32, 2, 7, 16), (3, 3), 3, [[3, 2], [0, 5]], 1),
    ((32, 4, 4, 16), (3, 3), 5, "SAME", 1),
    ((32, 1, 1, 3), (7, 7), 2, "SAME", 1),
    ((32, 6, 6, 64), (3, 3), 1, [[6, 6], [6, 6]], 2),
]


def _options(strides: int, padding: Any, dilations: int) -> dict[str, Any]:
    explicit = padding if isinstance(padding, str) else [[0, 0], *padding, [0, 0]]
    return {"strides": strides, "padding": explicit, "dilations": dilations}


def _given(case: tuple[Any, ...], kind: str, dtype: Any) -> tuple[tf.Tensor, tf.Tensor]:
    shape, window = case[:2]
    draw = np.random.default_rng(3)
    # Each channel by itself has one filter.
    deep = (shape[-1], 1 if kind == "depthwise" else 24)
    x, w = (1 + draw.random(dims) for dims in (shape, (*window, *deep)))
    return tf.constant(x.astype(np.float32).astype(dtype)), tf.constant(
        w.astype(np.float32).astype(dtype)
    )


def _results(case: tuple[Any, ...], kind: str, dtype: Any, compiled: bool) -> list[Any]:
    """The convolution, and its gradients by images and filters."""
    _, _, strides, padding, dilations = case
    options = _options(strides, padding, dilations)

    def run(x: tf.Tensor, w: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            if kind == "depthwise":
                steps = {"strides": [1, strides, strides, 1], "dilations": [dilations] * 2}
                y = tf.nn.depthwise_conv2d(x, w, padding=options["padding"], **steps)
            else:
                y = tf.nn.conv2d(x, w, **options)
            pattern = tf.cast(1 + tf.range(tf.size(y)) * 79 % 101, y.dtype)
            y *= tf.reshape(pattern, tf.shape(y))
        return [y, *tape.gradient(y, [x, w])]

    call = tf.function(run, jit_compile=True) if compiled else run
    return [v.numpy() for v in call(*_given(case, kind, dtype))]


@pytest.fixture(params=[False, True], ids=["", "fast"])
def fast(request: pytest.FixtureRequest) -> Iterator[None]:
    """With transforms that are exact to the last digits, and with faster ones."""
    before = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(request.param)
    yield
    tf.config.experimental.enable_tensor_float_32_execution(before)


@pytest.mark.usefixtures("fast")
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("kind", ["conv2d", "depthwise"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_exactly_zero(case: tuple[Any, ...], kind: str, compiled: bool) -> None:
    if kind == "depthwise" and (not isinstance(case[3], str) or min(case[2], case[4]) > 1):
        pytest.skip("depthwise convolutions with explicit paddings are asked for by raw ops only")
    got = _results(case, kind, np.float32, compiled)
    exact = _results(case, kind, np.float64, False)
    # All numbers are positive: sums are 0 where there is nothing to add.
    for mine, right in zip(got, exact, strict=True):
        assert np.array_equal(mine == 0, right == 0)
        np.testing.assert_allclose(mine, right, rtol=2e-3)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "jit"])
def test_volumes(compiled: bool) -> None:
    def run(x: tf.Tensor, w: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.nn.conv3d(x, w, [1] * 5, "SAME")
        return tape.gradient(y, [x, w])

    draw = np.random.default_rng(4)
    x = tf.constant((1 + draw.random((16, 1, 2, 8, 8))).astype(np.float32))
    w = tf.constant((1 + draw.random((3, 3, 3, 8, 8))).astype(np.float32))
    _, by_filter = (tf.function(run, jit_compile=True) if compiled else run)(x, w)
    outside = by_filter.numpy()[[0, 2]]
    assert not outside.any()
    assert by_filter.numpy()[1].all()


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "complex64"])
@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC"])
@pytest.mark.parametrize("seed", range(6))
def test_gradient_of_mirrored_padding(seed, mode, dtype):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, rng.integers(1, 4)).tolist()
    most = [n - (mode == "REFLECT") for n in sizes]
    paddings = np.array([[rng.integers(0, n + 1), rng.integers(0, n + 1)] for n in most], np.int32)
    x = rng.standard_normal([n + a + b for n, (a, b) in zip(sizes, paddings, strict=True)])
    x = (x + 1j * x[::-1] if dtype == "complex64" else 9 * x).astype(dtype)
    where = np.pad(np.arange(np.prod(sizes)).reshape(sizes), paddings, mode.lower())
    got = tf.raw_ops.MirrorPadGrad(input=x, paddings=paddings, mode=mode).numpy()
    assert got.dtype == x.dtype
    want = np.zeros(np.prod(sizes), "complex128" if dtype == "complex64" else "float64")
    np.add.at(want, where.reshape(-1), x.reshape(-1))
    tolerance = 2e-2 if dtype == "float16" else 1e-5
    np.testing.assert_allclose(got.reshape(-1), want, rtol=tolerance, atol=tolerance * 30)


INF, NAN = np.inf, np.nan
# (strides, padding, dilations, groups)
WINDOWS: list[tuple[int, Any, int, int]] = [
    (1, "SAME", 1, 1),
    (2, "SAME", 1, 1),
    (1, "SAME", 2, 1),
    (1, [[0, 2], [1, 1]], 1, 1),
    (1, "SAME", 1, 4),
    (1, "VALID", 1, 1),
]


def _by_products(x: np.ndarray, w: np.ndarray, d: Any, case: tuple[Any, ...]) -> list[np.ndarray]:
    """The convolution and its gradients, product by product; what is on padding is none."""
    strides, padding, dilations, groups = case
    (n, *sizes, _), (*window, inner, outputs) = x.shape, w.shape
    reach = [(k - 1) * dilations + 1 for k in window]
    if padding == "SAME":
        outs = [-(-s // strides) for s in sizes]
        free = [
            max((o - 1) * strides + r - s, 0) for o, r, s in zip(outs, reach, sizes, strict=True)
        ]
        before = [f // 2 for f in free]
    else:
        ends = padding if isinstance(padding, list) else [[0, 0]] * 2
        before = [a for a, _ in ends]
        outs = [
            (s + a + b - r) // strides + 1 for s, (a, b), r in zip(sizes, ends, reach, strict=True)
        ]
    y, each = np.zeros((n, *outs, outputs)), outputs // groups
    d = np.ones(y.shape) if d is None else d
    by_x, by_w = np.zeros(x.shape), np.zeros(w.shape)
    for i, j, a, b in np.ndindex(*outs, *window):
        row, column = (
            o * strides + k * dilations - p for o, k, p in zip((i, j), (a, b), before, strict=True)
        )
        if not (0 <= row < sizes[0] and 0 <= column < sizes[1]):
            continue
        for g in range(groups):
            own, others = slice(g * inner, (g + 1) * inner), slice(g * each, (g + 1) * each)
            y[:, i, j, others] += x[:, row, column, own] @ w[a, b, :, others]
            by_x[:, row, column, own] += d[:, i, j, others] @ w[a, b, :, others].T
            by_w[a, b, :, others] += x[:, row, column, own].T @ d[:, i, j, others]
    return [y, by_x, by_w]


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("where", ["filter", "image", "gradient"])
@pytest.mark.parametrize("value", [INF, NAN])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("case", WINDOWS, ids=str)
def test_infinities_and_nan_reach_what_sees_them(
    case: tuple[Any, ...], dtype: str, value: float, where: str, graph: bool
) -> None:
    """No more is NaN than products say, in what transforms, or matrices of windows, compute."""
    strides, padding, dilations, groups = case
    draw = np.random.default_rng(7)
    x = draw.integers(1, 3, (8, 9, 8, 16)).astype(np.float64)
    w = draw.integers(1, 3, (3, 3, 16 // groups, 16)).astype(np.float64)
    d = draw.integers(1, 3, _by_products(x, w, None, case)[0].shape).astype(np.float64)
    given = {"filter": w, "image": x, "gradient": d}[where]
    given[0, 0, 0] = value
    given.reshape(-1)[-1] = value
    options = _options(strides, padding, dilations)

    def run(x: Any, w: Any, d: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.nn.conv2d(x, w, **options)
        return [y, *tape.gradient(y, [x, w], d)]

    with np.errstate(all="ignore"):
        want = _by_products(x, w, d, case)
    got = (tf.function(run) if graph else run)(*[tf.cast(v, dtype) for v in (x, w, d)])
    for mine, right in zip(got, want, strict=True):
        np.testing.assert_allclose(tf.cast(mine, tf.float64), right, rtol=1e-2)


def test_volumes_with_infinite_weights() -> None:
    x, w = np.ones((2, 3, 5, 5, 8), np.float32), np.ones((3, 3, 3, 8, 8), np.float32)
    w[0, 0, 0] = INF
    y = tf.nn.conv3d(x, w, [1] * 5, "SAME").numpy()
    assert not np.isnan(y).any()
    assert np.isinf(y[:, 1:, 1:, 1:]).all()
    assert np.isfinite(y[:, 0]).all()
