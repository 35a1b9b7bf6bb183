"""`tf.map_fn` on the rows of ragged tensors, and with ragged results.

Follows https://www.tensorflow.org/api_docs/python/tf/map_fn.
"""

from __future__ import annotations

from typing import Any


def map_fn(
    function: Any,
    fn: Any,
    elems: Any,
    dtype: Any = None,
    parallel_iterations: Any = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """`fn` of every row."""
    raise NotImplementedError("tf.map_fn over the rows of a RaggedTensor")
