"""`tf.compat`: text and bytes, and the little of TensorFlow 1 that libraries still call.

Follows https://www.tensorflow.org/api_docs/python/tf/compat.
"""

from __future__ import annotations

import numbers

import numpy as np

from intaglio.base.text_conversion import as_bytes, as_str, as_str_any, as_text, path_to_str
from intaglio.tf.compat import v1

bytes_or_text_types = (bytes, str)
complex_types = (numbers.Complex, np.number)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)


__all__ = [
    "as_bytes",
    "as_str",
    "as_str_any",
    "as_text",
    "bytes_or_text_types",
    "complex_types",
    "integral_types",
    "path_to_str",
    "real_types",
    "v1",
]
