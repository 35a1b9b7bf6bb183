"""`tf.ragged`: creation, masking, stacking and crossing of ragged tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/ragged. Most functions of `tf` take
ragged tensors; what is here is for them alone.
"""

from intaglio.ragged.construction import (
    boolean_mask,
    constant,
    map_flat_values,
    range,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack,
    stack_dynamic_partitions,
)
from intaglio.tf.ragged.crossing import cross, cross_hashed

__all__ = [
    "boolean_mask",
    "constant",
    "cross",
    "cross_hashed",
    "map_flat_values",
    "range",
    "row_splits_to_segment_ids",
    "segment_ids_to_row_splits",
    "stack",
    "stack_dynamic_partitions",
]
