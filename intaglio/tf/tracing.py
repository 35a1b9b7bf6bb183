"""`tf.function` and what belongs to tracing: scopes, devices, order.

Follows https://www.tensorflow.org/api_docs/python/tf/function.
"""

from __future__ import annotations

from intaglio.function.decorator import function
from intaglio.trace.scopes import (
    control_dependencies,
    device,
    executing_eagerly,
    init_scope,
    inside_function,
    name_scope,
)
from intaglio.trace.scopes import current_name_scope as get_current_name_scope
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec

__all__ = [
    "TensorSpec",
    "TypeSpec",
    "control_dependencies",
    "get_current_name_scope",
    "device",
    "executing_eagerly",
    "function",
    "init_scope",
    "inside_function",
    "name_scope",
]
