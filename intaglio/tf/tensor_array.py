"""Arrays of tensors, written and read element by element.

Follows https://www.tensorflow.org/api_docs/python/tf/TensorArray and
https://www.tensorflow.org/api_docs/python/tf/TensorArraySpec.
"""

from __future__ import annotations

from intaglio.type_specs.tensor_array import TensorArray, TensorArraySpec

__all__ = ["TensorArray", "TensorArraySpec"]
