"""`tf.sets`: the innermost rows of tensors and sparse tensors as sets.

Follows https://www.tensorflow.org/api_docs/python/tf/sets.
"""

from __future__ import annotations

from intaglio.sparse.sets import difference, intersection, size, union

__all__ = ["difference", "intersection", "size", "union"]
