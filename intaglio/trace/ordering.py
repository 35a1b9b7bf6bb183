"""Operations that complete after others: group, tuple, no_op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base import nest
from intaglio.ir.graph import Node
from intaglio.opdef import convert, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.tensor import Tensor
from intaglio.trace.control_flow import recording
from intaglio.trace.scopes import control_dependencies


def no_op(name: str | None) -> Any:
    """A node that does nothing, or None eagerly."""
    return raw.NoOp(name=name)


def group(inputs: Sequence[Any], name: str | None, unknown: dict[str, Any]) -> Any:
    """An operation that runs after all inputs. Raises TypeError for other than tensors and operations."""
    if unknown:
        raise ValueError("Unknown keyword arguments: " + ", ".join(unknown))
    if recording() is None:
        return None
    before = nest.flatten(list(inputs), expand_composites=True)
    for item in before:
        if not isinstance(item, (Tensor, Node)) and not hasattr(item, "device"):
            raise TypeError(
                f"'inputs' should be zero or more (nested) Tensors. Received {item!r} with type '{type(item)}'."
            )
    with control_dependencies(before):
        return raw.NoOp(name=name or "group_deps")


def gathered(tensors: Any, control_inputs: Any, name: str | None) -> list[Any]:
    """The tensors, each of which is available only after all of them and `control_inputs`."""
    if recording() is None:
        return list(tensors)
    label = name or "tuple"
    found = [t for t in tensors if t is not None]
    if not found:
        raise ValueError(
            "`tensors` must have at least one value that is a `tf.Tensor`, `tf.IndexedSlices` or variable"
        )
    before = [
        t.values if isinstance(t, IndexedSlices) else t for t in found if not hasattr(t, "handle")
    ]
    for item in control_inputs or ():
        if not isinstance(item, (Tensor, Node)):
            raise TypeError(
                f"'control_inputs' must only contain Operation or Tensor. Received: {type(item)}"
            )
        before.append(item)
    with control_dependencies(before):
        gate = raw.NoOp(name=f"{label}/group_deps")
    with control_dependencies([gate]):
        return [None if t is None else _through(t, label) for t in tensors]


def _through(value: Any, label: str) -> Any:
    if isinstance(value, Node):
        return value
    name = f"{label}/control_dependency"
    if isinstance(value, IndexedSlices):
        rows = raw.Identity(value.values, name=name)
        return IndexedSlices(rows, value.indices, value.dense_shape)
    return raw.Identity(convert.to_tensor(value), name=name)
