"""`tf.config.optimizer`: which graph optimisations run.

Follows https://www.tensorflow.org/api_docs/python/tf/config/optimizer.
"""

from __future__ import annotations

from intaglio.base.options import (
    get_experimental_options,
    get_jit,
    set_experimental_options,
    set_jit,
)

__all__ = ["get_experimental_options", "get_jit", "set_experimental_options", "set_jit"]
