"""`tf.compat.v1`: what libraries still call of TensorFlow 1. There are no sessions.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from intaglio.base import later
from intaglio.base.dimension import Dimension
from intaglio.base.dtypes import as_dtype, int64
from intaglio.base.shapes import as_dims
from intaglio.opdef import convert, door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.sparse.tensor import SparseTensor, with_static
from intaglio.tf import version
from intaglio.trace.recorder import Recorder

if TYPE_CHECKING:
    from intaglio.graphdef.event_messages import Event as Event
    from intaglio.graphdef.event_messages import RunMetadata as RunMetadata
    from intaglio.graphdef.event_messages import Summary as Summary
    from intaglio.graphdef.event_messages import SummaryMetadata as SummaryMetadata
    from intaglio.graphdef.messages import AttrValue as AttrValue


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor of the current graph that has no value. Raises RuntimeError eagerly.

    >>> with tf.Graph().as_default():
    ...     print(tf.compat.v1.placeholder(tf.float32, [None, 2]).shape)
    (None, 2)
    """
    level = door.level()
    if not isinstance(level, Recorder):
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return level.graph.placeholder(as_dtype(dtype), as_dims(shape), name or "Placeholder")


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """A sparse tensor of the current graph, of placeholders. Raises RuntimeError eagerly.

    >>> with tf.Graph().as_default():
    ...     print(tf.compat.v1.sparse_placeholder(tf.float32, [None, 2]).shape)
    (None, 2)
    """
    if not isinstance(door.level(), Recorder):
        raise RuntimeError("`sparse_placeholder` is not compatible with eager execution.")
    dims = as_dims(shape)
    label = f"{name}/" if name else ""
    rank = None if dims is None else len(dims)
    dense_shape = placeholder(int64, [rank], f"{label}shape")
    values = placeholder(dtype, [None], f"{label}values")
    indices = placeholder(int64, [None, rank], f"{label}indices")
    return with_static(SparseTensor(indices, values, dense_shape), dims)


def reset_default_graph() -> None:
    """Forgets the graph that programs without functions write into. There is none.

    >>> tf.compat.v1.reset_default_graph()
    """


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """With x and y, of one shape, x where the condition holds and else y; alone, the coordinates.

    A condition that is a vector chooses rows, a scalar all of x or of y; nothing else is
    broadcast. Raises ValueError if only one of x and y is given, InvalidArgumentError
    (ValueError in a graph) if the shapes differ.

    >>> print(tf.compat.v1.where([True, False], [[1, 2], [3, 4]], [[5, 6], [7, 8]]).numpy())
    [[1 2]
     [7 8]]
    """
    if x is None and y is None:
        return raw.Where(convert.to_tensor(condition), name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return raw.Select(condition, x, y, name=name)


# The messages are protocol buffers, which few programs pay for.
_EVENTS = "intaglio.graphdef.event_messages"
LATER = {
    name: f"{_EVENTS}:{name}" for name in ("Event", "RunMetadata", "Summary", "SummaryMetadata")
}
LATER["AttrValue"] = "intaglio.graphdef.messages:AttrValue"

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(__name__, LATER)

__all__ = [
    "AttrValue",
    "Dimension",
    "Event",
    "RunMetadata",
    "Summary",
    "SummaryMetadata",
    "placeholder",
    "reset_default_graph",
    "sparse_placeholder",
    "version",
    "where",
]
