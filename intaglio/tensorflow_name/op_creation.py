"""`tf.__internal__.create_c_op` and `record_gradient`: nodes made from messages, as Keras 2 makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base import nest
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import convert, door, raw
from intaglio.opdef.tensor import Tensor


def create_c_op(
    graph: Any,
    node_def: Any,
    inputs: Sequence[Any],
    control_inputs: Sequence[Any],
    op_def: Any = None,
    extract_traceback: bool = True,
) -> Node:
    """A node of the graph under the name and with the attributes of a NodeDef; no tape sees it.

    Args:
      graph: the graph.
      node_def: the message. Attributes whose names begin with `_` are not kept.
      inputs: tensors of the graph, and lists of tensors for inputs that are lists.
      control_inputs: operations that run before.
      op_def: accepted and ignored: the op is the one declared under the node's type.
      extract_traceback: accepted and ignored: nodes know the line that created them.

    Raises as `tf.Graph.create_op`.
    """
    attrs = {name: value for name, value in node_def.attr.items() if name[:1] != "_"}
    flat = nest.flatten(list(inputs))
    with graph.as_default(), graph.control_dependencies(control_inputs), door.unwatched():
        return graph.create_op(node_def.op, flat, name=f"{node_def.name}/", attrs=attrs)


def record_gradient(
    op_name: str, inputs: Sequence[Tensor], attrs: Sequence[Any], outputs: Sequence[Tensor]
) -> None:
    """Shows tapes an op that was carried out without them.

    Args:
      op_name: the op's type.
      inputs: its inputs, those of lists one by one.
      attrs: names of attributes, each before its value.
      outputs: its outputs.

    Raises ValueError if there is no such op.
    """
    op = raw.find(op_name)
    if op is None:
        raise ValueError(f"Op type not registered '{op_name}'")
    first = outputs[0] if outputs else None
    if isinstance(first, SymbolicTensor) and first.node.op is op:
        own = first.node.attrs
    else:
        values = dict(zip(attrs[::2], attrs[1::2], strict=True))
        kinds = op.attr_kinds
        own = dict(op.defaults)
        own.update({n: convert.attribute(v, kinds[n], n) for n, v in values.items() if n in kinds})
    for watcher in door.level().watchers:
        watcher.record(op, own, list(inputs), list(outputs))
