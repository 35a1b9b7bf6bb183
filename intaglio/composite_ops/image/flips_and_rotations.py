"""Images flipped and rotated.

Follows https://www.tensorflow.org/api_docs/python/tf/image/flip_left_right and its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import int32
from intaglio.composite_ops.array import lengths
from intaglio.composite_ops.image import ranks_and_sizes
from intaglio.composite_ops.random.stateful import uniform
from intaglio.composite_ops.random.stateless import stateless_uniform
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.trace.choices import cond, switch_case

ROWS, COLUMNS = -3, -2


def _flipped(image: Any, axis: int, name: str) -> Tensor:
    with door.level().scoped(name) as scope:
        x = to_tensor(image, None, "image")
        ranks_and_sizes.check_rank(x)
        return raw.ReverseV2(x, [axis], name=scope)


@dispatchable
def flip_left_right(image: Any) -> Tensor:
    """Images with their columns in reverse order.

    >>> tf.image.flip_left_right([[[1], [2]]]).numpy()[0, :, 0]
    array([2, 1], dtype=int32)
    """
    return _flipped(image, COLUMNS, "flip_left_right")


@dispatchable
def flip_up_down(image: Any) -> Tensor:
    """Images with their rows in reverse order.

    >>> tf.image.flip_up_down([[[1]], [[2]]]).numpy()[:, 0, 0]
    array([2, 1], dtype=int32)
    """
    return _flipped(image, ROWS, "flip_up_down")


def _maybe(image: Any, axis: int, draw: Callable[[Any], Tensor], name: str) -> Tensor:
    """Each image of a batch, or the one image, flipped in half of all cases."""
    with door.level().scoped(name):
        x = to_tensor(image, None, "image")
        ranks_and_sizes.check_rank(x)
        if x.dims is None:
            single = raw.Equal(raw.Rank(x), np.int32(3))
            return cond(single, lambda: _one(x, axis, draw), lambda: _each(x, axis, draw))
        if len(x.dims) == 3:
            return _one(x, axis, draw)
        if len(x.dims) != 4:
            raise ValueError(f"'image' (shape {x.shape}) must have either 3 or 4 dimensions.")
        return _each(x, axis, draw)


def _one(x: Tensor, axis: int, draw: Callable[[Any], Tensor]) -> Tensor:
    flip = raw.Less(draw([]), np.float32(0.5))
    return cond(flip, lambda: raw.ReverseV2(x, [axis]), lambda: x)


def _each(x: Tensor, axis: int, draw: Callable[[Any], Tensor]) -> Tensor:
    uniforms = draw(lengths.vector([lengths.of_axis(x, 0)]))
    flip = raw.Reshape(raw.Round(uniforms), [-1, 1, 1, 1])
    flip = raw.Cast(flip, DstT=x.dtype)
    return flip * raw.ReverseV2(x, [axis]) + (1 - flip) * x


@dispatchable
def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """Images flipped left to right, each with a probability of one half.

    >>> tf.image.random_flip_left_right(tf.ones([2, 2, 1]), seed=1).shape
    TensorShape([2, 2, 1])
    """
    return _maybe(image, COLUMNS, lambda n: uniform(n, seed=seed), "random_flip_left_right")


@dispatchable
def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """Images flipped upside down, each with a probability of one half.

    >>> tf.image.random_flip_up_down(tf.ones([2, 2, 1]), seed=1).shape
    TensorShape([2, 2, 1])
    """
    return _maybe(image, ROWS, lambda n: uniform(n, seed=seed), "random_flip_up_down")


@dispatchable
def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """`random_flip_left_right` that depends on the seed (two integers) alone.

    >>> tf.image.stateless_random_flip_left_right([[[1], [2]]], seed=(2, 3)).numpy()[0, :, 0]
    array([2, 1], dtype=int32)
    """
    return _maybe(
        image, COLUMNS, lambda n: stateless_uniform(n, seed), "stateless_random_flip_left_right"
    )


@dispatchable
def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """`random_flip_up_down` that depends on the seed (two integers) alone.

    >>> tf.image.stateless_random_flip_up_down([[[1]], [[2]]], seed=(2, 3)).numpy()[:, 0, 0]
    array([2, 1], dtype=int32)
    """
    return _maybe(
        image, ROWS, lambda n: stateless_uniform(n, seed), "stateless_random_flip_up_down"
    )


def _order(x: Tensor) -> Any:
    """The permutation that exchanges rows and columns."""
    if x.dims is not None:
        if len(x.dims) not in (3, 4):
            raise ValueError(f"'image' (shape {x.shape}) must have either 3 or 4 dimensions.")
        return np.asarray([1, 0, 2] if len(x.dims) == 3 else [0, 2, 1, 3], np.int32)
    rank = raw.Rank(x)
    lead = raw.Range(np.int32(0), rank - 3, np.int32(1))
    return raw.ConcatV2([lead, rank + np.asarray([-2, -3, -1], np.int32)], 0)


@dispatchable
def transpose(image: Any, name: str | None = None) -> Tensor:
    """Images with rows and columns exchanged.

    >>> tf.image.transpose([[[1], [2]]]).numpy()[:, :, 0]
    array([[1],
           [2]], dtype=int32)
    """
    with door.level().scoped(name or "transpose") as scope:
        x = to_tensor(image, None, "image")
        ranks_and_sizes.check_rank(x)
        return raw.Transpose(x, _order(x), name=scope)


@dispatchable
def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """Images rotated counter-clockwise by `k` times 90 degrees.

    >>> tf.image.rot90([[[1], [2]]]).numpy()[:, :, 0]
    array([[2],
           [1]], dtype=int32)
    """
    with door.level().scoped(name or "rot90"):
        x = to_tensor(image, None, "image")
        ranks_and_sizes.check_rank(x)
        order = _order(x)
        rotations: list[Callable[[], Tensor]] = [
            lambda: x,
            lambda: raw.Transpose(raw.ReverseV2(x, [COLUMNS]), order),
            lambda: raw.ReverseV2(x, [ROWS, COLUMNS]),
            lambda: raw.ReverseV2(raw.Transpose(x, order), [COLUMNS]),
        ]
        if isinstance(k, (int, np.integer)):
            return rotations[int(k) % 4]()
        count = to_tensor(k, int32, "k")
        if count.dims not in (None, ()):
            raise ValueError("'k' must be a scalar.")
        return switch_case(raw.FloorMod(count, np.int32(4)), rotations)


__all__ = [
    "flip_left_right",
    "flip_up_down",
    "random_flip_left_right",
    "random_flip_up_down",
    "rot90",
    "stateless_random_flip_left_right",
    "stateless_random_flip_up_down",
    "transpose",
]
