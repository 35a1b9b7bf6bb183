"""`tf.nest`: functions on nested structures.

Follows https://www.tensorflow.org/api_docs/python/tf/nest.
"""

from intaglio.base.nest import (
    assert_same_structure,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
)

__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
