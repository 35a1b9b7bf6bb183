"""Errors of a library that depend on data: conditions that its code asserts, and their texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.opdef import raw

# As TensorFlow's kernels say it where they have a text for it.
INCOMPATIBLE_SHAPES = "Incompatible shapes"
INCOMPATIBLE_PARTS = "all dimensions except that of the concatenation must match"
INDEX_OUT_OF_RANGE = "an index is out of range"
SLICE_OUT_OF_BOUNDS = "slice index out of bounds"
NO_ELEMENTS = "there are no elements to choose from"
FEWER_THAN_K = "input must have at least k columns"
NEGATIVE_SIZE = "dims must not be negative"
RANGE_WITHOUT_END = "Requires start <= limit when delta > 0, start >= limit when delta < 0"
NEGATIVE_OUTPUT_SIZE = "max_output_size must be non-negative"
THRESHOLD_OUT_OF_RANGE = "iou_threshold must be in [0, 1]"
IDS_NOT_SORTED = "segment ids are not increasing"
PARTITION_OUT_OF_RANGE = "a partition is not in [0, num_partitions)"
POSITION_OUT_OF_RANGE = "pos out of range for a string"
NO_NUMBER = "a text is no number of the dtype"
TOO_MANY_DIGITS = "a float has more decimal digits than the library writes"
NO_CODE_POINT = "a text is not UTF-8"
TOO_MANY_STEPS = "a length is greater than the number of steps"
FEWER_PATHS = "Less leaves in the beam search than requested"
SINGULAR = "the matrix is singular"


def too_many(limit: int) -> str:
    """Of rows for which a library has no memory."""
    return f"more than {limit} elements, which the library has memory for"


def asserted(condition: Any, message: str, name: str = "") -> None:
    """An error of the library where a condition, of one element or of several, does not hold.

    `name` is that of the op, which the text begins with.
    """
    if condition.dims:
        condition = raw.All(condition, np.arange(len(condition.dims), dtype=np.int32))
    raw._Refusal(condition, text=f"{name}: {message}" if name else message)
