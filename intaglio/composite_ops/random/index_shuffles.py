"""Permutations that are never written out."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.opdef import raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor

# What TensorFlow takes as the first word of the key.
FIRST = 498247692


@dispatchable
def index_shuffle(index: Any, seed: Any, max_index: Any) -> Tensor:
    """The position of `index` in the permutation of 0 to `max_index` determined by `seed`.

    `index` and `max_index`, of one integer dtype, are scalars or vectors; `seed` is two integers
    or [n, 2]. Scalars go with every element of the vectors, each of which is an index of its own.
    The result has the shape of the vectors and the dtype of `index`. Raises InvalidArgumentError
    for an index outside the range, and for sizes that differ.

    https://www.tensorflow.org/api_docs/python/tf/random/experimental/index_shuffle

    >>> tf.random.experimental.index_shuffle(tf.range(4), seed=[5, 9], max_index=3).numpy()
    array([2, 0, 1, 3], dtype=int32)
    """
    key = to_tensor(seed)
    rank = key.shape.rank
    ends = [[0, 0]] * ((rank or 1) - 1) + [[1, 0]]
    words = raw.PadV2(key, np.asarray(ends, np.int32), raw.Cast(np.int32(FIRST), DstT=key.dtype))
    return raw.RandomIndexShuffle(index, words, max_index)


@dispatchable
def random_index_shuffle(
    index: Any, seed: Any, max_index: Any, rounds: int = 4, name: str | None = None
) -> Tensor:
    """As `tf.random.experimental.index_shuffle`, with three integers as the seed.

    `rounds`, even and at least 4, is how often the bits are mixed.

    https://www.tensorflow.org/api_docs/python/tf/random_index_shuffle

    >>> tf.random_index_shuffle(tf.range(5), [1, 2, 3], max_index=4).numpy().tolist()
    [2, 0, 3, 4, 1]
    """
    return raw.RandomIndexShuffle(index, seed, max_index, rounds=rounds, name=name)


__all__ = ["FIRST", "index_shuffle", "random_index_shuffle"]
