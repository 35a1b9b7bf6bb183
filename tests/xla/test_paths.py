"""Kernels that ask for data: each path is recorded, and the data selects."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from intaglio.base.errors import invalid_argument
from intaglio.xla.arrays import Array
from intaglio.xla.paths import MAX_RUNS, selected
from intaglio.xla.values import Untraceable


def computed(kernel, x):
    """The kernel's result, recorded for `x` as a tracer."""
    return jax.jit(lambda v: selected(lambda: [kernel(Array(v)).value]))(jnp.asarray(x))[0]


def _two_conditions(x):
    y = x * 2.0
    if (x > 1.0).any():
        y = y + 10.0
        if (x > 5.0).all():
            return y * 0.0
    if (x < 0.0).any():
        y -= 1.0
    return y


def _a_loop_with_an_end(x):
    total = x * 1.0
    for _ in range(5):
        if (total > 20.0).any():
            break
        total = total * 2.0
    return total


@pytest.mark.parametrize("kernel", [_two_conditions, _a_loop_with_an_end])
@pytest.mark.parametrize("x", [[0.5, 0.25], [2.0, 0.0], [2.0, -1.0], [6.0, 7.0], [-3.0, 0.0]])
def test_the_data_selects_the_path(kernel, x):
    x = np.asarray(x, np.float32)
    np.testing.assert_array_equal(computed(kernel, x), kernel(x))


def test_paths_that_raise_are_left_out():
    def kernel(x):
        if (x < 0).any():
            raise invalid_argument(f"a negative number: {x[0]:g}")
        return x + 1.0

    np.testing.assert_array_equal(computed(kernel, np.float32([-1, 2])), [0.0, 3.0])


def test_shapes_and_endless_courses_are_refused():
    with pytest.raises(Untraceable, match="the shape of its result"):
        computed(lambda x: x[:1] if (x > 0).any() else x, np.ones(3, np.float32))

    def doubled(x):
        while (x < 100.0).any():
            x = x * 2.0
        return x

    with pytest.raises(Untraceable, match="more ways"):
        computed(lambda x: doubled(doubled(x)) if (x > MAX_RUNS).any() else _halved(x), np.ones(2))


def _halved(x):
    while not (x < 1e-30).all():
        x = x / 2.0
    return x
