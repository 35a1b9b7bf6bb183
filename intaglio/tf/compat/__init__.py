"""`tf.compat`: text and bytes, and the little of TensorFlow 1 that libraries still call.

Follows https://www.tensorflow.org/api_docs/python/tf/compat.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

import numpy as np

from intaglio.base import later
from intaglio.base.forward_compatibility import forward_compatibility_horizon, forward_compatible
from intaglio.base.text_conversion import as_bytes, as_str, as_str_any, as_text, path_to_str
from intaglio.compat_v1.dimensions import dimension_at_index, dimension_value
from intaglio.tf.compat import v1

if TYPE_CHECKING:
    from intaglio import tf as v2

bytes_or_text_types = (bytes, str)
complex_types = (numbers.Complex, np.number)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)

# `tf.compat.v2` is `tf` itself, which is still being imported when this module may be.
LATER = {"v2": "intaglio.tf"}

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(__name__, LATER)

__all__ = [
    "as_bytes",
    "as_str",
    "as_str_any",
    "as_text",
    "bytes_or_text_types",
    "complex_types",
    "dimension_at_index",
    "dimension_value",
    "forward_compatibility_horizon",
    "forward_compatible",
    "integral_types",
    "path_to_str",
    "real_types",
    "v1",
    "v2",
]
