"""Feature crosses: all combinations of the values of several columns, row by row.

Follows https://www.tensorflow.org/api_docs/python/tf/ragged/cross.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef.dispatch import dispatchable
from intaglio.ragged import crosses


@dispatchable
def cross(inputs: Any, name: str | None = None) -> Any:
    """The combinations of one value of each input, in every row, joined with `_X_`.

    Inputs are ragged tensors, or tensors of rank 2, of integers or strings, with equally
    many rows. Raises TypeError if `inputs` is no list, ValueError for other dtypes.

    https://www.tensorflow.org/api_docs/python/tf/ragged/cross

    >>> tf.ragged.cross([tf.ragged.constant([["a", "b"]]), tf.ragged.constant([["c"]])])
    <tf.RaggedTensor [[b'a_X_c', b'b_X_c']]>
    """
    return crosses.cross(inputs, False, 0, None, name)


@dispatchable
def cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> Any:
    """The combinations of one value of each input, in every row, as hashes.

    Hashes are below `num_buckets`, or any if it is 0; `hash_key` changes them.

    https://www.tensorflow.org/api_docs/python/tf/ragged/cross_hashed

    >>> tf.ragged.cross_hashed([tf.ragged.constant([["a"]])], num_buckets=100).shape
    TensorShape([1, None])
    """
    return crosses.cross(inputs, True, num_buckets, hash_key, name)
