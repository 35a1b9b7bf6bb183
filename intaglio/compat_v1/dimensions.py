"""Sizes of shapes, which TensorFlow 1 had as objects.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/dimension_value and
https://www.tensorflow.org/api_docs/python/tf/compat/dimension_at_index.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dimension import Dimension
from intaglio.base.shapes import TensorShape


def dimension_value(dimension: Any) -> int | None:
    """A size as an int, or None if it is not known.

    >>> tf.compat.dimension_value(tf.TensorShape([16, None])[0])
    16
    """
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape: TensorShape, index: int) -> Dimension:
    """The size at an index as a `Dimension`; of an unknown one if the rank is not known.

    >>> tf.compat.dimension_at_index(tf.TensorShape([16, None]), 0).value
    16
    """
    return Dimension(None if shape.rank is None else shape.as_list()[index])
