"""Pooling by ratios that are no whole numbers: `tf.nn.fractional_max_pool` and its sibling.

Follows https://www.tensorflow.org/api_docs/python/tf/nn/fractional_max_pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.runtime import random_state


@dispatchable
def fractional_max_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """(maxima, ends of the rows' windows, ends of the columns'): windows of two sizes.

    `value` is [batch, height, width, channels]. `pooling_ratio` is the factor by which height and
    width shrink, at least 1: a number for both, or four of which the first and last are 1.
    The ends are int64, from 0 to the size. Their distances, which differ by one at most, are
    drawn in any order, or with `pseudo_random` evenly spaced from a random start.
    `overlapping` windows take the first row and column of the next ones too. With `seed` 0 the
    windows are others at each call; with another one, the same. Raises ValueError for ratios of
    batch or channels other than 1, InvalidArgumentError for ratios below 1 or above a size.

    https://www.tensorflow.org/api_docs/python/tf/nn/fractional_max_pool

    >>> row = tf.reshape([20.0, 5.0, 16.0, 3.0, 7.0], [1, 1, 5, 1])
    >>> pooled, rows, columns = tf.nn.fractional_max_pool(row, [1, 1, 2.5, 1], seed=3)
    >>> tf.reshape(pooled, [-1]).numpy(), columns.numpy()
    (array([20., 16.], dtype=float32), array([0, 2, 5]))
    """
    if isinstance(pooling_ratio, (list, tuple)):
        ratios: list[float] = [float(r) for r in pooling_ratio]
    else:
        ratios = [1.0, float(pooling_ratio), float(pooling_ratio), 1.0]
    if ratios[0] != 1 or ratios[-1] != 1:
        raise ValueError(
            "`pooling_ratio` should have first and last elements with value 1.0: batch and "
            f"channels are not pooled. Received: pooling_ratio={pooling_ratio}"
        )
    return raw.FractionalMaxPool(
        value,
        pooling_ratio=ratios,
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        **_seeds(seed),
        name=name,
    )


@dispatchable
def fractional_avg_pool(
    value: Any,
    pooling_ratio: Sequence[float],
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> Any:
    """(means, ends of the rows' windows, ends of the columns'): windows of two sizes.

    As `tf.nn.fractional_max_pool`, but `pooling_ratio` are four numbers, of which the first and
    last are 1.

    https://www.tensorflow.org/api_docs/python/tf/nn/fractional_avg_pool

    >>> row = tf.reshape([20.0, 4.0, 16.0, 3.0, 8.0], [1, 1, 5, 1])
    >>> pooled, rows, columns = tf.nn.fractional_avg_pool(row, [1, 1, 2.5, 1], seed=3)
    >>> tf.reshape(pooled, [-1]).numpy(), columns.numpy()
    (array([12.,  9.], dtype=float32), array([0, 2, 5]))
    """
    if not isinstance(pooling_ratio, (list, tuple)):
        raise TypeError(
            "Expected list for 'pooling_ratio' argument to 'fractional_avg_pool' Op, not "
            f"{pooling_ratio}."
        )
    return raw.FractionalAvgPool(
        value,
        pooling_ratio=[float(r) for r in pooling_ratio],
        pseudo_random=pseudo_random,
        overlapping=overlapping,
        **_seeds(seed),
        name=name,
    )


def _seeds(seed: int) -> dict[str, Any]:
    if seed == 0:
        return {"deterministic": False}
    first, second = random_state.op_seeds(seed)
    return {"deterministic": True, "seed": first, "seed2": second}


__all__ = ["fractional_avg_pool", "fractional_max_pool"]
