"""Reductions of the elements that share a key.

Follows https://www.tensorflow.org/api_docs/python/tf/data/experimental/group_by_reducer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.data import folding
from intaglio.data.dataset import Dataset
from intaglio.data.folding import Reducer


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Apply:
    """A transformation to one element for each key, computed by `reducer`, in the order of the keys.

    >>> total = tf.data.experimental.Reducer(
    ...     lambda key: tf.constant(0, tf.int64), lambda total, x: total + x, lambda total: total
    ... )
    >>> numbers = tf.data.Dataset.range(6)
    >>> [int(x) for x in numbers.apply(tf.data.experimental.group_by_reducer(lambda x: x % 2, total))]
    [6, 9]
    """
    if not isinstance(reducer, Reducer):
        raise TypeError(f"`reducer` must be a `tf.data.experimental.Reducer`, got {reducer!r}")
    functions = reducer.init_func, reducer.reduce_func, reducer.finalize_func
    return lambda dataset: folding.reduced_by_key(dataset, key_func, *functions)


Apply = Callable[[Dataset], Dataset]


__all__ = ["Apply", "group_by_reducer"]
