"""Convolutions whose channels are in groups, and their gradients: as many convolutions side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.kernels import selection
from intaglio.ops.nn.convolution import plan_of
from intaglio.ops.nn.convolution_kernels import by_input
from intaglio.ops.nn.convolution_kernels import filter_gradient as by_filters
from intaglio.ops.nn.convolution_kernels import forward as by_windows

# Groups, channels and filters of each, window, stride, dilation: fewer and more filters than lanes,
# numbers of groups that cannot be halved, groups of one channel, one part of all groups.
CASES = [
    (4, 3, 5, (3, 2), 1, 1),
    (3, 4, 7, (2, 3), 1, 2),
    (2, 2, 19, (1, 1), 1, 1),
    (16, 4, 4, (3, 3), 1, 1),
    (6, 1, 2, (3, 3), 2, 1),
    (5, 6, 3, (2, 2), 2, 1),
    (32, 2, 1, (3, 1), 1, 1),
    (12, 3, 3, (1, 1), 2, 1),
]


def _arrays(case: Any, padding: str, dtype: str) -> Any:
    groups, inner, each, window, stride, dilation = case
    draw = np.random.default_rng(groups)
    x = draw.standard_normal((2, 9, 11, groups * inner)).astype(dtype)
    filters = draw.standard_normal((*window, inner, groups * each)).astype(dtype)
    plan = plan_of(4, (1, stride, stride, 1), padding, "NHWC", (1, dilation, dilation, 1))
    along = plan.axes(x.shape[1:-1], window)
    d = draw.standard_normal((2, *[a.out for a in along], groups * each)).astype(dtype)
    return x, filters, d, along


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_each_group_is_a_convolution(case: Any, padding: str, dtype: str) -> None:
    groups, inner, each = case[:3]
    x, filters, d, along = _arrays(case, padding, dtype)
    name = "" if dtype == "float32" else "doubled_"
    shapes = x.shape, filters.shape, tuple(along)

    def of(array: Any, size: int) -> list[Any]:
        parts = [array[..., g * size : (g + 1) * size] for g in range(groups)]
        return [np.ascontiguousarray(p) for p in parts]

    parts = list(zip(of(x, inner), of(filters, each), of(d, each), strict=True))
    wanted = {
        "forward": [by_windows(i, f, along) for i, f, _ in parts],
        "filter_gradient": [by_filters(i, o, along) for i, _, o in parts],
        "input_gradient": [by_input(o, f, along) for _, f, o in parts],
    }
    arrays = {"forward": (x, filters), "filter_gradient": (x, d), "input_gradient": (filters, d)}
    for kernel, want in wanted.items():
        run = getattr(selection, name + kernel)(*shapes)
        if run is None:
            # Strided gradients of many groups have no kernel.
            assert kernel == "input_gradient" and case[4] > 1
            continue
        whole = np.concatenate(want, -1)
        got = run(*arrays[kernel])
        assert got.shape == whole.shape
        tolerance = 1e-4 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(got, whole, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("filters", [(3, 3, 0, 4), (3, 3, 3, 4), (3, 3, 2, 5)])
def test_channels_that_cannot_be_divided_have_no_kernel(filters: Any) -> None:
    along = plan_of(4, (1, 1, 1, 1), "SAME", "NHWC", (1, 1, 1, 1)).axes((6, 6), filters[:2])
    assert selection.forward((1, 6, 6, 8), filters, tuple(along)) is None


def test_a_step_of_training_is_machine_code() -> None:
    draw = np.random.default_rng(3)
    images = tf.constant(draw.standard_normal((2, 12, 14, 24)), tf.float32)
    weights = tf.constant(draw.standard_normal((3, 3, 3, 40)), tf.float32)

    def gradients(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            loss = tf.reduce_sum(tf.tanh(tf.nn.conv2d(x, w, 1, "SAME")))
        return tape.gradient(loss, [x, w])

    compiled = tf.function(gradients, jit_compile=True)
    for got, want in zip(compiled(images, weights), gradients(images, weights), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
    assert "NumPy" not in compiled.compile_report()
