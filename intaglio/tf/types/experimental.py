"""`tf.types.experimental`: the tracing protocol and the kinds of callables.

Follows https://www.tensorflow.org/api_docs/python/tf/types/experimental.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from intaglio.base import later
from intaglio.function.kinds import AtomicFunction, Callable, PolymorphicFunction
from intaglio.function.kinds import ConcreteFunctionKind as ConcreteFunction
from intaglio.function.signature import FunctionType
from intaglio.opdef.tensor import Tensor
from intaglio.type_specs.trace_type import SupportsTracingProtocol, TraceType, TracingContext

if TYPE_CHECKING:
    from intaglio.tf.types import distributed as distributed
else:
    __getattr__, __dir__ = later.attributes(
        __name__, {"distributed": "intaglio.tf.types.distributed"}
    )

GenericFunction = PolymorphicFunction

# What becomes a tensor wherever one is expected.
TensorLike = (
    Tensor
    | int
    | float
    | bool
    | str
    | bytes
    | complex
    | tuple[Any, ...]
    | list[Any]
    | np.ndarray
    | np.generic
)

__all__ = [
    "AtomicFunction",
    "Callable",
    "ConcreteFunction",
    "FunctionType",
    "GenericFunction",
    "PolymorphicFunction",
    "SupportsTracingProtocol",
    "TensorLike",
    "TraceType",
    "TracingContext",
    "distributed",
]
