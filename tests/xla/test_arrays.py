"""The arrays that recorded kernels write to: views of them agree, or refuse to be written to."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from intaglio.xla.arrays import Array, wrapped
from intaglio.xla.numpy_module import MODULE as xnp
from intaglio.xla.values import Untraceable


def both(function):
    """The function's result for known elements and for those that a program computes."""
    x = np.arange(12.0).reshape(3, 4)
    known = np.asarray(function(wrapped(x.copy())).value)
    traced = jax.jit(lambda v: function(Array(v)).value)(x)
    np.testing.assert_array_equal(known, traced)
    return known


def _written_view(x):
    part = x[1:].reshape(-1)
    part[::2] = -1.0
    return x


def _written_transpose(x):
    x.T[0] += 100.0
    return x


def _taken_out(x):
    xnp.take(x, wrapped(np.array([2, 0, 1])), axis=0, out=x)
    return x


def _base_shows_views(x):
    part = x[:2]
    assert part.base is not None and x.base is None and (x + 1).base is None
    return part


@pytest.mark.parametrize(
    "function", [_written_view, _written_transpose, _taken_out, _base_shows_views]
)
def test_as_numpy(function):
    with jax.enable_x64(True):
        got = both(function)
    x = np.arange(12.0).reshape(3, 4)
    if function is _written_view:
        x[1:].reshape(-1)[::2] = -1.0
    elif function is _written_transpose:
        x.T[0] += 100.0
    elif function is _taken_out:
        x = x[[2, 0, 1]]
    else:
        x = x[:2]
    np.testing.assert_array_equal(got, x)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: xnp.diagonal(x),
        lambda x: xnp.einsum("ii->i", x[:, :3]),
        lambda x: xnp.flip(x, 0),
        lambda x: xnp.split(x, 3)[0],
        lambda x: xnp.broadcast_to(x, (2, 3, 4)),
    ],
)
def test_other_views_follow_their_array_and_refuse_writes(view):
    def run(x):
        part = view(x)
        with pytest.raises(Untraceable):
            part[...] = 0.0
        x += 1.0
        return part

    with jax.enable_x64(True):
        got = both(run)
        assert got.size
        np.testing.assert_array_equal(got, view(wrapped(np.arange(1.0, 13.0).reshape(3, 4))).value)
