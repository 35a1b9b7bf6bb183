"""`tf.xla.experimental`: computations that are compiled.

Follows https://www.tensorflow.org/api_docs/python/tf/xla/experimental.
"""

from __future__ import annotations

from intaglio.function.xla_computations import compile, jit_scope

__all__ = ["compile", "jit_scope"]
