"""Edit distances between sequences.

Follows https://www.tensorflow.org/api_docs/python/tf/edit_distance.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.sparse.api import as_sparse, is_sparse


@dispatchable
def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """The Levenshtein distances of the innermost rows of two sparse tensors, float32.

    With `normalize` they are divided by the lengths of the true sequences: infinity where
    these are empty, 0 if both are. Raises TypeError for what is not sparse.

    >>> one = tf.SparseTensor([[0, 0], [0, 1]], ["a", "b"], [1, 2])
    >>> two = tf.SparseTensor([[0, 0], [0, 1]], ["a", "c"], [1, 2])
    >>> print(tf.edit_distance(one, two).numpy())
    [0.5]

    https://www.tensorflow.org/api_docs/python/tf/edit_distance
    """
    for what, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not is_sparse(value):
            raise TypeError(f"{what} must be a SparseTensor.")
    a, b = as_sparse(hypothesis), as_sparse(truth)
    return raw.EditDistance(
        a.indices,
        a.values,
        a.dense_shape,
        b.indices,
        b.values,
        b.dense_shape,
        normalize=normalize,
        name=name,
    )


__all__ = ["edit_distance"]
